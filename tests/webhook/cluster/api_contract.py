"""What a client of an API server owes, asked of the real one and of the stand-in alike."""

import threading
from collections.abc import Iterator, Sequence
from typing import cast

import pytest

from policies.raw import JsonObject
from webhook.cluster.api import MERGE_PATCH, KubeApi
from webhook.cluster.errors import ConflictError, NotFoundError
from webhook.cluster.event_stream import EventStream

NODES = "/api/v1/nodes"
OURS = {"labelSelector": "contract=yes"}


def a_node(name: str) -> JsonObject:
    metadata = {"name": name, "labels": {"contract": "yes"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata}


def metadata_of(raw: JsonObject) -> dict[str, object]:
    return cast("dict[str, object]", raw["metadata"])


def items_of(page: JsonObject) -> list[JsonObject]:
    return cast("list[JsonObject]", page["items"])


def names_of(items: Sequence[JsonObject]) -> list[str]:
    return [str(metadata_of(raw)["name"]) for raw in items]


class ApiContract:
    """A test class derives from it and gives the fixture `api`."""

    @pytest.fixture
    def five(self, api: KubeApi) -> Iterator[list[str]]:
        names = [f"contract-{number}" for number in range(5)]
        for name in names:
            api.create(NODES, a_node(name))
        yield names
        left = [raw for page in api.pages(NODES, OURS) for raw in items_of(page)]
        for name in names_of(left):
            api.delete(f"{NODES}/{name}")

    def open_watch(self, api: KubeApi, resource_version: object = None) -> EventStream:
        if resource_version is None:
            resource_version = metadata_of(api.get(NODES, OURS))["resourceVersion"]
        return api.watch(
            NODES, str(resource_version), query=OURS, timeout_seconds=60, idle_seconds=30.0
        )

    def test_the_version_is_a_git_version(self, api: KubeApi) -> None:
        assert api.server_version().startswith("v1.")

    def test_an_object_that_is_not_there(self, api: KubeApi) -> None:
        with pytest.raises(
            NotFoundError, match=r"GET /api/v1/nodes/nobody: 404 NotFound: .*nobody"
        ):
            api.get(f"{NODES}/nobody")

    def test_pages_together_are_the_list(self, api: KubeApi, five: list[str]) -> None:
        pages = list(api.pages(NODES, OURS, page_size=2))
        assert [len(items_of(page)) for page in pages] == [2, 2, 1]
        assert [name for page in pages for name in names_of(items_of(page))] == five
        assert len({metadata_of(page)["resourceVersion"] for page in pages}) == 1

    def test_creating_twice_is_a_conflict(self, api: KubeApi, five: list[str]) -> None:
        with pytest.raises(ConflictError) as caught:
            api.create(NODES, a_node(five[0]))
        assert caught.value.reason == "AlreadyExists"

    def test_a_patch_changes_what_it_names(self, api: KubeApi, five: list[str]) -> None:
        patch = {"metadata": {"labels": {"rack": "7"}}}
        answer = api.patch(f"{NODES}/{five[0]}", patch, MERGE_PATCH)
        labels = cast("dict[str, str]", metadata_of(answer)["labels"])
        assert labels["rack"] == "7"
        assert labels["contract"] == "yes"

    def test_replacing_an_older_state_is_a_conflict(self, api: KubeApi, five: list[str]) -> None:
        path = f"{NODES}/{five[0]}"
        old = api.get(path)
        api.patch(path, {"metadata": {"labels": {"rack": "7"}}}, MERGE_PATCH)
        with pytest.raises(ConflictError) as caught:
            api.replace(path, old)
        assert caught.value.reason == "Conflict"
        assert api.replace(path, api.get(path))

    def test_a_watch_tells_what_happens_and_resumes(self, api: KubeApi, five: list[str]) -> None:
        watch = self.open_watch(api)
        api.create(NODES, a_node("contract-new"))
        api.patch(f"{NODES}/{five[0]}", {"metadata": {"labels": {"rack": "7"}}}, MERGE_PATCH)
        api.delete(f"{NODES}/contract-new")

        seen = read(watch, 3)
        watch.close()
        resumed = self.open_watch(api, metadata_of(seen[0][1])["resourceVersion"])
        again = read(resumed, 2)
        resumed.close()

        assert summary(seen) == [
            ("ADDED", "contract-new"),
            ("MODIFIED", five[0]),
            ("DELETED", "contract-new"),
        ]
        assert summary(again) == summary(seen)[1:]

    def test_closing_wakes_who_waits_in_another_thread(self, api: KubeApi) -> None:
        watch = self.open_watch(api)
        seen: list[JsonObject] = []
        thread = threading.Thread(target=lambda: seen.extend(watch))
        thread.start()
        watch.close()
        thread.join(20)
        assert not thread.is_alive()
        assert not seen


def read(watch: EventStream, count: int) -> list[tuple[str, JsonObject]]:
    """The next events that are no bookmarks."""
    found: list[tuple[str, JsonObject]] = []
    for event in watch:
        if event["type"] != "BOOKMARK":
            found.append((str(event["type"]), cast("JsonObject", event["object"])))
        if len(found) == count:
            break
    return found


def summary(events: Sequence[tuple[str, JsonObject]]) -> list[tuple[str, str]]:
    return [(kind, names_of([raw])[0]) for kind, raw in events]

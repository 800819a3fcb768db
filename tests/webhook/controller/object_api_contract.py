"""What the controller relies on, asked of the real API server and of the fake alike."""

from datetime import UTC, datetime
from typing import cast

import pytest

from policies.raw import JsonObject
from tests.builders import Object, bare_offline_pod, node
from webhook.cluster.api import MERGE_PATCH
from webhook.cluster.errors import ConflictError, NotFoundError
from webhook.controller.lease import LeaseRecord, new_lease
from webhook.controller.object_api import ObjectApi
from webhook.controller.offline_pods import EVENTS, ineligible_event

NODES = "/api/v1/nodes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
PODS = "/api/v1/namespaces/default/pods"
TIME = "2026-11-30T12:00:00.000000Z"


def metadata_of(raw: JsonObject) -> Object:
    return cast("Object", raw["metadata"])


def names_in(pages: object) -> list[str]:
    items = [
        raw
        for page in cast("list[JsonObject]", pages)
        for raw in cast("list[JsonObject]", page["items"])
    ]
    return [str(metadata_of(raw)["name"]) for raw in items]


def pod_on(node_name: str, name: str) -> Object:
    raw = bare_offline_pod(nodeName=node_name)
    return {
        **raw,
        "metadata": {**cast("Object", raw["metadata"]), "name": name, "namespace": "default"},
    }


class ObjectApiContract:
    """A test class derives from it and gives the fixtures `api` and `name`, a node that is nowhere else."""

    @pytest.fixture
    def there(self, api: ObjectApi, name: str) -> JsonObject:
        return api.create(NODES, node(name, labels={"contract": name}))

    def test_a_merge_patch_sets_and_removes(
        self, api: ObjectApi, name: str, there: JsonObject
    ) -> None:
        path = f"{NODES}/{name}"
        api.patch(path, {"metadata": {"annotations": {"a/b": "1"}}}, MERGE_PATCH)
        answer = api.patch(
            path, {"metadata": {"labels": {"rack": "7"}, "annotations": {"a/b": None}}}, MERGE_PATCH
        )
        assert "a/b" not in cast("Object", metadata_of(answer)["annotations"])
        assert metadata_of(answer)["labels"] == {
            **cast("Object", metadata_of(there)["labels"]),
            "rack": "7",
        }

    def test_a_patch_that_changes_nothing_makes_no_version(
        self, api: ObjectApi, name: str, there: JsonObject
    ) -> None:
        patch = {"metadata": {"labels": {"contract": name}, "annotations": {"a/b": None}}}
        answer = api.patch(f"{NODES}/{name}", patch, MERGE_PATCH)
        assert metadata_of(answer)["resourceVersion"] == metadata_of(there)["resourceVersion"]

    def test_a_patch_of_nothing_is_not_found(self, api: ObjectApi) -> None:
        with pytest.raises(NotFoundError):
            api.patch(f"{NODES}/nobody", {"metadata": {"labels": {"rack": "7"}}}, MERGE_PATCH)

    def test_a_list_is_selected_by_label(
        self, api: ObjectApi, name: str, there: JsonObject
    ) -> None:
        assert there
        assert names_in(list(api.pages(NODES, {"labelSelector": f"contract={name}"}))) == [name]
        assert names_in(list(api.pages(NODES, {"labelSelector": "contract=other"}))) == []

    def test_pods_are_selected_by_node(self, api: ObjectApi, name: str) -> None:
        for pod_name, node_name in ((f"{name}-one", name), (f"{name}-two", f"{name}-other")):
            api.create(PODS, pod_on(node_name, pod_name))
        selector = f"spec.nodeName={name},status.phase!=Succeeded,status.phase!=Failed"
        assert names_in(list(api.pages("/api/v1/pods", {"fieldSelector": selector}))) == [
            f"{name}-one"
        ]

    def test_a_lease_is_created_once_and_replaced_by_version(
        self, api: ObjectApi, name: str
    ) -> None:
        record = LeaseRecord("a", 15, TIME, TIME, 0)
        first = api.create(LEASES, new_lease(name, record))
        assert first["spec"] == record.spec()
        with pytest.raises(ConflictError):
            api.create(LEASES, new_lease(name, record))
        released = {**first, "spec": record.released(TIME).spec()}
        assert api.replace(f"{LEASES}/{name}", released)["spec"] == released["spec"]
        with pytest.raises(ConflictError):
            api.replace(f"{LEASES}/{name}", first)
        assert api.get(f"{LEASES}/{name}")["spec"] == released["spec"]

    def test_an_event_on_a_node_is_taken(self, api: ObjectApi, there: JsonObject) -> None:
        pods = [f"{'n' * 63}/{number}-{'p' * 240}" for number in range(7)]
        event = ineligible_event(there, ("node-image",), pods, "me" * 80, datetime.now(UTC))
        assert metadata_of(api.create(EVENTS, event))["name"]

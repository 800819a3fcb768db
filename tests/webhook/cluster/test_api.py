"""The client against a stand-in that can do what a real API server does only when it is ill."""

import gzip
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.builders import node
from tests.webhook.cluster.api_contract import NODES, ApiContract, items_of, names_of
from tests.webhook.cluster.standin import ApiStandIn, Scripted, event, refused
from webhook.cluster.api import KubeApi
from webhook.cluster.errors import (
    ApiStatusError,
    ClusterSettingsError,
    ClusterUnavailableError,
    GoneError,
    TooManyRequestsError,
    UnreadableAnswerError,
)

LINE = event("ADDED", node("a"))


@pytest.fixture
def api(standin: ApiStandIn, tmp_path: Path) -> KubeApi:
    return KubeApi.connect(standin.kubeconfig(tmp_path))


class TestStandInApi(ApiContract):
    @pytest.fixture
    def api(self, standin: ApiStandIn, tmp_path: Path) -> KubeApi:
        standin.compact()
        return KubeApi.connect(standin.kubeconfig(tmp_path))


def events(api: KubeApi, *, idle_seconds: float = 20.0) -> Iterator[object]:
    for each in api.watch(NODES, "100", timeout_seconds=60, idle_seconds=idle_seconds):
        yield each["type"]


def test_a_list_that_grows_too_old_between_pages_is_gone(standin: ApiStandIn, api: KubeApi) -> None:
    for name in "abc":
        standin.put(node(name))
    pages = api.pages(NODES, page_size=2)
    assert names_of(items_of(next(pages))) == ["a", "b"]
    standin.put(node("d"))
    standin.compact()
    with pytest.raises(GoneError, match="410 Expired"):
        next(pages)


def test_a_watch_from_long_ago_is_gone(standin: ApiStandIn, api: KubeApi) -> None:
    """As an event, which is how the API server says it once the watch has begun."""
    standin.put(node("a"))
    standin.compact()
    with pytest.raises(GoneError, match="watch /api/v1/nodes: 410 Expired: too old"):
        list(events(api))


def test_the_server_may_ask_for_a_pause(standin: ApiStandIn, api: KubeApi) -> None:
    standin.next_lists.append(refused(429, "TooManyRequests", Retry_After="7"))
    with pytest.raises(TooManyRequestsError) as caught:
        api.get(NODES)
    assert caught.value.retry_after_seconds == 7.0


@pytest.mark.parametrize("value", ["", "soon", "-1", "9999999", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_pause_that_is_no_number_of_seconds_is_none(
    value: str, standin: ApiStandIn, api: KubeApi
) -> None:
    standin.next_lists.append(refused(503, "ServiceUnavailable", Retry_After=value))
    with pytest.raises(ApiStatusError, match="503 ServiceUnavailable: because") as caught:
        api.get(NODES)
    assert caught.value.retry_after_seconds is None


def test_an_error_without_a_status_has_its_text(standin: ApiStandIn, api: KubeApi) -> None:
    standin.next_lists.append(Scripted(502, [b"<html>bad gateway</html>"]))
    with pytest.raises(ApiStatusError, match="502 Bad Gateway: <html>bad gateway</html>"):
        api.get(NODES)


@pytest.mark.parametrize(
    ("script", "error", "message"),
    [
        pytest.param(
            Scripted(pieces=[b'{"items": ['], end="cut"),
            ClusterUnavailableError,
            "GET /api/v1/nodes: the connection failed",
            id="half a page",
        ),
        pytest.param(
            Scripted(pieces=[b'{"items": ['], end="silence"),
            ClusterUnavailableError,
            "GET /api/v1/nodes: no answer in time",
            id="a page that stops",
        ),
        pytest.param(
            Scripted(pieces=[b"{}\n<html>"]), UnreadableAnswerError, "is not JSON", id="not JSON"
        ),
        pytest.param(
            Scripted(pieces=[b"[]"]), UnreadableAnswerError, "is not an object", id="a list"
        ),
        pytest.param(
            Scripted(302, headers={"Location": "/elsewhere"}),
            ApiStatusError,
            "302 Found",
            id="a redirect is not followed",
        ),
    ],
)
def test_answers_that_are_none(
    script: Scripted,
    error: type[Exception],
    message: str,
    standin: ApiStandIn,
    api: KubeApi,
) -> None:
    standin.next_lists.append(script)
    with pytest.raises(error, match=message):
        api.get(NODES, timeout_seconds=0.3)
    assert api.get(NODES)["kind"] == "NodeList"


def test_a_compressed_answer_is_read(standin: ApiStandIn, api: KubeApi) -> None:
    packed = gzip.compress(b'{"kind": "NodeList", "items": []}')
    standin.next_lists.append(
        Scripted(pieces=[packed[:10], packed[10:]], headers={"Content-Encoding": "gzip"})
    )
    assert api.get(NODES) == {"kind": "NodeList", "items": []}


def test_a_compressed_answer_that_is_broken(standin: ApiStandIn, api: KubeApi) -> None:
    standin.next_lists.append(Scripted(pieces=[b"{}"], headers={"Content-Encoding": "gzip"}))
    with pytest.raises(ClusterUnavailableError, match="the connection failed"):
        api.get(NODES)


def test_a_list_that_never_goes_on_is_given_up(standin: ApiStandIn, api: KubeApi) -> None:
    page = Scripted(pieces=[b'{"metadata": {"continue": "same"}, "items": []}'])
    standin.next_lists.extend([page] * 3)
    with pytest.raises(UnreadableAnswerError, match="does not go on after a page"):
        list(api.pages(NODES))
    assert len(standin.lists) == 2


def test_several_threads_share_one_client(standin: ApiStandIn, api: KubeApi) -> None:
    names = [f"n-{number}" for number in range(40)]
    for name in names:
        standin.put(node(name))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda name: api.get(f"{NODES}/{name}"), names))
    assert names_of(found) == names


def test_pages_that_drip_have_a_limit_in_all(
    standin: ApiStandIn, api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady = iter(range(100))
    monkeypatch.setattr("webhook.cluster.api.time.monotonic", lambda: float(next(steady)))
    standin.next_lists.append(Scripted(pieces=[b" "] * 5 + [b"{}"]))
    with pytest.raises(ClusterUnavailableError, match="did not end in time"):
        api.get(NODES, timeout_seconds=3.0)


def test_nobody_listens(standin: ApiStandIn, api: KubeApi) -> None:
    standin.go_away()
    with pytest.raises(ClusterUnavailableError, match="the connection failed") as caught:
        api.server_version()
    assert caught.value.__cause__ is not None
    standin.come_back()
    assert api.server_version() == standin.version


@pytest.mark.parametrize(
    ("script", "error", "message", "whole"),
    [
        pytest.param(
            Scripted(pieces=[LINE, LINE[:-20]], end="cut"),
            ClusterUnavailableError,
            "the connection failed",
            1,
            id="cut in an event",
        ),
        pytest.param(
            Scripted(pieces=[LINE, LINE[:-1]]),
            ClusterUnavailableError,
            "cut in the middle of an event",
            1,
            id="ended in an event, though in good order",
        ),
        pytest.param(
            Scripted(pieces=[LINE, LINE], end="cut"),
            ClusterUnavailableError,
            "the connection failed",
            2,
            id="cut between events",
        ),
        pytest.param(
            Scripted(pieces=[LINE], end="silence"),
            ClusterUnavailableError,
            "no answer in time",
            1,
            id="silence",
        ),
        pytest.param(
            Scripted(pieces=[LINE, b"}{ garbage\n", LINE]),
            UnreadableAnswerError,
            "watch /api/v1/nodes: a line is not JSON",
            1,
            id="a garbage line",
        ),
        pytest.param(
            Scripted(pieces=[LINE, b'{"type": "ADDED"}\n']),
            UnreadableAnswerError,
            "not a watch event",
            1,
            id="no object",
        ),
        pytest.param(
            refused(410, "Expired"), GoneError, "410 Expired", 0, id="gone before it began"
        ),
    ],
)
def test_watches_that_end_badly_lose_no_whole_event(
    script: Scripted,
    error: type[Exception],
    message: str,
    whole: int,
    standin: ApiStandIn,
    api: KubeApi,
) -> None:
    standin.next_watches.append(script)
    seen: list[object] = []
    with pytest.raises(error, match=message):
        collect(events(api, idle_seconds=0.3), seen)
    assert seen == ["ADDED"] * whole


def collect(source: Iterator[object], seen: list[object]) -> None:
    for each in source:
        seen.append(each)  # noqa: PERF402 - what came before an error counts


def test_an_event_in_many_pieces_and_many_in_one_piece(standin: ApiStandIn, api: KubeApi) -> None:
    whole = LINE * 3
    pieces = [whole[i : i + 7] for i in range(0, len(whole), 7)]
    standin.next_watches.append(Scripted(pieces=pieces))
    standin.next_watches.append(Scripted(pieces=[whole]))
    assert list(events(api)) == ["ADDED"] * 3
    assert list(events(api)) == ["ADDED"] * 3


def test_an_event_without_end_is_given_up(
    standin: ApiStandIn, api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webhook.cluster.event_stream.MAX_EVENT_BYTES", 1000)
    standin.next_watches.append(Scripted(pieces=[b"x" * 600, b"x" * 600], end="silence"))
    with pytest.raises(UnreadableAnswerError, match="more than 1000 bytes"):
        list(events(api))


def test_a_context_that_is_not_there(standin: ApiStandIn, tmp_path: Path) -> None:
    with pytest.raises(ClusterSettingsError, match="other"):
        KubeApi.connect(standin.kubeconfig(tmp_path), "other")


def test_in_a_cluster_without_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ClusterSettingsError, match="the in-cluster configuration: cannot be used"):
        KubeApi.connect(None)

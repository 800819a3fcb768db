"""Pods from an API server that answers, refuses, is silent, or is not there; over real HTTP on loopback."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from tests.builders import Object
from webhook.cluster.api import KubeApi
from webhook.cluster.api_pods import ApiPods
from webhook.pod_lookup import PodsUnknownError

Answers = dict[str, tuple[int, object]]


class Server:
    """Answers by what the request's target contains; the first key that it contains counts."""

    def __init__(self) -> None:
        self.answers: Answers = {}
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def stop(self) -> None:
        self.may_answer.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                server.may_answer.wait(30)
                found = (a for part, a in server.answers.items() if part in self.path)
                status, raw = next(found, (503, {}))
                content = json.dumps(raw).encode()
                with suppress(OSError):  # who asked may have gone
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        return Handler


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def pods(server: Server, tmp_path: Path) -> ApiPods:
    path = kubeconfig_for(server.url, tmp_path)
    return ApiPods(lambda: KubeApi.connect(path))


def kubeconfig_for(url: str, folder: Path) -> Path:
    path = folder / "kubeconfig"
    named = {"cluster": "c", "user": "u"}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": named}],
        "current-context": "x",
    }
    path.write_text(yaml.safe_dump(document))
    return path


def a_list(*names: str, more: str = "") -> Object:
    items = [{"metadata": {"name": name}} for name in names]
    return {"kind": "PodList", "metadata": {"continue": more}, "items": items}


def status(code: int, reason: str) -> tuple[int, object]:
    return code, {"kind": "Status", "code": code, "reason": reason, "message": "because"}


def test_the_pods_of_a_node_come_page_by_page(server: Server, pods: ApiPods) -> None:
    server.answers = {"continue=next": (200, a_list("c")), "": (200, a_list("a", "b", more="next"))}
    found = [raw["metadata"] for raw in pods.on_node("gpu-1", 3.0)]
    assert found == [{"name": "a"}, {"name": "b"}, {"name": "c"}]
    assert server.asked[0].startswith("/api/v1/pods?fieldSelector=spec.nodeName%3Dgpu-1&limit=")
    assert "resourceVersion" not in "".join(server.asked)


def test_a_node_without_pods(server: Server, pods: ApiPods) -> None:
    server.answers = {"": (200, {"kind": "PodList", "metadata": {}, "items": None})}
    assert pods.on_node("gpu-1", 3.0) == []


def test_one_pod_by_its_name(server: Server, pods: ApiPods) -> None:
    server.answers = {"": (200, {"kind": "Pod"})}
    assert pods.named("jobs", "a/../b", 1.0) == ({"kind": "Pod"},)
    assert server.asked == ["/api/v1/namespaces/jobs/pods/a%2F..%2Fb"]


def test_no_pod_of_that_name(server: Server, pods: ApiPods) -> None:
    server.answers = {"": status(404, "NotFound")}
    assert pods.named("jobs", "app", 1.0) == ()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        pytest.param(status(403, "Forbidden"), "403 Forbidden: because; grant this verb", id="403"),
        pytest.param(status(410, "Expired"), "410 Expired", id="410"),
        pytest.param((200, [1]), "the answer is not an object", id="not an object"),
        pytest.param((200, {"items": {}}), "items: must be a list", id="no list"),
    ],
)
def test_what_cannot_be_used_is_told(
    server: Server, pods: ApiPods, answer: tuple[int, object], told: str
) -> None:
    server.answers = {"": answer}
    with pytest.raises(PodsUnknownError, match=told):
        pods.on_node("gpu-1", 3.0)


def by_node(pods: ApiPods) -> object:
    return pods.on_node("gpu-1", 0.2)


def by_name(pods: ApiPods) -> object:
    return pods.named("jobs", "app", 0.2)


@pytest.mark.parametrize("ask", [by_node, by_name])
def test_silence_ends_in_time(
    server: Server, pods: ApiPods, ask: Callable[[ApiPods], object]
) -> None:
    server.may_answer.clear()
    with pytest.raises(PodsUnknownError, match="no answer in time"):
        ask(pods)


def test_pages_have_one_deadline_together(
    server: Server, pods: ApiPods, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page in time, all of them not: the steady clock jumps while the first is read."""
    server.answers = {"": (200, a_list("a", more="next"))}
    times = iter([100.0, 104.0])
    monkeypatch.setattr("webhook.cluster.api_pods.monotonic", lambda: next(times))
    with pytest.raises(PodsUnknownError, match="the pages did not end in time"):
        pods.on_node("gpu-1", 3.0)
    assert len(server.asked) == 1


@pytest.mark.parametrize("ask", [by_node, by_name])
def test_nobody_there_then_somebody(
    server: Server, pods: ApiPods, tmp_path: Path, ask: Callable[[ApiPods], object]
) -> None:
    """After a fault the kubeconfig is read anew."""
    server.answers = {"/pods?": (200, a_list()), "": (200, {"kind": "Pod"})}
    kubeconfig = tmp_path / "kubeconfig"
    good = kubeconfig.read_text()
    kubeconfig.write_text(good.replace(server.url, "http://127.0.0.1:1"))
    with pytest.raises(PodsUnknownError, match="the connection failed"):
        ask(pods)
    kubeconfig.write_text(good)
    ask(pods)
    assert len(server.asked) == 1


def test_a_port_that_accepts_no_connection(tmp_path: Path) -> None:
    """As behind a firewall that drops packets: connecting is part of the deadline."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        address = full.getsockname()
        with socket.create_connection(address), socket.socket() as waiting:
            waiting.settimeout(0)
            waiting.connect_ex(address)  # from here on the queue is full
            url = f"http://127.0.0.1:{address[1]}"
            pods = ApiPods(lambda: KubeApi.connect(kubeconfig_for(url, tmp_path)))
            with pytest.raises(PodsUnknownError, match=r"no answer in time.*connect timeout=0\.2"):
                pods.on_node("gpu-1", 0.2)


def test_a_kubeconfig_that_is_none(pods: ApiPods, tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text("x: [")

    with pytest.raises(PodsUnknownError, match="is not YAML"):
        pods.on_node("gpu-1", 3.0)

"""Requests straight to the API server over a few connections: kubectl would take a process for each.

Whatever a request makes of the server is in its reply; only a connection that fails is an error.
"""

import http.client
import json
import queue
import re
import ssl
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import yaml

from tests.builders import Object
from tests.cluster.control_plane import ControlPlane

CONNECTIONS = 8
TIMEOUT_SECONDS = 30
MERGE_PATCH = "application/merge-patch+json"
WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
"""A header `Warning` as the API server writes it, one for each warning. Source: RFC 7234."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent."""

    method: str
    path: str
    body: Object | None = None
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Reply:
    """The API server's answer: the HTTP status, the object or the Status, and the warnings."""

    code: int
    body: Object
    warnings: tuple[str, ...] = field(default=())


def create_pod(namespace: str, pod: Object, *, query: str = "") -> Request:
    """The creation of a pod; `query` such as `?dryRun=All`."""
    return Request("POST", f"/api/v1/namespaces/{namespace}/pods{query}", pod)


def send(plane: ControlPlane, request: Request) -> Reply:
    """The reply to one request."""
    (reply,) = send_all(plane, [request])
    return reply


def read(plane: ControlPlane, path: str) -> Object:
    """The object or list at this path; it must be there."""
    reply = send(plane, Request("GET", path))
    assert reply.code == http.HTTPStatus.OK, reply.body
    return reply.body


def send_all(
    plane: ControlPlane,
    requests: Iterable[Request],
    on_reply: Callable[[int], None] = lambda _answered: None,
) -> list[Reply]:
    """The replies in the order of the requests, which are sent over several connections.

    `on_reply` is told after each how many are answered.
    """
    waiting: queue.SimpleQueue[tuple[int, Request]] = queue.SimpleQueue()
    for numbered in enumerate(requests):
        waiting.put(numbered)
    replies: dict[int, Reply] = {}
    faults: list[Exception] = []
    lock = threading.Lock()

    def work() -> None:
        connection = connect(plane)
        try:
            while True:
                number, request = waiting.get_nowait()
                reply = exchange(connection, request)
                with lock:
                    replies[number] = reply
                    on_reply(len(replies))
        except queue.Empty:
            return
        except (OSError, http.client.HTTPException, ValueError) as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(min(CONNECTIONS, waiting.qsize()))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    return [replies[number] for number in sorted(replies)]


def exchange(connection: http.client.HTTPSConnection, request: Request) -> Reply:
    """Send one request on an open connection. Raises OSError, HTTPException or ValueError."""
    body = None if request.body is None else json.dumps(request.body)
    connection.request(request.method, request.path, body, {"Content-Type": request.content_type})
    answer = connection.getresponse()
    headers = answer.headers.get_all("Warning", [])
    return Reply(answer.status, json.loads(answer.read()), tuple(map(_warning, headers)))


def _warning(header: str) -> str:
    match = WARNING.fullmatch(
        header.encode("latin-1").decode()
    )  # http.client takes bytes for letters
    assert match is not None, header
    return re.sub(r"\\(.)", r"\1", match[1])


def connect(plane: ControlPlane) -> http.client.HTTPSConnection:
    """A connection as the administrator of the kubeconfig."""
    kubeconfig = yaml.safe_load(plane.kubeconfig.read_text())
    cluster, user = kubeconfig["clusters"][0]["cluster"], kubeconfig["users"][0]["user"]
    tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
    tls.load_cert_chain(user["client-certificate"], user["client-key"])
    address = urlsplit(plane.url)
    return http.client.HTTPSConnection(
        str(address.hostname), address.port, timeout=TIMEOUT_SECONDS, context=tls
    )

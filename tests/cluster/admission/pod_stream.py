"""Many creations of pods at once, straight over HTTPS: kubectl would take a process for each."""

import http.client
import json
import queue
import ssl
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

import yaml

from tests.builders import Object
from tests.cluster.control_plane import ControlPlane

CONNECTIONS = 8
TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Reply:
    """The API server's answer to one creation: the HTTP status, and the object or the Status."""

    code: int
    body: Object


def create_pods(
    control_plane: ControlPlane,
    namespace: str,
    pods: Iterable[Object],
    on_reply: Callable[[int], None],
) -> list[Reply]:
    """Create them over several connections; `on_reply` is told after each how many are answered."""
    waiting: queue.SimpleQueue[Object] = queue.SimpleQueue()
    for pod in pods:
        waiting.put(pod)
    replies: list[Reply] = []
    faults: list[Exception] = []
    lock = threading.Lock()

    def work() -> None:
        connection = _connect(control_plane)
        try:
            while True:
                reply = _create(connection, namespace, waiting.get_nowait())
                with lock:
                    replies.append(reply)
                    on_reply(len(replies))
        except queue.Empty:
            return
        except (OSError, http.client.HTTPException, ValueError) as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    return replies


def _create(connection: http.client.HTTPSConnection, namespace: str, pod: Object) -> Reply:
    headers = {"Content-Type": "application/json"}
    connection.request("POST", f"/api/v1/namespaces/{namespace}/pods", json.dumps(pod), headers)
    answer = connection.getresponse()
    return Reply(answer.status, json.loads(answer.read()))


def _connect(control_plane: ControlPlane) -> http.client.HTTPSConnection:
    """A connection as the administrator of the kubeconfig."""
    kubeconfig = yaml.safe_load(control_plane.kubeconfig.read_text())
    cluster, user = kubeconfig["clusters"][0]["cluster"], kubeconfig["users"][0]["user"]
    tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
    tls.load_cert_chain(user["client-certificate"], user["client-key"])
    address = urlsplit(control_plane.url)
    return http.client.HTTPSConnection(
        str(address.hostname), address.port, timeout=TIMEOUT_SECONDS, context=tls
    )

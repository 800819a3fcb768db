"""A node that is deleted just while its pods are asked for, with the product's own responder behind HTTPS."""

import asyncio
import json
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CollectorRegistry

from policies.policy import Policy
from policies.raw import JsonObject
from tests.builders import GPU_SCHEDULE
from tests.cluster.admission.live_nodes import gpu_node, label
from tests.cluster.conftest import CreateNode
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.cluster.waiting import eventually
from webhook.cluster.api import KubeApi
from webhook.cluster.api_pods import ApiPods
from webhook.hooks import VALIDATE
from webhook.metrics import Metrics
from webhook.pod_lookup import PodLookup
from webhook.registration import ClientConfig, webhook_configurations
from webhook.responder import Responder
from webhook.state import Snapshot, State

NAME = "vanishing"
PROBE = "vanishing-probe"


class DeletingPods:
    """The pods of the real API server, which are asked for only after their node was deleted."""

    def __init__(self, control_plane: ControlPlane, kubectl: Kubectl) -> None:
        self.asked: list[str] = []
        self._pods = ApiPods(lambda: KubeApi.connect(control_plane.kubeconfig))
        self._kubectl = kubectl

    def on_node(self, node_name: str, deadline_seconds: float) -> Sequence[JsonObject]:
        self.asked.append(node_name)
        if node_name == NAME:
            self._kubectl.succeed("delete", "node", NAME)
        return self._pods.on_node(node_name, deadline_seconds)

    def named(self, namespace: str, name: str, deadline_seconds: float) -> Sequence[JsonObject]:
        return self._pods.named(namespace, name, deadline_seconds)


@contextmanager
def answering(control_plane: ControlPlane, responder: Responder) -> Iterator[ClientConfig]:
    """The responder on a port of 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            reply = asyncio.run(responder.reply(content))
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type.decode())
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    serving = control_plane.authority.issue_serving("answering-webhook")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(serving.certificate, serving.key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        bundle = control_plane.authority.certificate_path.read_bytes()
        yield ClientConfig(bundle, url=f"https://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def registered(kubectl: Kubectl, client: ClientConfig) -> Iterator[None]:
    """The validating configuration alone."""
    made = webhook_configurations(Policy(), client, server_minor=36).validating
    name = "validatingwebhookconfiguration/mgpu-hybrid"
    try:
        kubectl.succeed("create", "-f", "-", stdin=json.dumps(made))
        yield
    finally:
        kubectl.succeed("delete", "--ignore-not-found", name)


def test_deleted_node_is_not_found(
    control_plane: ControlPlane, kubectl: Kubectl, add_node: CreateNode
) -> None:
    pods = DeletingPods(control_plane, kubectl)
    responder = Responder(
        VALIDATE, State(Snapshot(Policy())), Metrics(CollectorRegistry()), PodLookup(pods)
    )
    add_node(gpu_node(NAME))
    add_node(gpu_node(PROBE))
    with answering(control_plane, responder) as client, registered(kubectl, client):
        eventually(lambda: _is_called(kubectl, pods), "the API server asks the webhook")
        done = label(kubectl, NAME, f"{GPU_SCHEDULE}=nvidia")

    assert done.code == 1
    assert done.err == f'Error from server (NotFound): nodes "{NAME}" not found\n'
    assert NAME in pods.asked


def _is_called(kubectl: Kubectl, pods: DeletingPods) -> bool:
    label(kubectl, PROBE, f"{GPU_SCHEDULE}=nvidia", "--dry-run=server")
    return PROBE in pods.asked

"""The API server calls a webhook on 127.0.0.1 by its url: proven with a server of four lines."""

import json
import ssl
import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.cluster.control_plane import HOST, ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.cluster.waiting import eventually

CONFIG_MAP = ["create", "configmap", "settings", "--from-literal=a=b"]


class Refuse(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = {"code": 403, "message": "refused by the sample webhook"}
        review["response"] = {"uid": review["request"]["uid"], "allowed": False, "status": status}
        body = json.dumps(review).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
        """Keep the terminal clean."""


@pytest.fixture
def webhook_url(control_plane: ControlPlane) -> Iterator[str]:
    pair = control_plane.authority.issue_serving("sample-webhook")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    with HTTPServer((HOST, 0), Refuse) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"https://{HOST}:{server.server_port}/validate"
        server.shutdown()
        thread.join()


@pytest.fixture
def registered(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, webhook_url: str
) -> Iterator[Kubectl]:
    """kubectl in a namespace whose config maps the sample webhook judges."""
    bundle = b64encode(control_plane.authority.certificate_path.read_bytes()).decode()
    webhook = {
        "name": "sample.example.com",
        "clientConfig": {"url": webhook_url, "caBundle": bundle},
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["configmaps"],
            }
        ],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "sample"},
        "webhooks": [webhook],
    }
    kubectl.succeed("create", "-f", "-", stdin=json.dumps(configuration))
    yield kubectl.in_namespace(namespace)
    kubectl.succeed("delete", "validatingwebhookconfiguration", "sample")


def test_webhook_by_url_is_called(registered: Kubectl) -> None:
    def refused_in_dry_run() -> bool:
        return registered(*CONFIG_MAP, "--dry-run=server").code == 1

    eventually(refused_in_dry_run, "the API server calls the webhook just registered")
    done = registered(*CONFIG_MAP)

    assert done.code == 1
    assert 'admission webhook "sample.example.com" denied the request' in done.err

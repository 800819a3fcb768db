"""Somebody else's mutating webhook: patches every new pod of one namespace in the way that a test says.

The API server calls mutating configurations in the order of their names, so the name says whether it comes
before ours (`mgpu-hybrid`) or after.
"""

import base64
import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.builders import Object
from tests.cluster.admission.manifests import other, text
from tests.cluster.authority import ClusterAuthority
from tests.cluster.kubectl import Kubectl
from tests.cluster.waiting import eventually

Patch = Sequence[Object]
MakePatch = Callable[[Object], Patch]
"""From the pod to operations of RFC 6902; none where it has nothing to change."""
SEEN = [{"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}]


@contextlib.contextmanager
def patching_webhook(
    kubectl: Kubectl,
    authority: ClusterAuthority,
    make_patch: MakePatch,
    *,
    name: str,
    reinvocation: str = "Never",
) -> Iterator[None]:
    """Serve and register it for the namespace of `kubectl`, wait until it is called, take it away."""
    with _serving(authority, make_patch) as url:
        document = text(_configuration(kubectl.namespace, authority, url, name, reinvocation))
        try:
            kubectl.succeed("create", "-f", "-", stdin=document)
            eventually(lambda: _is_called(kubectl), f"the API server calls {name}")
            yield
        finally:
            kubectl.succeed("delete", "--ignore-not-found", "-f", "-", stdin=document)
            eventually(lambda: not _is_called(kubectl), f"the API server forgets {name}")


def _configuration(
    namespace: str, authority: ClusterAuthority, url: str, name: str, reinvocation: str
) -> Object:
    bundle = base64.b64encode(authority.certificate_path.read_bytes()).decode()
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    hook = {
        "name": f"{name}.example.com",
        "clientConfig": {"url": url, "caBundle": bundle},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "reinvocationPolicy": reinvocation,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [hook],
    }


def _is_called(kubectl: Kubectl) -> bool:
    arguments = ("create", "--dry-run=server", "-o", "json", "-f", "-")
    created = kubectl.succeed(*arguments, stdin=text(other("probe"))).out
    return '"seen"' in created


@contextlib.contextmanager
def _serving(authority: ClusterAuthority, make_patch: MakePatch) -> Iterator[str]:
    pair = authority.issue_serving("patching-webhook")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pair.certificate, pair.key)
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(make_patch)) as server:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def _handler(make_patch: MakePatch) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            pod = review["request"]["object"]
            patch = SEEN if pod["metadata"]["name"] == "probe" else make_patch(pod)
            encoded = base64.b64encode(json.dumps(list(patch)).encode()).decode()
            review["response"] = {
                "uid": review["request"]["uid"],
                "allowed": True,
                **({"patchType": "JSONPatch", "patch": encoded} if patch else {}),
            }
            body = json.dumps(review).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the terminal clean."""

    return Handler

"""A webhook that allows everything and keeps which hook was called for which object.

An AdmissionReview does not name the hook that it is for, so `registered` appends the hook's name to the
product's path: `/mutate/<hook>`, `/validate/<hook>`.
"""

import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from policies.policy import Policy
from tests.cluster.authority import ClusterAuthority
from tests.cluster.kubectl import Kubectl
from webhook.registration import ClientConfig, Registration, webhook_configurations

# What is called when a pod of each class is created.
MUTATE = "mutate/mgpu-pods"
OFFLINE = {MUTATE, "validate/offline-pods"}
ONLINE = {MUTATE, "validate/gpu-pods"}
GPU = {"validate/gpu-pods"}
NOTHING: set[str] = set()

NEWEST_MINOR = 36
PROBE_LIMIT = 200
"""How often the API server is probed for having seen a changed registration; each takes a kubectl run."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request: `hook` such as `validate/gpu-pods`, `resource` with its subresource."""

    hook: str
    operation: str
    resource: str
    name: str


class RecordingWebhook:
    """Serves HTTPS on 127.0.0.1 until `stop`; the calls stay readable afterwards."""

    def __init__(self, authority: ClusterAuthority) -> None:
        self.calls: list[Call] = []
        self.ca_bundle = authority.certificate_path.read_bytes()
        serving = authority.issue_serving("recording-webhook")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(serving.certificate, serving.key)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.calls.append))
        self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def hooks_called(self, operation: str, name: str) -> set[str]:
        """The hooks that were called for an operation on the object of this name."""
        return {c.hook for c in self.calls if (c.operation, c.name) == (operation, name)}

    def stop(self) -> None:
        """Close the port; a second call does nothing."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(record: Callable[[Call], None]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            request = json.loads(self.rfile.read(length))["request"]
            parts = [request["resource"]["resource"], request.get("subResource", "")]
            resource = "/".join(part for part in parts if part)
            name = request.get("name") or request["object"]["metadata"].get("name", "")
            hook = urlsplit(self.path).path.removeprefix("/")
            record(Call(hook, request["operation"], resource, name))
            self._answer(
                {
                    "apiVersion": "admission.k8s.io/v1",
                    "kind": "AdmissionReview",
                    "response": {"uid": request["uid"], "allowed": True},
                }
            )

        def _answer(self, document: object) -> None:
            body = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: the calls are the log."""

    return Handler


@contextlib.contextmanager
def registered(
    kubectl: Kubectl,
    webhook: RecordingWebhook,
    *,
    policy: Policy | None = None,
    server_minor: int = NEWEST_MINOR,
) -> Iterator[Registration]:
    """Register the webhook, wait until the API server calls it, and take it away again afterwards."""
    policy = policy or Policy()
    client = ClientConfig(webhook.ca_bundle, url=webhook.url)
    made = webhook_configurations(policy, client, server_minor=server_minor)
    both = (made.mutating, made.validating)
    for configuration in both:
        webhooks = configuration["webhooks"]
        assert isinstance(webhooks, list)
        for hook in webhooks:
            hook["clientConfig"]["url"] += f"/{hook['name'].partition('.')[0]}"
    document = json.dumps({"apiVersion": "v1", "kind": "List", "items": both})
    try:
        kubectl.succeed("create", "-f", "-", stdin=document)
        _wait_until_asked(kubectl, webhook, policy, {"mutate", "validate"})
        webhook.calls.clear()
        yield made
    finally:
        kubectl.succeed("delete", "--ignore-not-found", "-f", "-", stdin=document)
        _wait_until_asked(kubectl, webhook, policy, set())


def failed_evaluations(kubectl: Kubectl) -> list[str]:
    """The API server's metrics, since it started, of expressions of ours that raised or cost too much."""
    metrics = kubectl.succeed("get", "--raw", "/metrics").out.splitlines()
    ours = [line for line in metrics if '.mgpu-hybrid.io"' in line]
    counted = [line for line in ours if "match_condition_evaluation_seconds_count" in line]
    assert counted, "the API server does not count evaluations under these names"
    return [line for line in ours if "match_condition_evaluation_errors" in line]


def _wait_until_asked(
    kubectl: Kubectl, webhook: RecordingWebhook, policy: Policy, phases: set[str]
) -> None:
    """Create an offline pod, in a dry run, until exactly these phases of admission ask the webhook.

    A refusal counts as an answer of the validating phase: the webhook may be stopped by now.
    """
    limits = {policy.keys.reclaimed_mgpu_core: "1", policy.keys.mgpu_memory: "1"}
    container = {"name": "main", "image": "busybox", "resources": {"limits": limits}}
    probe = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "registration-probe"},
        "spec": {"containers": [container]},
    }
    url = "/api/v1/namespaces/default/pods?dryRun=All"
    asked: set[str] = set()
    for _ in range(PROBE_LIMIT):
        before = len(webhook.calls)
        done = kubectl("create", f"--raw={url}", "-f", "-", stdin=json.dumps(probe))
        asked = {call.hook.partition("/")[0] for call in webhook.calls[before:]}
        if done.code != 0:
            asked.add("validate")
        if asked == phases:
            return
    raise AssertionError(f"the API server asks in {asked}, not in {phases}")

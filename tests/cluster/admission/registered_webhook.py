"""The webhook as it is installed: its registration is made from its policy, applied, and taken away again.

Webhook configurations are cluster-wide, so a module that registers one leaves nothing behind.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from demo.server import RunningServer, running_server
from policies.document.loading import load_policy
from policies.policy import Policy
from tests.cluster.admission.manifests import text, unmarked
from tests.cluster.admission.server_metrics import faults_of_webhook
from tests.cluster.kubectl import Kubectl
from tests.cluster.waiting import eventually
from webhook.registration import ClientConfig, webhook_configurations

NODES = Path(__file__).parents[3] / "demo" / "nodes.yaml"
GOOD_VERSION = "v1.28.15-vke.19"
NEWEST_MINOR = 36
"""Of the API server that is under test. Lower ones get the registration of that version from it too."""


@contextlib.contextmanager
def serving(
    folder: Path, *arguments: str, policy_text: str = "", version: str = GOOD_VERSION
) -> Iterator[RunningServer]:
    """`mgpu-hybrid serve` with the nodes of the demo and, where a text is given, a policy file."""
    known = ["--nodes", str(NODES), "--kubernetes-version", version]
    policy = _policy_arguments(folder, policy_text)
    with running_server(folder, [*known, *arguments, *policy]) as server:
        yield server


@contextlib.contextmanager
def serving_live(
    folder: Path, kubeconfig: Path, *arguments: str, policy_text: str = ""
) -> Iterator[RunningServer]:
    """The same in touch with the cluster of a kubeconfig: its nodes and its pods."""
    known = ["--kubeconfig", str(kubeconfig), "--kubernetes-version", GOOD_VERSION]
    policy = _policy_arguments(folder, policy_text)
    with running_server(folder, [*known, *arguments, *policy]) as server:
        yield server


def _policy_arguments(folder: Path, policy_text: str) -> list[str]:
    if not policy_text:
        return []
    policy_file = folder.with_suffix(".policy.yaml")
    policy_file.write_text(policy_text)
    return ["--policy", str(policy_file)]


@contextlib.contextmanager
def registered(
    kubectl: Kubectl,
    server: RunningServer,
    *,
    policy_text: str = "",
    server_minor: int = NEWEST_MINOR,
) -> Iterator[None]:
    """The API server calls both hooks of this webhook, and none of them afterwards.

    A call that fails, or a patch that does not apply, fails the module: nothing here may rely on the
    failure policy.
    """
    before = faults_of_webhook(kubectl)
    with registered_unwatched(kubectl, server, policy_text=policy_text, server_minor=server_minor):
        yield
    assert faults_of_webhook(kubectl) == before


@contextlib.contextmanager
def registered_unwatched(
    kubectl: Kubectl,
    server: RunningServer,
    *,
    policy_text: str = "",
    server_minor: int = NEWEST_MINOR,
) -> Iterator[None]:
    """The same for tests that take the webhook away."""
    policy = load_policy(policy_text, "policy.yaml") if policy_text else Policy()
    client = ClientConfig(
        server.client.ca_path.read_bytes(), url=f"https://127.0.0.1:{server.client.port}"
    )
    made = webhook_configurations(policy, client, server_minor=server_minor)
    both = {"apiVersion": "v1", "kind": "List", "items": [made.mutating, made.validating]}
    document = json.dumps(both)
    try:
        kubectl.succeed("apply", "-f", "-", stdin=document)
        eventually(lambda: _asks_both_hooks(kubectl), "the API server asks the webhook")
        yield
    finally:
        kubectl.succeed("delete", "--ignore-not-found", "-f", "-", stdin=document)
        eventually(lambda: _asks_no_hook(kubectl), "the API server forgets the webhook")


def _asks_both_hooks(kubectl: Kubectl) -> bool:
    """Whether an unmarked pod is refused for that, and not for want of the injection."""
    done = kubectl("create", "--dry-run=server", "-f", "-", stdin=text(unmarked("probe")))
    return done.code == 1 and "[offline-annotation]" in done.err and "[injected]" not in done.err


def _asks_no_hook(kubectl: Kubectl) -> bool:
    arguments = ("create", "--dry-run=server", "-o", "json", "-f", "-")
    done = kubectl(*arguments, stdin=text(unmarked("probe")))
    return done.code == 0 and "mgpu-hybrid.io/class" not in done.out

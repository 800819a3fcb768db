"""Namespaces in which nothing is refused: exempt ones, where pods are still marked, and those left out."""

from collections.abc import Iterator

import pytest

from tests.builders import QOS_LEVEL
from tests.cluster.admission.manifests import deployment, section, text, unmarked, without_memory
from tests.cluster.admission.patches import annotate
from tests.cluster.admission.registered_webhook import registered, serving
from tests.cluster.kubectl import Kubectl

POLICY = """
apiVersion: mgpu-hybrid.io/v1alpha1
kind: HybridPolicy
spec:
  exemptions:
    - namespaces: [{exempt}]
    - namespaces: [{partly}]
      rules: [offline-memory]
"""
OURS = "mgpu-hybrid-system"


@pytest.fixture(scope="module")
def exempt(
    kubectl: Kubectl, module_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kubectl]:
    """kubectl in the exempt namespace; its name with `-partly` is one that is exempt from one rule."""
    partly = f"{module_kubectl.namespace}-partly"
    policy_text = POLICY.format(exempt=module_kubectl.namespace, partly=partly)
    kubectl.succeed("create", "namespace", partly)
    folder = tmp_path_factory.mktemp("exemptions") / "tls"
    with (
        serving(folder, policy_text=policy_text) as server,
        registered(kubectl, server, policy_text=policy_text),
    ):
        yield module_kubectl


@pytest.mark.parametrize("name", ["without-memory", "unmarked"])
def test_wrong_pod_gets_in_and_is_marked(exempt: Kubectl, name: str) -> None:
    pod = unmarked(name) if name == "unmarked" else without_memory(name)
    done = exempt.succeed("create", "-f", "-", stdin=text(pod))
    created = exempt.read("get", "pod", name)

    assert done.err == ""
    assert section(created, "metadata")["labels"] == {"mgpu-hybrid.io/class": "offline"}
    assert "MGPU_TASK_CLASS" in str(section(created, "spec")["containers"])


def test_wrong_template_and_change_get_in(exempt: Kubectl) -> None:
    exempt.succeed("create", "-f", "-", stdin=text(deployment("web", without_memory("x"))))
    exempt.succeed("create", "-f", "-", stdin=text(without_memory("changed")))

    assert annotate(exempt, "changed", {QOS_LEVEL: None}).code == 0


def test_exemption_from_one_rule_leaves_the_others(exempt: Kubectl) -> None:
    partly = exempt.in_namespace(f"{exempt.namespace}-partly")

    assert partly("create", "-f", "-", stdin=text(without_memory("without-memory"))).code == 0
    done = partly("create", "-f", "-", stdin=text(unmarked("unmarked")))
    assert done.code == 1
    assert "[offline-annotation]" in done.err


@pytest.mark.usefixtures("exempt")
@pytest.mark.parametrize("name", [OURS, "kube-system"])
def test_namespaces_of_the_system_are_left_alone(kubectl: Kubectl, name: str) -> None:
    kubectl("create", "namespace", name)
    there = kubectl.in_namespace(name)
    created = there.succeed("create", "-o", "json", "-f", "-", stdin=text(unmarked("alone"))).out
    there.succeed("delete", "pod", "alone", "--now")

    assert "mgpu-hybrid.io" not in created
    assert "MGPU_TASK_CLASS" not in created

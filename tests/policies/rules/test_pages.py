"""The rule pages tell the truth: the first example of each is found by its rule, the second is not.

A page has three YAML blocks: found, not found, exemption. Pods are judged as in the cluster, after mutation
(but for `injected`); two pods are one before and after an update; nodes, a server version and a policy are
taken as facts, beside an offline pod where the example holds none.
"""

import re
from pathlib import Path

import pytest
import yaml

import policies
from policies.document.loading import load_policy
from policies.engine import ALL_RULE_IDS, decide_node, rule_by_id
from policies.facts import Operation
from policies.node_change import NodeChange, holding_pods, node_settings
from policies.policy import DEFAULT_ACTIONS, Action, Exemption, Policy
from policies.rules import NODE_CHANGE_RULES
from tests.builders import FactOptions, Object, bare_offline_pod, found, mutated

DOCS = Path(policies.__file__).parent / "docs"
FENCE = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADINGS = ["What is judged", "Found", "Not found", "How to mend it", "How to be exempt"]
CHANGE_IDS = [rule.id for rule in NODE_CHANGE_RULES]
ON = Policy(actions={**DEFAULT_ACTIONS, "gpu-by-env": Action.WARN})


def page(rule_id: str) -> str:
    return (DOCS / f"{rule_id}.md").read_text(encoding="utf-8")


def policy_of(spec: str) -> Policy:
    return load_policy(f"apiVersion: mgpu-hybrid.io/v1alpha1\nkind: HybridPolicy\n{spec}", "page")


def node_change_actions(documents: list[Object]) -> set[Action]:
    """Two nodes, before and after, and the pods that are there."""
    (before, after), pods = (
        [d for d in documents if d["kind"] == kind] for kind in ("Node", "Pod")
    )
    change = NodeChange(
        name="gpu-1",
        old=node_settings(before, ON.keys),
        new=node_settings(after, ON.keys),
        policy=ON,
        pods=tuple(holding_pods(pods, ON)),
    )
    return {finding.action for finding in decide_node(change).findings}


def actions(rule_id: str, example: str) -> set[Action]:
    documents: list[Object] = list(yaml.safe_load_all(example))
    if rule_id in CHANGE_IDS:
        return node_change_actions(documents)
    options: FactOptions = {"policy": ON}
    nodes = [d for d in documents if d.get("kind") == "Node"]
    if nodes:
        options["nodes"] = nodes
    for document in documents:
        server = document.get("serverVersion")
        if isinstance(server, dict):
            options["cluster_version"] = server["gitVersion"]
        if document.get("kind") == "HybridPolicy":
            options["policy"] = load_policy(example, "page")
    pods = [d for d in documents if d.get("kind") == "Pod"] or [bare_offline_pod()]
    if rule_id != "injected":
        pods = [mutated(raw) for raw in pods]
    if len(pods) > 1:
        options["operation"], options["old"] = Operation.UPDATE, pods[0]
    return {finding.action for finding in found(rule_id, pods[-1], **options)}


@pytest.mark.parametrize("rule_id", ALL_RULE_IDS)
def test_examples(rule_id: str) -> None:
    found_example, passing_example, _ = FENCE.findall(page(rule_id))
    assert actions(rule_id, found_example) == {ON.actions[rule_id]}
    assert actions(rule_id, passing_example) == set()


@pytest.mark.parametrize("rule_id", CHANGE_IDS)
def test_nodes_have_no_namespace_to_exempt(rule_id: str) -> None:
    snippet = FENCE.findall(page(rule_id))[2]
    assert policy_of(f"spec:\n  {snippet}") != Policy()


@pytest.mark.parametrize("rule_id", [i for i in ALL_RULE_IDS if i not in CHANGE_IDS])
def test_exemption(rule_id: str) -> None:
    snippet = FENCE.findall(page(rule_id))[2]
    assert policy_of(f"spec:\n  {snippet}").exemptions == (
        Exemption(("legacy-training",), (rule_id,)),
    )


@pytest.mark.parametrize("rule_id", ALL_RULE_IDS)
def test_form(rule_id: str) -> None:
    rule = rule_by_id(rule_id)
    assert rule is not None
    text = page(rule_id)
    assert text.startswith(f"# {rule_id}: {rule.title}\n\n")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS
    assert text.endswith(f"\n\nSource: {rule.source}.\n")

"""A review becomes the facts to judge, or a reason why there are none."""

import pytest

from policies.errors import MalformedError
from policies.facts import Facts, Operation
from policies.node import Inventory
from policies.policy import Injection, Policy, TemplateKind
from tests.builders import ASSUMED, Object, offline_pod, pod, template_of
from tests.webhook.reviews import parsed, snapshot
from webhook.gather import Skip, gather
from webhook.state import Snapshot


def deployment(raw: Object, api_version: str = "apps/v1") -> Object:
    return {
        "apiVersion": api_version,
        "kind": "Deployment",
        "metadata": {"name": "app"},
        "spec": {"template": template_of(raw)},
    }


def binding() -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "app", "annotations": {ASSUMED: "true"}},
        "target": {"name": "gpu-1"},
    }


def gathered(raw: Object, **fields: object) -> tuple[Facts, ...]:
    facts = gather(parsed(raw, **fields), snapshot())
    assert not isinstance(facts, Skip)
    return facts


def test_a_pod_that_is_created() -> None:
    (facts,) = gathered(pod())
    assert facts.operation is Operation.CREATE
    assert (facts.pod.name, facts.pod.namespace, facts.username) == ("app", "jobs", "alice")
    assert (facts.old, facts.subresource, facts.template_kind) == (None, "", "")


@pytest.mark.parametrize("subresource", ["", "status"])
def test_an_update_has_the_old_pod(subresource: str) -> None:
    old = pod(metadata={"name": "old"})
    (facts,) = gathered(pod(), operation="UPDATE", oldObject=old, subResource=subresource)
    assert facts.operation is Operation.UPDATE
    assert facts.old is not None
    assert (facts.old.name, facts.subresource) == ("old", subresource)


def test_what_the_snapshot_knows_is_in_the_facts() -> None:
    policy, inventory, injection = Policy(digest="d"), Inventory(()), Injection(env=())
    known = Snapshot(policy, inventory, "v1.30.4-vke.3", (injection,))
    facts = gather(parsed(pod()), known)
    assert not isinstance(facts, Skip)
    assert facts[0].policy is policy
    assert facts[0].inventory is inventory
    assert facts[0].cluster_version == "v1.30.4-vke.3"
    assert facts[0].previous_injections == (injection,)


def test_a_binding_is_judged_by_its_annotations() -> None:
    (facts,) = gathered(binding(), subResource="binding")
    assert facts.subresource == "binding"
    assert facts.pod.annotations == {ASSUMED: "true"}


def test_a_template_is_judged_at_its_path() -> None:
    (facts,) = gathered(deployment(offline_pod()))
    assert (facts.template_kind, facts.pod.path) == ("Deployment", "spec.template")
    assert facts.old is None


def test_an_update_of_a_workload_pairs_old_and_new_templates() -> None:
    new = deployment(offline_pod(metadata={"name": "new"}))
    old = deployment(offline_pod(metadata={"name": "old"}))
    (facts,) = gathered(new, operation="UPDATE", oldObject=old)
    assert facts.old is not None
    assert (facts.pod.name, facts.old.name) == ("new", "old")


def test_the_kind_is_the_one_that_the_request_names() -> None:
    raw = deployment(offline_pod())
    del raw["kind"], raw["apiVersion"]
    named = {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert len(gathered(raw, kind=named)) == 1


def test_every_template_of_a_kind_of_the_policy_is_judged() -> None:
    tasks = TemplateKind("batch.volcano.sh", "Job", ("spec.tasks[*].template",))
    raw: Object = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "spec": {"tasks": [{"template": template_of(pod())}, {"template": template_of(pod())}]},
    }
    policy = Policy(templates=(*Policy().templates, tasks))
    facts = gather(parsed(raw), snapshot(policy))
    assert not isinstance(facts, Skip)
    paths = [each.pod.path for each in facts]
    assert paths == ["spec.tasks[0].template", "spec.tasks[1].template"]


@pytest.mark.parametrize("raw", [pod(), deployment(pod())], ids=["pod", "template"])
def test_the_namespace_is_the_requests_own(raw: Object) -> None:
    """Exemptions go by it, so what an object says of its namespace must not count."""
    raw["metadata"] = {"namespace": "kube-system"}
    for facts in gathered(raw, namespace="team-a"):
        assert facts.pod.namespace == "team-a"


SKIPPED: dict[str, tuple[Object, dict[str, object], Skip]] = {
    "delete": (pod(), {"operation": "DELETE"}, Skip.OPERATION),
    "connect": (pod(), {"operation": "CONNECT"}, Skip.OPERATION),
    "unknown operation": (pod(), {"operation": "PATCH"}, Skip.OPERATION),
    "no operation": (pod(), {"operation": ""}, Skip.OPERATION),
    "resize": (pod(), {"operation": "UPDATE", "subResource": "resize"}, Skip.SUBRESOURCE),
    "scale": (
        deployment(pod()),
        {"operation": "UPDATE", "subResource": "scale"},
        Skip.SUBRESOURCE,
    ),
    "other kind": ({"apiVersion": "v1", "kind": "ConfigMap"}, {}, Skip.KIND),
    "pod of another group": ({**pod(), "apiVersion": "example.io/v1"}, {}, Skip.KIND),
    "pod of another version": ({**pod(), "apiVersion": "v2"}, {}, Skip.VERSION),
    "binding of another version": ({**binding(), "apiVersion": "v2"}, {}, Skip.VERSION),
}


@pytest.mark.parametrize(("raw", "fields", "why"), SKIPPED.values(), ids=SKIPPED)
def test_what_is_none_of_ours_is_skipped(raw: Object, fields: dict[str, object], why: Skip) -> None:
    assert gather(parsed(raw, **fields), snapshot()) is why


def test_a_malformed_pod_names_the_path() -> None:
    with pytest.raises(MalformedError, match=r"spec\.containers"):
        gather(parsed({**pod(), "spec": {"containers": "x"}}), snapshot())

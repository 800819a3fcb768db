import pytest

from policies.errors import MalformedError
from policies.policy import BUILTIN_TEMPLATES, Policy, TemplateKind
from policies.templates import pod_templates, template_kind
from tests.builders import Object

TEMPLATE: Object = {"spec": {"containers": []}}
VOLCANO = TemplateKind("batch.volcano.sh", "Job", ("spec.tasks[*].template",))
WORKERS = TemplateKind("example.com", "Set", ("spec.leader", "spec.sets[*].workers[*].template"))
POLICY = Policy(templates=(*BUILTIN_TEMPLATES, VOLCANO, WORKERS))
SPEC: Object = {"template": TEMPLATE}


def workload(api_version: str, kind: str, **fields: object) -> Object:
    return {"apiVersion": api_version, "kind": kind, **fields}


@pytest.mark.parametrize(
    ("raw", "paths"),
    [
        (workload("apps/v1", "Deployment", spec=SPEC), ["spec.template"]),
        (workload("apps/v1", "StatefulSet", spec=SPEC), ["spec.template"]),
        (workload("apps/v1", "DaemonSet", spec=SPEC), ["spec.template"]),
        (workload("apps/v1", "ReplicaSet", spec=SPEC), ["spec.template"]),
        (workload("v1", "ReplicationController", spec=SPEC), ["spec.template"]),
        (workload("batch/v1", "Job", spec=SPEC), ["spec.template"]),
        (
            workload("batch/v1", "CronJob", spec={"jobTemplate": {"spec": SPEC}}),
            ["spec.jobTemplate.spec.template"],
        ),
        (workload("v1", "PodTemplate", template=TEMPLATE), ["template"]),
        (workload("apps/v2", "Deployment", spec=SPEC), ["spec.template"]),
        (workload("v1", "Deployment", spec=SPEC), []),
        (workload("apps/v1", "deployment", spec=SPEC), []),
        (workload("v1", "Pod", spec=TEMPLATE["spec"]), []),
        (workload("apps/v1", "Deployment"), []),
        (workload("apps/v1", "Deployment", spec=None), []),
        (workload("apps/v1", "Deployment", spec={"template": None}), []),
        (
            workload("batch.volcano.sh/v1alpha1", "Job", spec={"tasks": [SPEC, {}, None, SPEC]}),
            ["spec.tasks[0].template", "spec.tasks[3].template"],
        ),
        (workload("batch.volcano.sh/v1alpha1", "Job", spec={"tasks": []}), []),
        (
            workload(
                "example.com/v1",
                "Set",
                spec={"leader": TEMPLATE, "sets": [{"workers": [SPEC]}, {"workers": [SPEC, SPEC]}]},
            ),
            [
                "spec.leader",
                "spec.sets[0].workers[0].template",
                "spec.sets[1].workers[0].template",
                "spec.sets[1].workers[1].template",
            ],
        ),
    ],
    ids=lambda value: f"{value['apiVersion']} {value['kind']}" if isinstance(value, dict) else "",
)
def test_templates(raw: Object, paths: list[str]) -> None:
    found = list(pod_templates(raw, POLICY))
    assert [path for path, _ in found] == paths
    assert all(template == TEMPLATE for _, template in found)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (workload("apps/v1", "Deployment", spec=[]), "spec"),
        (workload("apps/v1", "Deployment", spec={"template": "x"}), "spec.template"),
        (workload("batch.volcano.sh/v1", "Job", spec={"tasks": {}}), "spec.tasks"),
        (workload("batch.volcano.sh/v1", "Job", spec={"tasks": [1]}), "spec.tasks[0]"),
    ],
    ids=["spec", "template", "tasks", "task"],
)
def test_a_wrong_type_names_its_place(raw: Object, path: str) -> None:
    with pytest.raises(MalformedError) as caught:
        list(pod_templates(raw, POLICY))
    assert caught.value.path == path


def test_the_kind_of_other_objects_is_none() -> None:
    assert template_kind({"kind": "Deployment"}, POLICY) is None
    assert template_kind({"apiVersion": 1, "kind": "Deployment"}, POLICY) is None
    job = template_kind(workload("batch.volcano.sh/v1", "Job"), POLICY)
    assert job is VOLCANO

"""Workloads with offline pod templates: what `kubectl apply` says at once, before there is any pod."""

import json
from collections.abc import Iterator

import pytest

from demo.server import RunningServer
from tests.builders import Object
from tests.cluster.admission.manifests import (
    deployment,
    labelled_template,
    offline,
    text,
    without_memory,
)
from tests.cluster.admission.messages import joined, longest, refused, warnings
from tests.cluster.admission.registered_webhook import registered
from tests.cluster.kubectl import Kubectl

NO_MEMORY = (
    "container worker asks reclaimed compute but no vke.volcengine.com/mgpu-memory; ask "
    "vke.volcengine.com/mgpu-memory of at least 256 (MiB), the same in limits and requests, in each "
    "container that asks reclaimed-mgpu-core"
)


def cron_job(name: str, pod: Object) -> Object:
    template = labelled_template(name, {**pod, "spec": {**_spec(pod), "restartPolicy": "Never"}})
    job = {"spec": {"template": template}}
    spec = {"schedule": "0 0 * * *", "jobTemplate": job}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": name},
        "spec": spec,
    }


def _spec(pod: Object) -> Object:
    spec = pod["spec"]
    assert isinstance(spec, dict)
    return spec


@pytest.fixture(scope="module")
def with_old_deployment(
    module_kubectl: Kubectl, default_server: RunningServer
) -> Iterator[Kubectl]:
    """kubectl in a namespace with Deployments `old` and `ending` that would be refused today."""
    for name in ("old", "ending"):
        old = deployment(name, without_memory("x"))
        module_kubectl.succeed("apply", "-f", "-", stdin=text(old))
    with registered(module_kubectl, default_server):
        yield module_kubectl


@pytest.mark.parametrize("arguments", [(), ("--dry-run=server",)], ids=["apply", "dry-run"])
@pytest.mark.parametrize(
    ("workload", "path"),
    [
        pytest.param(deployment("bad", without_memory("x")), "spec.template", id="deployment"),
        pytest.param(
            cron_job("bad", without_memory("x")), "spec.jobTemplate.spec.template", id="cron-job"
        ),
    ],
)
def test_wrong_template_is_refused(
    with_old_deployment: Kubectl, workload: Object, path: str, arguments: tuple[str, ...]
) -> None:
    done = with_old_deployment("apply", "-f", "-", *arguments, stdin=text(workload))

    assert (done.code, done.out) == (1, "")
    assert done.err == refused(
        "templates",
        f"[offline-memory] {path}: {NO_MEMORY}",
        doing='error when creating "STDIN": ',
    )


@pytest.mark.parametrize(("name", "arguments"), [("applied", ()), ("tried", ("--dry-run=server",))])
def test_nodes_only_warn(
    with_old_deployment: Kubectl, name: str, arguments: tuple[str, ...]
) -> None:
    workload = deployment(name, offline("x", nodeSelector={"pool": "native"}))
    done = with_old_deployment("apply", "-f", "-", *arguments, stdin=text(workload))
    told = warnings(done.err)

    assert done.code == 0
    assert longest(told) <= 120
    assert joined(done.err, "node-compute-policy") == (
        "[node-compute-policy] spec.template: 2 of 2 possible nodes (nodeSelector pool=native) cannot "
        "suspend offline work for online work: 2 have compute policy native-burst-share (native-1, "
        "native-2); select nodes with guaranteed-burst-share or fixed-share"
    )


def test_one_refused_node_is_enough_for_a_daemon_set(with_old_deployment: Kubectl) -> None:
    template = labelled_template("agent", offline("x", nodeSelector={"pool": "mixed"}))
    workload = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": template},
    }
    done = with_old_deployment.succeed("create", "-f", "-", stdin=text(workload))

    assert joined(done.err, "node-compute-policy") == (
        "[node-compute-policy] spec.template: 1 of 2 possible nodes (nodeSelector pool=mixed) cannot "
        "suspend offline work for online work: 1 has compute policy native-burst-share (mixed-2); "
        "select nodes with guaranteed-burst-share or fixed-share"
    )


def test_good_template_is_not_changed(with_old_deployment: Kubectl) -> None:
    done = with_old_deployment.succeed(
        "apply", "-o", "json", "-f", "-", stdin=text(deployment("good", offline("x")))
    )

    assert done.err == ""
    assert "MGPU_TASK_CLASS" not in done.out


def test_old_deployment_can_be_labelled_and_scaled(with_old_deployment: Kubectl) -> None:
    assert with_old_deployment.succeed("label", "deployment", "old", "tier=gold").err == ""
    assert with_old_deployment.succeed("scale", "deployment", "old", "--replicas=3").err == ""
    assert with_old_deployment.succeed("rollout", "pause", "deployment", "old").err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("scale", "--replicas=0"), id="scale"),
        pytest.param(("patch", "--type=merge", '-p={"spec":{"replicas":0}}'), id="replicas"),
        pytest.param(("annotate", "example.com/note=x"), id="annotation"),
        pytest.param(
            ("patch", "--type=merge", '-p={"metadata":{"finalizers":["example.com/x"]}}'),
            id="finalizer",
        ),
        pytest.param(
            ("patch", "--type=merge", '-p={"metadata":{"finalizers":null}}'), id="finalizer-removed"
        ),
    ],
)
def test_old_deployment_can_be_left(
    with_old_deployment: Kubectl, arguments: tuple[str, ...]
) -> None:
    verb, *flags = arguments
    done = with_old_deployment(verb, "deployment/old", *flags)

    assert (done.code, done.err) == (0, "")


def test_old_deployment_can_end(with_old_deployment: Kubectl) -> None:
    with_old_deployment.succeed("delete", "deployment", "ending")

    assert with_old_deployment("get", "deployment", "ending").code == 1


def test_old_deployment_cannot_be_made_worse(with_old_deployment: Kubectl) -> None:
    patch = json.dumps({"spec": {"template": {"metadata": {"annotations": None}}}})
    done = with_old_deployment("patch", "deployment", "old", "--type=merge", f"-p={patch}")

    assert done.code == 1
    assert "[offline-annotation]" in done.err
    assert "[offline-memory]" not in done.err

"""Warnings: what a person sees of a pod that is admitted with doubts, and of the changes in a dry run."""

import json

import pytest

from tests.builders import MULTI_CARD, OFFLINE_ASKS, Object, container
from tests.cluster.admission.manifests import offline, other, section, text
from tests.cluster.admission.messages import longest, warnings
from tests.cluster.kubectl import Kubectl

LONG_NAME = "w" * 44

WARNED: dict[str, tuple[Object, list[str]]] = {
    "node-match": (
        offline("node-match", nodeSelector={"pool": "none"}),
        [
            (
                "[node-match] none of the 19 known GPU nodes matches nodeSelector pool=none and the pod's "
                "tolerations; check the"
            ),
            (
                "[node-match] … selection; a pool that grows from zero can be described in the policy's "
                "`nodePools`"
            ),
        ],
    ),
    "multi-card-mode": (
        offline("multi-card-mode", annotations={MULTI_CARD: "1"}),
        [
            (
                '[multi-card-mode] annotation vke.volcengine.com/container-multiple-gpu is "1": schedulers '
                "take its presence for"
            ),
            (
                "[multi-card-mode] … multi-card mode; remove the annotation "
                "vke.volcengine.com/container-multiple-gpu: one card needs no"
            ),
            "[multi-card-mode] … list",
        ],
    ),
    "offline-liveness": (
        offline(
            "offline-liveness",
            container(OFFLINE_ASKS, livenessProbe={"httpGet": {"path": "/", "port": 80}}),
        ),
        [
            (
                "[offline-liveness] container worker has HTTP in its livenessProbe, which fails while it is "
                "suspended; use an exec or TCP"
            ),
            "[offline-liveness] … probe, or none",
        ],
    ),
    "offline-deadline": (
        offline("offline-deadline", activeDeadlineSeconds=600),
        [
            (
                "[offline-deadline] offline pod has activeDeadlineSeconds 600, which runs on while it is "
                "suspended; remove it, or make it"
            ),
            "[offline-deadline] … long enough for the time that online work may take",
        ],
    ),
    "privileged-container": (
        offline(
            "privileged-container",
            container(OFFLINE_ASKS),
            container(name="debug", securityContext={"privileged": True}),
        ),
        [
            (
                "[privileged-container] container debug of an mGPU pod is privileged and sees every card; "
                "drop privileged and grant the"
            ),
            "[privileged-container] … single capabilities it needs",
        ],
    ),
    "container-name": (
        offline("container-name", container(OFFLINE_ASKS, LONG_NAME)),
        [
            f"[container-name] container name {LONG_NAME} has 44 characters; shorten it to at most 43",
            "[container-name] … characters: the scheduler cannot write its placement annotation",
        ],
    ),
    "node-kubelet-version": (
        offline("node-kubelet-version", nodeSelector={"pool": "behind"}),
        [
            (
                "[node-kubelet-version] of 1 possible node (nodeSelector pool=behind) none is free of doubt: "
                "1 has kubelet"
            ),
            (
                "[node-kubelet-version] … v1.28.3-vke.99, older than hybrid deployment needs (behind-1); "
                "upgrade the node pool to the"
            ),
            "[node-kubelet-version] … release of the control plane",
        ],
    ),
    "unknown-driver": (
        offline("unknown-driver", nodeSelector={"pool": "silent"}),
        [
            (
                "[node-driver-version] of 1 possible node (nodeSelector pool=silent) none is free of doubt: "
                "1 has an unknown mGPU driver"
            ),
            (
                "[node-driver-version] … version (silent-1); upgrade the mGPU driver to 0.07.35.23 or later; "
                "where it is unknown, run the"
            ),
            "[node-driver-version] … agent on the node",
        ],
    ),
    "own-mark": (
        offline(
            "own-mark",
            container(OFFLINE_ASKS, env=[{"name": "MGPU_TASK_CLASS", "value": "online"}]),
        ),
        [
            (
                'spec.containers[0].env: MGPU_TASK_CLASS was "online", is now "offline": the class of a pod '
                "is not set by hand"
            )
        ],
    ),
    "none": (other("none", container(name=LONG_NAME), activeDeadlineSeconds=600), []),
    "good": (offline("good", container(OFFLINE_ASKS, "w" * 43)), []),
}


@pytest.mark.parametrize("name", WARNED)
def test_warned(in_cluster: Kubectl, name: str) -> None:
    manifest, expected = WARNED[name]
    done = in_cluster.succeed("create", "-f", "-", stdin=text(manifest))

    assert done.out == f"pod/{name} created\n"
    assert done.err == "".join(f"Warning: {warning}\n" for warning in expected)
    assert longest([*expected, ""]) <= 120


def test_dry_run_shows_each_change_and_its_reason(in_cluster: Kubectl) -> None:
    arguments = ("apply", "--dry-run=server", "-o", "json", "-f", "-")
    done = in_cluster.succeed(*arguments, stdin=text(offline("dry")))
    shown = json.loads(done.out)

    assert warnings(done.err) == [
        (
            "mgpu-hybrid: add /spec/containers/0/env: tells the mGPU driver that this container's work is "
            "offline (container worker)"
        ),
        (
            "mgpu-hybrid: add /spec/tolerations/-: admits nodes that are tainted for offline work "
            "(mgpu-hybrid.io/reclaimed)"
        ),
        "mgpu-hybrid: add /spec/affinity: keeps the pod on nodes where online work can suspend it",
        "mgpu-hybrid: add /metadata/labels: lets people and programs select offline pods",
    ]
    assert longest(warnings(done.err)) <= 120
    assert section(shown, "metadata")["labels"] == {"mgpu-hybrid.io/class": "offline"}
    assert "mgpu-hybrid.io/reclaimed" in str(section(shown, "spec")["tolerations"])
    assert in_cluster("get", "pod", "dry").code == 1

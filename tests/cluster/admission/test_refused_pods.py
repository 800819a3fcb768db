"""Pods that are refused for what they say: all that the person sees of it."""

import pytest

from tests.builders import ASSUMED, COMPUTE_POLICY, QOS_LEVEL, RECLAIMED, WHOLE_CARD, container
from tests.cluster.admission.manifests import other, text, without_memory
from tests.cluster.admission.messages import refused
from tests.cluster.admission.refused_pods import PASSING, REFUSED
from tests.cluster.admission.server_metrics import refusals_by_webhook
from tests.cluster.kubectl import Kubectl


@pytest.mark.parametrize("name", REFUSED)
def test_refused(in_cluster: Kubectl, name: str) -> None:
    manifest, hook, findings = REFUSED[name]
    done = in_cluster("create", "-f", "-", stdin=text(manifest))

    assert (done.code, done.out, done.err) == (1, "", refused(hook, *findings))
    assert in_cluster("get", "pod", name).code == 1


@pytest.mark.parametrize("name", PASSING)
def test_passes(in_cluster: Kubectl, name: str) -> None:
    in_cluster.succeed("create", "-f", "-", stdin=text(PASSING[name]))


def test_all_findings_come_at_once(in_cluster: Kubectl) -> None:
    manifest = other(
        "wrong",
        container({RECLAIMED: "200"}),
        container({WHOLE_CARD: "1"}, "second"),
        annotations={QOS_LEVEL: "offline", COMPUTE_POLICY: "native", ASSUMED: "true"},
        nodeSelector={"pool": "native"},
    )
    done = in_cluster("create", "-f", "-", stdin=text(manifest))
    message = done.err.partition("denied the request: ")[2]

    assert done.code == 1
    assert [line.partition("]")[0] for line in message.splitlines()] == [
        "[qos-level",
        "[offline-annotation",
        "[offline-compute",
        "[offline-memory",
        "[compute-policy",
        "[mixed-gpu-modes",
        "[scheduler-annotations",
        "[node-compute-policy",
    ]


def test_the_api_server_counts_refusals_under_our_names(in_cluster: Kubectl) -> None:
    """So the counts of faults, which every module compares, are looked for in the right place."""
    before = refusals_by_webhook(in_cluster)
    in_cluster("create", "-f", "-", stdin=text(without_memory("counted")))

    assert refusals_by_webhook(in_cluster) == before + 1

"""The controller, with its own rights alone, against the real API server."""

import json
from pathlib import Path
from typing import cast

import pytest

from policies.policy import ELIGIBLE_LABEL
from tests.builders import (
    COMPUTE_POLICY,
    DRIVER_VERSION,
    GPU_SCHEDULE,
    WHOLE_CARD,
    Object,
    bare_offline_pod,
    node,
    online_pod,
)
from tests.cluster.conftest import CreateNode
from tests.cluster.control_plane import ControlPlane, write_kubeconfig
from tests.cluster.controller.conftest import Cluster
from tests.cluster.kubectl import Kubectl
from tests.cluster.waiting import eventually

WHY = "node-compute-policy"
NATIVE: dict[str, str | None] = {COMPUTE_POLICY: "native-burst-share"}
POLICY = "apiVersion: mgpu-hybrid.io/v1alpha1\nkind: HybridPolicy\n"


def make_native(cluster: Cluster, name: str) -> None:
    cluster.kubectl.succeed(
        "label", "--overwrite", "node", name, f"{COMPUTE_POLICY}=native-burst-share"
    )


def create_pod(kubectl: Kubectl, raw: Object, name: str, node_name: str) -> None:
    metadata = {**cast("Object", raw["metadata"]), "name": name, "namespace": kubectl.namespace}
    spec = {**cast("Object", raw["spec"]), "nodeName": node_name}
    kubectl.succeed(
        "create", "-f", "-", stdin=json.dumps({**raw, "metadata": metadata, "spec": spec})
    )


def events_on(kubectl: Kubectl, node_name: str) -> list[Object]:
    selector = f"--field-selector=regarding.name={node_name},reason=HybridIneligible"
    found = kubectl.read("get", "events.events.k8s.io", selector)["items"]
    return cast("list[Object]", found)


def test_a_mixed_set_of_nodes_is_labelled_and_only_what_changes_is_written(
    cluster: Cluster, add_node: CreateNode
) -> None:
    add_node(node("good"))
    add_node(node("native", labels=NATIVE))
    add_node(
        node(
            "two-reasons", os_image="Ubuntu 22.04.4 LTS", annotations={DRIVER_VERSION: "0.07.35.22"}
        )
    )
    add_node(node("whole-card", labels={GPU_SCHEDULE: None}, allocatable={WHOLE_CARD: "8"}))
    add_node(node("no-gpu", labels={GPU_SCHEDULE: None}, allocatable={}))
    first = cluster.start()

    cluster.becomes("good", "true")
    cluster.becomes("native", "false", WHY)
    cluster.becomes("two-reasons", "false", "node-image,node-driver-version")
    cluster.becomes("whole-card", "false", "node-gpu-mode")
    cluster.becomes("no-gpu", None)
    metrics = first.get("/metrics").text
    assert "mgpu_hybrid_leader 1.0" in metrics
    assert "mgpu_hybrid_nodes_eligible 1.0" in metrics
    assert 'mgpu_hybrid_nodes_ineligible{rule="node-image"} 1.0' in metrics

    names = ("good", "native", "two-reasons", "whole-card", "no-gpu")
    versions = {name: cluster.version(name) for name in names}
    assert first.stop() == 0
    second = cluster.start()
    cluster.wait_for(second)
    add_node(node("late"))
    cluster.becomes("late", "true")
    assert {name: cluster.version(name) for name in names} == versions
    assert (
        'mgpu_hybrid_eligibility_writes_total{result="written"} 1.0' in second.get("/metrics").text
    )


def test_a_changed_policy_judges_all_nodes_anew(cluster: Cluster, add_node: CreateNode) -> None:
    add_node(node("good"))
    add_node(node("native", labels=NATIVE))
    cluster.start()
    cluster.becomes("good", "true")
    cluster.becomes("native", "false", WHY)
    cluster.policy.write_text(f"{POLICY}spec:\n  rules:\n    {WHY}: Warn\n")
    cluster.becomes("native", "true")


def test_when_the_leader_is_killed_another_goes_on(cluster: Cluster, add_node: CreateNode) -> None:
    add_node(node("one"))
    leader = cluster.start()
    cluster.wait_for(leader)
    other = cluster.start()
    other.log("lease changed hands")
    cluster.becomes("one", "true")
    assert cluster.leads(leader)

    leader.process.kill()
    make_native(cluster, "one")
    cluster.wait_for(other)
    cluster.becomes("one", "false", WHY)


def test_a_leader_that_is_told_to_stop_hands_over(cluster: Cluster, add_node: CreateNode) -> None:
    leader = cluster.start()
    cluster.wait_for(leader)
    other = cluster.start()
    other.log("lease changed hands")
    assert leader.stop() == 0
    leader.log("lease released")
    cluster.wait_for(other)
    add_node(node("one"))
    cluster.becomes("one", "true")


def test_a_flip_under_an_offline_pod_is_told_by_an_event(
    cluster: Cluster, add_node: CreateNode
) -> None:
    add_node(node("one"))
    server = cluster.start()
    cluster.becomes("one", "true")
    kubectl = cluster.kubectl.in_namespace(cluster.namespace)
    create_pod(kubectl, bare_offline_pod(), "batch", "one")
    create_pod(kubectl, online_pod(), "service", "one")
    make_native(cluster, "one")

    cluster.becomes("one", "false", WHY)
    eventually(lambda: bool(events_on(cluster.kubectl, "one")), "the event")
    (event,) = events_on(cluster.kubectl, "one")
    assert str(event["note"]).startswith("1 offline pod runs on this node")
    assert str(event["note"]).endswith(f"move them: {cluster.namespace}/batch")
    assert event["type"] == "Warning"
    described = cluster.kubectl.succeed("describe", "node", "one").out
    assert "HybridIneligible" in described
    metrics = server.get("/metrics").text
    assert "mgpu_hybrid_offline_pods_on_ineligible_nodes_total 1.0" in metrics
    assert 'mgpu_hybrid_eligibility_flips_total{to="false"} 1.0' in metrics
    forced = ("--force", "--grace-period=0")
    kubectl.succeed("delete", "pod", *forced, "batch", "service")


def test_an_unknown_fact_turns_no_node_that_is_eligible(
    cluster: Cluster, add_node: CreateNode
) -> None:
    cluster.policy.write_text(f"{POLICY}spec:\n  unknownFacts: Deny\n")
    for name in ("one", "two"):
        add_node(node(name))
    add_node(node("new", annotations={DRIVER_VERSION: None}))
    cluster.start()
    for name in ("one", "two"):
        cluster.becomes(name, "true")
    cluster.becomes("new", "false", "node-driver-version")

    cluster.kubectl.succeed("annotate", "node", "one", f"{DRIVER_VERSION}-")
    version = cluster.version("one")
    make_native(cluster, "two")
    cluster.becomes("two", "false", WHY)  # which came later
    cluster.becomes("one", "true")
    assert cluster.version("one") == version


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_kubelet_may_not_write_the_label(
    value: str, control_plane: ControlPlane, kubectl: Kubectl, add_node: CreateNode, tmp_path: Path
) -> None:
    add_node(node("one"))
    kubelet = write_kubeconfig(
        tmp_path / "kubelet.kubeconfig",
        control_plane.url,
        control_plane.authority,
        control_plane.authority.issue_client("system:node:one", ["system:nodes"]),
    )
    as_kubelet = kubectl.with_kubeconfig(kubelet)
    as_kubelet.succeed("label", "node", "one", "kubernetes.io/arch=amd64")
    refused = as_kubelet("label", "node", "one", f"{ELIGIBLE_LABEL}={value}")
    assert refused.code != 0
    assert f"is not allowed to modify labels: {ELIGIBLE_LABEL}" in refused.err

"""Offline pods that are refused for the nodes, the control plane or the webhook that they would meet."""

import pytest

from tests.builders import Object
from tests.cluster.admission.manifests import offline, text
from tests.cluster.admission.messages import refused
from tests.cluster.kubectl import Kubectl

CANNOT = "cannot suspend offline work for online work"
DRIVER_REMEDY = (
    "upgrade the mGPU driver to 0.07.35.23 or later; where it is unknown, run the agent on the node"
)
ADDON_REMEDY = (
    "upgrade the mGPU add-on to v0.6.0 or later; "
    "where it is unknown, set `addonVersion` in the policy"
)

REFUSED: dict[str, tuple[str, ...]] = {
    "training": (
        (
            f"[node-gpu-mode] 1 of 1 possible node (nodeSelector pool=training) {CANNOT}: 1 has scheduling "
            "mode nvidia instead of mgpu (training-1); select mGPU nodes, or empty the node and set its "
            "label vke.node.gpu.schedule to mgpu"
        ),
    ),
    "native": (
        (
            f"[node-compute-policy] 2 of 2 possible nodes (nodeSelector pool=native) {CANNOT}: 2 have "
            "compute policy native-burst-share (native-1, native-2); select nodes with "
            "guaranteed-burst-share or fixed-share"
        ),
    ),
    "h20": (
        (
            f"[node-image] 2 of 2 possible nodes (nodeSelector pool=h20) {CANNOT}: 1 has image Ubuntu "
            "22.04.5 LTS (h20-1), 1 has image veLinux 2.0 (h20-2); select nodes with another image: veLinux "
            "2.0 and Ubuntu 22.04 do not support hybrid deployment"
        ),
    ),
    "legacy": (
        (
            f"[node-driver-version] 2 of 2 possible nodes (nodeSelector pool=legacy) {CANNOT}: 1 has mGPU "
            f"driver 0.07.35.9, older than 0.07.35.23 (legacy-1); {DRIVER_REMEDY}"
        ),
        (
            f"[node-addon-version] 2 of 2 possible nodes (nodeSelector pool=legacy) {CANNOT}: 1 has mGPU "
            f"add-on v0.5.12, older than v0.6.0 (legacy-2); {ADDON_REMEDY}"
        ),
    ),
}


@pytest.mark.parametrize("pool", REFUSED)
def test_pool_on_which_no_node_can(in_cluster: Kubectl, pool: str) -> None:
    done = in_cluster("create", "-f", "-", stdin=text(on_pool(pool)))

    assert (done.code, done.out, done.err) == (1, "", refused("offline-pods", *REFUSED[pool]))
    assert in_cluster("get", "pod", pool).code == 1


@pytest.mark.parametrize("pool", ["serving-a", "serving-b", "mixed"])
def test_pool_on_which_some_node_can(in_cluster: Kubectl, pool: str) -> None:
    done = in_cluster.succeed("create", "-f", "-", stdin=text(on_pool(pool)))

    assert done.err == ""


def on_pool(pool: str) -> Object:
    return offline(pool, nodeSelector={"pool": pool})

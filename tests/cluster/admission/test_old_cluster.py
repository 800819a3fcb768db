"""An offline pod on a control plane, and under a general-webhook, that are older than hybrid deployment."""

from collections.abc import Iterator

import pytest

from tests.builders import MGPU_CORE, MGPU_MEMORY, container
from tests.cluster.admission.manifests import offline, other, text
from tests.cluster.admission.messages import refused
from tests.cluster.admission.registered_webhook import registered, serving
from tests.cluster.kubectl import Kubectl

OLD_WEBHOOK = """
apiVersion: mgpu-hybrid.io/v1alpha1
kind: HybridPolicy
spec:
  generalWebhookVersion: v1.19.9
"""


@pytest.fixture(scope="module")
def in_old_cluster(
    module_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kubectl]:
    folder = tmp_path_factory.mktemp("old") / "tls"
    with (
        serving(folder, policy_text=OLD_WEBHOOK, version="v1.28.15-vke.18") as server,
        registered(module_kubectl, server, policy_text=OLD_WEBHOOK),
    ):
        yield module_kubectl


def test_offline_pod_is_refused_for_both(in_old_cluster: Kubectl) -> None:
    done = in_old_cluster("create", "-f", "-", stdin=text(offline("offline")))

    assert done.code == 1
    assert done.err == refused(
        "offline-pods",
        "[cluster-version] control plane v1.28.15-vke.18 is older than hybrid deployment needs; upgrade "
        "the cluster to 1.24.17-vke.38, 1.26.15-vke.26, 1.28.15-vke.19 or 1.30.4-vke.3 or later",
        "[general-webhook-version] general-webhook v1.19.9 is older than v1.20.0; upgrade the "
        "general-webhook to v1.20.0 or later, or correct the policy's `generalWebhookVersion`",
    )


def test_online_pod_passes(in_old_cluster: Kubectl) -> None:
    online = other("online", container({MGPU_CORE: "30", MGPU_MEMORY: "4096"}))

    assert in_old_cluster.succeed("create", "-f", "-", stdin=text(online)).err == ""

"""Manifests of the command line's tests, as the text that a person writes."""

OFFLINE = """\
apiVersion: v1
kind: Pod
metadata:
  name: batch
  namespace: jobs
  annotations: {katalyst.kubewharf.io/qos_level: reclaimed_cores}
spec:
  containers:
  - name: worker
    image: example/batch:1
    resources:
      limits: {vke.volcengine.com/reclaimed-mgpu-core: "50", vke.volcengine.com/mgpu-memory: 4k}
"""
TOO_MUCH = OFFLINE.replace('"50"', '"150"').replace("name: batch\n", "name: greedy\n")
ONE_CARD_WORDS = OFFLINE.replace(
    "reclaimed_cores}",
    'reclaimed_cores, vke.volcengine.com/container-multiple-gpu: "1"}',
)
PLAIN = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a}]}\n"
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
MALFORMED = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec:\n  containers:\n"
    "  - name: a\n    resources: 5\n"
)
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: batch}
spec:
  template:
    metadata:
      annotations: {katalyst.kubewharf.io/qos_level: reclaimed_cores}
    spec:
      containers:
      - name: worker
        resources:
          limits: {vke.volcengine.com/reclaimed-mgpu-core: "150", vke.volcengine.com/mgpu-memory: 4k}
"""
NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: native-1
  labels:
    vke.node.gpu.schedule: mgpu
    vke.volcengine.com/mgpu-compute-policy: native-burst-share
status:
  allocatable: {vke.volcengine.com/mgpu-core: "800", vke.volcengine.com/mgpu-memory: "196608"}
"""


def documents(*texts: str) -> str:
    """A stream of documents."""
    return "---\n".join(texts)

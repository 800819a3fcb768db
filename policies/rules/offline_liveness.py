"""An offline container is not probed by what it cannot answer while suspended.

A suspended container answers no HTTP or gRPC request: the probe fails, and the kubelet kills a pod that
only waits its turn. Exec probes are thrown away by the kubelet, TCP probes pass.
Fields: `livenessProbe` and `startupProbe` of every container of an offline pod that asks mGPU.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.pod import PodClass
from policies.raw import object_at


def check(facts: Facts) -> Iterator[Violation]:
    """One violation per probe."""
    for container in facts.pod.mgpu_containers:
        for probe in ("livenessProbe", "startupProbe"):
            handler = object_at(container.raw, probe, container.path)
            for kind, name in (("httpGet", "HTTP"), ("grpc", "gRPC")):
                if handler.get(kind) is not None:
                    yield Violation(
                        path=f"{container.path}.{probe}.{kind}",
                        message=(
                            f"container {container.name} has {name} in its {probe}, "
                            "which fails while it is suspended"
                        ),
                    )


RULE = Rule(
    id="offline-liveness",
    title="Offline containers have no HTTP or gRPC liveness or startup probe",
    remedy="use an exec or TCP probe, or none",
    source="kubelet pkg/kubelet/prober; measured with frozen containers",
    classes=frozenset({PodClass.OFFLINE}),
    check=check,
)

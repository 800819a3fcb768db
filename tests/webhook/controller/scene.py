"""One leader's loop over a fake API server, with the snapshots that a watch would make of it."""

from dataclasses import dataclass, field
from typing import cast

from prometheus_client import CollectorRegistry

from policies.eligibility import BECAUSE_ANNOTATION
from policies.node import inventory_of
from policies.policy import ELIGIBLE_LABEL, Policy
from tests.builders import Object, bare_offline_pod
from tests.webhook.controller.fake_api import FakeApi
from tests.webhook.controller.ticking import Clock
from webhook.controller.eligibility_loop import EligibilityLoop
from webhook.controller.metrics import ControllerMetrics
from webhook.controller.plan import OnNode
from webhook.state import Snapshot

NODES = "/api/v1/nodes"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"


@dataclass
class Scene:
    """What the loop sees; `watch` brings the snapshot up to date."""

    api: FakeApi = field(default_factory=FakeApi)
    clock: Clock = field(default_factory=Clock)
    policy: Policy = field(default_factory=Policy)
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    snapshot: Snapshot | None = None
    leads: bool = True

    def __post_init__(self) -> None:
        self.metrics = ControllerMetrics(self.registry)
        self.loop = self.new_loop()

    def new_loop(self) -> EligibilityLoop:
        """The loop of another process, or of this one after a restart."""
        return EligibilityLoop(
            lambda: self.snapshot,
            lambda: self.leads,
            self.metrics,
            "me",
            clock=self.clock.steady,
            now=self.clock.wall,
        )

    def add(self, *nodes: Object) -> None:
        """Nodes that the watch tells of."""
        for raw in nodes:
            self.api.create(NODES, raw)
        self.api.sent.clear()
        self.watch()

    def change(self, name: str, **fields: object) -> None:
        """Change metadata of a node, as somebody else does; the watch tells of it."""
        self.api.patch(f"{NODES}/{name}", {"metadata": fields}, "application/merge-patch+json")
        self.api.sent.clear()
        self.watch()

    def watch(self) -> None:
        """A new snapshot of the nodes as they are."""
        nodes = [raw for where, raw in self.api.objects.items() if where.startswith(NODES)]
        self.snapshot = Snapshot(self.policy, inventory_of(nodes, self.policy))

    def tick(self, seconds: float = 1.0) -> float:
        """Let time pass, then tick."""
        self.clock.seconds += seconds
        return self.loop.tick(self.api)

    def add_pod(self, node_name: str, name: str, **fields: object) -> None:
        """An offline pod that runs on a node."""
        raw = bare_offline_pod(nodeName=node_name)
        metadata = {**cast("Object", raw["metadata"]), "name": name}
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods"
        self.api.create(path, {**raw, "metadata": metadata, **fields})

    def on(self, name: str) -> OnNode:
        """What is on a node."""
        metadata = cast(
            "dict[str, dict[str, str]]", self.api.objects[f"{NODES}/{name}"]["metadata"]
        )
        return OnNode(
            metadata["labels"].get(ELIGIBLE_LABEL),
            metadata.get("annotations", {}).get(BECAUSE_ANNOTATION),
        )

    def events(self) -> list[Object]:
        """All events."""
        return [raw for where, raw in self.api.objects.items() if where.startswith(EVENTS)]

    def metric(self, name: str, **labels: str) -> float | None:
        """A metric's value."""
        return self.registry.get_sample_value(f"mgpu_hybrid_{name}", labels)

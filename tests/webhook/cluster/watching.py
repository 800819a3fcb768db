"""A watch of the stand-in's nodes, with a clock and a jitter of the test's own."""

from collections.abc import Callable
from pathlib import Path
from threading import Event

from prometheus_client import CollectorRegistry

from policies.node import Inventory
from policies.policy import Policy
from webhook.cluster.api import KubeApi
from webhook.cluster.backoff import Backoff
from webhook.cluster.live_nodes import LiveNodes
from webhook.cluster.node_metrics import NodeMetrics
from webhook.cluster.node_watch import NodeWatch

POLICY = Policy()


class Clock:
    """Stands still, or goes on by `step_seconds` at each look."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.step_seconds = 0.0

    def __call__(self) -> float:
        self.seconds += self.step_seconds
        return self.seconds


class Watching:
    """The parts of a watch; `round` runs in the test's own thread."""

    def __init__(
        self,
        kubeconfig: Path,
        connect: Callable[[], KubeApi] | None = None,
        stop: Event | None = None,
    ) -> None:
        self.clock = Clock()
        self.live = LiveNodes(POLICY, self.clock)
        self.registry = CollectorRegistry()
        self.connections = 0
        self._kubeconfig = kubeconfig
        self.watch = NodeWatch(
            connect or self._connect,
            self.live,
            NodeMetrics(self.registry),
            60.0,
            backoff=Backoff(lambda: 0.0),
            stop=stop,
        )

    def _connect(self) -> KubeApi:
        self.connections += 1
        return KubeApi.connect(self._kubeconfig)

    def round(self) -> float:
        return self.watch.round()

    @property
    def trouble(self) -> str:
        return self.live.freshness.trouble

    def restarts(self, reason: str) -> float:
        found = self.registry.get_sample_value(
            "mgpu_hybrid_node_watch_restarts_total", {"reason": reason}
        )
        return found or 0.0

    def inventory(self, policy: Policy = POLICY) -> Inventory | None:
        return self.watch.read_if_changed(policy)

    def names(self) -> list[str] | None:
        """The nodes of the next inventory, None when nothing changed."""
        inventory = self.inventory()
        return None if inventory is None else [each.name for each in inventory.nodes]

"""What Prometheus learns of the controller; only a process that may lead has these metrics.

The counts of nodes are the leader's; a process that does not lead shows none.
"""

from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge

from policies.eligibility import ELIGIBLE, INELIGIBLE
from policies.rules import NODE_RULES
from webhook.controller.plan import Plan

WriteResult = Literal["written", "gone", "conflict", "refused", "failed"]
RESULTS: tuple[WriteResult, ...] = ("written", "gone", "conflict", "refused", "failed")


class ControllerMetrics:
    """The metrics of one candidate."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.leader = Gauge(
            "mgpu_hybrid_leader",
            "1 while this process leads, 0 while it waits.",
            registry=registry,
            multiprocess_mode="livemax",
        )
        self._eligible = Gauge(
            "mgpu_hybrid_nodes_eligible",
            "GPU nodes on which offline pods may run, as the leader judges them.",
            registry=registry,
            multiprocess_mode="livemax",
        )
        self._ineligible = Gauge(
            "mgpu_hybrid_nodes_ineligible",
            "GPU nodes on which they may not, by each rule that is against it.",
            ("rule",),
            registry=registry,
            multiprocess_mode="livemax",
        )
        self._writes = Counter(
            "mgpu_hybrid_eligibility_writes",
            "Writes of the eligible label, by what came of it.",
            ("result",),
            registry=registry,
        )
        self._flips = Counter(
            "mgpu_hybrid_eligibility_flips",
            "Nodes whose label turned, by the new value.",
            ("to",),
            registry=registry,
        )
        self._pods_at_risk = Counter(
            "mgpu_hybrid_offline_pods_on_ineligible_nodes",
            "Unfinished offline pods that were on nodes when these became ineligible.",
            registry=registry,
        )
        for result in RESULTS:
            self._writes.labels(result)
        for to in (ELIGIBLE, INELIGIBLE):
            self._flips.labels(to)
        self.clear()

    def show(self, plan: Plan) -> None:
        """Bring the counts of nodes up to date."""
        self._eligible.set(plan.eligible)
        for rule in NODE_RULES:
            self._ineligible.labels(rule.id).set(plan.ineligible.get(rule.id, 0))

    def clear(self) -> None:
        """Show no nodes: another process leads."""
        self.show(Plan((), 0, {}, ()))

    def count_write(self, result: WriteResult) -> None:
        """Count one write that was tried."""
        self._writes.labels(result).inc()

    def count_flip(self, to: str) -> None:
        """Count one label that turned."""
        self._flips.labels(to).inc()

    def count_pods_at_risk(self, pods: int) -> None:
        """Count the offline pods of one node that became ineligible."""
        self._pods_at_risk.inc(pods)

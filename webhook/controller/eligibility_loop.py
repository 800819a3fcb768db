"""The leader's work: compare what is on the nodes with what belongs there, and write the difference.

One thread calls `tick` again and again. Nothing is kept that the next leader could not find out: what was
not written is found again by comparing. Before each write it is asked whether this process still leads.
"""

import logging
from collections import deque
from collections.abc import Callable
from datetime import datetime

from policies.eligibility import eligibility_patch
from policies.errors import MalformedError
from policies.raw import JsonObject
from webhook.cluster.api import MERGE_PATCH
from webhook.cluster.errors import ClusterError, ConflictError, NotFoundError
from webhook.controller.bucket import TokenBucket
from webhook.controller.memory import INELIGIBLE_NODES, Memory
from webhook.controller.metrics import ControllerMetrics
from webhook.controller.object_api import ObjectApi
from webhook.controller.offline_pods import EVENTS, ineligible_event, offline_pods_on
from webhook.controller.plan import Plan, Write, plan
from webhook.controller.refusals import may_concern_one_node, result_of
from webhook.state import Snapshot

logger = logging.getLogger(__name__)

NODES = "/api/v1/nodes"
TICK_SECONDS = 0.5
REPLAN_SECONDS = 1.0
"""The shortest time between two plans: in a large cluster some node always changes."""
RESYNC_SECONDS = 60.0
"""The longest: what failed, or was undone by somebody else, is tried again."""
REST_SECONDS = 60.0
"""How long a node is left alone whose write was refused, so that it does not hold up the others."""


class EligibilityLoop:
    """Writes eligibility while this process leads."""

    def __init__(
        self,
        read: Callable[[], Snapshot | None],
        may_write: Callable[[], bool],
        metrics: ControllerMetrics,
        identity: str,
        *,
        clock: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        self._read = read
        self._may_write = may_write
        self._metrics = metrics
        self._identity = identity
        self._clock = clock
        self._now = now
        self._bucket = TokenBucket(clock())
        self._memory: Memory | None = None
        self._queue: deque[Write] = deque()
        self._planned: Snapshot | None = None
        self._planned_seconds = 0.0
        self._resting: dict[str, float] = {}
        self._failed_rules: frozenset[str] = frozenset()

    def tick(self, api: ObjectApi) -> float:
        """Write what is due and allowed now. Returns the seconds until it should be called again.

        Raises ClusterError when the API server does not answer or refuses; the caller waits longer then.
        """
        snapshot = self._read()
        if not self._may_write():
            self._stand_down()
            return TICK_SECONDS
        if snapshot is None:
            return TICK_SECONDS
        if self._memory is None:
            self._memory = self._learned(api)
        if self._is_due(snapshot):
            self._plan(snapshot, self._memory)
        return self._write_queue(api, snapshot, self._memory)

    def _stand_down(self) -> None:
        if self._memory is None:
            return
        self._memory = self._planned = None
        self._queue.clear()
        self._metrics.clear()

    def _learned(self, api: ObjectApi) -> Memory:
        try:
            return Memory(api.pages(NODES, INELIGIBLE_NODES))
        except MalformedError as error:
            logger.warning("annotations not read", extra={"fields": {"because": str(error)}})
            return Memory(())

    def _is_due(self, snapshot: Snapshot) -> bool:
        if self._planned is None:
            return True
        is_same = (
            snapshot.inventory is self._planned.inventory
            and snapshot.policy is self._planned.policy
        )
        seconds = self._clock() - self._planned_seconds
        return seconds >= (RESYNC_SECONDS if is_same else REPLAN_SECONDS)

    def _plan(self, snapshot: Snapshot, memory: Memory) -> None:
        now = self._clock()
        inventory = snapshot.inventory
        nodes = (
            [] if inventory is None else [node for node in inventory.nodes if not node.is_virtual]
        )
        memory.keep_only({node.name for node in nodes})
        made = plan(snapshot.policy, [memory.record(node, now) for node in nodes])
        self._resting = {name: until for name, until in self._resting.items() if until > now}
        self._queue = deque(write for write in made.writes if write.node_name not in self._resting)
        self._planned, self._planned_seconds = snapshot, now
        self._metrics.show(made)
        self._tell_failures(made)

    def _tell_failures(self, made: Plan) -> None:
        failed = frozenset(failure.rule for failure in made.failures)
        for failure in made.failures:
            if failure.rule not in self._failed_rules:
                logger.error("rule %s failed: %s", failure.rule, failure.error)
        self._failed_rules = failed

    def _write_queue(self, api: ObjectApi, snapshot: Snapshot, memory: Memory) -> float:
        while self._queue and self._may_write():
            wait_seconds = self._bucket.take(self._clock())
            if wait_seconds:
                return wait_seconds
            self._write(api, self._queue.popleft(), snapshot, memory)
        return TICK_SECONDS

    def _write(self, api: ObjectApi, write: Write, snapshot: Snapshot, memory: Memory) -> None:
        try:
            node = api.patch(
                f"{NODES}/{write.node_name}", eligibility_patch(write.wanted), MERGE_PATCH
            )
        except ClusterError as error:
            self._on_refusal(write, error)
            return
        memory.note(write, self._clock())
        self._metrics.count_write("written")
        if write.is_flip:
            self._metrics.count_flip(write.wanted.label)
        _log_write(write)
        if write.takes_away:
            self._tell_pods(api, node, write, snapshot)

    def _on_refusal(self, write: Write, error: ClusterError) -> None:
        """A node that is gone or just changed concerns no other; anything else ends this round."""
        self._metrics.count_write(result_of(error))
        if isinstance(error, NotFoundError | ConflictError):
            self._planned = None if isinstance(error, ConflictError) else self._planned
            return
        if may_concern_one_node(error):
            self._resting[write.node_name] = self._clock() + REST_SECONDS
        else:
            self._queue.appendleft(write)
        raise error

    def _tell_pods(
        self, api: ObjectApi, node: JsonObject, write: Write, snapshot: Snapshot
    ) -> None:
        """Say which offline pods are on a node that became ineligible. The label does not wait for it."""
        fields: dict[str, object] = {"node": write.node_name}
        try:
            pods = offline_pods_on(api, write.node_name, snapshot.policy)
            if not pods:
                return
            self._metrics.count_pods_at_risk(len(pods))
            fields["pods"] = pods
            because = write.wanted.because
            event = ineligible_event(node, because, pods, self._identity, self._now())
            api.create(EVENTS, event)
        except (ClusterError, MalformedError) as error:
            fields["because"] = str(error)
            logger.error("offline pods not told by an event", extra={"fields": fields})  # noqa: TRY400
        else:
            logger.warning("offline pods on an ineligible node", extra={"fields": fields})


def _log_write(write: Write) -> None:
    fields = {
        "node": write.node_name,
        "before": write.now.label,
        "eligible": write.wanted.label,
        "because": write.wanted.annotation,
    }
    logger.info("node labelled", extra={"fields": fields})

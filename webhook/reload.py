"""Keeps the snapshot in step with the policy file, and with the nodes of a file or of a watch.

It alone makes snapshots, in one thread: `tick` looks at the files, `tick_watch` at what the watch has heard,
and either swaps the snapshot when something changed. What is broken keeps the last good state, is
logged with all its mistakes once, and is counted; before there was any good state the process is not ready.
"""

import logging
from dataclasses import replace

from policies.node import Inventory
from policies.policy import Policy
from webhook.cluster.node_watch import NodeWatch
from webhook.grace import Succession, after_change, at
from webhook.metrics import Metrics
from webhook.nodes_file import NodesFile, NodesFileError
from webhook.policy_file import PolicyFile, PolicyFileError, PolicyUnreadableError
from webhook.readiness import Readiness
from webhook.settings import ServeSettings
from webhook.state import Snapshot, State

logger = logging.getLogger(__name__)


class Reloader:
    """Reads what the settings name into `state`, and says in `readiness` what is missing."""

    def __init__(
        self,
        settings: ServeSettings,
        state: State,
        readiness: Readiness,
        metrics: Metrics,
        watch: NodeWatch | None = None,
    ) -> None:
        self._state = state
        self._readiness = readiness
        self._metrics = metrics
        self._watch = watch
        self._settings = settings
        self._policy_file = PolicyFile(settings.policy_path) if settings.policy_path else None
        self._nodes_file = NodesFile(settings.nodes_path) if settings.nodes_path else None
        self._succession = Succession(Policy().injection)
        if self._nodes_file is not None or watch is not None:
            readiness.nodes = "node snapshot: not read yet"
        if self._policy_file is None:
            self._put(Policy(), 0.0)

    def tick(self, now_seconds: float) -> None:
        """Take up what changed; `now_seconds` is of a steady clock."""
        self._tick_policy(now_seconds)
        self._tick_grace(now_seconds)
        self._tick_nodes()

    def _tick_policy(self, now_seconds: float) -> None:
        if self._policy_file is None:
            return
        try:
            policy = self._policy_file.read_if_changed()
        except PolicyFileError as error:
            self._on_bad_policy(error)
        else:
            if policy is not None:
                self._put(policy, now_seconds)
                logger.info("policy in force", extra={"fields": {"digest": policy.digest}})

    def _on_bad_policy(self, error: PolicyFileError) -> None:
        self._metrics.policy_reload_failures.inc()
        mistakes = str(error).splitlines()
        is_unreadable = isinstance(error, PolicyUnreadableError)
        if self._state.current is None:
            why = str(error) if is_unreadable else "not valid: " + "; ".join(mistakes)
            self._readiness.policy = f"policy: {why}"
        else:
            why = str(error) if is_unreadable else "the file has mistakes"
            self._readiness.stale_policy = f"policy: the last good one, {why}"
        logger.error("policy file cannot be used", extra={"fields": {"mistakes": mistakes}})

    def _put(self, policy: Policy, now_seconds: float) -> None:
        old = self._state.current
        inventory = None
        if old is None:
            self._succession = Succession(policy.injection)
        else:
            self._succession = after_change(self._succession, old.policy, policy, now_seconds)
            self._metrics.policy_info.labels(old.policy.digest).set(0)
            inventory = old.inventory
        self._swap(Snapshot(policy, inventory, self._cluster_version))
        self._metrics.policy_info.labels(policy.digest).set(1)
        self._readiness.policy = self._readiness.stale_policy = ""

    def _tick_grace(self, now_seconds: float) -> None:
        current = self._state.current
        if current is None:
            return
        succession = at(self._succession, current.policy, now_seconds)
        if succession != self._succession:
            self._succession = succession
            self._swap(current)

    def _tick_nodes(self) -> None:
        current = self._state.current
        if self._nodes_file is None or current is None:
            return
        try:
            inventory = self._nodes_file.read_if_changed(current.policy)
        except NodesFileError as error:
            self._on_bad_nodes(error)
            return
        if inventory is not None:
            self._put_nodes(current.policy, inventory)
            self._readiness.nodes = self._readiness.stale_nodes = ""
            logger.info("nodes read", extra={"fields": {"gpu_nodes": len(inventory.nodes)}})

    def _on_bad_nodes(self, error: NodesFileError) -> None:
        self._metrics.nodes_reload_failures.inc()
        if self._readiness.nodes:
            self._readiness.nodes = f"node snapshot: {error}"
        else:
            self._readiness.stale_nodes = f"node snapshot: the last good one: {error}"
        logger.error("nodes file cannot be used", extra={"fields": {"mistake": str(error)}})

    def tick_watch(self, now_seconds: float) -> None:
        """Take up what the watch has heard; `now_seconds` is of the watch's clock."""
        if self._watch is None:
            return
        current = self._state.current
        if current is not None:
            inventory = self._watch.read_if_changed(current.policy)
            if inventory is not None:
                self._put_nodes(current.policy, inventory)
            elif current.cluster_version != self._cluster_version:
                self._swap(replace(current, cluster_version=self._cluster_version))
        freshness = self._watch.freshness
        self._readiness.nodes = freshness.missing()
        self._readiness.stale_nodes = freshness.stale(
            now_seconds, self._settings.nodes_stale_after_seconds
        )
        self._watch.measure(now_seconds)

    def _put_nodes(self, policy: Policy, inventory: Inventory) -> None:
        current = self._state.current
        if current is not None and current.inventory is not None:
            inventory.index.prepare(current.inventory.index.keys)
        self._swap(Snapshot(policy, inventory, self._cluster_version))
        self._metrics.gpu_nodes.set(len(inventory.nodes))

    @property
    def _cluster_version(self) -> str | None:
        if self._settings.kubernetes_version is not None or self._watch is None:
            return self._settings.kubernetes_version
        return self._watch.server_version

    def _swap(self, snapshot: Snapshot) -> None:
        injecting = self._succession.injecting
        self._state.current = Snapshot(
            policy=snapshot.policy,
            inventory=snapshot.inventory,
            cluster_version=snapshot.cluster_version,
            previous_injections=self._succession.accepted,
            injecting=None if injecting == snapshot.policy.injection else injecting,
        )

"""The two threads of a candidate: one asks for the lease, the other writes while it is held.

They are apart so that a slow write never costs the lease. On a stop the writing ends first and the lease is
released last, so that the next leader starts at once and never beside this one.
"""

import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from threading import Event, Thread

from webhook.cluster.backoff import MAX_SECONDS
from webhook.cluster.errors import ClusterError
from webhook.controller.election import RETRY_SECONDS, Election
from webhook.controller.eligibility_loop import EligibilityLoop
from webhook.controller.metrics import ControllerMetrics
from webhook.controller.object_api import ObjectApi
from webhook.controller.steps import Steps, Work
from webhook.state import Snapshot

logger = logging.getLogger(__name__)

LEASE_NAME = "mgpu-hybrid-controller"
JOIN_SECONDS = 3.0
"""How long a stop waits for a request that runs; longer, and the lease is left to run out."""


class Controller:
    """A candidate that writes eligibility while it leads."""

    def __init__(
        self,
        connect: Callable[[], ObjectApi],
        read: Callable[[], Snapshot | None],
        metrics: ControllerMetrics,
        namespace: str,
        *,
        join_seconds: float = JOIN_SECONDS,
    ) -> None:
        self._connect = connect
        self._metrics = metrics
        self._stopping = Event()
        self._join_seconds = join_seconds
        leases = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._election = Election(leases, LEASE_NAME, identity())
        self._loop = EligibilityLoop(
            read,
            self._may_write,
            metrics,
            self._election.identity,
            clock=time.monotonic,
            now=lambda: datetime.now(UTC),
        )
        self._threads = (
            Thread(target=self._run, args=("election", self._elect, RETRY_SECONDS), daemon=True),
            Thread(
                target=self._run, args=("eligibility", self._loop.tick, MAX_SECONDS), daemon=True
            ),
        )

    def start(self) -> None:
        """Begin, in threads of its own."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the writing, then let go of the lease. Takes a few seconds at most, answer or none."""
        self._stopping.set()
        self._metrics.leader.set(0)
        if not _ended(self._threads, self._join_seconds):
            logger.warning("a request still runs: the lease is left to run out")
            return
        releasing = Thread(target=self._release, name="release", daemon=True)
        releasing.start()
        _ended((releasing,), self._join_seconds)

    def _release(self) -> None:
        try:
            self._election.release(self._connect())
        except ClusterError as error:
            logger.warning("lease not released", extra={"fields": {"because": str(error)}})

    def _may_write(self) -> bool:
        return self._election.is_leader and not self._stopping.is_set()

    def _elect(self, api: ObjectApi) -> float:
        try:
            return self._election.step(api)
        finally:
            self._metrics.leader.set(self._election.is_leader)

    def _run(self, name: str, work: Work, longest_seconds: float) -> None:
        """Step after step until it is stopped."""
        steps = Steps(name, work, self._connect, longest_seconds)
        while not self._stopping.is_set():
            self._stopping.wait(steps.step())


def _ended(threads: Sequence[Thread], limit_seconds: float) -> bool:
    deadline = time.monotonic() + limit_seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


def identity() -> str:
    """A name for this candidate that no other has, not even this process after a restart."""
    return f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}"

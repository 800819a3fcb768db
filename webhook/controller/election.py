"""Who among the replicas leads, by a Lease, as client-go decides it.

The official Python client has an election as well. It measures by the wall clock, so that a jump of it
makes two leaders; it has no way to stop or to release; and who leads learns of a loss only when a loop
that blocks comes to its end. Here a leader leads until a time on the steady clock, which only a renewal
moves and which is asked before each write: when the API server, the network or this process stands
still, it stops by itself.

Others wait `leaseDurationSeconds` from when *they* saw the record change, never from what is written in
it, so clocks that differ do no harm. The leader counts from before it sent its last good renewal, and
gives up five seconds before others may begin.
"""

import logging
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime

from policies.errors import MalformedError
from policies.raw import JsonObject
from webhook.cluster.errors import ConflictError, NotFoundError
from webhook.controller.lease import (
    LeaseRecord,
    changed_lease,
    micro_time,
    new_lease,
    record_of,
)
from webhook.controller.object_api import ObjectApi

logger = logging.getLogger(__name__)

LEASE_SECONDS = 15
RENEW_SECONDS = 10.0
"""How long a renewal counts. With LEASE_SECONDS and RETRY_SECONDS these are client-go's defaults."""
RETRY_SECONDS = 2.0
JITTER = 0.2
"""Up to so much of RETRY_SECONDS is added, so that replicas do not ask in step."""
NOBODY = LeaseRecord("", 0, "", "", -1)


class Election:
    """One candidate. `step` belongs to one thread; `is_leader` may be asked by any."""

    def __init__(
        self,
        leases: str,
        name: str,
        identity: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.identity = identity
        self._leases = leases
        self._name = name
        self._clock = clock
        self._now = now
        self._jitter = jitter
        self._lease: JsonObject | None = None
        self._record = NOBODY
        self._seen_seconds = clock()
        """When the record was first seen as it is."""
        self._leads_until: float | None = None
        self._trouble = ""

    @property
    def is_leader(self) -> bool:
        """Whether this candidate may write at this moment."""
        until = self._leads_until
        return until is not None and self._clock() < until

    def step(self, api: ObjectApi) -> float:
        """Try once to get or to keep the lease. Returns the seconds to wait before the next try.

        Raises ClusterError when the API server does not answer or says no. That changes nothing: a leader
        leads until its time is over.
        """
        try:
            self._try(api)
        except ConflictError:
            self._lease = None  # somebody was faster; look at what is there
        except NotFoundError:
            self._lease = None  # somebody deleted it, or its namespace
            raise
        except MalformedError as error:
            self._say(f"Lease {self._name} cannot be read: {error}; delete it")
        return self.retry_seconds()

    def retry_seconds(self) -> float:
        """The seconds between two tries."""
        return RETRY_SECONDS * (1.0 + JITTER * self._jitter())

    def release(self, api: ObjectApi) -> None:
        """Let go of the lease, so that another candidate need not wait. Raises ClusterError.

        Only when nothing writes any more.
        """
        lease, was_leader = self._lease, self.is_leader
        self._leads_until = None
        if lease is None or not was_leader:
            return
        released = self._record.released(micro_time(self._now()))
        api.replace(self._path, changed_lease(lease, released))
        logger.info("lease released", extra={"fields": {"identity": self.identity}})

    @property
    def _path(self) -> str:
        return f"{self._leases}/{self._name}"

    def _try(self, api: ObjectApi) -> None:
        if self._lease is None or not self.is_leader:
            self._look(api)
        if self._is_held_by_another():
            self._leads_until = None
            return
        began = self._clock()
        wanted = self._record.held_by(self.identity, LEASE_SECONDS, micro_time(self._now()))
        if self._lease is None:
            lease = api.create(self._leases, new_lease(self._name, wanted))
        else:
            lease = api.replace(self._path, changed_lease(self._lease, wanted))
        self._leads_until = began + RENEW_SECONDS
        self._see(lease)

    def _look(self, api: ObjectApi) -> None:
        try:
            self._see(api.get(self._path))
        except NotFoundError:
            self._lease = None
            self._record = NOBODY

    def _see(self, lease: JsonObject) -> None:
        record = record_of(lease)
        if record != self._record:
            if record.holder != self._record.holder:
                fields = {"holder": record.holder, "identity": self.identity}
                logger.info("lease changed hands", extra={"fields": fields})
            self._seen_seconds = self._clock()
        self._lease, self._record, self._trouble = lease, record, ""

    def _is_held_by_another(self) -> bool:
        if self._record.holder in ("", self.identity):
            return False
        seconds = self._record.duration_seconds or LEASE_SECONDS
        return self._clock() < self._seen_seconds + seconds

    def _say(self, trouble: str) -> None:
        if trouble != self._trouble:
            logger.error(trouble)
        self._trouble = trouble

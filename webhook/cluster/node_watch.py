"""The thread that lists and watches Nodes, for as long as the process lives.

One round asks the version, lists where that is due, and watches until the watch ends. Watches are kept
short, at half of what counts as stale, so that a quiet cluster is still heard often enough, and a
connection that died in silence is noticed. After a fault the next round waits, longer each time, with
jitter: all replicas lose a restarting API server at the same moment. Meanwhile the last nodes stay.
"""

import logging
from collections.abc import Callable
from threading import Event, Thread

from policies.errors import MalformedError
from policies.node import Inventory
from policies.policy import Policy
from webhook.cluster.api import KubeApi
from webhook.cluster.backoff import Backoff
from webhook.cluster.errors import (
    ApiStatusError,
    ClusterError,
    ClusterSettingsError,
    ClusterUnavailableError,
    GoneError,
    UnauthorizedError,
)
from webhook.cluster.event_stream import EventStream
from webhook.cluster.freshness import Freshness
from webhook.cluster.live_nodes import LiveNodes
from webhook.cluster.node_metrics import NodeMetrics

logger = logging.getLogger(__name__)

NODES = "/api/v1/nodes"
PAGE_SIZE = 250
"""Half of what clients usually ask for: a page is the largest thing that is ever in memory at once."""
SHORT_WATCH_SECONDS = 1.0
IDLE_GRACE_SECONDS = 5.0
"""How much later than the server should have ended a silent watch it counts as dead."""
JOIN_SECONDS = 2.0


class ShortWatchError(ClusterUnavailableError):
    """A watch that ended at once, in good order: to open the next without a pause would be a storm."""


class NodeWatch:
    """Keeps `live` in step with the API server that `connect` leads to."""

    def __init__(
        self,
        connect: Callable[[], KubeApi],
        live: LiveNodes,
        metrics: NodeMetrics,
        stale_after_seconds: float,
        *,
        backoff: Backoff | None = None,
        stop: Event | None = None,
    ) -> None:
        self._connect = connect
        self._live = live
        self._metrics = metrics
        self._watch_seconds = max(1, int(stale_after_seconds / 2))
        self._backoff = backoff or Backoff()
        self._stopping = stop or Event()
        self._api: KubeApi | None = None
        self._resource_version = ""
        self._stream: EventStream | None = None
        self._thread = Thread(target=self.run, name="node-watch", daemon=True)

    def start(self) -> None:
        """Begin in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; one that is just connecting is left to end with the process."""
        self._stopping.set()
        self._end_watch()
        self._thread.join(JOIN_SECONDS)

    @property
    def freshness(self) -> Freshness:
        """How old the nodes are."""
        return self._live.freshness

    @property
    def server_version(self) -> str | None:
        """The API server's gitVersion as it said it last; None before that."""
        return self._live.server_version

    def read_if_changed(self, policy: Policy) -> Inventory | None:
        """As `LiveNodes`; a policy for which the nodes must be listed again ends the watch."""
        inventory = self._live.read_if_changed(policy)
        if self._live.needs_list:
            self._end_watch()
        return inventory

    def measure(self, now_seconds: float) -> None:
        """Bring the gauges up to date; `now_seconds` is of the clock of `live`."""
        self._metrics.age_seconds.set(self._live.freshness.age_seconds(now_seconds))
        self._metrics.malformed.set(len(self._live.malformed))

    def run(self) -> None:
        """Round after round until it is stopped."""
        while not self._stopping.is_set():
            pause_seconds = self.round()
            if pause_seconds:
                self._stopping.wait(pause_seconds)

    def round(self) -> float:
        """Ask, list if that is due, watch to the end. Returns the seconds to wait before the next."""
        try:
            self._follow()
        except ClusterError as error:
            return self._after(error, _reason(error))
        except MalformedError as error:
            return self._after(error, "unreadable")
        except Exception as error:  # the outermost loop: the last nodes stay
            logger.exception("watching the nodes failed")
            return self._after(error, "fault")
        self._backoff.succeed()
        return 0.0

    @property
    def _is_running(self) -> bool:
        return not self._stopping.is_set() and not self._live.needs_list

    def _follow(self) -> None:
        if self._api is None:
            self._api = self._connect()
        self._ask_version(self._api)
        if not self._resource_version or self._live.needs_list:
            self._list(self._api)
        self._stream = self._api.watch(
            NODES,
            self._resource_version,
            timeout_seconds=self._watch_seconds,
            idle_seconds=self._watch_seconds + IDLE_GRACE_SECONDS,
        )
        if not self._is_running:  # told so while the watch was opened, when there was none to end
            self._stream.close()
        self._hear()
        self._take_events(self._stream)

    def _take_events(self, stream: EventStream) -> None:
        """Follow a watch to its end; an event ends a series of failures, an empty short watch is one."""
        began = self._live.clock()
        has_events = False
        for event in stream:
            self._resource_version = self._live.take_event(event) or self._resource_version
            has_events = True
            self._backoff.succeed()
            self._live.hear()
            if not self._is_running:
                stream.close()
        if not has_events and self._is_running:
            seconds = self._live.clock() - began
            if seconds < SHORT_WATCH_SECONDS:
                raise ShortWatchError(
                    f"watch {NODES}: ended after {seconds:.1f} s without an event"
                )

    def _ask_version(self, api: KubeApi) -> None:
        try:
            self._live.server_version = api.server_version()
        except ApiStatusError as error:
            # The nodes are worth more than the version: go on without a new one.
            logger.warning("version not told", extra={"fields": {"because": str(error)}})

    def _list(self, api: KubeApi) -> None:
        self._resource_version = ""
        self._resource_version = self._live.take_list(api.pages(NODES, page_size=PAGE_SIZE))
        self._hear()
        logger.info("nodes listed", extra={"fields": {"resource_version": self._resource_version}})

    def _hear(self) -> None:
        if self._live.freshness.trouble:
            logger.info("the API server is heard again")
        self._live.hear()

    def _after(self, error: Exception, reason: str) -> float:
        if self._stopping.is_set():
            return 0.0
        if isinstance(error, GoneError) or reason in {"unreadable", "fault"}:
            self._resource_version = ""
        if isinstance(error, UnauthorizedError):
            self._api = None  # a kubeconfig's token file or certificate may be a new one
        self._metrics.restarts.labels(reason).inc()
        if self._live.freshness.trouble != str(error):
            fields = {"because": str(error), "reason": reason}
            logger.warning("nodes cannot be watched", extra={"fields": fields})
        self._live.complain(str(error))
        asked = error.retry_after_seconds if isinstance(error, ApiStatusError) else None
        return self._backoff.fail(asked)

    def _end_watch(self) -> None:
        stream = self._stream
        if stream is not None:
            stream.close()


def _reason(error: ClusterError) -> str:
    match error:
        case GoneError():
            return "gone"
        case ApiStatusError():
            return "refused"
        case ShortWatchError():
            return "short"
        case ClusterUnavailableError():
            return "unavailable"
        case ClusterSettingsError():
            return "settings"
        case _:
            return "unreadable"

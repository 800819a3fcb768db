"""Work that is repeated against the API server, with what every such loop needs when it fails."""

import logging
from collections.abc import Callable

from webhook.cluster.backoff import Backoff
from webhook.cluster.errors import ApiStatusError, ClusterError, UnauthorizedError
from webhook.controller.object_api import ObjectApi

logger = logging.getLogger(__name__)

Work = Callable[[ObjectApi], float]
"""One step: it returns the seconds until the next, or raises ClusterError."""


class Steps:
    """Calls one piece of work with a client, and says how long to wait before the next time.

    After a failure at most `longest_seconds`. Each kind of trouble is logged once.
    """

    def __init__(
        self,
        name: str,
        work: Work,
        connect: Callable[[], ObjectApi],
        longest_seconds: float,
    ) -> None:
        self._name = name
        self._work = work
        self._connect = connect
        self._longest_seconds = longest_seconds
        self._backoff = Backoff()
        self._api: ObjectApi | None = None
        self._trouble = ""

    def step(self) -> float:
        """Do the work once. Returns the seconds to wait before the next time."""
        try:
            if self._api is None:
                self._api = self._connect()
            wait_seconds = self._work(self._api)
        except ClusterError as error:
            return self._after(error)
        except Exception:  # the outermost loop: the next round may go well
            logger.exception("%s failed", self._name)
            return self._pause(None)
        if self._trouble:
            logger.info("%s goes on", self._name)
        self._trouble = ""
        self._backoff.succeed()
        return wait_seconds

    def _after(self, error: ClusterError) -> float:
        if isinstance(error, UnauthorizedError):
            self._api = None  # a kubeconfig's token file or certificate may be a new one
        trouble = type(error).__name__  # its text names a node, so every one would be news
        if trouble != self._trouble:
            logger.warning("%s waits", self._name, extra={"fields": {"because": str(error)}})
        self._trouble = trouble
        return self._pause(error.retry_after_seconds if isinstance(error, ApiStatusError) else None)

    def _pause(self, asked_seconds: float | None) -> float:
        return min(self._backoff.fail(asked_seconds), self._longest_seconds)

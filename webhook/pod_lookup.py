"""Pods that a verdict needs and no snapshot holds: asked of the API server while the request waits.

Only a switch of a node's mode, and the optional check of bindings, ask. The event loop goes on meanwhile:
the asking is done in a few threads, each question has one deadline for the wait for a thread and
the answer together, and whatever goes wrong is an answer too: not known, with the reason.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar, Protocol, assert_never

from policies.raw import JsonObject

AT_ONCE = 4
"""Questions that are asked at the same time; others wait, within their deadline."""
NOT_LIVE = "the webhook was started without a cluster to ask (see `serve --help`)"


@dataclass(frozen=True, slots=True)
class PodsOnNode:
    """All pods with this spec.nodeName, whatever their phase."""

    about: ClassVar[str] = "node"
    deadline_seconds: ClassVar[float] = 3.0
    """Well within the 5 s after which the API server gives up on the webhook."""
    node_name: str


@dataclass(frozen=True, slots=True)
class NamedPod:
    """The pod of this name."""

    about: ClassVar[str] = "pod"
    deadline_seconds: ClassVar[float] = 0.5
    """The scheduler waits for it with each pod that it places."""
    namespace: str
    name: str


PodQuery = PodsOnNode | NamedPod


@dataclass(frozen=True, slots=True)
class FoundPods:
    """The answer; `pods` is None when it is not known, for the reason in `unknown_because`."""

    pods: tuple[JsonObject, ...] | None = None
    unknown_because: str = ""


NOT_ASKED = FoundPods(None, "the API server was not asked")


class PodsUnknownError(Exception):
    """The pods could not be asked; the message says why, for a person."""


class LivePods(Protocol):
    """The pods of a cluster as they are now. Both calls block, and raise PodsUnknownError."""

    def on_node(self, node_name: str, deadline_seconds: float) -> Sequence[JsonObject]:
        """All pods on the node; none for a node that does not exist."""

    def named(self, namespace: str, name: str, deadline_seconds: float) -> Sequence[JsonObject]:
        """The pod, or nothing when there is none of this name."""


class PodLookup:
    """Asks `pods`, without a cluster nobody."""

    def __init__(self, pods: LivePods | None = None, at_once: int = AT_ONCE) -> None:
        self._pods = pods
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="pod-lookup")

    async def find(self, query: PodQuery) -> FoundPods:
        """The answer, within the query's deadline. A thread that is still waiting then is left to end."""
        if self._pods is None:
            return FoundPods(None, NOT_LIVE)
        ask = _asker(self._pods, query, time.monotonic() + query.deadline_seconds)
        try:
            async with asyncio.timeout(query.deadline_seconds):
                loop = asyncio.get_running_loop()
                return FoundPods(tuple(await loop.run_in_executor(self._threads, ask)))
        except TimeoutError:
            seconds = query.deadline_seconds
            return FoundPods(None, f"the API server did not answer within {seconds:g} s")
        except PodsUnknownError as error:
            return FoundPods(None, str(error))


def _asker(pods: LivePods, query: PodQuery, deadline: float) -> Callable[[], Sequence[JsonObject]]:
    """The question as a call; its time runs from now on, not from when a thread is free."""

    def ask() -> Sequence[JsonObject]:
        left = deadline - time.monotonic()
        if left <= 0:
            raise PodsUnknownError("the webhook was too busy to ask the API server in time")
        match query:
            case PodsOnNode():
                return pods.on_node(query.node_name, left)
            case NamedPod():
                return pods.named(query.namespace, query.name, left)
            case _:
                assert_never(query)

    return ask

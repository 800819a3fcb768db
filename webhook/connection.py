"""Connections with the limits that uvicorn leaves to a proxy in front, which a webhook does not have.

uvicorn waits for ever for the first request and for the rest of a request's head, and takes a head of
any size. Here both have limits, each port has one of connections, and while the server stops no
connection is kept for another request.
"""

import asyncio
import logging
import socket
from asyncio.events import TimerHandle
from collections.abc import Callable
from dataclasses import dataclass

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from webhook.places import Places

logger = logging.getLogger(__name__)

MAX_WEBHOOK_CONNECTIONS = 512
MAX_HEALTH_CONNECTIONS = 128
"""Both of one process; together well below the usual 1024 open files."""
HEAD_SECONDS = 8
"""From the begin of a connection (with TLS: from the end of its handshake) to the end of its first
head, and from the first byte of a later head to its end."""
HEAD_BYTES = 64 * 1024
HANDSHAKE_SECONDS = 8.0
CLOSE_SECONDS = 1.0
"""How long a closed connection waits for the client's own closing alert."""
KEEP_ALIVE_SECONDS = 100
"""Above the 90 s after which the API server's HTTP client closes idle connections: the client closes
first, so it never sends a request on a connection that the server is just closing."""
LINGER_SECONDS = 0.5
"""How long a stopping server keeps idle connections: a request may be on its way. The API server's
client does not send a request again that was cut off, so the user would see the failure."""
LEAVE_SECONDS = 0.1
"""How long a connection that makes room may still send what is left of its last answer."""
STOP_SECONDS = 10
"""How long a stopping server waits for requests under way."""
BACKLOG = 1024


@dataclass(frozen=True, slots=True)
class Admittance:
    """How many connections a port may have, and what is told when one is turned away."""

    limit: int
    on_refused: Callable[[], None]


class PortState(ServerState):
    """uvicorn's state that all connections of a port share, their places, and whether it is stopping."""

    def __init__(self, admittance: Admittance) -> None:
        super().__init__()
        self.stopping = asyncio.Event()
        self.places: Places[LimitedConnection] = Places(admittance.limit)
        self.on_refused = admittance.on_refused


class LimitedConnection(HttpToolsProtocol):
    """One HTTP/1.1 connection with limits on its heads; at rest it leaves when its place is needed."""

    server_state: PortState
    _timer: TimerHandle | None = None
    _head_bytes = 0
    _is_in_head = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, and close the one that has to go for it."""
        super().connection_made(transport)  # type: ignore[arg-type]
        leaving = self.server_state.places.enter(self)
        if leaving is self:
            self.server_state.on_refused()
            self.transport.abort()
            return
        self._start_timer(HEAD_SECONDS)
        if leaving is not None:
            leaving.make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        self.server_state.places.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse, and refuse a head that is too long."""
        super().data_received(data)
        if self._is_in_head:
            self._head_bytes += len(data)
        if self._head_bytes > HEAD_BYTES:
            self.send_400_response("The head of the request is too large.")
        elif self._timer is None and not self._is_at_work:
            self._start_timer(HEAD_SECONDS)

    def on_message_begin(self) -> None:
        """A request begins: from now on this one has rested less than those that send nothing."""
        self._is_in_head = True
        self._head_bytes = 0
        if not self._is_at_work:
            self.server_state.places.rest(self)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is complete; its body has the limits of the endpoint."""
        self._is_in_head = False
        self._head_bytes = 0
        self._stop_timer()
        self.server_state.places.work(self)
        super().on_headers_complete()
        if self.server_state.stopping.is_set():
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        """The answer is written: at rest, unless the client has sent the next request already."""
        if not self.pipeline:
            self.server_state.places.rest(self)
            if self._is_in_head:
                self._start_timer(HEAD_SECONDS)
        super().on_response_complete()

    def make_room(self) -> None:
        """Close for a newcomer, whatever the client does."""
        self.transport.close()
        self._start_timer(LEAVE_SECONDS)

    def shutdown(self) -> None:
        """Close after the answer under way, or after one to a request that is on its way already."""
        if self.cycle is None or self.cycle.response_complete:
            self.loop.call_later(LINGER_SECONDS, super().shutdown)
        else:
            super().shutdown()

    @property
    def _is_at_work(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _start_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Listener(uvicorn.Server):
    """uvicorn's server on a socket that is bound already, without its signal handlers.

    Several run in one event loop; whoever runs them sets `should_exit`.
    """

    def __init__(
        self, config: uvicorn.Config, bound: socket.socket, admittance: Admittance
    ) -> None:
        super().__init__(config)
        self.server_state: PortState = PortState(admittance)
        self._bound = bound

    async def listen(self) -> None:
        """Open the port. Raises OSError."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: LimitedConnection(self.config, self.server_state, {}, loop),
            sock=self._bound,
            ssl=self.config.ssl,
            backlog=BACKLOG,
            ssl_handshake_timeout=HANDSHAKE_SECONDS if self.config.ssl else None,
            ssl_shutdown_timeout=CLOSE_SECONDS if self.config.ssl else None,
        )
        self.servers = [server]
        self.lifespan = self.config.lifespan_class(self.config)
        self.started = True

    async def answer(self) -> None:
        """Answer until `should_exit`; then accept no more, answer what was accepted, close the rest."""
        await self.main_loop()
        self.server_state.stopping.set()
        await self.shutdown([self._bound])

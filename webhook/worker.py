"""One process that serves both ports: builds the parts, runs them, stops them in order.

The health port opens first and closes last, so that a kubelet always learns what is missing, and that
the process is stopping. The webhook port opens when there is a certificate. Files are looked at in a
thread, and the API server is listened to in another: the event loop that answers requests never waits
for a disk or the network.
"""

import asyncio
import gc
import logging
import signal
import socket
import ssl
import time
from collections.abc import Callable
from multiprocessing import parent_process

import uvicorn
import uvloop
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.types import ASGIApp

from policies.policy import Policy
from webhook.app import webhook_app
from webhook.cluster.api import KubeApi
from webhook.cluster.api_pods import ApiPods
from webhook.cluster.live_nodes import LiveNodes
from webhook.cluster.node_metrics import NodeMetrics
from webhook.cluster.node_watch import NodeWatch
from webhook.connection import (
    KEEP_ALIVE_SECONDS,
    MAX_HEALTH_CONNECTIONS,
    MAX_WEBHOOK_CONNECTIONS,
    STOP_SECONDS,
    Admittance,
    Listener,
)
from webhook.controller.controller import Controller
from webhook.controller.metrics import ControllerMetrics
from webhook.controller.node_source import NodeSource
from webhook.health import health_app
from webhook.listening import Sockets
from webhook.metrics import Metrics
from webhook.readiness import Readiness
from webhook.reload import Reloader
from webhook.settings import ServeSettings
from webhook.state import State
from webhook.tls import ServingCertificate

logger = logging.getLogger(__name__)

POLL_SECONDS = 1.0
WATCH_POLL_SECONDS = 0.2
"""How often a new inventory may come: events in between are taken up together."""
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Worker:
    """The parts of one serving process."""

    def __init__(self, settings: ServeSettings, sockets: Sockets, metrics_dir: str | None) -> None:
        registry = CollectorRegistry()
        self._metrics = Metrics(registry)
        self._metrics_dir = metrics_dir
        self._registry = registry
        self._state = State()
        self._readiness = Readiness()
        self._sockets = sockets
        self._watch = _node_watch(settings, registry)
        self._reloader = Reloader(
            settings, self._state, self._readiness, self._metrics, self._watch
        )
        self._pods = _pods(settings)
        self._nodes = NodeSource()
        self._controller = _controller(settings, registry, self._nodes)
        self._look_due_seconds = 0.0
        self._certificate = ServingCertificate(settings, self._readiness, self._metrics)
        self._stop = asyncio.Event()
        self._may_go_on = asyncio.Event()
        """Set when there is a certificate to open the port with, or a reason to stop."""

    async def run(self, on_listening: Callable[[], None]) -> None:
        """Serve until a signal to stop, or until the parent process is gone. Raises OSError."""
        self._stop_on_signals()
        app = health_app(self._readiness, self._render_metrics)
        admittance = self._admittance("health", MAX_HEALTH_CONNECTIONS)
        health = _listener(app, self._sockets.health, admittance)
        await health.listen()
        health_task = asyncio.create_task(health.answer())
        if self._watch is not None:
            self._watch.start()
        looking = asyncio.create_task(self._keep_looking())
        leading = asyncio.create_task(self._lead())
        try:
            await self._may_go_on.wait()
            if not self._stop.is_set():
                await self._serve(on_listening)
        finally:
            self._stop.set()
            await leading
            looking.cancel()
            if self._watch is not None:
                await asyncio.to_thread(self._watch.stop)
            health.should_exit = True
            await health_task

    async def _serve(self, on_listening: Callable[[], None]) -> None:
        app = webhook_app(self._state, self._metrics, pods=self._pods)
        admittance = self._admittance("webhook", MAX_WEBHOOK_CONNECTIONS)
        webhook = _listener(app, self._sockets.webhook, admittance, self._certificate.context)
        await webhook.listen()
        webhook_task = asyncio.create_task(webhook.answer())
        gc.freeze()
        on_listening()
        await self._stop.wait()
        webhook.should_exit = True
        await webhook_task

    def _admittance(self, port: str, limit: int) -> Admittance:
        return Admittance(limit, self._metrics.refused_connections.labels(port).inc)

    async def _lead(self) -> None:
        """Lead, when elected, until the stop; then let go at once, while open requests are answered."""
        if self._controller is None:
            return
        self._controller.start()
        await self._stop.wait()
        await asyncio.to_thread(self._controller.stop)

    async def _keep_looking(self) -> None:
        """Look at the files and at what the watch heard, again and again, in a thread."""
        while True:
            try:
                await asyncio.to_thread(self._look)
            except Exception:  # the outermost loop: what is in force stays in force
                logger.exception("looking at files and nodes failed")
            if self._certificate.context is not None:
                self._may_go_on.set()
            await asyncio.sleep(POLL_SECONDS if self._watch is None else WATCH_POLL_SECONDS)

    def _look(self) -> None:
        now = time.monotonic()
        if now >= self._look_due_seconds:
            self._look_due_seconds = now + POLL_SECONDS
            self._reloader.tick(now)
            self._certificate.tick()
        self._reloader.tick_watch(now)
        self._nodes.look(self._state.current, is_fresh=not self._readiness.stale_nodes)

    def _stop_on_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self._begin_stop)
        parent = parent_process()
        if parent is not None:
            loop.add_reader(parent.sentinel, self._on_parent_gone, parent.sentinel)

    def _on_parent_gone(self, sentinel: int) -> None:
        asyncio.get_running_loop().remove_reader(sentinel)
        self._begin_stop()

    def _begin_stop(self) -> None:
        self._readiness.stopping = "stopping"
        self._stop.set()
        self._may_go_on.set()

    def _render_metrics(self) -> bytes:
        if self._metrics_dir is None:
            return generate_latest(self._registry)
        summed = CollectorRegistry()
        MultiProcessCollector(summed, path=self._metrics_dir)  # type: ignore[no-untyped-call]
        return generate_latest(summed)


def run_worker(
    settings: ServeSettings,
    sockets: Sockets,
    on_listening: Callable[[], None],
    metrics_dir: str | None = None,
) -> None:
    """Serve in this process until it is told to stop.

    `metrics_dir` is where the processes of one server keep their metrics, None when there is only one.
    """

    async def run() -> None:
        await Worker(settings, sockets, metrics_dir).run(on_listening)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


def _pods(settings: ServeSettings) -> ApiPods | None:
    return ApiPods(lambda: KubeApi.connect(settings.kubeconfig)) if settings.watches_nodes else None


def _node_watch(settings: ServeSettings, registry: CollectorRegistry) -> NodeWatch | None:
    if not settings.watches_nodes:
        return None
    return NodeWatch(
        lambda: KubeApi.connect(settings.kubeconfig),
        LiveNodes(Policy()),
        NodeMetrics(registry),
        settings.nodes_stale_after_seconds,
    )


def _controller(
    settings: ServeSettings, registry: CollectorRegistry, nodes: NodeSource
) -> Controller | None:
    if not settings.leads:
        return None
    return Controller(
        lambda: KubeApi.connect(settings.kubeconfig),
        lambda: nodes.current,
        ControllerMetrics(registry),
        settings.lease_namespace,
    )


def _listener(
    app: ASGIApp,
    bound: socket.socket,
    admittance: Admittance,
    context: ssl.SSLContext | None = None,
) -> Listener:
    config = uvicorn.Config(
        app,
        http="httptools",
        interface="asgi3",
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    config.load()
    config.ssl = context
    return Listener(config, bound, admittance)

"""Several worker processes behind the same two ports, kept alive by a parent that serves nothing.

Workers are spawned, not forked: prometheus_client decides when it is imported whether its values live
in files that another process can sum, so that has to be in the environment before a worker starts.
"""

import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType

from prometheus_client.multiprocess import mark_process_dead

from webhook.connection import STOP_SECONDS
from webhook.listening import Sockets
from webhook.logs import log_to_stderr
from webhook.metrics_directory import used
from webhook.settings import ServeSettings
from webhook.worker import run_worker

logger = logging.getLogger(__name__)

METRICS_DIR_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
FIRST_BACKOFF_SECONDS = 0.5
MAX_BACKOFF_SECONDS = 30.0
SETTLED_SECONDS = 60.0
"""A worker that lived so long is started again without waiting."""
KILL_AFTER_SECONDS = STOP_SECONDS + 5
TICK_SECONDS = 0.2
READY = "listening"


@dataclass(slots=True)
class Slot:
    """The place of one worker: its process, and when a dead one is started again."""

    process: BaseProcess | None = None
    ready: Connection | None = None
    started_seconds: float = 0.0
    start_at_seconds: float = 0.0
    backoff_seconds: float = FIRST_BACKOFF_SECONDS


@dataclass(slots=True)
class Supervisor:
    """Starts, watches and stops the workers of one server."""

    settings: ServeSettings
    sockets: Sockets
    metrics_dir: str
    slots: list[Slot] = field(default_factory=list)
    is_stopping: bool = False
    waiting_for: int = 0

    def run(self) -> None:
        """Keep the workers alive until a signal to stop, then stop them."""
        self.slots = [Slot() for _ in range(self.settings.workers)]
        self.waiting_for = len(self.slots)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        while not self.is_stopping:
            for slot in self.slots:
                self._look_after(slot, time.monotonic())
            self._wait()
        self._stop()

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.is_stopping = True

    def _look_after(self, slot: Slot, now: float) -> None:
        if slot.process is not None and not slot.process.is_alive():
            self._bury(slot, now)
        if slot.process is None and now >= slot.start_at_seconds and not self.is_stopping:
            self._start(slot, now)

    def _start(self, slot: Slot, now: float) -> None:
        context = multiprocessing.get_context("spawn")
        slot.ready, theirs = context.Pipe(duplex=False)
        arguments = (self.settings, self.sockets, theirs, self.metrics_dir)
        slot.process = context.Process(target=_work, args=arguments)
        slot.process.start()
        slot.started_seconds = now
        theirs.close()
        logger.info("worker started", extra={"fields": {"pid": slot.process.pid}})

    def _bury(self, slot: Slot, now: float) -> None:
        process = slot.process
        if process is None:
            return
        if now - slot.started_seconds > SETTLED_SECONDS:
            slot.backoff_seconds = FIRST_BACKOFF_SECONDS
        fields = {"pid": process.pid, "exit_code": process.exitcode}
        logger.error("worker ended, starting another", extra={"fields": fields})
        mark_process_dead(process.pid, self.metrics_dir)  # type: ignore[no-untyped-call]
        process.close()
        slot.process = None
        slot.start_at_seconds = now + slot.backoff_seconds
        slot.backoff_seconds = min(2 * slot.backoff_seconds, MAX_BACKOFF_SECONDS)

    def _wait(self) -> None:
        """Wait a moment, or until a worker says that it listens."""
        pipes = [slot.ready for slot in self.slots if slot.ready is not None]
        if not pipes:
            time.sleep(TICK_SECONDS)
            return
        for pipe in wait(pipes, TICK_SECONDS):
            self._on_pipe(pipe)

    def _on_pipe(self, pipe: object) -> None:
        for slot in self.slots:
            if slot.ready is pipe and slot.ready is not None:
                listens = _said_ready(slot.ready)
                slot.ready.close()
                slot.ready = None
                if listens:
                    self._on_listening(slot)

    def _on_listening(self, slot: Slot) -> None:
        pid = slot.process.pid if slot.process is not None else None
        logger.info("worker listening", extra={"fields": {"pid": pid}})
        self.waiting_for -= 1
        if self.waiting_for == 0:
            log_listening(self.sockets)

    def _stop(self) -> None:
        """Tell every worker to stop, and end those that do not within their time."""
        processes = [slot.process for slot in self.slots if slot.process is not None]
        for process in processes:
            process.terminate()
        deadline = time.monotonic() + KILL_AFTER_SECONDS
        for process in processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                logger.error("worker did not stop", extra={"fields": {"pid": process.pid}})
                process.kill()
                process.join()


def supervise(settings: ServeSettings, sockets: Sockets) -> None:
    """Serve with `settings.workers` processes until a signal to stop."""
    with tempfile.TemporaryDirectory(prefix="mgpu-hybrid-metrics-") as metrics_dir:
        os.environ[METRICS_DIR_VARIABLE] = metrics_dir
        try:
            Supervisor(settings, sockets, metrics_dir).run()
        finally:
            del os.environ[METRICS_DIR_VARIABLE]


def log_listening(sockets: Sockets) -> None:
    """The one line that says where the server is, once it answers."""
    logger.info("webhook listening on %s, health on %s", sockets.webhook_url, sockets.health_url)


def _said_ready(pipe: Connection) -> bool:
    try:
        return bool(pipe.recv() == READY)
    except EOFError:
        return False


def _work(settings: ServeSettings, sockets: Sockets, ready: Connection, metrics_dir: str) -> None:
    """What a worker process runs."""
    log_to_stderr()
    try:
        with used(Path(metrics_dir)):
            run_worker(settings, sockets, lambda: ready.send(READY), metrics_dir)
    except OSError as error:
        logger.error("cannot listen: %s", error)  # noqa: TRY400 - a reason, not a traceback
        sys.exit(1)

"""The limits of connections, on a listener in the test's own event loop."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from webhook import connection
from webhook.connection import Admittance, Listener

REQUEST = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class App:
    """Answers 200 once `release` is set; `entered` is set when a request is in it."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.release = asyncio.Event()
        self.release.set()

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        self.entered.set()
        await self.release.wait()
        headers = [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})


class Running:
    """A plain HTTP listener on a free port, with places for three connections."""

    def __init__(self) -> None:
        self.app = App()
        self.refused = 0
        self.bound = socket.socket()
        self.bound.bind(("127.0.0.1", 0))
        self.port = self.bound.getsockname()[1]
        config = uvicorn.Config(
            self.app, lifespan="off", ws="none", log_config=None, access_log=False
        )
        config.load()
        self.listener = Listener(config, self.bound, Admittance(3, self._on_refused))

    def _on_refused(self) -> None:
        self.refused += 1

    async def connect(self) -> Streams:
        return await asyncio.open_connection("127.0.0.1", self.port)


def serving(test: Callable[[Running], Awaitable[None]]) -> None:
    """Run the test against a listener, then stop it."""

    async def run() -> None:
        running = Running()
        await running.listener.listen()
        answering = asyncio.create_task(running.listener.answer())
        try:
            async with asyncio.timeout(30):
                await test(running)
        finally:
            running.listener.should_exit = True
            await answering

    asyncio.run(run())


async def answer(streams: Streams) -> bytes:
    reader, writer = streams
    writer.write(REQUEST)
    head = await reader.readuntil(b"\r\n\r\n")
    assert await reader.readexactly(2) == b"ok"
    return head


async def until_closed(streams: Streams) -> bytes:
    reader, writer = streams
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


def test_a_connection_serves_many_requests() -> None:
    async def test(running: Running) -> None:
        streams = await running.connect()
        for _ in range(3):
            assert (await answer(streams)).startswith(b"HTTP/1.1 200 OK")
        streams[1].close()

    serving(test)


def test_a_head_that_does_not_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.01)

    async def test(running: Running) -> None:
        streams = await running.connect()
        streams[1].write(REQUEST[:-2])
        assert await until_closed(streams) == b""
        again = await running.connect()
        await answer(again)
        again[1].write(REQUEST[:5])
        assert await until_closed(again) == b""

    serving(test)


def test_a_head_in_pieces_within_the_time_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 20)

    async def test(running: Running) -> None:
        reader, writer = await running.connect()
        for index in range(len(REQUEST)):
            writer.write(REQUEST[index : index + 1])
            await writer.drain()
            await asyncio.sleep(0)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.close()

    serving(test)


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"G"], ids=["nothing", "empty line", "a letter"])
def test_a_connection_without_a_first_request_has_the_time_of_a_head(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.01)

    async def test(running: Running) -> None:
        streams = await running.connect()
        streams[1].write(sent)
        assert await until_closed(streams) == b""

    serving(test)


def test_an_empty_line_after_a_request_does_not_stop_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test(running: Running) -> None:
        streams = await running.connect()
        await answer(streams)
        monkeypatch.setattr(connection, "HEAD_SECONDS", 0.01)
        streams[1].write(b"\r\n")
        assert await until_closed(streams) == b""

    serving(test)


def test_half_a_head_behind_a_request_has_the_time_of_a_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test(running: Running) -> None:
        streams = await running.connect()
        monkeypatch.setattr(connection, "HEAD_SECONDS", 0.01)
        streams[1].write(REQUEST + REQUEST[:5])
        assert (await until_closed(streams)).endswith(b"ok")

    serving(test)


def test_a_connection_between_requests_is_kept_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(running: Running) -> None:
        kept = await running.connect()
        await answer(kept)
        monkeypatch.setattr(connection, "HEAD_SECONDS", 0.01)
        assert await until_closed(await running.connect()) == b""
        await answer(kept)
        kept[1].close()

    serving(test)


def test_a_head_without_end_is_refused() -> None:
    async def test(running: Running) -> None:
        reader, writer = await running.connect()
        writer.write(REQUEST[:-2] + b"x: " + b"y" * (2 * connection.HEAD_BYTES))
        assert not (await until_closed((reader, writer))).startswith(b"HTTP/1.1 200")
        assert not running.app.entered.is_set()

    serving(test)


def test_a_large_head_within_the_limit_is_taken() -> None:
    async def test(running: Running) -> None:
        reader, writer = await running.connect()
        writer.write(REQUEST[:-2] + b"x: " + b"y" * (connection.HEAD_BYTES // 2) + b"\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.close()

    serving(test)


def test_a_newcomer_gets_the_place_of_the_one_that_rests_longest() -> None:
    async def test(running: Running) -> None:
        first, second, third = [await running.connect() for _ in range(3)]
        await answer(second)
        await answer(third)
        await answer(first)
        newcomer = await running.connect()
        assert await until_closed(second) == b""
        for streams in (newcomer, first, third):
            await answer(streams)
            streams[1].close()
        assert running.refused == 0

    serving(test)


@pytest.mark.parametrize("sent", [b"", REQUEST[:5]], ids=["silent", "half a head"])
def test_those_that_send_no_request_shut_nobody_out(sent: bytes) -> None:
    async def test(running: Running) -> None:
        useless = [await running.connect() for _ in range(20)]
        for _, writer in useless:
            writer.write(sent)
        honest = await running.connect()
        await answer(honest)
        assert running.refused == 0
        for _, writer in [*useless, honest]:
            writer.close()

    serving(test)


async def enter_requests(running: Running, count: int) -> list[Streams]:
    """Connections with a request that the application has not answered."""
    running.app.release.clear()
    busy = []
    for _ in range(count):
        running.app.entered.clear()
        busy.append(await running.connect())
        busy[-1][1].write(REQUEST)
        await running.app.entered.wait()
    return busy


def test_one_at_work_never_makes_room() -> None:
    async def test(running: Running) -> None:
        busy = await enter_requests(running, 2)
        for _ in range(10):
            _, writer = await running.connect()
            writer.close()
        running.app.release.set()
        for streams in busy:
            assert (await streams[0].readuntil(b"ok")).startswith(b"HTTP/1.1 200")
            await answer(streams)
            streams[1].close()

    serving(test)


def test_only_while_all_are_at_work_a_newcomer_is_refused_and_counted() -> None:
    async def test(running: Running) -> None:
        busy = await enter_requests(running, 3)
        assert await until_closed(await running.connect()) == b""
        assert running.refused == 1
        running.app.release.set()
        for streams in busy:
            await streams[0].readuntil(b"ok")
        newcomer = await running.connect()
        await answer(newcomer)
        assert running.refused == 1
        for _, writer in [*busy, newcomer]:
            writer.close()

    serving(test)


def test_while_stopping_a_request_on_its_way_is_answered() -> None:
    async def test(running: Running) -> None:
        idle, gone = await running.connect(), await running.connect()
        await answer(idle)
        running.listener.should_exit = True
        await running.listener.server_state.stopping.wait()
        assert b"connection: close" in await answer(idle)
        assert await idle[0].read() == b""
        assert await until_closed(gone) == b""
        idle[1].close()

    serving(test)


def test_while_stopping_each_answer_is_the_last_of_its_connection() -> None:
    async def test(running: Running) -> None:
        kept, opened = await running.connect(), await running.connect()
        await answer(kept)
        running.app.release.clear()
        running.app.entered.clear()
        kept[1].write(REQUEST)
        await running.app.entered.wait()
        running.listener.should_exit = True
        assert await until_closed(opened) == b""
        running.app.release.set()
        head = await kept[0].readuntil(b"\r\n\r\n")
        assert b"connection: close" in head
        assert await kept[0].read() == b"ok"
        kept[1].close()

    serving(test)

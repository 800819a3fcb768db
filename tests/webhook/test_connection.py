"""The limits of connections, on a listener in the test's own event loop."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from webhook import connection
from webhook.connection import Listener

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
    """A plain HTTP listener on a free port."""

    def __init__(self) -> None:
        self.app = App()
        self.bound = socket.socket()
        self.bound.bind(("127.0.0.1", 0))
        self.port = self.bound.getsockname()[1]
        config = uvicorn.Config(
            self.app, lifespan="off", ws="none", log_config=None, access_log=False
        )
        config.load()
        self.listener = Listener(config, self.bound)

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


def test_a_connection_that_sends_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "KEEP_ALIVE_SECONDS", 0.01)

    async def test(running: Running) -> None:
        assert await until_closed(await running.connect()) == b""

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


def test_connections_above_the_limit_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_CONNECTIONS", 2)

    async def test(running: Running) -> None:
        first, second = await running.connect(), await running.connect()
        await answer(first)
        await answer(second)
        assert await until_closed(await running.connect()) == b""
        second[1].close()
        await answer(first)
        first[1].close()

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

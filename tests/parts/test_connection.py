"""Peers that are not heard or do not hear, on real sockets of this process, with shorter bounds."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest
import uvicorn

from tests.parts.conftest import eventually
from worker.api import connection
from worker.api.app import build
from worker.api.connection import Connection, bound
from worker.api.services import Services
from worker.search.engine import Engine
from worker.store.tables import Store
from worker.stream import listener
from worker.stream.broadcaster import Broadcaster
from worker.stream.pace import Pace

ASK = b"GET /api/version HTTP/1.1\r\nHost: localhost\r\n\r\n"
LISTEN = b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Server(uvicorn.Server):
    """Leaves the signals of the test run alone."""

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


@pytest.fixture
async def broadcaster() -> Broadcaster:
    return Broadcaster()


@pytest.fixture
async def port(store: Store, broadcaster: Broadcaster, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """Where the worker's application answers, for peers that have little time."""
    monkeypatch.setattr(connection, "HEAD_S", 0.2)
    monkeypatch.setattr(connection, "STALL_S", 0.3)
    services = Services("0", store.path.parent, 0, broadcaster, lambda: 0.0, lambda: None)
    services.opened = (store, Engine(store))
    config = uvicorn.Config(build(services, "127.0.0.1"), http=Connection, ws="none", log_config=None, lifespan="off")
    server = Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        bound(listening)
        serving = asyncio.create_task(server.serve([listening]))
        await eventually(lambda: server.started)
        yield listening.getsockname()[1]
        broadcaster.close()
        server.should_exit = True
        await serving


async def rest(reader: asyncio.StreamReader) -> bytes:
    """What still comes until the other side ends the connection."""
    found = b""
    async with asyncio.timeout(60):
        with contextlib.suppress(ConnectionResetError):
            while piece := await reader.read(65536):
                found += piece
    return found


async def test_peer_that_says_nothing_is_let_go(port: int) -> None:
    """R215."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    assert await rest(reader) == b""
    writer.close()


@pytest.mark.parametrize("before", [b"", ASK])
async def test_head_that_trickles_is_not_waited_for(port: int, before: bytes) -> None:
    """R215: neither the first of a connection nor a later one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(before + b"GET /api/version HTTP/1.1\r\n")

    async def trickle() -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"X-Slow: 1\r\n")
                await writer.drain()
                await asyncio.sleep(0.02)

    trickling = asyncio.create_task(trickle())
    assert (await rest(reader)).count(b"200 OK") == before.count(b"GET")
    trickling.cancel()
    writer.close()


async def test_rest_of_a_refused_body_is_not_waited_for(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /api/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nx")

    async def trickle() -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.02)

    trickling = asyncio.create_task(trickle())
    assert b"415" in await rest(reader)
    trickling.cancel()
    writer.close()


async def test_connection_in_use_stays(port: int) -> None:
    """For longer than the bound, unless we are kept from asking in time: that it was so each time is no chance."""
    for _ in range(8):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            for _ in range(10):
                writer.write(ASK)
                assert b"200 OK" in await reader.readuntil(b'"}')
                await asyncio.sleep(0.03)
            writer.close()
            return
        writer.close()
    raise AssertionError("it was closed each time")


async def test_what_is_no_http_is_told_in_json(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"\0\1\2\r\n\r\n")
    told = await rest(reader)
    assert told.startswith(b"HTTP/1.1 400") and b'"code":"invalid"' in told
    writer.close()


async def answered(port: int, sent: bytes) -> bytes:
    """All that comes for some bytes; asked again where we were kept from sending them in the time there is."""
    for _ in range(8):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(ConnectionError):
            writer.write(sent)
            await writer.drain()
        told = await rest(reader)
        writer.close()
        if told:
            return told
    raise AssertionError("it was closed each time")


async def test_a_head_beyond_the_limit_is_told_in_json(port: int) -> None:
    """431, and the connection ends; with all that the peer has yet to send it may be broken off."""
    told = await answered(port, b"GET /api/version?" + b"x" * 2**21)
    assert told.startswith(b"HTTP/1.1 431 ") and b'"code":"too_large"' in told


async def test_a_body_that_breaks_off_under_an_answer_ends_the_connection(port: int) -> None:
    head = b"POST /api/import HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    told = await answered(port, head + b"no chunk\r\n")
    assert told.count(b"HTTP/1.1 ") == 1 and (b"415" in told or b"400 Bad Request" in told)


async def test_a_body_of_two_lengths_is_refused_and_what_follows_is_not_read(port: int) -> None:
    both = b"Content-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    told = await answered(port, b"POST /api/import HTTP/1.1\r\nHost: localhost\r\n" + both + ASK)
    assert told.startswith(b"HTTP/1.1 400") and b"both a Content-Length and a Transfer-Encoding" in told
    assert b"200 OK" not in told


async def deaf(port: int, *, buffer_bytes: int = 4096) -> socket.socket:
    """A listener whose program does not read of itself."""
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
    peer.setblocking(False)
    await asyncio.get_running_loop().sock_connect(peer, ("127.0.0.1", port))
    await asyncio.get_running_loop().sock_sendall(peer, LISTEN)
    return peer


async def test_listener_that_never_reads_is_freed(port: int, broadcaster: Broadcaster) -> None:
    """R211, R213: once the system's buffers are full, within the bound; others hear all meanwhile."""
    for patience_s in PATIENCES_S:
        async with _beside_a_deaf_one(port, broadcaster) as reader, _told(broadcaster, patience_s) as pace:
            pace.put({"type": "x", "text": "x" * 5000} for _ in range(5000))
            pace.put([{"type": "last"}])
            heard = await _until(reader, b'"last"')
            await eventually(lambda: broadcaster.listeners == 1)
        if heard.count(b'"type":"x"') == 5000:
            break
    else:
        raise AssertionError("a reader never heard all")


async def test_a_hundred_thousand_events_beside_one_that_never_reads(port: int, broadcaster: Broadcaster) -> None:
    """R213: the one that reads gets all of them; the other keeps no more than its queue, until it is freed."""
    for patience_s in PATIENCES_S:
        async with _beside_a_deaf_one(port, broadcaster) as reader, _told(broadcaster, patience_s) as pace:
            pace.put({"type": "x", "n": number} for number in range(100_000))
            pace.put([{"type": "last"}])
            heard = await _until(reader, b'"last"')
            assert all(len(queue._frames) <= listener.QUEUE for queue in broadcaster._listeners)
        if heard.count(b'"type":"x"') == 100_000 and b"resync" not in heard:
            break
    else:
        raise AssertionError("a reader never heard all")


PATIENCES_S = (0.1, 1.0, 10.0)
"""How long one that seems deaf is waited for, one attempt after the other: on a busy machine a reader may seem so."""


@contextlib.asynccontextmanager
async def _beside_a_deaf_one(port: int, broadcaster: Broadcaster) -> AsyncIterator[asyncio.StreamReader]:
    await eventually(lambda: broadcaster.listeners == 0)
    with await deaf(port):
        await eventually(lambda: broadcaster.listeners == 1)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(LISTEN)
        await eventually(lambda: broadcaster.listeners == 2)
        yield reader
        writer.close()


@contextlib.asynccontextmanager
async def _told(broadcaster: Broadcaster, patience_s: float) -> AsyncIterator[Pace]:
    pace = Pace(broadcaster, patience_s=patience_s)
    telling = asyncio.create_task(pace.run())
    yield pace
    telling.cancel()


async def _until(reader: asyncio.StreamReader, word: bytes) -> bytes:
    found = bytearray()
    async with asyncio.timeout(60):
        while word not in found[-200:]:
            piece = await reader.read(65536)
            assert piece, "the stream ended"
            found += piece
    return bytes(found)


async def test_listener_that_stopped_on_a_quiet_stream_is_freed(
    port: int, broadcaster: Broadcaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R211: nothing happens, and its system goes on answering for it. In the real pace of the comments: minutes."""
    monkeypatch.setattr(listener, "KEEP_ALIVE_S", 0.001)
    with await deaf(port, buffer_bytes=2**16):
        await eventually(lambda: broadcaster.listeners == 1)
        await eventually(lambda: broadcaster.listeners == 0)


async def test_listener_that_reads_slowly_is_kept(port: int, broadcaster: Broadcaster) -> None:
    """R211: slow is not dead. Slower than it means to be it may be on a busy machine, but not each time."""
    for _ in range(6):
        with await deaf(port, buffer_bytes=2**17) as slow:
            await eventually(lambda: broadcaster.listeners == 1)
            for _ in range(100):
                broadcaster.send({"type": "x", "text": "x" * 20_000})
            with contextlib.suppress(ConnectionError):
                for _ in range(12):
                    if not await asyncio.get_running_loop().sock_recv(slow, 100_000):
                        break
                    await asyncio.sleep(0.05)
            kept = broadcaster.listeners == 1
        await eventually(lambda: broadcaster.listeners == 0)
        if kept:
            return
    raise AssertionError("it was let go each time")

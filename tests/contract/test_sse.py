"""The stream as the client sees it: bytes of a server to events."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest

from tests.processes import PATIENCE_S
from worker.contract.client import WorkerClient
from worker.contract.errors import MemError, Unavailable, Unreachable
from worker.contract.events import StreamEvent
from worker.contract.sse import KEEP_ALIVE, Frame, encode

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


@contextmanager
def sending(*pieces: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """The port of a server that sends these pieces to its one caller, and what the caller asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                asked.append(connection.recv(65536))
                for piece in pieces:
                    connection.sendall(piece)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], asked
        thread.join()


async def heard(port: int, after: int | None = None) -> list[StreamEvent]:
    async with WorkerClient("127.0.0.1", port, timeout_s=PATIENCE_S) as client:
        return [event async for event in client.events(after=after)]


async def test_events_arrive_with_the_frame_s_id() -> None:
    row = {"id": 7, "title": "line\u2028separator\u0085 and 😀"}
    frame = encode(Frame(msgspec.json.encode({"type": "new_observation", "observation": row, "timestamp": 5}), "12"))
    pieces = [
        HEAD,
        encode(Frame(b'{"type":"connected"}')),
        KEEP_ALIVE,
        *(frame[at : at + 1] for at in range(len(frame))),
    ]
    with sending(*pieces) as (port, asked):
        events = await heard(port, after=11)
    assert events == [
        StreamEvent(type="connected"),
        StreamEvent(type="new_observation", observation=row, timestamp=5, id=12),
    ]
    assert b"last-event-id: 11" in asked[0].lower()


async def test_first_time_asks_for_no_replay() -> None:
    with sending(HEAD) as (port, asked):
        assert await heard(port) == []
    assert b"last-event-id" not in asked[0].lower() and asked[0].startswith(b"GET /stream ")


async def test_deletion_keeps_its_own_number() -> None:
    frame = encode(Frame(b'{"type":"record_deleted","kind":"summary","record_id":14}', "99"))
    with sending(HEAD, frame) as (port, _):
        (event,) = await heard(port)
    assert (event.kind, event.record_id, event.id) == ("summary", 14, 99)


async def test_what_is_no_event_of_ours_is_passed_over() -> None:
    frames = [
        b"data: no JSON\n\n",
        b"data: []\n\n",
        b"data: {}\n\n",
        b"event: x\n\n",
        b'id: x\ndata: {"type":"later","new":1}\n\n',
    ]
    with sending(HEAD, *frames) as (port, _):
        assert await heard(port) == [StreamEvent(type="later")]


async def test_event_cut_off_by_the_end_is_none() -> None:
    with sending(HEAD, b'data: {"type":"connected"}\n') as (port, _):
        assert await heard(port) == []


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b'HTTP/1.1 503 x\r\nContent-Length: 37\r\n\r\n{"error":"soon","code":"unavailable"}', Unavailable),
        (b"HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n", MemError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndata", Unreachable),
        (b"", Unreachable),
    ],
)
async def test_stream_that_cannot_be_had_is_an_error(answer: bytes, kind: type[MemError]) -> None:
    with sending(answer) as (port, _), pytest.raises(kind):
        await heard(port)

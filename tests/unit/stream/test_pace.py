"""Many events at once, to listeners that read and to one that does not."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
import pytest

from tests.fakes import FakeClock
from worker.contract.sse import Decoder
from worker.stream import listener
from worker.stream.broadcaster import Broadcaster
from worker.stream.pace import Pace

PATIENCES_S = (0.05, 1.0, 10.0)
"""How long one that seems deaf is waited for, one attempt after the other: on a busy machine a reader may seem so."""


@contextlib.asynccontextmanager
async def running(pace: Pace) -> AsyncIterator[None]:
    task = asyncio.create_task(pace.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def heard(coming: AsyncIterator[bytes], last: int) -> list[object]:
    """Numbers and types, until the event with number ``last``."""
    decoder, found = Decoder(), list[object]()
    async with asyncio.timeout(60):
        async for raw in coming:
            for frame in decoder.feed(raw):
                event = msgspec.json.decode(frame.data)
                found.append(event.get("n", event["type"]))
            if found[-1] == last:
                return found
    return found


async def in_one_of_them(attempt: Callable[[float], Awaitable[bool]]) -> bool:
    """Whether an attempt with one of the patiences succeeds."""
    for patience_s in PATIENCES_S:
        if await attempt(patience_s):
            return True
    return False


def events(count: int, **more: object) -> list[dict[str, Any]]:
    return [{"type": "x", "n": number, **more} for number in range(count)]


async def test_reader_gets_all_beside_one_that_never_reads() -> None:
    """R213: in order, and the deaf one is waited for once."""

    async def reads_all(patience_s: float) -> bool:
        broadcaster = Broadcaster(FakeClock())
        pace = Pace(broadcaster, patience_s=patience_s)
        async with running(pace):
            with broadcaster.listen([]) as deaf, broadcaster.listen([]) as reader:
                pace.put(events(30_000))
                found = await heard(reader, 29_999)
                assert all(len(queue._frames) <= listener.QUEUE for queue in broadcaster._listeners)
                assert b"resync" in await anext(deaf)
        return found == list(range(30_000))

    assert await in_one_of_them(reads_all)


async def test_one_that_reads_again_is_told_and_waited_for_again() -> None:
    """R213."""

    async def both_read_on(patience_s: float) -> bool:
        broadcaster = Broadcaster(FakeClock())
        pace = Pace(broadcaster, patience_s=patience_s)
        async with running(pace):
            with broadcaster.listen([]) as slow, broadcaster.listen([]) as reader:
                pace.put(events(10_000))
                await heard(reader, 9_999)
                assert b"resync" in await anext(slow)
                pace.put(events(10_000))
                found = await asyncio.gather(heard(slow, 9_999), heard(reader, 9_999))
        return list(found) == [list(range(10_000))] * 2

    assert await in_one_of_them(both_read_on)


async def test_large_events_are_bounded_by_their_bytes() -> None:
    """R213."""

    async def reads_all(patience_s: float) -> bool:
        broadcaster = Broadcaster(FakeClock())
        pace = Pace(broadcaster, patience_s=patience_s)
        async with running(pace):
            with broadcaster.listen([]), broadcaster.listen([]) as reader:
                pace.put(events(400, text="x" * 200_000))
                found = await heard(reader, 399)
                assert all(queue._bytes <= listener.QUEUE_BYTES for queue in broadcaster._listeners)
                assert sum(len(frame) for _, frame in broadcaster._recent) <= 17 * 2**20
        return found == list(range(400))

    assert await in_one_of_them(reads_all)


async def test_reader_that_leaves_is_not_waited_for() -> None:
    """R211."""
    broadcaster = Broadcaster(FakeClock())
    pace = Pace(broadcaster, patience_s=3600)
    async with running(pace):
        with broadcaster.listen([]) as reader:
            with broadcaster.listen([]):
                pace.put(events(10_000))
                await anext(reader)
            assert (await heard(reader, 9_999))[-1] == 9_999


async def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """R213: beyond the bound nobody is waited for."""
    monkeypatch.setattr("worker.stream.pace._MOST_WAITING", 100)
    broadcaster = Broadcaster(FakeClock())
    pace = Pace(broadcaster, patience_s=3600)
    with broadcaster.listen([]):
        pace.put(events(50_000))
        assert len(pace._waiting) == 100

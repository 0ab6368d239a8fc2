"""Many events at once, to listeners that read and to one that does not."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from tests.fakes import FakeClock
from worker.contract.sse import Decoder
from worker.stream import listener
from worker.stream.broadcaster import Broadcaster
from worker.stream.pace import Pace


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
    async with asyncio.timeout(30):
        async for raw in coming:
            for frame in decoder.feed(raw):
                event = msgspec.json.decode(frame.data)
                found.append(event.get("n", event["type"]))
            if found[-1] == last:
                return found
    return found


def events(count: int, **more: object) -> list[dict[str, Any]]:
    return [{"type": "x", "n": number, **more} for number in range(count)]


async def test_reader_gets_all_beside_one_that_never_reads() -> None:
    """R213: in order, and the deaf one is waited for once."""
    broadcaster = Broadcaster(FakeClock())
    pace = Pace(broadcaster, patience_s=0.05)
    async with running(pace):
        with broadcaster.listen([]) as deaf, broadcaster.listen([]) as reader:
            pace.put(events(30_000))
            assert await heard(reader, 29_999) == list(range(30_000))
            assert all(len(queue._frames) <= listener.QUEUE for queue in broadcaster._listeners)
            assert b"resync" in await anext(deaf)


async def test_one_that_reads_again_is_told_and_waited_for_again() -> None:
    """R213."""
    broadcaster = Broadcaster(FakeClock())
    pace = Pace(broadcaster, patience_s=0.05)
    async with running(pace):
        with broadcaster.listen([]) as slow, broadcaster.listen([]) as reader:
            pace.put(events(10_000))
            await heard(reader, 9_999)
            assert b"resync" in await anext(slow)
            pace.put(events(10_000))
            for found in await asyncio.gather(heard(slow, 9_999), heard(reader, 9_999)):
                assert found == list(range(10_000))


async def test_large_events_are_bounded_by_their_bytes() -> None:
    """R213."""
    broadcaster = Broadcaster(FakeClock())
    pace = Pace(broadcaster, patience_s=0.05)
    async with running(pace):
        with broadcaster.listen([]), broadcaster.listen([]) as reader:
            pace.put(events(400, text="x" * 200_000))
            assert await heard(reader, 399) == list(range(400))
            assert all(queue._bytes <= listener.QUEUE_BYTES for queue in broadcaster._listeners)
            assert sum(len(frame) for _, frame in broadcaster._recent) <= 17 * 2**20


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

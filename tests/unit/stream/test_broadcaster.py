import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from tests.fakes import FakeClock
from worker.contract.sse import KEEP_ALIVE, Decoder
from worker.stream import broadcaster as module
from worker.stream import listener
from worker.stream.broadcaster import Broadcaster

BOUND = listener.QUEUE


async def take(coming: AsyncIterator[bytes], count: int) -> list[dict[str, Any]]:
    """The next events, with the frame's id under `#`."""
    decoder = Decoder()
    found: list[dict[str, Any]] = []
    while len(found) < count:
        async with asyncio.timeout(60):
            raw = await anext(coming)
        found.extend({"#": frame.id, **msgspec.json.decode(frame.data)} for frame in decoder.feed(raw))
    return found


def numbers(events: list[dict[str, Any]]) -> list[object]:
    return [event.get("n", event["type"]) for event in events]


def send(broadcaster: Broadcaster, *values: int) -> None:
    for value in values:
        broadcaster.send({"type": "x", "n": value})


@pytest.fixture
def broadcaster() -> Broadcaster:
    return Broadcaster(FakeClock())


async def test_greeting_then_events_in_order(broadcaster: Broadcaster) -> None:
    send(broadcaster, 0)
    with broadcaster.listen([{"type": "connected"}, {"type": "initial_load"}]) as coming:
        send(broadcaster, 1, 2)
        events = await take(coming, 4)
    assert numbers(events) == ["connected", "initial_load", 1, 2]
    ids = [int(event["#"]) for event in events]
    assert ids == [ids[0], ids[0], ids[0] + 1, ids[0] + 2]
    assert all(event["timestamp"] == 1_772_625_600_000 for event in events)


async def test_greeting_is_for_the_new_listener_alone(broadcaster: Broadcaster) -> None:
    with broadcaster.listen([]) as old, broadcaster.listen([{"type": "initial_load"}]) as new:
        send(broadcaster, 1)
        assert numbers(await take(new, 2)) == ["initial_load", 1]
        assert numbers(await take(old, 1)) == [1]


async def test_who_heard_the_greeting_alone_comes_back_and_hears_what_came_since(broadcaster: Broadcaster) -> None:
    with broadcaster.listen([{"type": "connected"}]) as coming:
        (greeted,) = await take(coming, 1)
    send(broadcaster, 1, 2)
    with broadcaster.listen([{"type": "connected"}], after=int(greeted["#"])) as coming:
        events = await take(coming, 3)
    assert numbers(events) == ["connected", 1, 2]
    assert events[0]["#"] is None  # should the line break now, what was missed is still to be asked for


async def test_who_heard_the_greeting_of_another_worker_alone_is_told_to_read_again(broadcaster: Broadcaster) -> None:
    with broadcaster.listen([{"type": "connected"}]) as coming:
        (greeted,) = await take(coming, 1)
    later = Broadcaster(lambda: FakeClock()() + 1)
    with later.listen([{"type": "connected"}], after=int(greeted["#"])) as coming:
        assert numbers(await take(coming, 2)) == ["connected", "resync"]


async def test_a_replay_as_large_as_the_queue_leaves_the_greeting(broadcaster: Broadcaster) -> None:
    with broadcaster.listen([{"type": "connected"}]) as coming:
        (greeted,) = await take(coming, 1)
    for number in range(16):
        broadcaster.send({"type": "x", "n": number, "text": "x" * (2**20 - 100)})
    with broadcaster.listen([{"type": "connected"}], after=int(greeted["#"])) as coming:
        assert numbers(await take(coming, 17)) == ["connected", *range(16)]
    broadcaster.send({"type": "x", "n": 16, "text": "x" * (17 * 2**20)})
    broadcaster.send({"type": "x", "n": 17})
    with broadcaster.listen([{"type": "connected"}], after=int(greeted["#"])) as coming:
        assert numbers(await take(coming, 2)) == ["connected", "resync"]


async def test_comes_back_and_hears_what_came_since(broadcaster: Broadcaster) -> None:
    with broadcaster.listen([]) as coming:
        send(broadcaster, 1, 2, 3)
        seen = int((await take(coming, 1))[0]["#"])
    send(broadcaster, 4)
    with broadcaster.listen([{"type": "connected"}], after=seen) as coming:
        send(broadcaster, 5)
        assert numbers(await take(coming, 5)) == ["connected", 2, 3, 4, 5]


async def test_comes_back_and_nothing_came_since(broadcaster: Broadcaster) -> None:
    with broadcaster.listen([]) as coming:
        send(broadcaster, 1)
        seen = int((await take(coming, 1))[0]["#"])
    with broadcaster.listen([], after=seen) as coming:
        send(broadcaster, 2)
        assert numbers(await take(coming, 1)) == [2]


@pytest.mark.parametrize("after", [0, 1, 2**62])
async def test_comes_back_with_an_id_no_longer_or_never_known(broadcaster: Broadcaster, after: int) -> None:
    send(broadcaster, 1)
    with broadcaster.listen([], after=after) as coming:
        send(broadcaster, 2)
        assert numbers(await take(coming, 2)) == ["resync", 2]


async def test_replay_is_bounded(broadcaster: Broadcaster) -> None:
    with broadcaster.listen([]) as coming:
        send(broadcaster, 0)
        seen = int((await take(coming, 1))[0]["#"])
    send(broadcaster, *range(1, module._REPLAY + 2))
    with broadcaster.listen([], after=seen) as coming:
        assert numbers(await take(coming, 1)) == ["resync"]
    with broadcaster.listen([], after=seen + 1) as coming:
        assert numbers(await take(coming, module._REPLAY)) == list(range(2, module._REPLAY + 2))


async def test_listener_that_does_not_read_is_bounded_and_told(broadcaster: Broadcaster) -> None:
    """R213."""
    with broadcaster.listen([]) as slow, broadcaster.listen([]) as other:
        for value in range(BOUND + 10):
            send(broadcaster, value)
            assert numbers(await take(other, 1)) == [value]
        assert numbers(await take(slow, 1)) == ["resync"]


async def test_overrun_while_a_frame_is_being_sent_is_told_at_once(broadcaster: Broadcaster) -> None:
    """R213. Not at the next keep-alive."""
    with broadcaster.listen([]) as slow:
        send(broadcaster, 1)
        assert numbers(await take(slow, 1)) == [1]
        send(broadcaster, *range(BOUND + 1))
        assert numbers(await take(slow, 1)) == ["resync"]
        send(broadcaster, 7)
        assert numbers(await take(slow, 1)) == [7]


async def test_resync_carries_the_id_to_go_on_from(broadcaster: Broadcaster) -> None:
    with broadcaster.listen([], after=1) as coming:
        told = (await take(coming, 1))[0]
    with broadcaster.listen([], after=int(told["#"])) as coming:
        send(broadcaster, 1)
        assert numbers(await take(coming, 1)) == [1]


async def test_quiet_stream_is_kept_alive(broadcaster: Broadcaster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "KEEP_ALIVE_S", 0.01)
    with broadcaster.listen([]) as coming:
        async with asyncio.timeout(60):
            assert [await anext(coming), await anext(coming)] == [KEEP_ALIVE, KEEP_ALIVE]
        send(broadcaster, 1)
        assert numbers(await take(coming, 1)) == [1]


async def test_close_ends_streams_after_what_is_queued(broadcaster: Broadcaster) -> None:
    """R207."""
    with broadcaster.listen([]) as busy, broadcaster.listen([]) as idle:
        waiting = asyncio.ensure_future(anext(idle, None))
        await asyncio.sleep(0)
        send(broadcaster, 1)
        assert await waiting is not None
        waiting = asyncio.ensure_future(anext(idle, None))
        await asyncio.sleep(0)
        broadcaster.close()
        async with asyncio.timeout(60):
            assert await waiting is None
            assert len([frame async for frame in busy]) == 1
    with broadcaster.listen([{"type": "connected"}]) as late:
        assert len([frame async for frame in late]) == 1


async def test_who_left_is_not_counted(broadcaster: Broadcaster) -> None:
    with broadcaster.listen([]), broadcaster.listen([]):
        assert broadcaster.listeners == 2
    assert broadcaster.listeners == 0


def test_ids_grow_over_restarts() -> None:
    clock = FakeClock()
    first = Broadcaster(clock)
    for value in range(100):
        send(first, value)
    clock.now += 1
    assert Broadcaster(clock)._last_id > first._last_id

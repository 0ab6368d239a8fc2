"""A thread of one's own: whoever waits for it when it is closed is told so."""

import asyncio
import os
import sys
import threading

import pytest

from worker.contract.errors import Unavailable
from worker.projection.thread import POLITE, OwnThread


async def test_calls_are_made_one_after_the_other_and_their_errors_told() -> None:
    thread = OwnThread("own")
    made: list[int] = []
    await asyncio.gather(*(thread.run(lambda each=each: made.append(each)) for each in range(20)))  # type: ignore[misc]
    assert made == list(range(20))
    with pytest.raises(ZeroDivisionError):
        await thread.run(lambda: 1 // 0)
    assert await thread.close(20)
    with pytest.raises(Unavailable, match="being closed"):
        await thread.run(lambda: None)


async def test_closed_while_a_call_hangs_all_who_wait_are_told() -> None:
    """Not cancelled: a task that is cancelled by nobody tells nobody anything."""
    thread, begun, held = OwnThread("own"), threading.Event(), threading.Event()
    made: list[str] = []

    def hang() -> None:
        begun.set()
        held.wait()
        made.append("the first")

    waiting = [asyncio.create_task(thread.run(hang)), asyncio.create_task(thread.run(lambda: made.append("more")))]
    await asyncio.to_thread(begun.wait)
    assert not await thread.close(0.01)
    for told in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(told, Unavailable)
    held.set()
    assert await thread.close(20)
    assert made == ["the first"]


async def test_one_that_gives_up_waiting_does_not_end_the_thread() -> None:
    thread, held = OwnThread("own"), threading.Event()
    first, given_up = asyncio.create_task(thread.run(held.wait)), asyncio.create_task(thread.run(held.clear))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait([given_up])  # it has given up before its turn comes
    held.set()
    assert await first
    assert await thread.run(held.is_set)
    assert await thread.close(20)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells threads apart")
async def test_a_polite_thread_steps_back_alone() -> None:
    polite, plain = OwnThread("polite", polite=True), OwnThread("plain")
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    assert (await polite.run(niceness), await plain.run(niceness), niceness()) == (min(own + POLITE, 19), own, own)
    await asyncio.gather(polite.close(15), plain.close(15))

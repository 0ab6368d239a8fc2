"""What waits is worked off, and the heap is tidied afterwards."""

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest

from tests.parts.conftest import eventually
from worker.projection.backlog import Backlog
from worker.projection.courtesy import Courtesy
from worker.projection.gate import Gate
from worker.store import outbox
from worker.store.tables import Store


@pytest.mark.parametrize(("count", "times"), [(200, 1), (10, 0)])
async def test_after_much_was_done_what_was_freed_is_given_back_once(store: Store, count: int, times: int) -> None:
    given: list[int] = []
    left = set(range(4, 4 + 4 * count, 4))
    idle = asyncio.Event()

    async def write(numbers: Sequence[int]) -> None:
        left.difference_update(numbers)
        await store.write(partial(outbox.finish_gone, numbers=numbers))

    async def rest() -> None:
        idle.set()

    await store.write(partial(outbox.queue, numbers=sorted(left)))
    gate = Gate()
    backlog = Backlog(store, gate, Courtesy(), write, batch=8, idle=rest, give_back=lambda: given.append(len(left)))
    running = asyncio.create_task(backlog.run())
    try:
        await eventually(idle.is_set)
        for _ in range(3):
            idle.clear()
            gate.stir()
            await eventually(idle.is_set)
    finally:
        running.cancel()
        await asyncio.wait([running])
    assert given == [0] * times

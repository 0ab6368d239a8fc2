"""What waits in the outbox, newest first, in small batches that make way for questions."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Container, Iterator, Sequence
from functools import partial

from worker import heap
from worker.contract.errors import MemError
from worker.projection.courtesy import Courtesy
from worker.projection.gate import Gate, within
from worker.projection.pace import Delay
from worker.store import outbox
from worker.store.tables import Store

_log = logging.getLogger("worker.projection")

_SIDE_BY_SIDE = 2
"""Batches under way: one is embedded while another is written."""
_PLANNED = 2_000
_MUCH = 64
"""Records whose texts, vectors and answers leave holes in the heap that are worth closing: 12 MB after ten thousand."""
_LOOK_S = 5.0
"""The index by words fills up without telling; so often an idle backlog looks."""


class Backlog:
    """Runs until it is cancelled.

    stored: the records that Chroma alone lacks, instead of those that have yet to be embedded. write: carries a batch
    of docids out and raises nothing. ready: whether there is what it needs. planned: told before each look.
    idle: told when nothing is to be done now. give_back: what was freed, to the system, after much was done.
    """

    def __init__(
        self,
        store: Store,
        gate: Gate,
        courtesy: Courtesy,
        write: Callable[[Sequence[int]], Awaitable[None]],
        *,
        batch: int,
        stored: bool = False,
        ready: Callable[[], bool] = lambda: True,
        planned: Callable[[], Awaitable[None]] | None = None,
        idle: Callable[[], Awaitable[None]] | None = None,
        give_back: Callable[[], None] = heap.give_back,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._gate, self._courtesy, self._write = store, gate, courtesy, write
        self._batch, self._stored, self._ready = batch, stored, ready
        self._planned, self._idle, self._clock = planned, idle, clock
        self._give_back, self._done = give_back, 0
        self._slots = asyncio.Semaphore(_SIDE_BY_SIDE)
        self._outdated = False

    def outdate(self) -> None:
        """Newer records came than those that are planned."""
        self._outdated = True

    async def run(self) -> None:
        """Do what is due, then wait for more."""
        delay = Delay()
        while True:
            stir = self._gate.next_stir
            try:
                left_s = await self._round()
                delay.reset()
            except MemError as error:
                left_s = delay.next_s()
                _log.warning("the index by meaning waits: %s", error.message)
                await asyncio.sleep(left_s)
            if left_s:
                await within(stir, left_s)

    async def _round(self) -> float:
        """Plan and work off; seconds until there may be more."""
        await self._gate.passed()
        if not self._ready():
            return _LOOK_S
        self._outdated = False
        if self._planned:
            await self._planned()
        now_ms = int(self._clock() * 1000)
        due = await self._store.read(partial(outbox.due, now_ms=now_ms, most=_PLANNED, stored=self._stored))
        if due:
            await self._work_off(due)
            self._done += len(due)
            return 0.0
        if self._done >= _MUCH:
            self._done = 0
            await asyncio.to_thread(self._give_back)
        if self._idle:
            await self._idle()
        then_ms = await self._store.read(partial(outbox.next_due, stored=self._stored))
        return _LOOK_S if then_ms is None else min(_LOOK_S, max((then_ms - now_ms) / 1000, 0.05))

    async def _work_off(self, due: Sequence[int]) -> None:
        flying: set[asyncio.Task[None]] = set()
        tried = await self._store.read(outbox.tried)
        for batch in batches(due, tried, self._batch):
            await self._gate.passed()
            if self._outdated or not self._ready():
                break
            await self._courtesy.make_way()
            if tried:
                # One that brings Chroma down would take down what goes beside it too.
                await _landed(flying)
            await self._slots.acquire()
            if not self._gate.is_open:
                self._slots.release()
                break
            task = self._gate.begin(self._one(batch))
            flying.add(task)
            task.add_done_callback(flying.discard)
        await _landed(flying)

    async def _one(self, numbers: Sequence[int]) -> None:
        try:
            await self._write(numbers)
        finally:
            self._slots.release()


async def _landed(flying: set[asyncio.Task[None]]) -> None:
    while flying:
        await asyncio.wait(tuple(flying))


def batches(numbers: Sequence[int], tried: Container[int], most: int) -> Iterator[list[int]]:
    """Records in their order, so many at a time; one that failed before goes alone, lest it brings others down."""
    batch: list[int] = []
    for number in numbers:
        if number in tried:
            yield [number]
            continue
        batch.append(number)
        if len(batch) == most:
            yield batch
            batch = []
    if batch:
        yield batch

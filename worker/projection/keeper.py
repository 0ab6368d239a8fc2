"""Keeps an index of vectors open: opens it, mends what it lacks, and opens it again when it fails."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from functools import partial

from worker.contract.errors import MemError, Unavailable
from worker.projection.audit import Findings, audit
from worker.projection.gate import within
from worker.projection.opening import OpenIndex
from worker.projection.pace import Delay
from worker.projection.thread import OwnThread
from worker.store import outbox, vectors
from worker.store.tables import Connection, Store

_log = logging.getLogger("worker.projection")

_GENERATION = "vectors_index:"
_QUEUED = 5_000
_CLOSE_S = 1.2


class Keeper:
    """Of the index of one model. thread: on which alone it is written. changed: called when it is there, or no longer.
    mends: False for one that is only asked: it is not used unless it holds what it should.

    index: None while it cannot be used; ``told`` says why. lag: records whose vectors it has yet to be given.
    """

    def __init__(
        self,
        store: Store,
        model: str,
        dimension: int,
        open_index: Callable[[str, int], OpenIndex],
        thread: OwnThread,
        changed: Callable[[], None],
        *,
        mends: bool = True,
    ) -> None:
        self._mends = mends
        self._store, self._model, self._thread, self._changed = store, model, thread, changed
        self._open = partial(open_index, model, dimension)
        self._lost = asyncio.Event()
        self._delay = Delay()
        self._rests = False
        self.index: OpenIndex | None = None
        self.told = "opening"
        self.lag = 0
        self._documents: int | None = None
        self._held: OpenIndex | None = None

    async def run(self) -> None:
        """Have it open, whatever comes, until cancelled."""
        while True:
            self._lost.clear()
            try:
                index = await self._thread.run(self._open_held)
                await self._mend(index)
            except (MemError, OSError) as error:
                await self._close()
                self._say(error.message if isinstance(error, MemError) else str(error))
                await within(self._lost, self._delay.next_s())
                continue
            self.index, self.told = index, "ready"
            self._changed()
            await self._ended(index)
            if self._rests:
                self._rests = False
                self._lost.clear()
                await within(self._lost, self._delay.next_s())

    async def _ended(self, index: OpenIndex) -> None:
        """Wait until it is lost: to whoever used it, or by an end of its own, which is noticed at once."""
        gone = asyncio.Event()
        with _watched(index, gone.set):
            waits = [asyncio.create_task(event.wait()) for event in (gone, self._lost)]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waits:
                    each.cancel()
        if gone.is_set() and index is self.index:
            await self.lose(index, await self._failing(index))
        await self._lost.wait()

    async def _failing(self, index: OpenIndex) -> str:
        """Why one that has ended did so; it says so to whoever asks it next."""
        try:
            await self._thread.run(index.count)
        except MemError as error:
            return error.message
        return "what holds the vectors has ended"

    def works(self) -> None:
        """It was written to."""
        self._delay.reset()

    async def lose(self, index: OpenIndex, why: str) -> None:
        """It cannot be used: close it and open it again, after a while if it goes on."""
        if index is not self.index:
            return
        self.index, self._rests = None, True
        self._say(why)
        self._changed()
        await self._close()
        self._lost.set()

    async def drop(self) -> None:
        """Delete it with all that it holds, and begin an empty one. Errors: ``Unavailable``."""
        index, self.index = self.index, None
        self.told = "opening"
        self._changed()
        try:
            if index is not None:
                await self._thread.run(index.drop)
        finally:
            self._delay.reset()
            self._lost.set()

    async def measure(self) -> None:
        """Count what it lacks."""
        _, _, self.lag = await self._store.read(outbox.counts)

    async def count(self, within_s: float = 0.5) -> int | None:
        """Documents that it holds, as it says, or last said if it is busy; None while it cannot be asked.

        One that fails at it is lost.
        """
        index = self.index
        if index is None:
            return None
        try:
            async with asyncio.timeout(within_s):
                self._documents = await self._thread.run(index.count)
        except TimeoutError:
            pass  # it is busy
        except MemError as error:
            await self.lose(index, error.message)
            return None
        return self._documents

    async def answers(self) -> bool:
        """Whether it can be asked, whatever it failed at."""
        index = self.index
        try:
            return index is not None and await self._thread.run(index.count) >= 0
        except MemError:
            return False

    async def close(self) -> None:
        """Let go of it, in order if that can be had in a moment, otherwise by force."""
        self.index = None
        try:
            async with asyncio.timeout(_CLOSE_S):
                return await self._close()
        except TimeoutError:
            self._give_up()
        except asyncio.CancelledError:
            self._give_up()
            raise
        await self._close()

    def _give_up(self) -> None:
        if self._held is not None:
            self._held.give_up()

    async def _close(self) -> None:
        with contextlib.suppress(MemError):
            await self._thread.run(self._close_held)

    def _open_held(self) -> OpenIndex:
        # Noted here, on the thread, so that it is closed even if nobody waits any more for its opening.
        self._held = self._open()
        return self._held

    def _close_held(self) -> None:
        # Forgotten when it is closed, not before: a closing that hangs can be given up too.
        if self._held is not None:
            self._held.close()
        self._held = None

    def _say(self, why: str) -> None:
        if why != self.told:
            _log.warning("search by meaning goes on without Chroma: %s", why)
        self.told = why

    async def _mend(self, index: OpenIndex) -> None:
        """Queue what an index lacks, remove what it should not hold, before anybody uses it.

        Another generation is another collection. That of before is believed as long as its number of documents can
        be right: all that is written, and of what waits some, none or all.
        """
        name = _GENERATION + self._model
        noted = await self._store.read(partial(outbox.noted, name=name))
        count = await self._thread.run(index.count)
        fewest, most = await self._store.read(partial(vectors.sizes, model=self._model))
        if noted != index.generation or not fewest <= count <= most:
            if not self._mends:
                raise Unavailable("the vectors of the former model are not complete there")
            if count:
                found = await audit(self._store, self._model, index, self._thread)
                await self.queue(found)
                if found.orphans:
                    await self._thread.run(lambda: index.delete(found.orphans))
            else:
                await self._store.write(partial(outbox.queue_all, model=self._model))
            await self._store.write(partial(outbox.write_note, name=name, value=index.generation))
        if self._mends:
            await self._store.write(outbox.hurry)
            await self.measure()

    async def queue(self, found: Findings) -> None:
        """Have records written again of which documents are missing."""
        numbers = list(found.incomplete)
        for at in range(0, len(numbers), _QUEUED):
            chunk = numbers[at : at + _QUEUED]

            def work(connection: Connection, chunk: list[int] = chunk) -> None:
                outbox.queue(connection, chunk, stored=True)

            await self._store.write(work)


@contextlib.contextmanager
def _watched(index: OpenIndex, gone: Callable[[], None]) -> Iterator[None]:
    """While in it, the end of what holds an index is told, once."""
    loop = asyncio.get_running_loop()
    try:
        life = index.watch()
    except MemError:
        gone()
        life = None
    if life is None:
        yield
        return

    def ended() -> None:
        loop.remove_reader(life)
        gone()

    with life:
        loop.add_reader(life, ended)
        try:
            yield
        finally:
            loop.remove_reader(life)


async def forget(store: Store) -> None:
    """No index is kept from now on: one that is opened later holds who knows what."""
    await store.write(partial(outbox.forget, prefix=_GENERATION))

"""Whether writes of the index may begin now, which are under way, and who is to be woken when something changes."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Coroutine, Iterator

_log = logging.getLogger("worker.projection")
_REST_S = 10.0


class Gate:
    """Of one event loop. Shut for any number of reasons, open when there is none."""

    def __init__(self) -> None:
        self._reasons: set[str] = set()
        self._stir = asyncio.Event()
        self._flying: set[asyncio.Task[None]] = set()
        self._lock = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        """Whether a write may begin."""
        return not self._reasons

    def shut(self, reason: str) -> None:
        """Let no write begin, for a reason."""
        self._reasons.add(reason)

    def reopen(self, reason: str) -> None:
        """The reason is no longer one."""
        self._reasons.discard(reason)
        self.stir()

    def rest(self, for_s: float) -> None:
        """Shut for a while."""
        self.shut("rest")
        asyncio.get_running_loop().call_later(for_s, self.reopen, "rest")

    def stir(self) -> None:
        """Wake all who wait: something changed."""
        stirred, self._stir = self._stir, asyncio.Event()
        stirred.set()

    @property
    def next_stir(self) -> asyncio.Event:
        """To be taken before one looks whether there is something to do, and waited for when there is not."""
        return self._stir

    async def passed(self) -> None:
        """Wait until it is open."""
        while not self.is_open:
            await self._stir.wait()

    def begin(self, write: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """A write that others can wait for."""
        task = asyncio.create_task(write)
        self._flying.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._flying.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            # A fault of ours: what is pending stays so, and is not tried as fast as it can fail.
            _log.error("a write of the index by meaning failed", exc_info=fault)
            self.rest(_REST_S)

    @contextlib.asynccontextmanager
    async def in_turn(self) -> AsyncIterator[None]:
        """After whoever is alone, and before who wants to be; writes go on."""
        async with self._lock:
            yield

    @contextlib.asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """While no write is under way and none begins."""
        async with self._lock:
            self.shut("alone")
            try:
                await self.landed()
                yield
            finally:
                self.reopen("alone")

    async def landed(self) -> None:
        """Wait for the writes that are under way."""
        while self._flying:
            await asyncio.wait(tuple(self._flying))

    async def give_up(self) -> None:
        """End the writes that are under way: they are begun again after the next start."""
        self.shut("closed")
        for task in tuple(self._flying):
            task.cancel()
        await self.landed()


class Passage:
    """To an index of vectors, for its writes, of one event loop: many at once, or none while it is compared."""

    def __init__(self) -> None:
        self._shut = 0
        self._inside = 0
        self._left = asyncio.Event()
        self._left.set()

    @contextlib.contextmanager
    def through(self) -> Iterator[bool]:
        """Whether the index may be written to in the meantime."""
        if self._shut:
            yield False
            return
        self._inside += 1
        self._left.clear()
        try:
            yield True
        finally:
            self._inside -= 1
            if not self._inside:
                self._left.set()

    @property
    def is_open(self) -> bool:
        """Whether a write would be let through."""
        return not self._shut

    def shut(self) -> None:
        """Let no write through, until it was reopened as often."""
        self._shut += 1

    def reopen(self) -> None:
        """One reason less to be shut."""
        self._shut -= 1

    async def emptied(self, within_s: float) -> bool:
        """Whether all that went through came out in time."""
        await within(self._left, within_s)
        return self._left.is_set()


async def within(event: asyncio.Event, most_s: float) -> None:
    """Wait for an event, and no longer than so many seconds."""
    # Not ``wait_for``: in Python 3.11 it loses a cancellation that comes with the event.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(most_s):
            await event.wait()

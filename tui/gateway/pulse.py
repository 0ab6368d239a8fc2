"""Whether the worker answers at all: one that is stopped takes questions as before, and no connection breaks."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

from tui.state import facts
from tui.state.facts import Fact

WAIT_S = 2.0
"""A question may take this long before the worker is asked whether it is there, and that again as long."""
STREAM_QUIET_S = 20.0
"""The stream has a comment each 15 s while nothing happens."""
_STEPS = 4
_MOST_S = 10.0


class Pulse:
    """Watches questions that are open. probe: asks what takes no time to answer, and gives whether it was answered.

    An answer to anything, or an event of the stream, is a sign of life: a question may take as long as it has to.
    """

    def __init__(self, probe: Callable[[], Awaitable[bool]], *, wait_s: float = WAIT_S) -> None:
        self._probe = probe
        self._wait_s = wait_s
        self._open = 0
        self._since = 0.0
        self._asked = asyncio.Event()
        self._heard = asyncio.Event()

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """A question is open meanwhile."""
        if not self._open:
            self._since = time.monotonic()
        self._open += 1
        self._asked.set()
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._asked.clear()

    def heard(self) -> None:
        """The worker gave a sign of life."""
        self._since = time.monotonic()
        self._heard.set()

    async def felt(self) -> AsyncIterator[Fact]:
        """That the worker falls silent, and that it answers again, for ever. Nothing is asked while nothing is open."""
        while True:
            await self._asked.wait()
            left = self._since + self._wait_s - time.monotonic()
            if left > 0:
                await asyncio.sleep(left)
                continue
            self._heard.clear()
            probing = asyncio.create_task(self._probing())
            hearing = asyncio.create_task(self._heard.wait())
            try:
                # Step by step: a program that was held up itself sees time pass before it sees the answers.
                for _ in range(_STEPS):
                    if not hearing.done():
                        await asyncio.wait((hearing,), timeout=self._wait_s / _STEPS)
                if not hearing.done():
                    yield facts.Silenced()
                    await hearing
                    yield facts.Answering()
            finally:
                probing.cancel()
                hearing.cancel()

    async def _probing(self) -> None:
        """Ask until somebody answers; one question at a time, which waits as long as any."""
        pause_s = self._wait_s / _STEPS
        while not await self._probe():
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _MOST_S)
        self.heard()

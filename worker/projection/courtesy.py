"""How work in the background makes way for questions."""

import asyncio
import threading
import time
from collections.abc import Callable

_QUIET_S = 0.15
"""Without a question for so long, work goes on."""
_BETWEEN_BATCHES_S = 1.0
_BETWEEN_STEPS_S = 0.15
"""The most that is waited under steady questions: a run of the model, some 60 ms, takes a third of the time then."""


class Courtesy:
    """When the last question began; told by any thread. clock: in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked_s = float("-inf")
        self._ended = threading.Event()

    def told(self) -> None:
        """A question begins."""
        self._asked_s = self._clock()

    async def make_way(self, *, amid: bool = False) -> None:
        """Wait until no question began for a moment; under steady questions a second, or as ``give_way`` does amid a
        batch."""
        until_s = self._clock() + (_BETWEEN_STEPS_S if amid else _BETWEEN_BATCHES_S)
        for _ in range(int(_BETWEEN_BATCHES_S / _QUIET_S) + 1):  # each may be put off by another question
            left_s = self._left_s(until_s)
            if left_s <= 0:
                return
            await asyncio.sleep(left_s)

    def give_way(self) -> None:
        """The same amid a batch, on a thread that works alone; under steady questions no longer than that."""
        until_s = self._clock() + _BETWEEN_STEPS_S
        while (left_s := self._left_s(until_s)) > 0 and not self._ended.wait(left_s):
            pass

    def end(self) -> None:
        """No thread waits any more: who waits for it wants to close."""
        self._ended.set()

    def _left_s(self, until_s: float) -> float:
        return min(self._asked_s + _QUIET_S, until_s) - self._clock()

"""Many events at once, as from an import, at the pace of those who listen.

All of them at once would overrun the queue of a listener that reads as fast as it can. One that does not read is
waited for once, and briefly.
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Any

from worker.stream.broadcaster import Broadcaster

_GROUP = 256
_PATIENCE_S = 2.0
_MOST_WAITING = 2**17
"""Events that wait; beyond it nobody is waited for any more, and who is too slow is told to read again."""


class Pace:
    """Passes events on in order. ``put`` them while ``run`` runs."""

    def __init__(self, broadcaster: Broadcaster, patience_s: float = _PATIENCE_S) -> None:
        self._broadcaster = broadcaster
        self._patience_s = patience_s
        self._waiting: deque[dict[str, Any]] = deque()
        self._some = asyncio.Event()

    def put(self, events: Iterable[dict[str, Any]]) -> None:
        """Have these told after those before them."""
        self._waiting.extend(events)
        while len(self._waiting) > _MOST_WAITING:
            self._broadcaster.send(self._waiting.popleft())
        self._some.set()

    async def run(self) -> None:
        """Tell what was put, for as long as the task is let."""
        while True:
            await self._some.wait()
            self._some.clear()
            while self._waiting:
                for _ in range(min(_GROUP, len(self._waiting))):
                    self._broadcaster.send(self._waiting.popleft())
                    if self._broadcaster.crowded:
                        break
                await self._broadcaster.room(self._patience_s)

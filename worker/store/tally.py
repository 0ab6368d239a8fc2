"""What was given back a moment ago: counted in memory, so that no search waits for a write."""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from worker.contract.errors import MemError
from worker.contract.recalls import Recalled
from worker.store import recalls
from worker.store.database import CLOSING_BUSY_MS
from worker.store.tables import Store

_EVERY_S = 5.0
"""What a crash may lose."""
_log = logging.getLogger("worker.store")


@dataclass(slots=True)
class _Seen:
    """Counts by docid, and when each record came back last, epoch ms."""

    listed: Counter[int] = field(default_factory=Counter)
    read: Counter[int] = field(default_factory=Counter)
    last: dict[int, int] = field(default_factory=dict)

    def add(self, earlier: "_Seen") -> None:
        """What was seen before."""
        self.listed += earlier.listed
        self.read += earlier.read
        self.last = earlier.last | self.last

    def recalled(self) -> dict[int, Recalled]:
        """All of it by docid."""
        return {
            number: Recalled(listed=self.listed[number], read=self.read[number], last_epoch_ms=last)
            for number, last in self.last.items()
        }


class Tally:
    """What was given back and is not in the table yet. Belongs to the event loop's thread.

    What is told is counted when the loop comes round, so that no answer waits for it.
    now_ms: milliseconds since 1970. ``run`` it while the store is open, ``close`` it before the store.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._seen = _Seen()
        self._told: list[tuple[Counter[int], Iterable[int]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._trouble = ""

    def listed(self, numbers: Iterable[int]) -> None:
        """These records stood in an answer as entries."""
        self._tell(self._seen.listed, numbers)

    def read(self, numbers: Iterable[int]) -> None:
        """These records were given in full."""
        self._tell(self._seen.read, numbers)

    async def run(self, store: Store) -> None:
        """Bring the counts to the table every few seconds, for ever."""
        while True:
            await asyncio.sleep(_EVERY_S)
            # Shielded: what is being written when we end is written once, not twice and not never.
            self._writing = asyncio.create_task(self.flush(store))
            await asyncio.shield(self._writing)

    async def flush(self, store: Store) -> None:
        """Bring the counts to the table now; what cannot be written is kept for the next time."""
        self._count()
        if not self._seen.last:
            return
        seen, self._seen = self._seen, _Seen()
        try:
            await store.write(lambda connection: recalls.add(connection, seen.recalled()), busy_ms=CLOSING_BUSY_MS)
            self._trouble = ""
        except MemError as error:
            self._seen.add(seen)
            if error.message != self._trouble:
                _log.warning("what was recalled is not counted yet: %s", error.message)
            self._trouble = error.message

    async def close(self, store: Store) -> None:
        """Bring what is left to the table."""
        if self._writing is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._writing
        await self.flush(store)

    def _tell(self, counts: Counter[int], numbers: Iterable[int]) -> None:
        if not self._told:
            asyncio.get_running_loop().call_soon(self._count)
        self._told.append((counts, numbers))

    def _count(self) -> None:
        for counts, numbers in self._told:
            once = set(numbers)
            counts.update(once)
            self._seen.last |= dict.fromkeys(once, self._now_ms())
        self._told.clear()

"""What was given back a moment ago: counted in memory, so that no search waits for a write."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping

from worker.contract.errors import MemError
from worker.contract.recalls import Recalled
from worker.store import recalls
from worker.store.database import CLOSING_BUSY_MS
from worker.store.tables import Store

_EVERY_S = 5.0
"""What a crash may lose."""
_NONE = Recalled()
_log = logging.getLogger("worker.store")


class Tally:
    """What was given back and is not in the table yet. Belongs to the event loop's thread.

    now_ms: milliseconds since 1970. ``run`` it while the store is open, ``close`` it before the store.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._seen: dict[int, Recalled] = {}
        self._writing: asyncio.Task[None] | None = None
        self._trouble = ""

    def listed(self, numbers: Iterable[int]) -> None:
        """These records stood in an answer as entries."""
        self._merge({number: Recalled(listed=1, last_epoch_ms=self._now_ms()) for number in numbers})

    def read(self, numbers: Iterable[int]) -> None:
        """These records were given in full."""
        self._merge({number: Recalled(read=1, last_epoch_ms=self._now_ms()) for number in numbers})

    async def run(self, store: Store) -> None:
        """Bring the counts to the table every few seconds, for ever."""
        while True:
            await asyncio.sleep(_EVERY_S)
            # Shielded: what is being written when we end is written once, not twice and not never.
            self._writing = asyncio.create_task(self.flush(store))
            await asyncio.shield(self._writing)

    async def flush(self, store: Store) -> None:
        """Bring the counts to the table now; what cannot be written is kept for the next time."""
        if not self._seen:
            return
        seen, self._seen = self._seen, {}
        try:
            await store.write(lambda connection: recalls.add(connection, seen), busy_ms=CLOSING_BUSY_MS)
            self._trouble = ""
        except MemError as error:
            self._merge(seen)
            if error.message != self._trouble:
                _log.warning("what was recalled is not counted yet: %s", error.message)
            self._trouble = error.message

    async def close(self, store: Store) -> None:
        """Bring what is left to the table."""
        if self._writing is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._writing
        await self.flush(store)

    def _merge(self, more: Mapping[int, Recalled]) -> None:
        for number, counts in more.items():
            had = self._seen.get(number, _NONE)
            self._seen[number] = Recalled(
                listed=had.listed + counts.listed,
                read=had.read + counts.read,
                last_epoch_ms=max(had.last_epoch_ms or 0, counts.last_epoch_ms or 0),
            )

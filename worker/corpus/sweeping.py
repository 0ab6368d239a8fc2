"""What is deleted from memory is taken out of corpus files soon after, off the path of whoever deletes."""

import asyncio
import logging
from collections.abc import Sequence

from worker.contract.errors import MemError
from worker.contract.records import RecordKind
from worker.corpus.desk import Desk
from worker.store.changes import Change, Deed

_log = logging.getLogger("worker.corpus")
_GATHER_S = 0.2
"""Many deletions at once are one round."""


class Sweeping:
    """Subscribes to the store's changes. pause_s: before each round."""

    def __init__(self, desk: Desk | None, *, pause_s: float = _GATHER_S) -> None:
        self._desk, self._pause_s = desk, pause_s
        self._gone: set[int] = set()
        self._told = asyncio.Event()

    def told(self, changes: Sequence[Change]) -> None:
        """Something was committed."""
        gone = {
            change.key.id
            for change in changes
            if change.deed is Deed.DELETED and change.key.kind is RecordKind.OBSERVATION
        }
        if gone:
            self._gone |= gone
            self._told.set()

    async def run(self) -> None:
        """Round after round, for ever; the first, and one after a failure, for whatever was deleted at any time."""
        gone: set[int] | None = None
        trouble = ""
        while self._desk is not None:
            try:
                await self._desk.sweep(gone)
                trouble = ""
            except MemError as error:
                # What a question or a model reads is swept by itself, so nothing is told that is deleted.
                if error.message != trouble:
                    _log.warning("corpora still hold what was deleted: %s", error.message)
                trouble = error.message
            await self._told.wait()
            await asyncio.sleep(self._pause_s)
            self._told.clear()
            gone, self._gone = None if trouble else self._gone, set()
        await asyncio.Event().wait()

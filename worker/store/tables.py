"""The store: one database, its index kept in step, and a feed of what changed.

Reading and writing are functions of a connection in the modules beside this one; ``read`` and ``write`` run them on
the store's threads.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from worker.contract.errors import MemError
from worker.store import search_index
from worker.store.changes import Change, ChangeFeed
from worker.store.database import Database

T = TypeVar("T")

Connection = sqlite3.Connection
"""What the functions of this package take; other packages name it without knowing SQLite."""

_log = logging.getLogger("worker.store")
_WATCH_S = 1.0
_FIRST_ROWS = 1_500
_BACKLOG_ROWS = 200
"""Rows of a backlog indexed in one transaction: short enough that a write of ours never waits long behind it."""


class Store:
    """Open it with ``open_store``; ``close`` it."""

    def __init__(self, database: Database, backlog: int) -> None:
        self._database = database
        self._backlog = backlog
        self.feed = ChangeFeed()

    @property
    def path(self) -> Path:
        """The database file."""
        return self._database.path

    @property
    def complete(self) -> bool:
        """Whether everything that was there at the start has been indexed."""
        return self._backlog == 0

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of ``work`` on one consistent state."""
        return await self._database.read(work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of ``work``, committed and indexed; listeners are told after the commit."""

        def work_and_index(connection: sqlite3.Connection) -> tuple[T, list[Change]]:
            backlog = search_index.mark(connection) if self._backlog else 0
            result = work(connection)
            return result, search_index.drain(connection, after=backlog)

        result, changes = await self._database.write(work_and_index)
        self.feed.tell(changes)
        return result

    async def catch_up(self, completed: Callable[[], None]) -> None:
        """Index what was there before us, newest first, then what other programs write, for as long as we run.

        completed: called once, when all that was there is indexed, if anything was left to do.
        """
        trouble = ""
        while True:
            try:
                while self._backlog:
                    # Nothing of this is news, so nobody is told.
                    await self._database.write(lambda connection: search_index.drain(connection, limit=_BACKLOG_ROWS))
                    self._backlog = await self._database.read(search_index.queued)
                    if not self._backlog:
                        completed()
                if await self._database.read(search_index.queued):
                    self.feed.tell(await self._database.write(search_index.drain))
                trouble = ""
            except MemError as error:
                # Another program may hold the file for long; what it writes is still to be indexed afterwards.
                if error.message != trouble:
                    _log.warning("the index falls behind: %s", error.message)
                trouble = error.message
            await asyncio.sleep(_WATCH_S)

    async def close(self) -> None:
        """Finish and close the file."""
        await asyncio.to_thread(self._database.close)


def open_store(path: Path) -> Store:
    """The store in a file, made if it is not there. Errors: ``Unavailable`` with the reason.

    The newest records are indexed before it is given, so that whoever looks first sees something.
    """
    database = Database(path)
    if database.write_now(search_index.install):
        database.write_now(lambda connection: search_index.drain(connection, limit=_FIRST_ROWS))
    return Store(database, database.write_now(search_index.queued))

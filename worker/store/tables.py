"""The store: one database, its index kept in step, and a feed of what changed.

Reading and writing are functions of a connection in the modules beside this one; ``read`` and ``write`` run them on
the store's threads.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from worker.contract.errors import MemError, Unavailable
from worker.store import analysis, checkup, erasing, proof, search_index
from worker.store.aliases import every as every_alias
from worker.store.changes import Change, ChangeFeed
from worker.store.database import Connector, Database, is_no_utf8, plain_connection

T = TypeVar("T")

Connection = sqlite3.Connection
"""What the functions of this package take; other packages name it without knowing SQLite."""

_log = logging.getLogger("worker.store")
_WATCH_S = 1.0
_FIRST_ROWS = 1_500
_ROWS = 200
"""Rows indexed in one transaction: short enough that a write of ours never waits long behind it."""
_ERASING_S = 0.25
"""What was deleted is taken out of the file for so long; then what came meanwhile has its turn."""


class Store:
    """Open it with ``open_store``; ``close`` it."""

    def __init__(
        self, database: Database, backlog: int, *, proved: bool = True, aliases: Mapping[str, str] | None = None
    ) -> None:
        """backlog: the ``mark`` up to which nothing of what is queued is news; 0: all of it is."""
        self._database = database
        self._backlog = backlog
        self._proved = proved
        self._aliases = aliases or {}
        self.feed = ChangeFeed()

    @property
    def path(self) -> Path:
        """The database file."""
        return self._database.path

    @property
    def fulltext(self) -> bool:
        """Whether this SQLite has FTS5."""
        return self._database.fulltext

    @property
    def complete(self) -> bool:
        """Whether everything that was there at the start has been indexed, and was seen to be."""
        return self._backlog == 0 and self._proved

    @property
    def aliases(self) -> Mapping[str, str]:
        """Alias → the project it stands for."""
        return self._aliases

    async def read_aliases(self) -> None:
        """Know them anew, after a change."""
        self._aliases = await self.read(every_alias)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of ``work`` on one consistent state."""
        return await self._database.read(work)

    async def write(self, work: Callable[[sqlite3.Connection], T], *, busy_ms: int | None = None) -> T:
        """The result of ``work``, committed and indexed; listeners are told after the commit.

        busy_ms: how long to wait while another program holds the file, if not as long as usual. Errors: ``Busy`` then.
        """

        return (await self.write_each([(work, analysis.line)], busy_ms=busy_ms))[0]

    async def write_each(
        self,
        works: Iterable[tuple[Callable[[sqlite3.Connection], T], search_index.Line]],
        *,
        busy_ms: int | None = None,
    ) -> list[T]:
        """The same of several works in one commit. Each is indexed before the next is asked for, which may have to be
        waited for. With each comes what gives the search words of its texts. Errors: as ``write``."""

        def work_and_index(connection: sqlite3.Connection) -> tuple[list[T], list[Change]]:
            waiting = search_index.mark(connection)
            results: list[T] = []
            changes: list[Change] = []
            for work, line in works:
                results.append(work(connection))
                changes += search_index.drain(connection, after=waiting, line=line)
            if waiting > self._backlog:  # of what others wrote, as much as makes nobody wait
                changes += search_index.drain(connection, after=self._backlog, limit=_ROWS)
            return results, changes

        results, changes = await self._database.write(work_and_index, busy_ms=busy_ms)
        self.feed.tell(changes)
        return results

    async def catch_up(self, completed: Callable[[], None]) -> None:
        """Index what was there before us, newest first, then what other programs write, for as long as we run.

        completed: called when all is indexed of which nothing was told one by one: what was there at the start, and
        what somebody changed behind our triggers, if it is much.
        """
        trouble = ""
        while True:
            pause_s = _WATCH_S
            if self._database.is_replaced:
                raise Unavailable(f"{self.path} was moved or replaced while it was open; start the worker anew")
            try:
                silent = not self.complete
                await self._index_backlog()
                if not await self._database.read(proof.is_proved):
                    await self._prove()
                    silent = silent or self._backlog > 0
                    await self._index_backlog()
                self._proved = True
                if silent:
                    completed()
                await self._keep_up()
                if self.fulltext and await self._database.read(erasing.is_due) and await self._erase():
                    pause_s = _ERASING_S
                trouble = ""
                if self._database.trouble:
                    await self._database.write(_touch)  # it may be over, and nobody has tried since
            except MemError as error:
                # Another program may hold the file for long; what it writes is still to be indexed afterwards.
                if error.message != trouble:
                    _log.warning("the index falls behind: %s", error.message)
                trouble = error.message
            await asyncio.sleep(pause_s)

    @property
    def trouble(self) -> str:
        """Why nothing can be written at present, or some of it never; empty if all is well."""
        return self._database.trouble or self._database.refusal

    async def _keep_up(self) -> None:
        """Index and tell what other programs wrote meanwhile, and keep the write-ahead log short."""
        while await self._database.read(search_index.mark) > self._backlog:
            some = partial(search_index.drain, after=self._backlog, limit=_ROWS)
            self.feed.tell(await self._database.write(some))
        await self._database.trim_soon()

    async def _index_backlog(self) -> None:
        while self._backlog:
            await self._keep_up()
            # Nothing of this is news, so nobody is told.
            some = partial(search_index.drain_backlog, upto=self._backlog, limit=_ROWS)
            if not await self._database.write(some):
                self._backlog = 0

    async def _erase(self) -> bool:
        """Take some of what was deleted out of the file, in steps between which others write; whether more is left."""
        until = time.monotonic() + _ERASING_S
        while await self._database.write(erasing.step):
            if time.monotonic() > until:
                return True
        if await self._database.fold_soon():
            await self._database.write(erasing.end)
        return False

    async def _prove(self) -> None:
        """Hold every record against its seal; what was changed behind our triggers is queued: as news, if it is little
        and happened while we ran."""
        count = await self._database.write(lambda connection: _guard(connection, fulltext=self.fulltext))
        wrong = await self._database.read(proof.astray)
        for kind in proof.kinds():
            after: int | None = proof.BEFORE_ALL
            while after is not None:
                found, after = await self._database.read(partial(proof.unsealed, kind=kind, after=after))
                wrong += found
                await self._keep_up()
        came, end = await self._database.write(lambda connection: _finish(connection, wrong, count))
        self._backlog = 0 if self._proved and len(wrong) <= _ROWS else end
        self.feed.tell(came)
        if wrong:
            _log.warning("%d records had changed behind the index; they are indexed anew", len(wrong))

    def hurry(self) -> None:
        """From now on no write waits long for a lock, also none that waits already: we are ending."""
        self._database.hurry()

    async def close(self) -> None:
        """Finish and close the file."""
        await asyncio.to_thread(self._database.close)


def open_store(path: Path, *, connect: Connector = plain_connection, ours: bool = True) -> Store:
    """The store in a file, made if it is not there. Errors: ``Unavailable`` or ``Busy`` with the reason.

    ours: as ``Database`` has it; of a file that is not, nothing has to be proved. The newest records are indexed before
    it is given, so that whoever looks first sees something. A finished database is only read.
    """
    database = Database(path, connect=connect, ours=ours)
    try:
        state = database.read_now(lambda connection: _look(connection, fulltext=database.fulltext))
        if state.faulty:
            state = database.write_now(lambda connection: _repair(connection, state, fulltext=database.fulltext))
        if state.backlog:
            first = partial(search_index.drain_backlog, upto=state.backlog, limit=_FIRST_ROWS)
            state = replace(state, backlog=state.backlog if database.write_now(first) else 0)
    except BaseException:
        database.close()
        raise
    if beyond := database.read_now(checkup.too_large):
        _log.warning("%s", checkup.TOO_LARGE.format(beyond))
    database.be_patient()
    known = database.read_now(every_alias)
    return Store(database, state.backlog, proved=state.proved or not ours, aliases=known)


@dataclass(frozen=True, slots=True)
class _State:
    """How the index was found. astray: docids that are not indexed as they should be. backlog: the ``mark`` up to which
    what is queued is no news."""

    installed: bool
    true: bool = True
    astray: tuple[int, ...] = ()
    backlog: int = 0
    proved: bool = False

    @property
    def faulty(self) -> bool:
        return bool(not self.installed or not self.true or self.astray)


def _look(connection: sqlite3.Connection, *, fulltext: bool) -> _State:
    """What a start can see of the index; reads only."""
    if not search_index.is_installed(connection, fulltext=fulltext):
        return _State(installed=False)
    try:
        return _State(
            installed=True,
            true=proof.sample_is_true(connection),
            astray=tuple(proof.astray(connection)),
            backlog=search_index.mark(connection),
            proved=proof.is_proved(connection),
        )
    except sqlite3.DatabaseError as error:
        if is_no_utf8(error):
            raise  # it is read once more, as text of any bytes
        # What is ours can be made again; what is not tells itself when it is read for that.
        _log.warning("the index cannot be read and is built anew: %s", error)
        return _State(installed=True, true=False)


def _repair(connection: sqlite3.Connection, found: _State, *, fulltext: bool) -> _State:
    """The index as it can be made in a moment: what is missing is queued."""
    if not found.true:
        _log.warning("the index does not say what the records say; it is built anew")
        search_index.clear(connection, fulltext=fulltext)
    search_index.install(connection, fulltext=fulltext)
    anew = connection.execute("SELECT 1 FROM py_docs LIMIT 1").fetchone() is None
    search_index.queue(connection, proof.astray(connection))
    if anew:
        # All is queued by triggers that stand from now on, so there is nothing to hold against anything.
        proof.note(connection, proof.schema_count(connection))
    return _State(installed=True, backlog=search_index.mark(connection), proved=proof.is_proved(connection))


def _touch(connection: sqlite3.Connection) -> None:
    """A write that changes nothing."""
    connection.execute("UPDATE py_meta SET value = value WHERE key = 'search_index'")


def _guard(connection: sqlite3.Connection, *, fulltext: bool) -> int:
    """All triggers in their place; the schema's count with them."""
    search_index.install(connection, fulltext=fulltext)
    return proof.schema_count(connection)


def _finish(connection: sqlite3.Connection, wrong: Sequence[int], count: int) -> tuple[list[Change], int]:
    """Queue what was found wrong behind all that is news; that, and the ``mark`` of what was queued."""
    came = search_index.drain(connection)
    search_index.queue(connection, wrong)
    proof.note(connection, count)
    return came, search_index.mark(connection)

"""The connections: one writer thread, a few readers, the pragmas, and the opening of the file.

Everything that touches SQLite runs on a thread that this module made; a caller awaits it. A write is one immediate
transaction: it is in, whole, or it was never there.
"""

import asyncio
import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from worker.contract.errors import Busy, MemError, TimedOut, Unavailable
from worker.store import backup, schema
from worker.store.memo import Memo, Remembering
from worker.store.reconcile import reconcile, refusal
from worker.store.wal import wal_bytes

T = TypeVar("T")

_log = logging.getLogger("worker.store")

READERS = 3
_BUSY_MS = 5_000
_OPENING_BUSY_MS = 2_000
"""Whoever opens tries again, and can say meanwhile what is waited for."""
_WRITE_BUSY_MS = 30_000
"""The original waits 5 s for a lock and then loses the row. A write of ours may wait longer: it is off every path
that an agent waits for."""

_READ_S = 20.0
"""A question that takes longer is given up, before its client gives up at 30 s; it would hold up all the others."""
_LARGE_LOG_BYTES = 16 * 2**20
_SMALL_LOG_BYTES = 2**20
_TRIM_BUSY_MS = 500
_STEP_S = 0.25
_SHORT_WAIT_S = 1.0
_HELD = "another program holds the database; what is to be kept waits for it"
CLOSING_BUSY_MS = 2_000
"""Whoever ends a worker waits for it, and another program may hold the file for minutes."""
_NO_UTF8 = "Could not decode to UTF-8"
"""How Python's complaint about text begins."""
_LOOK_EVERY = 20_000
"""Steps of SQLite's machine between two looks at the clock: about a millisecond."""

Connector = Callable[[Path], sqlite3.Connection]
"""Opens a file, in SQLite's own way of committing and for any thread; ``Database`` sets the rest."""


def plain_connection(path: Path) -> sqlite3.Connection:
    """A connection with nothing special about it, but that it can remember."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=Remembering)


class Database:
    """An open database file. ``close`` it; it waits for what was begun. fulltext: whether this SQLite has FTS5."""

    def __init__(
        self,
        path: Path,
        *,
        connect: Connector = plain_connection,
        free: Callable[[Path], int] = backup.free_bytes,
        ours: bool = True,
    ) -> None:
        """Open, create where there is nothing yet, bring up to date what is older.

        ours: whether the file is made what our files are, or left as it lies, its permissions with it. free: bytes of
        room on the disk of a folder. Errors: ``Unavailable`` with the reason, ``Busy`` when another program holds it.
        """
        self.path = path
        self._connect = connect
        with told(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._writer = _opened(connect, path, _OPENING_BUSY_MS)
            try:
                self.fulltext = _prepare(self._writer, path, lambda: _opened(connect, path, _BUSY_MS), free, ours=ours)
                self.refusal = refusal(self._writer)
                """What cannot be written to this database by this program; empty if all can be."""
            except sqlite3.IntegrityError as error:
                self._writer.close()
                raise Unavailable(
                    f"the database {path} cannot be brought up to date and was left as it is: {error}"
                ) from error
            except BaseException:
                self._writer.close()
                raise
        if self.refusal:
            _log.warning("%s", self.refusal)
        self._writing = ThreadPoolExecutor(1, "store-writer")
        self._reading = ThreadPoolExecutor(READERS, "store-reader")
        self._readers: list[sqlite3.Connection] = []
        self._memo = Memo()
        self._log_bytes = 0
        self._closing = False
        self._patience_s = _OPENING_BUSY_MS / 1000
        self._hurry_until = float("inf")
        self._file = _identity(path)
        self.trouble = ""
        """Why nothing can be written at present, as the last try or the one that waits has it; empty if all is well."""

    @property
    def is_replaced(self) -> bool:
        """Whether the path leads to another file now, or to none: what is written here, nobody will find there."""
        return _identity(self.path) != self._file

    def be_patient(self) -> None:
        """From now on a write waits long for its lock; while opening it does not."""
        self._patience_s = _WRITE_BUSY_MS / 1000

    def hurry(self) -> None:
        """From now on no write waits for its lock but for a moment, also none that waits already: we are ending."""
        self._hurry_until = time.monotonic() + CLOSING_BUSY_MS / 1000

    async def write(self, work: Callable[[sqlite3.Connection], T], *, busy_ms: int | None = None) -> T:
        """The result of ``work`` in one transaction. Errors: ``Busy`` when the lock cannot be had; those of work.

        busy_ms: how long to wait for the lock, if not as long as usual.
        """
        now = partial(self.write_now, work, busy_ms=busy_ms)
        return await asyncio.get_running_loop().run_in_executor(self._writing, now)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of ``work`` on one consistent state of the database."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, self.read_now, work)

    def write_now(self, work: Callable[[sqlite3.Connection], T], *, busy_ms: int | None = None) -> T:
        """The same as ``write`` for code that already runs on a thread and while nobody else writes."""
        if self.is_replaced:
            raise Unavailable(f"{self.path} was moved or replaced while it was open; nothing was written to it")
        try:
            with told(self.path):
                self._take_lock(self._patience_s if busy_ms is None else busy_ms / 1000)
                with _transaction(self._writer):
                    result = work(self._writer)
        except (Busy, Unavailable) as error:
            self.trouble = error.message
            raise
        except sqlite3.IntegrityError as error:
            if not self.refusal:
                raise
            raise Unavailable(self.refusal) from error
        self.trouble = ""
        return result

    def read_now(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The same as ``read`` for code that already runs on a thread.

        The first time that it meets text which is no UTF-8, work is done twice.
        """
        with told(self.path), self._reader() as connection:
            until = time.monotonic() + _READ_S
            connection.set_progress_handler(lambda: self._closing or time.monotonic() > until, _LOOK_EVERY)
            if isinstance(connection, Remembering):
                connection.generation = None
            connection.execute("BEGIN DEFERRED")
            with _transaction(connection):
                try:
                    return work(connection)
                except sqlite3.OperationalError as error:
                    if connection.text_factory is not str or not is_no_utf8(error):
                        raise
                    connection.text_factory = _tolerant
                    return work(connection)

    @contextlib.contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """A connection that only reads, for one at a time: the one that was in use last, its cache is warm."""
        try:
            connection = self._readers.pop()
        except IndexError:
            connection = self._opened_reader()
        try:
            yield connection
        finally:
            self._readers.append(connection)

    def _opened_reader(self) -> sqlite3.Connection:
        connection = _opened(self._connect, self.path, _BUSY_MS)
        connection.execute("PRAGMA query_only = ON")
        # Until there is text that is no UTF-8: to read any text by a function of ours takes twice as long.
        connection.text_factory = str
        if isinstance(connection, Remembering):
            connection.memo = self._memo
        return connection

    def trim(self) -> None:
        """Fold the write-ahead log into the file if it has grown large, or while nobody writes; on the thread that
        writes.

        SQLite does so by itself only in a moment without readers, which under steady questions never comes.
        """
        before, self._log_bytes = self._log_bytes, wal_bytes(self.path)
        is_quiet = self._log_bytes == before and self._log_bytes > _SMALL_LOG_BYTES
        if self._log_bytes >= _LARGE_LOG_BYTES or is_quiet:
            self._fold(_TRIM_BUSY_MS)  # busy all the time: another try in a second

    def _fold(self, busy_ms: int) -> bool:
        """Fold the write-ahead log into the file; whether nothing is left in it."""
        with told(self.path), contextlib.suppress(sqlite3.OperationalError):
            self._wait_at_most(busy_ms / 1000)
            busy, *_ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy
        return False

    async def fold_soon(self) -> bool:
        """Fold the write-ahead log in, when what is being written now is written; whether nothing is left in it.

        It waits for no reader: that may take hours, and whoever wants to write would wait as well.
        """
        return await asyncio.get_running_loop().run_in_executor(self._writing, self._fold, 0)

    async def trim_soon(self) -> None:
        """``trim``, when what is being written now is written."""
        await asyncio.get_running_loop().run_in_executor(self._writing, self.trim)

    def close(self) -> None:
        """Finish what is being written, give up what is being read, fold the write-ahead log into the file, close."""
        self._closing = True
        self._reading.shutdown(wait=True)
        self._writing.shutdown(wait=True)
        for connection in self._readers:
            connection.close()
        with contextlib.suppress(MemError):
            self._fold(CLOSING_BUSY_MS)
        self._writer.close()

    def _take_lock(self, patience_s: float) -> None:
        """Begin a write. In steps, so that whoever is to end meanwhile is heard. Errors: SQLite's, when it is busy."""
        began = time.monotonic()
        until = began + patience_s
        while True:
            left_s = min(until, self._hurry_until) - time.monotonic()
            self._wait_at_most(min(max(left_s, 0.0), _STEP_S))
            try:
                self._writer.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if left_s <= _STEP_S or not _name(error).startswith("SQLITE_BUSY"):
                    raise
                if time.monotonic() - began > _SHORT_WAIT_S:
                    self.trouble = _HELD
            else:
                return

    def _wait_at_most(self, patience_s: float) -> None:
        self._writer.execute(f"PRAGMA busy_timeout = {round(patience_s * 1000)}")


def is_no_utf8(error: sqlite3.Error) -> bool:
    """Whether text was met that is no UTF-8, on a connection that takes nothing else."""
    return str(error).startswith(_NO_UTF8)


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file a path leads to, None if to none."""
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_dev, seen.st_ino


def _opened(connect: Connector, path: Path, busy_ms: int) -> sqlite3.Connection:
    connection = connect(path)
    try:
        _set_up(connection, busy_ms)
    except BaseException:
        connection.close()
        raise
    return connection


def _tolerant(raw: bytes) -> str:
    """Bytes that are no UTF-8, once written by another program, must not hide the row they stand in."""
    return raw.decode("utf-8", "replace")


def _set_up(connection: sqlite3.Connection, busy_ms: int) -> None:
    connection.text_factory = _tolerant
    connection.row_factory = sqlite3.Row
    connection.execute(f"PRAGMA busy_timeout = {busy_ms}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA journal_size_limit = 4194304")
    connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten; SQLite may be built otherwise


def _prepare(
    connection: sqlite3.Connection,
    path: Path,
    reader: Callable[[], sqlite3.Connection],
    free: Callable[[Path], int],
    *,
    ours: bool,
) -> bool:
    """Pragmas that stay in the file, and the schema; whether there is FTS5."""
    if ours:
        with contextlib.suppress(OSError):  # a file of somebody else's, or on a disk that is only read
            os.chmod(path, 0o600)
    known = {row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not known:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if not _name(error).startswith("SQLITE_READONLY"):
            raise
    fulltext = has_fulltext(connection)
    reconcile(connection, path, fulltext=fulltext, reader=reader, free=free)
    if not known & {"sdk_sessions", "sdk_sessions_new"}:
        for marker in schema.MARKERS:
            file = path.parent / marker
            if not file.exists():
                file.write_text("{}" if marker.startswith(".cleanup") else "1970-01-01T00:00:00.000Z", "utf-8")
    return fulltext


def has_fulltext(connection: sqlite3.Connection) -> bool:
    """Whether this SQLite has FTS5."""
    try:
        connection.execute("CREATE VIRTUAL TABLE temp.py_probe USING fts5(word)")
    except sqlite3.DatabaseError as error:
        _log.warning("this SQLite has no FTS5 (%s); words are looked for one record after the other", error)
        return False
    connection.execute("DROP TABLE temp.py_probe")
    return True


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """The end of one that was begun."""
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """SQLite's failures and the file system's as ours, in a sentence."""
    try:
        yield
    except MemError:
        raise
    except sqlite3.IntegrityError as error:
        if _name(error).startswith("SQLITE_CONSTRAINT_TRIGGER"):  # somebody's own, none of ours refuses anything
            raise Unavailable(f"a trigger in the database {path} refused the change: {error}") from error
        raise
    except sqlite3.DatabaseError as error:
        name = _name(error)
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise Busy("another program holds the database; try again in a moment", retry_after_s=5) from error
        if name.startswith("SQLITE_INTERRUPT"):
            raise TimedOut(f"this took longer than {_READ_S:g} s and was given up; ask for less") from error
        said = next((sentence for start, sentence in _SENTENCES.items() if name.startswith(start)), _CANNOT)
        raise Unavailable(said.format(path=path, folder=path.parent, error=error)) from error
    except OSError as error:
        raise Unavailable(f"{error.filename or path.parent} cannot be used: {error.strerror or error}") from error


_CANNOT = "the database {path} cannot be used: {error}"
_SENTENCES = {
    "SQLITE_CANTOPEN": "the database {path} cannot be used: may this user read and write it, and make files beside it?",
    "SQLITE_FULL": "the disk of {folder} is full; the change was not made, and nothing else was lost",
    "SQLITE_READONLY": "the database {path} can only be read here, and something must be written to it",
    "SQLITE_CORRUPT": "the database {path} is damaged or no database: {error}",
    "SQLITE_NOTADB": "the database {path} is damaged or no database: {error}",
    "SQLITE_IOERR": "the disk of {folder} does not take or give what is asked of it: {error}",
}


def _name(error: sqlite3.Error) -> str:
    """SQLite's name of what went wrong; empty when it is Python's own complaint."""
    return getattr(error, "sqlite_errorname", None) or ""

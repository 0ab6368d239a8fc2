"""The connections: one writer thread, a few readers, the pragmas, and the opening of the file.

Everything that touches SQLite runs on a thread that this module made; a caller awaits it. A write is one immediate
transaction: it is in, whole, or it was never there.
"""

import asyncio
import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from worker.contract.errors import Busy, MemError, Unavailable
from worker.store import schema

T = TypeVar("T")

READERS = 3
_BUSY_MS = 5_000
_WRITE_BUSY_MS = 30_000
"""The original waits 5 s for a lock and then loses the row. A write of ours may wait longer: it is off every path
that an agent waits for."""


class Database:
    """An open database file. ``close`` it; it waits for what was begun."""

    def __init__(self, path: Path) -> None:
        """Open and, where there is nothing yet, create. Errors: ``Unavailable`` with the reason."""
        self.path = path
        with _told(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._writer = _connect(path, _WRITE_BUSY_MS)
            try:
                _prepare(self._writer, path)
            except BaseException:
                self._writer.close()
                raise
        self._writing = ThreadPoolExecutor(1, "store-writer")
        self._reading = ThreadPoolExecutor(READERS, "store-reader")
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of ``work`` in one transaction. Errors: ``Busy`` when the lock cannot be had; those of work."""
        return await asyncio.get_running_loop().run_in_executor(self._writing, self.write_now, work)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of ``work`` on one consistent state of the database."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, self._read_now, work)

    def write_now(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The same as ``write`` for code that already runs on a thread and while nobody else writes."""
        with _told(self.path), _transaction(self._writer, "IMMEDIATE"):
            return work(self._writer)

    def _read_now(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        with _told(self.path):
            if connection is None:
                connection = self._local.connection = _connect(self.path, _BUSY_MS)
                connection.execute("PRAGMA query_only = ON")
                self._readers.append(connection)
            with _transaction(connection, "DEFERRED"):
                return work(connection)

    def close(self) -> None:
        """Finish what was begun, fold the write-ahead log into the file, close."""
        self._reading.shutdown(wait=True)
        self._writing.shutdown(wait=True)
        for connection in self._readers:
            connection.close()
        with contextlib.suppress(sqlite3.Error):
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._writer.close()


def _connect(path: Path, busy_ms: int) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        _set_up(connection, busy_ms)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection, busy_ms: int) -> None:
    # Bytes that are no UTF-8, once written by another program, must not hide the row they stand in.
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.row_factory = sqlite3.Row
    connection.execute(f"PRAGMA busy_timeout = {busy_ms}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA journal_size_limit = 4194304")


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Pragmas that stay in the file, the schema of a new file, and a look at the columns of an old one."""
    os.chmod(path, 0o600)
    known = {row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not known:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE VIRTUAL TABLE temp.py_probe USING fts5(word)")
    connection.execute("DROP TABLE temp.py_probe")
    if "sdk_sessions" not in known:
        with _transaction(connection, "IMMEDIATE"):
            _create(connection)
        for marker in schema.MARKERS:
            file = path.parent / marker
            if not file.exists():
                file.write_text("{}" if marker.startswith(".cleanup") else "1970-01-01T00:00:00.000Z", "utf-8")
    _refuse_older(connection)


def _create(connection: sqlite3.Connection) -> None:
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'sdk_sessions'").fetchone():
        return  # another process was a moment faster
    for statement in schema.statements():
        connection.execute(statement)
    stamp = "INSERT INTO schema_versions (version, applied_at) VALUES (?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))"
    connection.executemany(stamp, [(version,) for version in schema.VERSIONS])


def _refuse_older(connection: sqlite3.Connection) -> None:
    """Errors: ``Unavailable`` for a file whose tables lack a column that we read."""
    with contextlib.closing(sqlite3.connect(":memory:")) as scratch:
        for name in ("sdk_sessions", "observations", "session_summaries", "user_prompts"):
            scratch.execute(f"CREATE TABLE {name} ({schema.TABLES[name]})")
            wanted, present = (
                {row[1] for row in one.execute(f"PRAGMA table_info({name})")} for one in (scratch, connection)
            )
            if missing := sorted(wanted - present):
                raise Unavailable(
                    f"this database was made by an older claude-mem (its {name} lack {', '.join(missing)}); "
                    "start claude-mem 13.25 on it once, which brings it up to date"
                )


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """SQLite's failures and the file system's as ours, in a sentence."""
    try:
        yield
    except MemError:
        raise
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise Busy("another program holds the database; try again in a moment", retry_after_s=5) from error
        raise Unavailable(f"the database {path} cannot be used: {error}") from error
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError):
            raise
        raise Unavailable(f"the database {path} is damaged or no database: {error}") from error
    except OSError as error:
        raise Unavailable(f"{path.parent} cannot be used: {error.strerror or error}") from error

"""Another claude-mem database, read and never written: of any generation, also while a worker of its own writes it."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from worker.cli.importers.source import LeftOut, Row
from worker.contract.errors import Busy, Invalid, MemError
from worker.contract.transfer import SHARED, RowKind

_TABLES = {
    RowKind.SESSION: "sdk_sessions",
    RowKind.PROMPT: "user_prompts",
    RowKind.OBSERVATION: "observations",
    RowKind.SUMMARY: "session_summaries",
}
_RENAMED = {"claude_session_id": "content_session_id", "sdk_session_id": "memory_session_id"}
"""Names of before migration 17 → today's."""
_PAGE_ROWS = 500
_PAGE_BYTES = 2_000_000


class Database:
    """An opened database; ``mark`` of a row is its id.

    No transaction stays open between two pages, or the other worker could not fold its log into the file.
    """

    form = "database"

    def __init__(self, connection: sqlite3.Connection, path: Path, *, tidy: bool = False) -> None:
        """tidy: whether what lies beside the file in the end is ours to clear up.

        Errors: ``Invalid`` for a database without a table of ours.
        """
        self._connection, self._path, self._tidy = connection, path, tidy
        with _told(path):
            columns = {kind: self._columns(table) for kind, table in _TABLES.items()}
            if not any(columns.values()):
                raise Invalid(f"{path} is no claude-mem database: it has none of {', '.join(_TABLES.values())}")
            ours = bool(self._columns("py_spend"))
            self._selects = {kind: _select(kind, columns, ours=ours) for kind in RowKind if columns[kind]}
            # What is written from now on may belong to a session that was not there when sessions were read.
            self._last = {kind: self._one(f"SELECT max(id) FROM {_TABLES[kind]}") for kind in self._selects}
            self._before = {kind: self._one(f"SELECT min(id) - 1 FROM {_TABLES[kind]}") for kind in self._selects}
            self.total = sum(self._one(f"SELECT count(*) FROM {_TABLES[kind]}") for kind in self._selects)

    def close(self) -> None:
        """Let go of the file; what SQLite put beside it goes too, unless another program uses it by now."""
        self._connection.close()
        with contextlib.suppress(sqlite3.Error, OSError):
            # Only a connection that may write clears up, and it knows whether it is the last. It has nothing to write.
            if self._tidy and not _log_bytes(self._path):
                _connect(self._path, "mode=rw").close()

    def place(self, row: Row) -> str:
        """`id 17 of observations`."""
        return f"id {row.mark} of {_TABLES[row.kind]}"

    def rows(self) -> Iterator[Row | LeftOut]:
        """Kind by kind, sessions first, each in the order of ids."""
        done = 0
        for kind, select in self._selects.items():
            at, after = 0, self._before[kind]
            while page := self._page(select, after, self._last[kind]):
                for after, value, size, replaced in page:
                    done += 1
                    yield Row(kind, at, value, size, after, done, replaced)
                    at += 1

    def _page(self, select: str, after: int, last: int) -> list[tuple[int, dict[str, object], int, bool]]:
        """(id, row, length, whether what is no UTF-8 was replaced) of as many rows as are read at once."""
        page: list[tuple[int, dict[str, object], int, bool]] = []
        size = 0
        with _told(self._path), contextlib.closing(self._connection.execute(select, (after, last))) as found:
            for row in found:
                read = {_RENAMED.get(name, name): _plain(row[name]) for name in row.keys()}  # noqa: SIM118
                value = {name: plain for name, (plain, _) in read.items()}
                long = sum(len(text) for text in value.values() if isinstance(text, str))
                page.append((row["id"], value, long, any(replaced for _, replaced in read.values())))
                size += long
                if size > _PAGE_BYTES:
                    break
        return page

    def _columns(self, table: str) -> set[str]:
        return {row["name"].decode() for row in self._connection.execute(f"PRAGMA table_info({table})")}

    def _one(self, sql: str) -> int:
        return int(self._connection.execute(sql).fetchone()[0] or 0)


def open_source(path: Path) -> Database:
    """The reader of a file. Errors: ``Invalid``, ``Busy``."""
    with _told(path):
        tidy = os.access(path, os.W_OK) and not any(_beside(path, ending).exists() for ending in ("-wal", "-shm"))
        connection = _connection(path)
    try:
        return Database(connection, path, tidy=tidy)
    except BaseException:
        connection.close()
        raise


def _connection(path: Path) -> sqlite3.Connection:
    if not os.access(path, os.W_OK) and not _log_bytes(path):
        return _connect(path, "immutable=1")  # otherwise files are made beside it that can never be cleared up
    try:
        return _connect(path, "mode=ro")
    except sqlite3.OperationalError as error:
        if "unable to open" not in str(error) and "readonly" not in str(error):
            raise
        # A folder in which SQLite cannot make the shared memory of a write-ahead log.
        if _log_bytes(path):
            raise Invalid(
                f"{path} has changes in {_beside(path, '-wal')}, which cannot be read in a folder that is read-only; "
                "copy both files elsewhere and import the copy"
            ) from error
        return _connect(path, "immutable=1")


def _log_bytes(path: Path) -> int:
    log = _beside(path, "-wal")
    return log.stat().st_size if log.exists() else 0


def _beside(path: Path, ending: str) -> Path:
    """Where SQLite has what belongs to a file: beside the file itself, wherever links to it may be."""
    real = path.resolve()
    return real.with_name(real.name + ending)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True)
    connection.row_factory = sqlite3.Row
    connection.text_factory = bytes
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the file is not touched before this
    except BaseException:
        connection.close()
        raise
    return connection


def _select(kind: RowKind, columns: Mapping[RowKind, set[str]], *, ours: bool) -> str:
    """A page of a table, with what a prompt's session has where the table has it not. ours: our worker wrote it too."""
    page = f"WHERE r.id > ? AND r.id <= ? ORDER BY r.id LIMIT {_PAGE_ROWS}"
    sessions = columns[RowKind.SESSION]
    if kind is RowKind.SESSION and ours:
        shared = f"(SELECT 1 FROM py_spend WHERE session_db_id = r.id LIMIT 1) AS {SHARED}"
        return f"SELECT r.*, {shared} FROM sdk_sessions r {page}"
    if kind is not RowKind.PROMPT or not sessions:
        return f"SELECT r.* FROM {_TABLES[kind]} r {page}"
    old = "claude_session_id"
    own, of_session = (
        (old if old in columns[kind] else "content_session_id"),
        old if old in sessions else "content_session_id",
    )
    known = f"(SELECT min(id) FROM sdk_sessions WHERE {of_session} = r.{own})"
    session_id = f"coalesce(r.session_db_id, {known})" if "session_db_id" in columns[kind] else known
    extra = "".join(f", s.{name}" for name in ("project", "platform_source") if name in sessions)
    return f"SELECT r.*{extra} FROM user_prompts r LEFT JOIN sdk_sessions s ON s.id = {session_id} {page}"


def _plain(value: object) -> tuple[object, bool]:
    """A value that JSON can hold, and whether it lost something: SQLite keeps whatever bytes a program wrote."""
    if not isinstance(value, bytes):
        return value, False
    try:
        return value.decode(), False
    except UnicodeDecodeError:
        return value.decode("utf-8", "replace"), True


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """SQLite's failures as ours, in a sentence."""
    try:
        yield
    except MemError:
        raise
    except sqlite3.Error as error:
        if "locked" in str(error) or "busy" in str(error):
            raise Busy(f"another program holds {path}; try again in a moment") from error
        raise Invalid(f"{path} is damaged or no database: {error}") from error
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror or error}") from error

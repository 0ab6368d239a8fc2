"""What was deleted, out of the file as well.

FTS5 only notes that a row is gone: its words stay in the file until the pieces of the index that hold them are merged,
and the write-ahead log has them too. After a deletion all pieces are merged, a few pages in a transaction, so that
nobody waits (3 s for 100,000 records), and the log is folded in. What is left to do is kept in `py_meta`: a worker that
is killed in the middle goes on where it was.
"""

import sqlite3

from worker.store.schema import FULLTEXT

_LEFT = "to_erase"
_BEGUN = "+"
_TABLES = ("py_text", *FULLTEXT)
_PAGES = 64
_DONE = 2
"""Changes of a merge that found nothing to do are fewer."""


def begin(connection: sqlite3.Connection) -> None:
    """Something was found deleted in this transaction, by whatever program. A merge that goes on is finished first, or
    steady deletions would have it begin anew for ever."""
    first = (_left(connection) or "").split(",")[0]
    _leave(connection, ",".join((first, *_TABLES) if first.startswith(_BEGUN) else _TABLES))


def begin_log(connection: sqlite3.Connection) -> None:
    """Something was deleted in this transaction that stands in no index: only the log is to be folded in."""
    if not is_due(connection):
        _leave(connection, "")


def is_due(connection: sqlite3.Connection) -> bool:
    """Whether something that was deleted may still stand in the file."""
    return _left(connection) is not None


def step(connection: sqlite3.Connection) -> bool:
    """Merge a few pages; whether there is more to merge."""
    first, *others = (_left(connection) or "").split(",")
    table = first.removeprefix(_BEGUN)
    if not table:
        return False
    before = connection.total_changes
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
        # Below zero: of all pieces there are, whatever their size. Then what was begun is gone on with.
        pages = _PAGES if first.startswith(_BEGUN) else -_PAGES
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (pages,))
    is_merged = connection.total_changes - before < _DONE
    _leave(connection, ",".join(others if is_merged else (f"{_BEGUN}{table}", *others)))
    return True


def end(connection: sqlite3.Connection) -> None:
    """The log was folded in. Does nothing if something was deleted meanwhile."""
    if _left(connection) == "":
        connection.execute("DELETE FROM py_meta WHERE key = ?", (_LEFT,))


def _left(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT value FROM py_meta WHERE key = ?", (_LEFT,)).fetchone()
    return None if row is None else str(row[0])


def _leave(connection: sqlite3.Connection, tables: str) -> None:
    connection.execute("INSERT OR REPLACE INTO py_meta VALUES (?, ?)", (_LEFT, tables))

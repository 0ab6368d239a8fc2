"""What people wish to be given to agents, and what agents were given: `py_wishes`, `py_given`.

A record goes by its docid, as in ``search_index``, which takes out what is gone. A scope is whoever was given
something: `project:<name>` holds what its last session start was given, `session:<id>` all that a session got.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from worker.store.rows import placeholders

TABLES = {
    "py_wishes": "CREATE TABLE py_wishes (docid INTEGER PRIMARY KEY, pinned INTEGER NOT NULL)",
    "py_given": """CREATE TABLE py_given (
        scope TEXT NOT NULL, docid INTEGER NOT NULL, epoch_ms INTEGER NOT NULL, PRIMARY KEY (scope, docid))
        WITHOUT ROWID""",
    "py_given_time": "CREATE INDEX py_given_time ON py_given (epoch_ms)",
}
_KEPT_MS = 30 * 86_400_000
"""What a session was given is of use only while it goes on."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """Docids that are always to be given, and those that never are."""

    pinned: frozenset[int] = frozenset()
    muted: frozenset[int] = frozenset()


def wishes(connection: sqlite3.Connection) -> Wishes:
    """All of them: people pin by hand, so they are few."""
    found = connection.execute("SELECT docid, pinned FROM py_wishes").fetchall()
    return Wishes(
        frozenset(number for number, pinned in found if pinned),
        frozenset(number for number, pinned in found if not pinned),
    )


def wish(connection: sqlite3.Connection, number: int, *, pinned: bool, on: bool) -> Wishes:
    """Pin or mute a record, or take just that back; all wishes as they are then."""
    if on:
        connection.execute("INSERT OR REPLACE INTO py_wishes VALUES (?, ?)", (number, pinned))
    else:
        connection.execute("DELETE FROM py_wishes WHERE docid = ? AND pinned = ?", (number, pinned))
    return wishes(connection)


def given(connection: sqlite3.Connection, scope: str) -> frozenset[int]:
    """What a scope was given."""
    return frozenset(row[0] for row in connection.execute("SELECT docid FROM py_given WHERE scope = ?", (scope,)))


def note(
    connection: sqlite3.Connection, scope: str, numbers: Iterable[int], epoch_ms: int, *, instead: bool = False
) -> None:
    """A scope was given these records. instead: of all that it was given before."""
    if instead:
        connection.execute("DELETE FROM py_given WHERE scope = ?", (scope,))
    connection.executemany(
        "INSERT OR REPLACE INTO py_given VALUES (?, ?, ?)", [(scope, number, epoch_ms) for number in numbers]
    )
    connection.execute("DELETE FROM py_given WHERE epoch_ms < ? AND scope LIKE 'session:%'", (epoch_ms - _KEPT_MS,))


def forget(connection: sqlite3.Connection, gone: Sequence[int]) -> None:
    """Take out records that are no longer there."""
    if not gone:
        return
    marks = placeholders(gone)
    connection.execute(f"DELETE FROM py_wishes WHERE docid IN ({marks})", gone)
    connection.execute(f"DELETE FROM py_given WHERE docid IN ({marks})", gone)

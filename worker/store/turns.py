"""What intake has to know of what it took before: events, turns that are nobody's business, when a session was at work.

`py_seen` has the events of the last days by their own ids, with the answer they were given, and by what they said for
as long as an equal one counts as the same. `py_turns` has a row a session: whether its turn is private, when it was
last heard of, when it ended.
"""

import sqlite3
from dataclasses import dataclass

TABLES = {
    "py_seen": """CREATE TABLE py_seen (
        name TEXT PRIMARY KEY, answer BLOB NOT NULL, epoch_ms INTEGER NOT NULL) WITHOUT ROWID""",
    "py_seen_time": "CREATE INDEX py_seen_time ON py_seen (epoch_ms)",
    "py_turns": """CREATE TABLE py_turns (
        session_db_id INTEGER PRIMARY KEY, private INTEGER NOT NULL DEFAULT 0, heard_epoch_ms INTEGER NOT NULL,
        ended_epoch_ms INTEGER)""",
}
_KEPT_MS = 30 * 86_400_000
"""An event may lie in a spool for as long as a machine is not used."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a session is. private: what happens until the next prompt is not kept."""

    private: bool = False
    heard_epoch_ms: int = 0
    ended_epoch_ms: int | None = None


def seen(connection: sqlite3.Connection, name: str, since_epoch_ms: int = 0) -> bytes | None:
    """The answer that was given to an event of this name at a moment or later; None if there was none."""
    row = connection.execute(
        "SELECT answer FROM py_seen WHERE name = ? AND epoch_ms >= ?", (name, since_epoch_ms)
    ).fetchone()
    return None if row is None else bytes(row[0])


def note_seen(connection: sqlite3.Connection, name: str, answer: bytes, epoch_ms: int) -> None:
    """An event of this name was answered at a moment."""
    connection.execute("INSERT OR REPLACE INTO py_seen VALUES (?, ?, ?)", (name, answer, epoch_ms))


def tidy(connection: sqlite3.Connection, now_epoch_ms: int) -> None:
    """Forget what is too old to be sent again."""
    connection.execute("DELETE FROM py_seen WHERE epoch_ms < ?", (now_epoch_ms - _KEPT_MS,))


def turn(connection: sqlite3.Connection, session_db_id: int) -> Turn:
    """Where a session is."""
    row = connection.execute(
        "SELECT private, heard_epoch_ms, ended_epoch_ms FROM py_turns WHERE session_db_id = ?", (session_db_id,)
    ).fetchone()
    return Turn() if row is None else Turn(bool(row[0]), row[1], row[2])


def begin(connection: sqlite3.Connection, session_db_id: int, epoch_ms: int, *, private: bool) -> None:
    """A prompt came: the session is at work, and what happens now may be kept or not."""
    connection.execute(
        """INSERT INTO py_turns (session_db_id, private, heard_epoch_ms) VALUES (?, ?, ?)
            ON CONFLICT (session_db_id) DO UPDATE SET private = excluded.private, ended_epoch_ms = NULL,
            heard_epoch_ms = max(heard_epoch_ms, excluded.heard_epoch_ms)""",
        (session_db_id, private, epoch_ms),
    )


def hear(connection: sqlite3.Connection, session_db_id: int, epoch_ms: int) -> None:
    """The session was at work at a moment."""
    connection.execute(
        """INSERT INTO py_turns (session_db_id, heard_epoch_ms) VALUES (?, ?)
            ON CONFLICT (session_db_id) DO UPDATE SET heard_epoch_ms = max(heard_epoch_ms, excluded.heard_epoch_ms)""",
        (session_db_id, epoch_ms),
    )


def end(connection: sqlite3.Connection, session_db_id: int, epoch_ms: int) -> None:
    """The session is over. A summary that comes later is still taken."""
    hear(connection, session_db_id, epoch_ms)
    connection.execute("UPDATE py_turns SET ended_epoch_ms = ? WHERE session_db_id = ?", (epoch_ms, session_db_id))

"""What intake has to know of what it took before: events, turns that are nobody's business, when a session was at work.

`py_seen` has the events of the last weeks by their own ids, with the answer they were given, and by what they said for
as long as an equal one counts as the same. `py_turns` has when each prompt came, and whether what followed it is
private; `py_heard` when a session was last heard of, and when it ended.
"""

import sqlite3

TABLES = {
    "py_seen": """CREATE TABLE py_seen (
        name TEXT PRIMARY KEY, answer BLOB NOT NULL, epoch_ms INTEGER NOT NULL) WITHOUT ROWID""",
    "py_seen_time": "CREATE INDEX py_seen_time ON py_seen (epoch_ms)",
    "py_turns": """CREATE TABLE py_turns (
        session_db_id INTEGER NOT NULL, epoch_ms INTEGER NOT NULL, private INTEGER NOT NULL,
        PRIMARY KEY (session_db_id, epoch_ms, private)) WITHOUT ROWID""",
    "py_heard": """CREATE TABLE py_heard (
        session_db_id INTEGER PRIMARY KEY, epoch_ms INTEGER NOT NULL, ended_epoch_ms INTEGER)""",
}
_SET_BACK_MS = 1_000
"""Events that come at once may be written in another order than the clock was looked at."""
_KEPT_MS = 30 * 86_400_000
"""An event may lie in a spool for as long as a machine is not used."""


def seen(connection: sqlite3.Connection, name: str) -> tuple[bytes, int] | None:
    """The answer that was given to an event of this name, and when that was; None if there was none."""
    row = connection.execute("SELECT answer, epoch_ms FROM py_seen WHERE name = ?", (name,)).fetchone()
    return None if row is None else (bytes(row[0]), int(row[1]))


def note_seen(connection: sqlite3.Connection, name: str, answer: bytes, epoch_ms: int) -> None:
    """An event of this name was answered at a moment."""
    connection.execute("INSERT OR REPLACE INTO py_seen VALUES (?, ?, ?)", (name, answer, epoch_ms))


def begin(connection: sqlite3.Connection, session_db_id: int, epoch_ms: int, *, private: bool) -> None:
    """A prompt came, and what happens until the next one may be kept or not; the session is at work."""
    connection.execute("INSERT OR IGNORE INTO py_turns VALUES (?, ?, ?)", (session_db_id, epoch_ms, private))
    hear(connection, session_db_id, epoch_ms)
    connection.execute("UPDATE py_heard SET ended_epoch_ms = NULL WHERE session_db_id = ?", (session_db_id,))


def is_private(connection: sqlite3.Connection, session_db_id: int, epoch_ms: int) -> bool:
    """Whether what happened at a moment is private. Of two prompts at once, one of them private, it is."""
    row = connection.execute(
        """SELECT private FROM py_turns WHERE session_db_id = ? AND epoch_ms <= ?
            ORDER BY epoch_ms DESC, private DESC LIMIT 1""",
        (session_db_id, epoch_ms),
    ).fetchone()
    return row is not None and bool(row[0])


def next_turn(connection: sqlite3.Connection, session_db_id: int, epoch_ms: int) -> int:
    """When the turn that began at a moment was over, as far as it is known."""
    row = connection.execute(
        "SELECT min(epoch_ms) FROM py_turns WHERE session_db_id = ? AND epoch_ms > ?", (session_db_id, epoch_ms)
    ).fetchone()
    return 2**62 if row[0] is None else int(row[0])


def hear(connection: sqlite3.Connection, session_db_id: int, epoch_ms: int) -> None:
    """The session was at work at a moment."""
    connection.execute(
        """INSERT INTO py_heard (session_db_id, epoch_ms) VALUES (?, ?)
            ON CONFLICT (session_db_id) DO UPDATE SET epoch_ms = max(epoch_ms, excluded.epoch_ms)""",
        (session_db_id, epoch_ms),
    )


def moment(connection: sqlite3.Connection, session_db_id: int, epoch_ms: int, now_epoch_ms: int) -> int:
    """When something happened: as it says, or after all that was heard of its session if the clock was set back since.

    Else what is done in a private turn would be taken for that of the turn before it.
    """
    row = connection.execute("SELECT epoch_ms FROM py_heard WHERE session_db_id = ?", (session_db_id,)).fetchone()
    return int(row[0]) + 1 if row is not None and row[0] > now_epoch_ms + _SET_BACK_MS else epoch_ms


def has_ended(connection: sqlite3.Connection, session_db_id: int) -> bool:
    """Whether a session was told to be over and no prompt came since."""
    row = connection.execute(
        "SELECT 1 FROM py_heard WHERE session_db_id = ? AND ended_epoch_ms IS NOT NULL", (session_db_id,)
    ).fetchone()
    return row is not None


def end(connection: sqlite3.Connection, session_db_id: int, epoch_ms: int) -> None:
    """The session is over. What comes of it later is taken all the same."""
    hear(connection, session_db_id, epoch_ms)
    connection.execute("UPDATE py_heard SET ended_epoch_ms = ? WHERE session_db_id = ?", (epoch_ms, session_db_id))


def tidy(connection: sqlite3.Connection, now_epoch_ms: int) -> None:
    """Forget what is too old to be told again, and sessions that are gone."""
    connection.execute("DELETE FROM py_seen WHERE epoch_ms < ?", (now_epoch_ms - _KEPT_MS,))
    connection.execute("DELETE FROM py_turns WHERE epoch_ms < ?", (now_epoch_ms - _KEPT_MS,))
    for table in ("py_turns", "py_heard"):
        connection.execute(f"DELETE FROM {table} WHERE session_db_id NOT IN (SELECT id FROM sdk_sessions)")

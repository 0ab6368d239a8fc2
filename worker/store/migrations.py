"""Changes of data, numbered as in the original; a list that only grows.

Each looks at the data to know whether there is something to do, and is run after the tables have their wanted form.
Nothing here deletes a row that says anything of its own, and two changes of the original are left out on purpose:

- 47 and 48 draw a line under everything there is when cloud sync begins: they stamp ``synced_at`` on each row, empty
  the queues, and keep an account of it. We sync nothing and cannot know what was sent, so the columns and queues stay
  as they are; the version rows are written, or the original would draw its line at a moment of our choosing.
- 31 throws away the queue's finished work; that is done where the table is made anew (``schema.KEPT``).
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from worker.store.observations import content_hash

Connection = sqlite3.Connection


@dataclass(frozen=True, slots=True)
class Migration:
    """One change. due: whether the data ask for it, given the version rows of the file. carry_out: it, whole."""

    number: int
    what: str
    due: Callable[[Connection, Collection[int]], bool]
    carry_out: Callable[[Connection], None]


def due(connection: Connection, versions: Collection[int]) -> list[Migration]:
    """What the data of a database of the wanted form still ask for, in order."""
    return [migration for migration in ALL if migration.due(connection, versions)]


def _any(sql: str) -> Callable[[Connection, Collection[int]], bool]:
    return lambda connection, versions: connection.execute(f"{sql} LIMIT 1").fetchone() is not None


def _lacks(index: str, table: str) -> Callable[[Connection, Collection[int]], bool]:
    """The unique index is not there, so that rows may be equal, and there are rows."""

    def is_due(connection: Connection, versions: Collection[int]) -> bool:
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?", (index,)).fetchone()
        return known is None and connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None

    return is_due


# --- 9: every child has its session

_ORPHANS = """SELECT memory_session_id FROM {table} o
    WHERE NOT EXISTS (SELECT 1 FROM sdk_sessions s WHERE s.memory_session_id = o.memory_session_id)"""
_ALL_ORPHANS = " UNION ALL ".join(_ORPHANS.format(table=table) for table in ("observations", "session_summaries"))


def _stub_parents(connection: Connection) -> None:
    """A completed session for each memory id that has records and no session."""
    found = connection.execute(f"""
        SELECT c.memory_session_id, min(c.project), min(c.created_at), min(c.created_at_epoch) FROM (
            SELECT memory_session_id, project, created_at, created_at_epoch FROM observations
            UNION ALL SELECT memory_session_id, project, created_at, created_at_epoch FROM session_summaries) c
        WHERE c.memory_session_id IN ({_ALL_ORPHANS}) GROUP BY 1""").fetchall()
    for memory, project, started, epoch in found:
        # The session may be there, not yet told of its memory id.
        taken = connection.execute(
            "UPDATE sdk_sessions SET memory_session_id = ? WHERE id = (SELECT min(id) FROM sdk_sessions "
            "WHERE content_session_id = ? AND memory_session_id IS NULL)",
            (memory, memory),
        )
        if not taken.rowcount:
            _stub(connection, memory, memory, (project, started, epoch))


def _stub(connection: Connection, content: str, memory: str | None, known: tuple[str, str, int]) -> int:
    """The row id of a session made for records that lost theirs."""
    known_content = "SELECT 1 FROM sdk_sessions WHERE content_session_id = ?"
    while connection.execute(known_content, (content,)).fetchone():
        content = f"{content}~"
    made = connection.execute(
        """INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at, started_at_epoch,
            completed_at, completed_at_epoch, status) VALUES (?, ?, ?, ?, ?, ?, ?, 'completed')""",
        (content, memory, *known, *known[1:]),
    )
    return int(made.lastrowid or 0)


# --- 24: a platform for every session

# A session whose twin has the name already keeps its empty one: both are read as `claude`.
_NO_PLATFORM = """FROM sdk_sessions WHERE coalesce(platform_source, '') = '' AND NOT EXISTS (
    SELECT 1 FROM sdk_sessions t
    WHERE t.platform_source = 'claude' AND t.content_session_id = sdk_sessions.content_session_id)"""


def _claude(connection: Connection) -> None:
    connection.execute(
        f"UPDATE sdk_sessions SET platform_source = 'claude' WHERE id IN (SELECT min(id) {_NO_PLATFORM} "
        "GROUP BY content_session_id)"
    )


# --- 28, 29, 33, 41: rows that a unique index will not take beside each other are told apart

_REPEATED = """id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY {columns} ORDER BY {first} id) AS nth
    FROM {table} WHERE {where}) WHERE nth > 1)"""


def _tool_uses_once(connection: Connection) -> None:
    """Of queue entries for one tool use, one keeps its id: what is in work first."""
    repeated = _REPEATED.format(
        columns="session_db_id, tool_use_id", first="status = 'processing' DESC,", table="pending_messages",
        where="tool_use_id IS NOT NULL",
    )  # fmt: skip
    connection.execute(f"UPDATE pending_messages SET tool_use_id = NULL WHERE {repeated}")


def _hashes(connection: Connection) -> None:
    """A hash for every observation. Of rows equal in all but their number the first stays; others get a hash of
    their own, as the original makes one for rows without."""
    found = connection.execute(
        "SELECT id, memory_session_id, title, narrative FROM observations WHERE content_hash IS NULL"
    ).fetchall()
    connection.executemany(
        "UPDATE observations SET content_hash = ? WHERE id = ?",
        [
            (content_hash(str(memory), _text(title), _text(narrative)), number)
            for number, memory, title, narrative in found
        ],
    )
    columns = [row[1] for row in connection.execute("PRAGMA table_info(observations)") if row[1] != "id"]
    same = " AND ".join(f'o."{column}" IS observations."{column}"' for column in columns)
    repeated = _REPEATED.format(columns="memory_session_id, content_hash", first="", table="observations", where="1")
    connection.execute(
        f"DELETE FROM observations WHERE {repeated} AND EXISTS (SELECT 1 FROM observations o "
        f"WHERE o.content_hash = observations.content_hash AND o.id < observations.id AND {same})"
    )
    connection.execute(f"UPDATE observations SET content_hash = '__null_migration_' || id || '__' WHERE {repeated}")


def _sessions_apart(connection: Connection) -> None:
    repeated = _REPEATED.format(
        columns="platform_source, content_session_id", first="", table="sdk_sessions", where="1"
    )
    connection.execute(f"UPDATE sdk_sessions SET content_session_id = content_session_id || '~' || id WHERE {repeated}")


def _origins_apart(table: str) -> Callable[[Connection], None]:
    def carry_out(connection: Connection) -> None:
        repeated = _REPEATED.format(
            columns="origin_device_id, origin_local_id", first="", table=table, where="origin_device_id IS NOT NULL"
        )
        connection.execute(f"UPDATE {table} SET origin_local_id = origin_local_id || '~' || id WHERE {repeated}")

    return carry_out


# --- 34: every prompt and every queue entry has its session

_LOST = """SELECT 1 FROM {table} o WHERE o.session_db_id IS NULL
    OR NOT EXISTS (SELECT 1 FROM sdk_sessions s WHERE s.id = o.session_db_id)"""


def _owners(table: str) -> Callable[[Connection], None]:
    """The session of the same content id, Claude's first; one is made where there is none."""

    def carry_out(connection: Connection) -> None:
        lost = _LOST.format(table=table).replace("SELECT 1", "SELECT o.id", 1)
        connection.execute(f"""
            UPDATE {table} SET session_db_id = (SELECT s.id FROM sdk_sessions s
                WHERE s.content_session_id = {table}.content_session_id
                ORDER BY s.platform_source = 'claude' DESC, s.id LIMIT 1)
            WHERE id IN ({lost}) AND content_session_id IN (SELECT content_session_id FROM sdk_sessions)""")
        stamp = (
            "created_at"
            if table == "user_prompts"
            else "strftime('%Y-%m-%dT%H:%M:%fZ', created_at_epoch / 1000.0, 'unixepoch')"
        )
        found = connection.execute(f"""
            SELECT content_session_id, min({stamp}), min(created_at_epoch) FROM {table} WHERE id IN ({lost})
            GROUP BY 1""").fetchall()
        for content, started, epoch in found:
            made = _stub(connection, content, None, ("", started or "", epoch or 0))
            connection.execute(
                f"UPDATE {table} SET session_db_id = ? WHERE content_session_id = ? AND id IN ({lost})", (made, content)
            )

    return carry_out


# --- 49: a concept is its key word alone

_CONCEPTS = ("how-it-works", "why-it-exists", "what-changed", "problem-solution", "gotcha", "pattern", "trade-off")


def _explained(connection: Connection, versions: Collection[int]) -> bool:
    # By its version row: the text of each observation need not be read at each start.
    return 49 not in versions and next(_cut_concepts(connection), None) is not None


def _cut_concepts(connection: Connection) -> Iterator[tuple[str, int]]:
    for number, text in connection.execute(
        "SELECT id, concepts FROM observations WHERE concepts LIKE '%:%'"
    ).fetchall():
        try:
            listed = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(listed, list) and (short := [key_word(item) for item in listed]) != listed:
            short = list(dict.fromkeys(short)) if all(isinstance(item, str) for item in short) else short
            yield json.dumps(short, ensure_ascii=False, separators=(",", ":")), number


def key_word(item: object) -> object:
    """A concept without what old rows explain it by."""
    if isinstance(item, str):
        word, colon, _ = item.partition(":")
        if colon and word.strip().lower() in _CONCEPTS:
            return word.strip().lower()
    return item


def _concepts(connection: Connection) -> None:
    """Key words alone; a copy elsewhere learns of it by the next revision, as with the original."""
    found = list(_cut_concepts(connection))
    connection.executemany("UPDATE observations SET concepts = ? WHERE id = ?", found)
    connection.executemany(
        "UPDATE observations SET sync_rev = CAST(CAST(sync_rev AS INTEGER) + 1 AS TEXT), synced_at = NULL "
        "WHERE id = ? AND origin_device_id IS NULL",
        [(number,) for _, number in found],
    )


def _text(value: object) -> str | None:
    return value if value is None else str(value)


ALL: tuple[Migration, ...] = (
    Migration(9, "a session for records that have none", _any(_ALL_ORPHANS), _stub_parents),
    Migration(24, "a platform for sessions without one", _any(f"SELECT 1 {_NO_PLATFORM}"), _claude),
    Migration(28, "tool uses queued once", _lacks("ux_pending_session_tool", "pending_messages"), _tool_uses_once),
    Migration(29, "a hash for observations", _lacks("ux_observations_session_hash", "observations"), _hashes),
    Migration(33, "sessions told apart", _lacks("ux_sdk_sessions_platform_content", "sdk_sessions"), _sessions_apart),
    Migration(34, "a session for prompts", _any(_LOST.format(table="user_prompts")), _owners("user_prompts")),
    Migration(34, "a session for queue entries", _any(_LOST.format(table="pending_messages")),
              _owners("pending_messages")),
    *(Migration(41, f"{table} told apart by origin", _lacks(f"ux_{table}_origin", table), _origins_apart(table))
      for table in ("observations", "session_summaries", "user_prompts")),
    Migration(49, "concepts without their descriptions", _explained, _concepts),
)  # fmt: skip

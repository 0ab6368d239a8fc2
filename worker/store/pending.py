"""What agents did and no record was made of yet: the durable queue between intake and observer.

What is in `py_captured` was accepted: it is committed, and stays until ``finish`` takes it out in the transaction that
stores the records made of it. Within a session the order is that of the ids; one consumer a session keeps it.

The form of these tables never changes: ``search_index.install`` makes a table of another form anew, and what these
hold nobody could make again. A new column goes to a table of its own.
"""

import enum
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

TABLES = {
    # What may be long stands last, so that all else can be read without it.
    "py_captured": """CREATE TABLE py_captured (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER NOT NULL, kind TEXT NOT NULL,
        project TEXT NOT NULL, parent TEXT, prompt_number INTEGER NOT NULL, occurred_epoch_ms INTEGER NOT NULL,
        bytes INTEGER NOT NULL, claimed INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
        not_before INTEGER NOT NULL DEFAULT 0, last_error TEXT, tool_use_id TEXT, tool_name TEXT, cwd TEXT,
        agent_id TEXT, agent_type TEXT, tool_input TEXT, tool_response TEXT, last_assistant_message TEXT)""",
    "py_captured_session": "CREATE INDEX py_captured_session ON py_captured (session_db_id, id)",
    "py_captured_use": "CREATE INDEX py_captured_use ON py_captured (session_db_id, tool_use_id)",
    # Where much waits, because whoever makes records of it is paused, what is asked at each event is answered by these.
    "py_captured_state": """CREATE INDEX py_captured_state ON py_captured
        (session_db_id, claimed, not_before, occurred_epoch_ms, bytes, kind)""",
    "py_captured_error": "CREATE INDEX py_captured_error ON py_captured (id) WHERE last_error IS NOT NULL",
}
_COLUMNS = """c.id, c.session_db_id, s.content_session_id, c.project, c.parent, s.platform_source, c.kind,
    c.prompt_number, c.tool_use_id, c.tool_name, c.tool_input, c.tool_response, c.cwd, c.agent_id, c.agent_type,
    c.last_assistant_message, c.occurred_epoch_ms, c.attempts, c.last_error"""
_CHUNK = 500


class Kind(enum.StrEnum):
    """What was captured: the use of a tool, or the end of a turn, of which a summary is to be made."""

    TOOL = "tool"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """Something to be queued; clean already. tool_input, tool_response: JSON text."""

    session_db_id: int
    project: str
    kind: Kind
    prompt_number: int
    occurred_epoch_ms: int
    parent: str | None = None
    tool_use_id: str | None = None
    tool_name: str | None = None
    tool_input: str | None = None
    tool_response: str | None = None
    cwd: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    last_assistant_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """Something that waits. prompt_number: 0 before the first prompt. attempts: with this one.

    project: what it is filed under, which may differ from its session's, where the agent went to another folder.
    parent: of a worktree or submodule the project under which it is found too (`merged_into_project`).
    """

    id: int
    session_db_id: int
    content_session_id: str
    project: str
    parent: str | None
    platform_source: str
    kind: Kind
    prompt_number: int
    tool_use_id: str | None
    tool_name: str | None
    tool_input: str | None
    tool_response: str | None
    cwd: str | None
    agent_id: str | None
    agent_type: str | None
    last_assistant_message: str | None
    occurred_epoch_ms: int
    attempts: int
    last_error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A session of which something may be taken now. project: of the oldest of it. bytes: of what was said."""

    session_db_id: int
    project: str
    count: int
    bytes: int
    oldest_epoch_ms: int
    newest_epoch_ms: int
    has_summary: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounts:
    """How much waits, is being worked on, or was given back until later; and of how many sessions that is.

    last_error: of the newest of these that failed; attempts: how often that one was tried.
    """

    waiting: int = 0
    claimed: int = 0
    delayed: int = 0
    parked_sessions: int = 0
    oldest_epoch_ms: int | None = None
    last_error: str | None = None
    attempts: int = 0

    @property
    def all(self) -> int:
        """Everything of which no record was made yet."""
        return self.waiting + self.claimed + self.delayed


def add(connection: sqlite3.Connection, what: Captured) -> int | None:
    """The id of what is queued now; None for a tool use that waits already under its id. ``intake`` knows the rest."""
    if what.tool_use_id is not None:
        known = connection.execute(
            "SELECT 1 FROM py_captured WHERE session_db_id = ? AND tool_use_id = ?",
            (what.session_db_id, what.tool_use_id),
        ).fetchone()
        if known is not None:
            return None
    said = (what.tool_input, what.tool_response, what.last_assistant_message)
    made = connection.execute(
        """INSERT INTO py_captured (session_db_id, kind, project, parent, prompt_number, tool_use_id, tool_name,
            tool_input, tool_response, cwd, agent_id, agent_type, last_assistant_message, occurred_epoch_ms, bytes)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            what.session_db_id, what.kind.value, what.project, what.parent, what.prompt_number,
            what.tool_use_id, what.tool_name, what.tool_input, what.tool_response, what.cwd,
            what.agent_id, what.agent_type, what.last_assistant_message, what.occurred_epoch_ms,
            sum(len(text.encode("utf-8", "replace")) for text in said if text),
        ),
    )  # fmt: skip
    return made.lastrowid


def waiting(connection: sqlite3.Connection, now_epoch_ms: int) -> tuple[Waiting, ...]:
    """The sessions of which something may be taken now, the one that waits longest first.

    A session that has something claimed or given back until later is left out: its order would be broken.
    """
    found = connection.execute(
        """SELECT c.session_db_id, count(*), sum(c.bytes), min(c.occurred_epoch_ms), max(c.occurred_epoch_ms),
                max(c.kind = 'summary'),
                (SELECT project FROM py_captured f WHERE f.session_db_id = c.session_db_id ORDER BY f.id LIMIT 1)
            FROM py_captured c WHERE EXISTS (SELECT 1 FROM sdk_sessions s WHERE s.id = c.session_db_id)
            GROUP BY c.session_db_id HAVING max(c.claimed) = 0 AND max(c.not_before) <= ?
            ORDER BY min(c.id)""",
        (now_epoch_ms,),
    )
    return tuple(
        Waiting(
            session_db_id=session,
            project=project,
            count=count,
            bytes=size,
            oldest_epoch_ms=oldest,
            newest_epoch_ms=newest,
            has_summary=bool(has_summary),
        )
        for session, count, size, oldest, newest, has_summary, project in found
    )


def claim(
    connection: sqlite3.Connection, session_db_id: int, now_epoch_ms: int, *, most: int, most_bytes: int
) -> tuple[Queued, ...]:
    """What is to be worked on next of a session, oldest first, marked as claimed, with one attempt more.

    A batch ends with the first summary, before it grows beyond ``most_bytes`` (one alone may be larger), and before
    anything of another project. Nothing, while something of the session is claimed or has to wait.
    """
    held = connection.execute(
        "SELECT 1 FROM py_captured WHERE session_db_id = ? AND (claimed = 1 OR not_before > ?) LIMIT 1",
        (session_db_id, now_epoch_ms),
    ).fetchone()
    if held is not None:
        return ()
    batch = _next(connection, session_db_id, most, most_bytes)
    _each(connection, "UPDATE py_captured SET claimed = 1, attempts = attempts + 1 WHERE id IN ({})", batch)
    found = connection.execute(
        f"""SELECT {_COLUMNS} FROM py_captured c JOIN sdk_sessions s ON s.id = c.session_db_id
            WHERE c.session_db_id = ? AND c.claimed = 1 ORDER BY c.id""",
        (session_db_id,),
    )
    return tuple(Queued(**{**dict(row), "kind": Kind(row["kind"])}) for row in found)


def _next(connection: sqlite3.Connection, session_db_id: int, most: int, most_bytes: int) -> list[int]:
    taken: list[int] = []
    size, first = 0, None
    for number, kind, project, length in connection.execute(
        "SELECT id, kind, project, bytes FROM py_captured WHERE session_db_id = ? ORDER BY id LIMIT ?",
        (session_db_id, most),
    ):
        size += length
        first = first or project
        if taken and (size > most_bytes or project != first):
            break
        taken.append(number)
        if kind == Kind.SUMMARY:
            break
    return taken


def finish(connection: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Take out what records were made of; in the transaction that stores them."""
    _each(connection, "DELETE FROM py_captured WHERE id IN ({})", ids)


def give_back(connection: sqlite3.Connection, ids: Iterable[int], *, reason: str, not_before_epoch_ms: int) -> None:
    """What was claimed waits again, for the reason told, and its session with it until a moment."""
    for chunk in _chunks(ids):
        connection.execute(
            f"UPDATE py_captured SET claimed = 0, last_error = ?, not_before = ? WHERE id IN ({_marks(chunk)})",
            (reason, not_before_epoch_ms, *chunk),
        )


def hurry(connection: sqlite3.Connection) -> None:
    """What was given back until later may be taken now: whoever could not do it is no longer asked."""
    connection.execute("UPDATE py_captured SET not_before = 0 WHERE not_before > 0")


def release(connection: sqlite3.Connection) -> int:
    """At the start: what a worker had claimed that is no more waits again. How much that was.

    Nothing is kept of sessions that were deleted: there is nothing any more that it would belong to.
    """
    connection.execute("DELETE FROM py_captured WHERE session_db_id NOT IN (SELECT id FROM sdk_sessions)")
    return connection.execute("UPDATE py_captured SET claimed = 0 WHERE claimed = 1").rowcount


def counts(connection: sqlite3.Connection, now_epoch_ms: int) -> QueueCounts:
    """What the queue holds."""
    waits, claimed, delayed, parked, oldest = connection.execute(
        """SELECT count(*) FILTER (WHERE claimed = 0 AND not_before <= ?1), count(*) FILTER (WHERE claimed = 1),
            count(*) FILTER (WHERE claimed = 0 AND not_before > ?1),
            count(DISTINCT CASE WHEN not_before > ?1 THEN session_db_id END), min(occurred_epoch_ms)
            FROM py_captured""",
        (now_epoch_ms,),
    ).fetchone()
    error = connection.execute(
        "SELECT last_error, attempts FROM py_captured WHERE last_error IS NOT NULL ORDER BY id DESC LIMIT 1"
    ).fetchone()
    return QueueCounts(
        waiting=waits,
        claimed=claimed,
        delayed=delayed,
        parked_sessions=parked,
        oldest_epoch_ms=oldest,
        last_error=None if error is None else str(error[0]),
        attempts=0 if error is None else error[1],
    )


def forget(connection: sqlite3.Connection, session_db_id: int, since_epoch_ms: int, until_epoch_ms: int) -> None:
    """Take out what happened in a session in [since, until), as it turned out to be private."""
    connection.execute(
        "DELETE FROM py_captured WHERE session_db_id = ? AND occurred_epoch_ms >= ? AND occurred_epoch_ms < ?",
        (session_db_id, since_epoch_ms, until_epoch_ms),
    )


def depth(connection: sqlite3.Connection) -> int:
    """How much there is of which no record was made yet."""
    count: int = connection.execute("SELECT count(*) FROM py_captured").fetchone()[0]
    return count


def _each(connection: sqlite3.Connection, sql: str, ids: Iterable[int]) -> None:
    for chunk in _chunks(ids):
        connection.execute(sql.format(_marks(chunk)), chunk)


def _chunks(ids: Iterable[int]) -> list[Sequence[int]]:
    numbers = tuple(ids)
    return [numbers[at : at + _CHUNK] for at in range(0, len(numbers), _CHUNK)]


def _marks(ids: Sequence[int]) -> str:
    return ",".join("?" * len(ids))

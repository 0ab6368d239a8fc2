"""What models were paid for questions of the observer and to corpora: `py_spend`, by day, project, session and model.

In tokens. A question to a corpus belongs to no session (0), and to the project that the corpus is about.

Noted in the transaction that stores what came of a question, or gives back what it was about: nothing is paid unseen.
Days are those of UTC, so that a budget begins anew at the same moment wherever the machine is taken.

The form of this table never changes, as that of the queue (``pending``).
"""

import sqlite3
from dataclasses import dataclass

from worker.contract.when import iso_utc
from worker.store import aliases, filters

TABLES = {
    "py_spend": """CREATE TABLE py_spend (
        day TEXT NOT NULL, project TEXT NOT NULL, session_db_id INTEGER NOT NULL, model TEXT NOT NULL,
        calls INTEGER NOT NULL, tokens INTEGER NOT NULL,
        PRIMARY KEY (day, project, session_db_id, model)) WITHOUT ROWID""",
    "py_spend_session": "CREATE INDEX py_spend_session ON py_spend (session_db_id, tokens)",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One question: whose it was, who answered, what that cost."""

    project: str
    session_db_id: int
    model: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Line:
    """What was spent on one day, in one project or by one model."""

    value: str
    calls: int
    tokens: int


def add(connection: sqlite3.Connection, call: Call, now_epoch_ms: int) -> None:
    """Note a question that was asked."""
    connection.execute(
        """INSERT INTO py_spend VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT DO UPDATE SET
            calls = calls + 1, tokens = tokens + excluded.tokens""",
        (day_of(now_epoch_ms), call.project, call.session_db_id, call.model, call.tokens),
    )


def note_shared(connection: sqlite3.Connection, session_db_id: int) -> None:
    """Note of a session that came from elsewhere that its records have parts of what answers cost, as ours have."""
    connection.execute("INSERT OR IGNORE INTO py_spend VALUES ('', '', ?, '', 0, 0)", (session_db_id,))


def of_day(connection: sqlite3.Connection, now_epoch_ms: int) -> int:
    """Tokens spent on the day of a moment."""
    found = connection.execute("SELECT sum(tokens) FROM py_spend WHERE day = ?", (day_of(now_epoch_ms),))
    return int(found.fetchone()[0] or 0)


def of_session(connection: sqlite3.Connection, session_db_id: int) -> int:
    """Tokens spent on a session."""
    found = connection.execute("SELECT sum(tokens) FROM py_spend WHERE session_db_id = ?", (session_db_id,))
    return int(found.fetchone()[0] or 0)


@dataclass(frozen=True, slots=True)
class Whose:
    """Of which project, or of which session by its memory id; of all without."""

    project: str | None = None
    session: str | None = None


def by(connection: sqlite3.Connection, column: str, whose: Whose | None = None, most: int = 200) -> tuple[Line, ...]:
    """Sums for each value of `day` (the latest first), `project` or `model` (the most first)."""
    if column not in ("day", "project", "model"):
        raise ValueError(column)
    order = "day DESC" if column == "day" else f"sum(tokens) DESC, {column}"
    where, values = _where(connection, whose or Whose())
    found = connection.execute(
        f"""SELECT {column}, sum(calls), sum(tokens) FROM py_spend WHERE {where} AND calls > 0
            GROUP BY {column} ORDER BY {order} LIMIT ?""",
        (*values, most),
    )
    return tuple(Line(str(value), int(calls), int(tokens)) for value, calls, tokens in found)


def total(connection: sqlite3.Connection, whose: Whose) -> Line:
    """All of it."""
    where, values = _where(connection, whose)
    calls, tokens = connection.execute(
        f"SELECT coalesce(sum(calls), 0), coalesce(sum(tokens), 0) FROM py_spend WHERE {where}", values
    ).fetchone()
    return Line("", int(calls), int(tokens))


def _where(connection: sqlite3.Connection, whose: Whose) -> tuple[str, list[str]]:
    parts, values = ["1"], []
    if whose.project:
        sql, names = filters.named("project", aliases.together(aliases.every(connection), whose.project))
        parts.append(sql)
        values += [str(name) for name in names]
    if whose.session:
        parts.append("session_db_id IN (SELECT id FROM sdk_sessions WHERE memory_session_id = ?)")
        values.append(whose.session)
    return " AND ".join(parts), values


def day_of(epoch_ms: int) -> str:
    """The day of a moment, `2026-03-04`, in UTC."""
    return iso_utc(epoch_ms)[:10]


def next_day_epoch_ms(epoch_ms: int) -> int:
    """When the day after that of a moment begins."""
    return (epoch_ms // 86_400_000 + 1) * 86_400_000

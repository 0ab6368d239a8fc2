"""Sessions over time: what each has in each bucket, and where each begins."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from worker.store import axis, shares
from worker.store.axis import Run
from worker.store.filters import Condition
from worker.store.rows import placeholders


@dataclass(frozen=True, slots=True)
class Piece:
    """Records of one session, type and bucket. epoch_ms: of the first of them."""

    session: str
    type: str
    project: str
    epoch_ms: int
    last_epoch_ms: int
    records: int
    work_tokens: int


@dataclass(frozen=True, slots=True)
class Use:
    """A tool was used. given, answer: JSON text, cut where it was long."""

    epoch_ms: int
    tool: str
    given: str | None
    answer: str | None


MOST_USES = 3_000
"""What is looked at of those in a screenful of time."""


def pieces(connection: sqlite3.Connection, where: Condition, runs: Sequence[Run]) -> list[Piece]:
    """What passes the filters in the buckets, oldest first."""
    found = connection.execute(
        f"""SELECT coalesce(d.session, ''), d.type, max(d.project), min(d.epoch), max(d.epoch), count(*),
                CAST(total(d.discovery_tokens) AS INTEGER)
            FROM py_docs d WHERE {where.sql} AND {axis.within(runs)}
            GROUP BY 1, {axis.bucket(runs)}, 2 ORDER BY 4, 1, 2""",
        where.values,
    )
    return [Piece(*row) for row in found]


def uses(
    connection: sqlite3.Connection, sessions: Sequence[str], runs: Sequence[Run], until_epoch_ms: int | None
) -> list[Use]:
    """How some sessions used tools in the buckets, up to a moment; of very many the last."""
    until = runs[-1].end_epoch_ms - 1
    found = connection.execute(
        f"""SELECT t.created_at_epoch, t.tool_name, t.tool_input, t.tool_response
            FROM sdk_sessions s JOIN tool_uses t ON t.session_db_id = s.id
            WHERE s.memory_session_id IN ({placeholders(sessions)}) AND t.created_at_epoch BETWEEN ? AND ?
            ORDER BY t.created_at_epoch DESC LIMIT {MOST_USES}""",
        (*sessions, runs[0].start_epoch_ms, until if until_epoch_ms is None else min(until, until_epoch_ms)),
    )
    return [Use(*row) for row in found]


def counted_again(
    connection: sqlite3.Connection, where: Condition, runs: Sequence[Run], sessions: Sequence[str]
) -> dict[str, int]:
    """By how much the tokens of some sessions in the buckets are too large: an answer of a model counts once."""
    within = Condition(f"{where.sql} AND {axis.within(runs)}", where.values)
    return shares.counted_again(connection, sessions, within)


def begin(
    connection: sqlite3.Connection, where: Condition, epoch_ms: int, *, later: bool
) -> tuple[str | None, int | None]:
    """The session that begins next after a moment, or last before it."""
    side, order = ("> ?", "ASC") if later else ("< ?", "DESC")
    found = connection.execute(
        f"""SELECT d.session, min(d.epoch) AS start FROM py_docs d WHERE {where.sql} AND d.session IS NOT NULL
            GROUP BY d.session HAVING start {side} ORDER BY start {order}, d.session LIMIT 1""",
        (*where.values, epoch_ms),
    ).fetchone()
    return (None, None) if found is None else (found[0], found[1])

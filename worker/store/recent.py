"""The last sessions of a project, and what came of each."""

import sqlite3
from dataclasses import dataclass

from worker.contract.records import RecordKey, RecordKind, Summary
from worker.store import aliases, filters, records

_MOST_TITLES = 20


@dataclass(frozen=True, slots=True)
class RecentSession:
    """summary: the last one; titles: of its observations where there is none, oldest first. Epochs in ms."""

    status: str
    request: str
    started_epoch_ms: int
    summary: Summary | None
    titles: tuple[str, ...] = ()


def sessions(
    connection: sqlite3.Connection, project: str, platform_source: str | None, limit: int
) -> list[RecentSession]:
    """The last that have anything to tell, oldest first."""
    own, names = filters.named("s.project", aliases.together(aliases.every(connection), project))
    found = connection.execute(
        f"""SELECT s.memory_session_id AS id, s.status, s.user_prompt, s.started_at_epoch AS started,
            (SELECT max(id) FROM session_summaries WHERE memory_session_id = s.memory_session_id) AS summary
        FROM sdk_sessions s WHERE {own} AND s.memory_session_id IS NOT NULL
            AND (? IS NULL OR coalesce(nullif(s.platform_source, ''), 'claude') = ?)
            AND (EXISTS (SELECT 1 FROM session_summaries WHERE memory_session_id = s.memory_session_id)
                OR EXISTS (SELECT 1 FROM observations WHERE memory_session_id = s.memory_session_id))
        ORDER BY s.started_at_epoch DESC, s.id DESC LIMIT ?""",
        (*names, platform_source, platform_source, limit),
    ).fetchall()
    return [_session(connection, row) for row in reversed(found)]


def _session(connection: sqlite3.Connection, row: sqlite3.Row) -> RecentSession:
    summary = None
    if row["summary"] is not None:
        key = RecordKey(RecordKind.SUMMARY, row["summary"])
        read = records.by_keys(connection, [key]).get(key)
        summary = read if isinstance(read, Summary) else None
    titles = connection.execute(
        """SELECT title FROM observations WHERE memory_session_id = ? AND title <> ''
            ORDER BY created_at_epoch DESC, id DESC LIMIT ?""",
        (row["id"], _MOST_TITLES),
    ).fetchall()
    return RecentSession(
        status=str(row["status"]),
        request=str(row["user_prompt"] or ""),
        started_epoch_ms=int(row["started"] or 0),
        summary=summary,
        titles=tuple(str(title[0]) for title in reversed(titles)) if summary is None else (),
    )

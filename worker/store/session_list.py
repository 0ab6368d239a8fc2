"""Sessions with what they hold, for people who look for one."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from worker.contract.batches import SessionRow
from worker.contract.records import RecordKey, RecordKind, Summary
from worker.contract.search import Entry
from worker.contract.sessions import SessionLine, SessionQuery
from worker.store import aliases, filters, listing, records, search_index, session_rows, shares
from worker.store.filters import INTERNAL_PROJECT, Condition, Part
from worker.store.rows import CODES, KINDS, one_line, placeholders

_PROMPT, _SUMMARY = CODES[RecordKind.PROMPT], CODES[RecordKind.SUMMARY]
_EARLIEST, _LATEST = -(2**63), 2**63 - 1
# A session without a memory id has nothing but prompts; rows from before migration 34 name it by its content id alone.
_PROMPTS = f"""FROM sdk_sessions s JOIN user_prompts p ON p.session_db_id = s.id
        OR (p.session_db_id IS NULL AND p.content_session_id = s.content_session_id)
    JOIN py_docs d ON d.docid = p.id * 4 + {_PROMPT}"""


def page(connection: sqlite3.Connection, asked: SessionQuery) -> tuple[list[SessionLine], int]:
    """A page of sessions, the last started first, and how many there are in all."""
    parts = [_scope(connection, asked.project)]
    if asked.platform_source:
        parts.append(("coalesce(nullif(platform_source, ''), 'claude') = ?", [asked.platform_source]))
    as_of = asked.as_of_epoch_ms
    ends = [end for end in (asked.until_epoch_ms, as_of) if end is not None]
    if asked.since_epoch_ms is not None or ends:
        parts.append(_in_time(asked.since_epoch_ms, min(ends, default=None)))
    where, values = " AND ".join(sql for sql, _ in parts), [value for _, part in parts for value in part]
    total: int = connection.execute(f"SELECT count(*) FROM sdk_sessions WHERE {where}", values).fetchone()[0]
    found = session_rows.of(
        connection,
        f"{where} ORDER BY sdk_sessions.started_at_epoch DESC, sdk_sessions.id DESC LIMIT ? OFFSET ?",
        (*values, asked.limit, asked.offset),
    )
    return _lines(connection, found, as_of), total


def one(connection: sqlite3.Connection, name: str, as_of_epoch_ms: int | None = None) -> SessionLine | None:
    """A session by the id of its row, its memory id or its content id; the latest one that has it.

    as_of_epoch_ms: as it was at that moment; None where it had not begun by then.
    """
    row_id = int(name) if name.isascii() and name.isdigit() and len(name) < 19 else 0
    begun, values = ("1", []) if as_of_epoch_ms is None else _in_time(None, as_of_epoch_ms)
    found = session_rows.of(
        connection,
        f"""(id = ? OR memory_session_id = ? OR content_session_id = ?) AND {begun}
            ORDER BY id = ? DESC, memory_session_id = ? DESC, sdk_sessions.id DESC LIMIT 1""",
        (row_id, name, name, *values, row_id, name),
    )
    return next(iter(_lines(connection, found, as_of_epoch_ms)), None)


def by_memory_ids(connection: sqlite3.Connection, memory_session_ids: Sequence[str]) -> dict[str, SessionLine]:
    """The sessions with these memory ids; those that are not there are left out."""
    found = session_rows.by_memory_ids(connection, memory_session_ids)
    return {line.memory_session_id or "": line for line in _lines(connection, found)}


def entries(
    connection: sqlite3.Connection, session: SessionLine, *, limit: int, offset: int, as_of_epoch_ms: int | None = None
) -> list[Entry]:
    """What a session holds, or held at a moment, oldest first."""
    if session.memory_session_id is None:
        source, value = f"{_PROMPTS} WHERE s.id = ?", str(session.id)
    else:
        source, value = "FROM py_docs d WHERE d.session = ?", session.memory_session_id
    then = _by_then(as_of_epoch_ms)
    numbers = connection.execute(
        f"SELECT d.docid {source} AND {then.sql} ORDER BY {listing.OLDEST} LIMIT ? OFFSET ?",
        (value, *then.values, limit, offset),
    )
    keys = [search_index.key(row[0]) for row in numbers]
    found = listing.entries(connection, keys)
    return [found[key] for key in keys]


def _scope(connection: sqlite3.Connection, project: str | None) -> Part:
    if project is None:
        return "project <> ?", [INTERNAL_PROJECT]
    names = aliases.together(aliases.every(connection), project)
    (own, values), (merged, _) = (filters.named(column, names) for column in ("project", "merged"))
    return f"({own} OR memory_session_id IN (SELECT session FROM py_docs WHERE {merged}))", [*values, *values]


def _in_time(since_epoch_ms: int | None, until_epoch_ms: int | None) -> Part:
    """Sessions that began or have a record in a span."""
    since = _EARLIEST if since_epoch_ms is None else since_epoch_ms
    until = _LATEST if until_epoch_ms is None else until_epoch_ms
    began = "sdk_sessions.started_at_epoch BETWEEN ? AND ?"
    has = "memory_session_id IN (SELECT session FROM py_docs WHERE epoch BETWEEN ? AND ?)"
    return f"({began} OR {has})", [since, until, since, until]


def _by_then(as_of_epoch_ms: int | None) -> Condition:
    """The records that were there at a moment; all of them without one."""
    return Condition("1", ()) if as_of_epoch_ms is None else Condition("d.epoch <= ?", (as_of_epoch_ms,))


@dataclass(slots=True)
class _Held:
    """What a session holds."""

    kinds: dict[RecordKind, int]
    read_tokens: int = 0
    work_tokens: int = 0
    last_epoch_ms: int | None = None
    first_prompt: str = ""
    summary: Summary | None = None


def _lines(
    connection: sqlite3.Connection, rows: Sequence[SessionRow], as_of_epoch_ms: int | None = None
) -> list[SessionLine]:
    held = _held(connection, rows, _by_then(as_of_epoch_ms))
    return [_line(_then(row, as_of_epoch_ms), held.get(row.id) or _Held({})) for row in rows]


def _then(row: SessionRow, as_of_epoch_ms: int | None) -> SessionRow:
    """The row as it was: one that ended later was still open."""
    ended = row.completed_at_epoch
    if as_of_epoch_ms is None or ended is None or ended <= as_of_epoch_ms:
        return row
    return replace(row, completed_at_epoch=None, status="active")


def _line(row: SessionRow, held: _Held) -> SessionLine:
    summary = held.summary
    titles = (summary and summary.request, row.custom_title, held.first_prompt, row.user_prompt)
    return SessionLine(
        id=row.id,
        content_session_id=row.content_session_id,
        memory_session_id=row.memory_session_id,
        project=row.project,
        platform_source=row.platform_source,
        status=row.status,
        title=next(filter(None, (one_line(title or "") for title in titles)), ""),
        started_at_epoch=row.started_at_epoch,
        ended_at_epoch=row.completed_at_epoch,
        last_at_epoch=row.started_at_epoch if held.last_epoch_ms is None else held.last_epoch_ms,
        prompts=held.kinds.get(RecordKind.PROMPT, 0),
        observations=held.kinds.get(RecordKind.OBSERVATION, 0),
        summaries=held.kinds.get(RecordKind.SUMMARY, 0),
        read_tokens=held.read_tokens,
        work_tokens=held.work_tokens,
        summary_id=summary.id if summary else None,
        request=summary.request if summary else None,
        investigated=summary.investigated if summary else None,
        learned=summary.learned if summary else None,
        completed=summary.completed if summary else None,
        next_steps=summary.next_steps if summary else None,
    )


def _held(connection: sqlite3.Connection, rows: Sequence[SessionRow], then: Condition) -> dict[int, _Held]:
    """What sessions hold, by the ids of their rows. then: which records were there."""
    ids = {row.memory_session_id: row.id for row in rows if row.memory_session_id is not None}
    bare = [row.id for row in rows if row.memory_session_id is None]
    # What the rows of `py_docs d` are of: sessions by memory id, or without one.
    named = "d.session", f"FROM py_docs d WHERE d.session IN ({placeholders(ids)})", list(ids)
    nameless = "s.id", f"{_PROMPTS} WHERE s.id IN ({placeholders(bare)})", bare
    found: dict[int, _Held] = {}
    for name, source, values in (named, nameless):
        _count(connection, found, ids, name, f"{source} AND {then.sql}", (*values, *then.values))
    for session, tokens in shares.counted_again(connection, list(ids), then).items():
        found[ids[session]].work_tokens -= tokens
    for key, record in _last_summaries(connection, list(ids), then).items():
        found[ids[key]].summary = record
    return found


def _count(
    connection: sqlite3.Connection,
    found: dict[int, _Held],
    ids: Mapping[str, int],
    name: str,
    source: str,
    values: Sequence[object],
) -> None:
    """Take in counts, sums and the first prompt of sessions. name: SQL for what a session goes by."""
    sums = f"""SELECT {name}, d.kind, count(*), total(d.read_tokens), total(d.discovery_tokens), max(d.epoch)
        {source} GROUP BY 1, 2"""
    for session, kind, count, read, work, last in connection.execute(sums, values):
        held = found.setdefault(ids.get(session, session), _Held({}))
        held.kinds[KINDS[kind]] = count
        held.read_tokens += int(read)
        held.work_tokens += int(work)
        held.last_epoch_ms = last if held.last_epoch_ms is None else max(last, held.last_epoch_ms)
    # A bare column beside min() is of the row that has it.
    first = f"SELECT {name}, d.title, min(d.epoch) {source} AND d.kind = {_PROMPT} GROUP BY 1"
    for session, title, _ in connection.execute(first, values):
        found[ids.get(session, session)].first_prompt = title


def _last_summaries(
    connection: sqlite3.Connection, memory_session_ids: Sequence[str], then: Condition
) -> dict[str, Summary]:
    rows = connection.execute(
        f"""SELECT d.session, d.record_id, max(d.epoch) FROM py_docs d
            WHERE d.kind = {_SUMMARY} AND d.session IN ({placeholders(memory_session_ids)}) AND {then.sql}
            GROUP BY 1""",
        (*memory_session_ids, *then.values),
    )
    keys = {RecordKey(RecordKind.SUMMARY, row[1]): str(row[0]) for row in rows}
    found = records.by_keys(connection, list(keys))
    return {keys[key]: record for key, record in found.items() if isinstance(record, Summary)}

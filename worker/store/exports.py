"""Rows taken out: each table as it is, a page at a time in the order of ids, at the same cost for the last page."""

import sqlite3
from collections.abc import Sequence

import msgspec

from worker.contract.transfer import SHARED, ExportPage, ExportQuery, RowKind
from worker.store import aliases
from worker.store.rows import placeholders

_PAGE_BYTES = 2_000_000
_TABLES = {
    RowKind.SESSION: "sdk_sessions",
    RowKind.PROMPT: "user_prompts",
    RowKind.OBSERVATION: "observations",
    RowKind.SUMMARY: "session_summaries",
}
_OF_MEMORY = "LEFT JOIN sdk_sessions s ON s.memory_session_id = r.memory_session_id"
# Rows from before migration 34 name their session by its content id alone.
_OF_CONTENT = """LEFT JOIN sdk_sessions s ON s.id = coalesce(r.session_db_id,
    (SELECT min(id) FROM sdk_sessions WHERE content_session_id = r.content_session_id))"""
_SOURCES = {
    RowKind.SESSION: f"""r.*, (SELECT 1 FROM py_spend WHERE session_db_id = r.id LIMIT 1) AS {SHARED}
        FROM sdk_sessions r""",
    RowKind.PROMPT: f"r.*, s.project, s.memory_session_id, s.platform_source FROM user_prompts r {_OF_CONTENT}",
    RowKind.OBSERVATION: f"r.*, s.platform_source FROM observations r {_OF_MEMORY}",
    RowKind.SUMMARY: f"r.*, s.platform_source FROM session_summaries r {_OF_MEMORY}",
}
_MERGED = ("r.project", "r.merged_into_project")

Part = tuple[str, Sequence[object]]


def page(connection: sqlite3.Connection, query: ExportQuery) -> ExportPage:
    """The rows after ``query.after``, as many as fit."""
    newest: int = connection.execute(f"SELECT coalesce(max(id), 0) FROM {_TABLES[query.kind]}").fetchone()[0]
    last = newest if query.upto is None else query.upto
    names = () if query.project is None else aliases.together(aliases.every(connection), query.project)
    filters = _session(query, names) if query.kind is RowKind.SESSION else _record(query, names)
    where = "".join(f" AND {sql}" for sql, _ in filters)
    values = [value for _, given in filters for value in given]
    found = connection.execute(
        f"SELECT {_SOURCES[query.kind]} WHERE r.id > ? AND r.id <= ?{where} ORDER BY r.id LIMIT ?",
        (query.after, last, *values, query.limit + 1),
    )
    rows: list[msgspec.Raw] = []
    size, reached = 0, query.after
    for row in found:
        if len(rows) == query.limit or size >= _PAGE_BYTES:
            return ExportPage(rows=tuple(rows), next=reached, newest=newest)
        columns = (name for name in row.keys() if name != SHARED or row[name])  # noqa: SIM118
        encoded = msgspec.json.encode({name: plain(row[name]) for name in columns})
        rows.append(msgspec.Raw(encoded))
        size, reached = size + len(encoded), row["id"]
    return ExportPage(rows=tuple(rows), next=None, newest=newest)


def _record(query: ExportQuery, names: Sequence[str]) -> list[Part]:
    """The filters of a query on the rows ``r`` of records. names: of its project, none for every project."""
    parts: list[Part] = []
    if names:
        parts.append(_of(names, "s.project") if query.kind is RowKind.PROMPT else _of(names, *_MERGED))
    return parts + _between(query, "r.created_at_epoch")


def _session(query: ExportQuery, names: Sequence[str]) -> list[Part]:
    """The filters of a query on sessions: their own project and start, or a record of theirs that passes."""
    own: list[Part] = [_of(names, "r.project")] if names else []
    own += _between(query, "r.started_at_epoch")
    if not own:
        return []
    choices = [_all(own)]
    for table, merged in (("observations", True), ("session_summaries", True), ("user_prompts", False)):
        times = _between(query, "c.created_at_epoch")
        if merged:
            belongs = "c.memory_session_id = r.memory_session_id"
            scope = [_of(names, "c.project", "c.merged_into_project")] if names else []
        else:
            belongs = "(c.session_db_id = r.id OR c.content_session_id = r.content_session_id)"
            scope = [_of(names, "r.project")] if names else []
        sql, values = _all([(belongs, ()), *scope, *times])
        choices.append((f"EXISTS (SELECT 1 FROM {table} c WHERE {sql})", values))
    joined = " OR ".join(f"({sql})" for sql, _ in choices)
    return [(f"({joined})", [value for _, given in choices for value in given])]


def _of(names: Sequence[str], *columns: str) -> Part:
    """One of the columns has one of the names."""
    sql = " OR ".join(f"{column} IN ({placeholders(names)})" for column in columns)
    return f"({sql})", [name for _ in columns for name in names]


def _all(parts: Sequence[Part]) -> Part:
    return " AND ".join(sql for sql, _ in parts), [value for _, given in parts for value in given]


def _between(query: ExportQuery, column: str) -> list[Part]:
    bounds = ((">=", query.since_epoch_ms), ("<=", query.until_epoch_ms))
    return [(f"{column} {sign} ?", [bound]) for sign, bound in bounds if bound is not None]


def plain(value: object) -> object:
    """A value that JSON can hold: SQLite keeps whatever bytes a program wrote."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

"""What agents did with their tools: listed, and by id."""

import re
import sqlite3
from collections.abc import Sequence
from typing import TypeVar

from msgspec import structs

from worker.contract.search import Order
from worker.contract.tool_uses import ToolUse, ToolUseEntry, ToolUseQuery
from worker.store import aliases
from worker.store.filters import Part, named
from worker.store.rows import placeholders

R = TypeVar("R", ToolUse, ToolUseEntry)

_SIZES = {
    "tool_input_bytes": "coalesce(length(CAST(tool_input AS BLOB)), 0)",
    "tool_response_bytes": "coalesce(length(CAST(tool_response AS BLOB)), 0)",
}
_NEWEST = "created_at_epoch DESC, id DESC"
_OLDEST = "created_at_epoch, id"
_NUMBER = re.compile(r"-?[0-9]{1,18}")


def listing(connection: sqlite3.Connection, query: ToolUseQuery) -> tuple[ToolUseEntry, ...]:
    """Those that fit, newest first unless oldest first is asked for."""
    tests = [
        ("content_session_id = ?", query.content_session_id),
        ("memory_session_id = ?", query.memory_session_id),
        ("agent_id = ?", query.agent_id),
        ("coalesce(nullif(platform_source, ''), 'claude') = ?", query.platform_source),
        ("created_at_epoch >= ?", query.since_epoch_ms),
        ("created_at_epoch <= ?", query.until_epoch_ms),
    ]
    parts = [sql for sql, value in tests if value is not None]
    values: list[object] = [value for _, value in tests if value is not None]
    if query.project is not None:
        own, names = _of_project(connection, query.project)
        parts.append(own)
        values += names
    if query.tool_names:
        parts.append(f"tool_name IN ({placeholders(query.tool_names)})")
        values += query.tool_names
    order = _OLDEST if query.order is Order.DATE_ASC else _NEWEST
    where = " AND ".join(parts) or "1"
    return _select(connection, ToolUseEntry, where, order, (*values, query.limit, query.offset))


def by_ids(
    connection: sqlite3.Connection,
    ids: Sequence[int | str],
    *,
    project: str | None,
    content_session_id: str | None,
    limit: int,
) -> tuple[ToolUse, ...]:
    """Whole rows, newest first. ids: row numbers, or the agent's own ids; digits in a text may be either."""
    texts = [str(value) for value in ids]
    numbers = [int(text) for text in texts if _NUMBER.fullmatch(text)]
    where = f"(id IN ({placeholders(numbers)}) OR tool_use_id IN ({placeholders(texts)}))"
    values: list[object] = [*numbers, *texts]
    if content_session_id:
        where += " AND content_session_id = ?"
        values.append(content_session_id)
    if project:
        own, names = _of_project(connection, project)
        where += f" AND {own}"
        values += names
    return _select(connection, ToolUse, where, _NEWEST, (*values, limit, 0))


def _of_project(connection: sqlite3.Connection, project: str) -> Part:
    return named("project", aliases.together(aliases.every(connection), project))


def _select(
    connection: sqlite3.Connection, kind: type[R], where: str, order: str, values: Sequence[object]
) -> tuple[R, ...]:
    """Rows as values of ``kind``. Cast, because SQLite keeps whatever a program wrote into a column."""
    columns = ", ".join(_column(field) for field in structs.fields(kind))
    found = connection.execute(
        f"SELECT {columns} FROM tool_uses WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?", values
    )
    return tuple(kind(**dict(row)) for row in found)


def _column(field: structs.FieldInfo) -> str:
    source = _SIZES.get(field.name, field.name)
    is_number = field.type is int or field.type == int | None
    cast = f"CAST({source} AS {'INTEGER' if is_number else 'TEXT'})"
    if field.type in (int, str):
        cast = f"coalesce({cast}, {'0' if is_number else chr(39) * 2})"
    return f"{cast} AS {field.name}"

"""Sessions as rows, for those who ask by id."""

import sqlite3
from collections.abc import Sequence

from msgspec import structs

from worker.contract.batches import SessionRow
from worker.store.rows import placeholders

_FIELDS = structs.fields(SessionRow)


def by_memory_ids(connection: sqlite3.Connection, memory_session_ids: Sequence[str]) -> tuple[SessionRow, ...]:
    """The sessions with these memory ids, newest first; those that are not there are left out."""
    return of(
        connection,
        f"""memory_session_id IN ({placeholders(memory_session_ids)})
            ORDER BY sdk_sessions.started_at_epoch DESC, sdk_sessions.id DESC""",
        memory_session_ids,
    )


def of(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> tuple[SessionRow, ...]:
    """The sessions that a condition is true for. where: SQL after WHERE, with its order."""
    columns = ", ".join(_column(field.name, field.type) for field in _FIELDS)
    found = connection.execute(f"SELECT {columns} FROM sdk_sessions WHERE {where}", tuple(values))
    return tuple(SessionRow(**dict(row)) for row in found)


def _column(name: str, kind: object) -> str:
    """Cast, because SQLite keeps whatever a program wrote into a column."""
    is_number = kind is int or kind == int | None
    cast = f"CAST({name} AS {'INTEGER' if is_number else 'TEXT'})"
    if name == "platform_source":
        cast = f"nullif({cast}, '')"
    if kind is int or kind is str:
        usual = "0" if is_number else "'claude'" if name == "platform_source" else "''"
        cast = f"coalesce({cast}, {usual})"
    return f"{cast} AS {name}"

"""Records of any kind: by key, and page by page as the original's viewer lists them."""

import sqlite3
from collections.abc import Iterator, Sequence

from worker.contract.records import Record, RecordKey, RecordKind
from worker.contract.search import Order, SearchQuery
from worker.store import filters, listing, rows
from worker.store.aliases import every as every_alias
from worker.store.queueing import BASE
from worker.store.rows import SELECTS

_CHUNK = 500
_NOT_REPEATED = """NOT EXISTS (SELECT 1 FROM user_prompts r JOIN user_prompts p
    ON p.content_session_id = r.content_session_id AND p.prompt_text = r.prompt_text AND p.id <> r.id
    AND p.created_at_epoch BETWEEN r.created_at_epoch - 10000 AND r.created_at_epoch
    AND (p.created_at_epoch < r.created_at_epoch OR p.id < r.id)
    WHERE r.id = d.record_id)"""


def by_keys(connection: sqlite3.Connection, keys: Sequence[RecordKey]) -> dict[RecordKey, Record]:
    """The records with these keys; those that are not there are left out."""
    found: dict[RecordKey, Record] = {}
    for kind in RecordKind:
        ids = [key.id for key in keys if key.kind is kind]
        found |= {RecordKey(kind, record.id): record for record, _ in _with_session(connection, kind, ids)}
    return found


def bodies(connection: sqlite3.Connection, keys: Sequence[RecordKey]) -> dict[RecordKey, tuple[object, ...]]:
    """Of each record that is there the values of ``rows.BODIES``, which take a fifth of the time of a whole row."""
    found: dict[RecordKey, tuple[object, ...]] = {}
    for kind, columns in rows.BODIES.items():
        for chunk in _chunks(kind, keys):
            sql = f"SELECT id, {', '.join(columns)} FROM {BASE[kind]} WHERE id IN ({rows.placeholders(chunk)})"
            cursor = connection.cursor()
            cursor.row_factory = None  # rows with names take as long again
            found |= {RecordKey(kind, row[0]): row[1:] for row in cursor.execute(sql, chunk)}
    return found


def there(connection: sqlite3.Connection, keys: Sequence[RecordKey]) -> dict[RecordKey, None]:
    """Those of the records that are there."""
    found: dict[RecordKey, None] = {}
    for kind, table in BASE.items():
        for chunk in _chunks(kind, keys):
            sql = f"SELECT id FROM {table} WHERE id IN ({rows.placeholders(chunk)})"
            found |= {RecordKey(kind, row[0]): None for row in connection.execute(sql, chunk)}
    return found


def page(
    connection: sqlite3.Connection,
    kind: RecordKind,
    *,
    project: str | None,
    platform_source: str | None,
    limit: int,
    offset: int,
) -> tuple[list[tuple[Record, str]], bool]:
    """(record, content session id) newest first, and whether there are more.

    A prompt that repeats one of the same session within ten seconds is left out: a double key press, not a thought.
    """
    query = SearchQuery(kinds=(kind,), project=project, platform_source=platform_source)
    where = filters.condition(query, known=every_alias(connection))
    if kind is RecordKind.PROMPT:
        where = filters.Condition(f"{where.sql} AND {_NOT_REPEATED}", where.values)
    keys = listing.listing(connection, where, order=Order.DATE_DESC, limit=limit + 1, offset=offset)
    ids = [key.id for key in keys[:limit]]
    found = {record.id: (record, content_id) for record, content_id in _with_session(connection, kind, ids)}
    return [found[record_id] for record_id in ids if record_id in found], len(keys) > limit


def _with_session(connection: sqlite3.Connection, kind: RecordKind, ids: Sequence[int]) -> Iterator[tuple[Record, str]]:
    """Records and the agent's own ids of their sessions, in no order."""
    for at in range(0, len(ids), _CHUNK):
        chunk = ids[at : at + _CHUNK]
        sql = f"{SELECTS[kind]} WHERE r.id IN ({rows.placeholders(chunk)})"
        for row in connection.execute(sql, chunk):
            yield rows.to_record(kind, row), row["content_id"] or ""


def _chunks(kind: RecordKind, keys: Sequence[RecordKey]) -> Iterator[list[int]]:
    """The ids of a kind, as many at a time as one question takes."""
    ids = [key.id for key in keys if key.kind is kind]
    return (ids[at : at + _CHUNK] for at in range(0, len(ids), _CHUNK))

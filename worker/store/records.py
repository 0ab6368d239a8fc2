"""Records of any kind: by key, and page by page as the original's viewer lists them."""

import sqlite3
from collections.abc import Sequence

from worker.contract.records import Record, RecordKey, RecordKind
from worker.store import rows
from worker.store.filters import INTERNAL_PROJECT
from worker.store.rows import SELECTS

_MATCHES_PROJECT = {
    RecordKind.OBSERVATION: "(r.project = :project OR r.merged_into_project = :project)",
    RecordKind.SUMMARY: "(r.project = :project OR r.merged_into_project = :project)",
    RecordKind.PROMPT: "s.project = :project",
}
_NOT_INTERNAL = {
    RecordKind.OBSERVATION: "r.project <> :internal",
    RecordKind.SUMMARY: "r.project <> :internal",
    RecordKind.PROMPT: "coalesce(s.project, '') <> :internal",
}
_NOT_REPEATED = """NOT EXISTS (SELECT 1 FROM user_prompts p WHERE p.content_session_id = r.content_session_id
    AND p.prompt_text = r.prompt_text AND p.id <> r.id
    AND p.created_at_epoch BETWEEN r.created_at_epoch - 10000 AND r.created_at_epoch
    AND (p.created_at_epoch < r.created_at_epoch OR p.id < r.id))"""


def by_keys(connection: sqlite3.Connection, keys: Sequence[RecordKey]) -> dict[RecordKey, Record]:
    """The records with these keys; those that are not there are left out."""
    found: dict[RecordKey, Record] = {}
    for kind in RecordKind:
        ids = [key.id for key in keys if key.kind is kind]
        for at in range(0, len(ids), 500):
            chunk = ids[at : at + 500]
            sql = f"{SELECTS[kind]} WHERE r.id IN ({rows.placeholders(chunk)})"
            for row in connection.execute(sql, chunk):
                found[RecordKey(kind, row["id"])] = rows.to_record(kind, row)
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
    conditions = [_MATCHES_PROJECT[kind] if project else _NOT_INTERNAL[kind]]
    if platform_source:
        conditions.append("coalesce(nullif(s.platform_source, ''), 'claude') = :platform")
    if kind is RecordKind.PROMPT:
        conditions.append(_NOT_REPEATED)
    found = connection.execute(
        f"{SELECTS[kind]} WHERE {' AND '.join(conditions)} "
        "ORDER BY r.created_at_epoch DESC, r.id DESC LIMIT :limit OFFSET :offset",
        {
            "project": project,
            "internal": INTERNAL_PROJECT,
            "platform": platform_source,
            "limit": limit + 1,
            "offset": offset,
        },
    ).fetchall()
    return [(rows.to_record(kind, row), row["content_id"] or "") for row in found[:limit]], len(found) > limit

"""Observations: written once, read by id."""

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence

from worker.contract.records import Observation, RecordKind
from worker.store import rows
from worker.store.filters import plain_piece
from worker.store.rows import SELECTS


def content_hash(memory_session_id: str, title: str | None, narrative: str | None) -> str:
    """The original's key of equal observations in a session: 16 hex digits of SHA-256."""
    text = "\0".join((memory_session_id, title or "", narrative or ""))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def add(connection: sqlite3.Connection, columns: Mapping[str, object]) -> int:
    """The id of the observation of these columns, of the old one if the session has just this already.

    columns: by their names, all but the hash, which is made here for whoever writes one.
    """
    memory, title, narrative = (str(columns.get(name) or "") for name in ("memory_session_id", "title", "narrative"))
    digest = content_hash(memory, title, narrative)
    named = {**columns, "content_hash": digest}
    made = connection.execute(
        f"""INSERT INTO observations ({", ".join(named)}) VALUES ({rows.placeholders(named)})
            ON CONFLICT (memory_session_id, content_hash) DO NOTHING""",
        tuple(named.values()),
    )
    if made.rowcount == 1 and made.lastrowid is not None:
        return made.lastrowid
    row = connection.execute(
        "SELECT id FROM observations WHERE memory_session_id = ? AND content_hash = ?", (memory, digest)
    ).fetchone()
    return int(row["id"])


def by_ids(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Observation]:
    """The observations with these ids; those that are not there are left out."""
    found: dict[int, Observation] = {}
    for at in range(0, len(ids), 500):
        chunk = ids[at : at + 500]
        sql = f"{SELECTS[RecordKind.OBSERVATION]} WHERE r.id IN ({rows.placeholders(chunk)})"
        found |= {row["id"]: rows.to_observation(row) for row in connection.execute(sql, chunk)}
    return found


_HAS = """(instr({column}, ?) AND EXISTS (SELECT 1
    FROM json_each(CASE WHEN json_valid({column}) THEN {column} ELSE '[]' END) f WHERE f.value = ?))"""


def of_files(
    connection: sqlite3.Connection,
    paths: Sequence[str],
    *,
    projects: Sequence[str],
    platform_source: str | None,
    limit: int,
) -> list[Observation]:
    """What is known of these files, newest first. paths: whole, as recorded. projects: any of them; all without."""
    has = " OR ".join(_HAS.format(column=f"r.{column}") for column in ("files_read", "files_modified"))
    tests = ["(" + " OR ".join(has for _ in paths) + ")"]
    values: list[object] = [value for path in paths for value in (plain_piece(path), path) * 2]
    if projects:
        marks = rows.placeholders(projects)
        tests.append(f"(r.project IN ({marks}) OR r.merged_into_project IN ({marks}))")
        values += [*projects, *projects]
    if platform_source:
        tests.append("coalesce(nullif(s.platform_source, ''), 'claude') = ?")
        values.append(platform_source)
    sql = f"{SELECTS[RecordKind.OBSERVATION]} WHERE {' AND '.join(tests)} ORDER BY r.created_at_epoch DESC, r.id DESC"
    return [rows.to_observation(row) for row in connection.execute(f"{sql} LIMIT ?", (*values, limit))]

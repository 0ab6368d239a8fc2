"""Observations: written once, read by id."""

import hashlib
import sqlite3
from collections.abc import Sequence

from worker.contract.records import Observation, RecordKind
from worker.store import rows
from worker.store.rows import SELECTS


def content_hash(memory_session_id: str, title: str | None, narrative: str | None) -> str:
    """The original's key of equal observations in a session: 16 hex digits of SHA-256."""
    text = "\0".join((memory_session_id, title or "", narrative or ""))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def by_ids(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Observation]:
    """The observations with these ids; those that are not there are left out."""
    found: dict[int, Observation] = {}
    for at in range(0, len(ids), 500):
        chunk = ids[at : at + 500]
        sql = f"{SELECTS[RecordKind.OBSERVATION]} WHERE r.id IN ({rows.placeholders(chunk)})"
        found |= {row["id"]: rows.to_observation(row) for row in connection.execute(sql, chunk)}
    return found

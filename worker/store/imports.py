"""Rows brought in from elsewhere: all of a batch or nothing, and nothing twice."""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from worker.contract.transfer import ImportBatch, ImportStats
from worker.store import incoming, sessions
from worker.store.incoming import Reader, Row
from worker.store.observations import content_hash
from worker.store.rows import placeholders
from worker.store.sessions import NewSession, normalised_platform


def import_batch(connection: sqlite3.Connection, batch: ImportBatch) -> ImportStats:
    """Write what is new. Errors: ``Invalid`` naming the row and key.

    Equal rows are told by: platform and content id (sessions); session, time, title and narrative (observations);
    session, time and request (summaries); session and number, or time and text without a number (prompts). A row
    whose session is not known gets one made for it.
    """
    read = {
        "sessions": _read(batch.sessions, "sessions", incoming.session),
        "observations": _read(batch.observations, "observations", incoming.observation),
        "summaries": _read(batch.summaries, "summaries", incoming.summary),
        "prompts": _read(batch.prompts, "prompts", incoming.prompt),
    }
    write = {"sessions": _session, "observations": _observation, "summaries": _summary, "prompts": _prompt}
    counted: dict[str, int] = {}
    for name, rows in read.items():
        imported = sum(write[name](connection, row) for row in rows)
        counted |= {f"{name}Imported": imported, f"{name}Skipped": len(rows) - imported}
    return ImportStats(**counted)


def _read(rows: Iterable[Mapping[str, Any]], name: str, reader: Reader) -> list[Row]:
    return [reader(row, f"{name}[{at}]") for at, row in enumerate(rows)]


def _insert(connection: sqlite3.Connection, table: str, row: Row) -> None:
    names = ", ".join(row)
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({placeholders(row)})", tuple(row.values()))


def _session(connection: sqlite3.Connection, row: Row) -> bool:
    row["platform_source"] = normalised_platform(row["platform_source"])
    known = connection.execute(
        "SELECT id, memory_session_id FROM sdk_sessions WHERE platform_source = ? AND content_session_id = ?",
        (row["platform_source"], row["content_session_id"]),
    ).fetchone()
    memory = row["memory_session_id"]
    taken = (
        memory and connection.execute("SELECT id FROM sdk_sessions WHERE memory_session_id = ?", (memory,)).fetchone()
    )
    if known is None and taken is None:
        _insert(connection, "sdk_sessions", row)
        return True
    if known is not None and known["memory_session_id"] is None and memory and taken is None:
        connection.execute("UPDATE sdk_sessions SET memory_session_id = ? WHERE id = ?", (memory, known["id"]))
    return False


def _observation(connection: sqlite3.Connection, row: Row) -> bool:
    if connection.execute(
        """SELECT 1 FROM observations WHERE memory_session_id = ? AND created_at_epoch = ? AND title IS ?
            AND narrative IS ?""",
        (row["memory_session_id"], row["created_at_epoch"], row["title"], row["narrative"]),
    ).fetchone():
        return False
    _parent(connection, row)
    digest = row["content_hash"] or content_hash(row["memory_session_id"], row["title"], row["narrative"])
    # The same words at another time are another row: the unique hash stays empty rather than losing it.
    row["content_hash"] = None if _hash_taken(connection, row["memory_session_id"], digest) else digest
    _insert(connection, "observations", row)
    return True


def _hash_taken(connection: sqlite3.Connection, memory_session_id: str, digest: str) -> bool:
    return (
        connection.execute(
            "SELECT 1 FROM observations WHERE memory_session_id = ? AND content_hash = ?", (memory_session_id, digest)
        ).fetchone()
        is not None
    )


def _summary(connection: sqlite3.Connection, row: Row) -> bool:
    if connection.execute(
        "SELECT 1 FROM session_summaries WHERE memory_session_id = ? AND created_at_epoch = ? AND request IS ?",
        (row["memory_session_id"], row["created_at_epoch"], row["request"]),
    ).fetchone():
        return False
    _parent(connection, row)
    _insert(connection, "session_summaries", row)
    return True


def _prompt(connection: sqlite3.Connection, row: Row) -> bool:
    project, platform = row.pop("project"), normalised_platform(row.pop("platform_source"))
    content = row["content_session_id"]
    owner = connection.execute(
        "SELECT id FROM sdk_sessions WHERE content_session_id = ? ORDER BY platform_source = ? DESC, id LIMIT 1",
        (content, platform),
    ).fetchone()
    session_id = (
        int(owner["id"])
        if owner
        else sessions.ensure(
            connection, NewSession(content, content, project or "", platform, row["created_at_epoch"], "completed")
        )
    )
    if row["prompt_number"]:
        known = connection.execute(
            "SELECT 1 FROM user_prompts WHERE session_db_id = ? AND prompt_number = ?",
            (session_id, row["prompt_number"]),
        ).fetchone()
    else:
        known = connection.execute(
            "SELECT 1 FROM user_prompts WHERE session_db_id = ? AND created_at_epoch = ? AND prompt_text = ?",
            (session_id, row["created_at_epoch"], row["prompt_text"]),
        ).fetchone()
        row["prompt_number"] = (
            1
            + connection.execute("SELECT count(*) FROM user_prompts WHERE session_db_id = ?", (session_id,)).fetchone()[
                0
            ]
        )
    if known:
        return False
    _insert(connection, "user_prompts", {"session_db_id": session_id, **row})
    return True


def _parent(connection: sqlite3.Connection, row: Row) -> None:
    memory = row["memory_session_id"]
    if connection.execute("SELECT 1 FROM sdk_sessions WHERE memory_session_id = ?", (memory,)).fetchone() is None:
        content = f"imported-{memory}"  # the agent's own id is not known, and must not meet another session's
        sessions.ensure(
            connection, NewSession(content, memory, row["project"], "claude", row["created_at_epoch"], "completed")
        )

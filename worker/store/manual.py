"""Memories saved on purpose: observations of a pseudo session, one for each project and platform."""

import sqlite3

import msgspec

from worker.contract.curation import Save
from worker.contract.when import iso_utc
from worker.store import sessions
from worker.store.observations import content_hash
from worker.store.sessions import NewSession, normalised_platform


def keep(connection: sqlite3.Connection, memory: Save, platform_source: str | None, now_epoch_ms: int) -> int:
    """The id of the observation that holds it; the old one's if just this was kept before."""
    project, platform = memory.project or "", normalised_platform(platform_source)
    session = f"manual-{project}-{platform}"
    content = f"manual-content-{project}-{platform}"
    sessions.ensure(connection, NewSession(content, session, project, platform, now_epoch_ms))
    digest = content_hash(session, memory.title, memory.text)
    connection.execute(
        """INSERT INTO observations (memory_session_id, project, type, title, subtitle, facts, narrative, concepts,
            files_read, files_modified, created_at, created_at_epoch, content_hash, metadata)
        VALUES (?, ?, 'discovery', ?, 'Manual memory', '[]', ?, '[]', '[]', '[]', ?, ?, ?, ?)
        ON CONFLICT (memory_session_id, content_hash) DO NOTHING""",
        (
            session, project, memory.title, memory.text, iso_utc(now_epoch_ms), now_epoch_ms, digest,
            None if memory.metadata is None else msgspec.json.encode(memory.metadata).decode(),
        ),
    )  # fmt: skip
    row = connection.execute(
        "SELECT id FROM observations WHERE memory_session_id = ? AND content_hash = ?", (session, digest)
    ).fetchone()
    return int(row["id"])

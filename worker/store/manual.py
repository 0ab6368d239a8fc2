"""Memories saved on purpose: observations of a pseudo session, one for each project and platform."""

import sqlite3

import msgspec

from worker.contract.curation import Save
from worker.contract.when import iso_utc
from worker.store import observations, sessions
from worker.store.sessions import NewSession, normalised_platform


def keep(connection: sqlite3.Connection, memory: Save, platform_source: str | None, now_epoch_ms: int) -> int:
    """The id of the observation that holds it; the old one's if just this was kept before."""
    project, platform = memory.project or "", normalised_platform(platform_source)
    session = f"manual-{project}-{platform}"
    content = f"manual-content-{project}-{platform}"
    sessions.ensure(connection, NewSession(content, session, project, platform, now_epoch_ms))
    return observations.add(
        connection,
        {
            "memory_session_id": session,
            "project": project,
            "type": "discovery",
            "title": memory.title,
            "subtitle": "Manual memory",
            "narrative": memory.text,
            **dict.fromkeys(("facts", "concepts", "files_read", "files_modified"), "[]"),
            "created_at": iso_utc(now_epoch_ms),
            "created_at_epoch": now_epoch_ms,
            "metadata": None if memory.metadata is None else msgspec.json.encode(memory.metadata).decode(),
        },
    )

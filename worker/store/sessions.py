"""Sessions: found or made, and the catalogue of projects that comes of them."""

import sqlite3
from dataclasses import dataclass

from worker.contract.status import Projects
from worker.contract.when import iso_utc
from worker.store.filters import INTERNAL_PROJECT

_SOURCES_FIRST = ("claude", "codex", "cursor")


@dataclass(frozen=True, slots=True)
class NewSession:
    """What is known of a session that may have to be made."""

    content_session_id: str
    memory_session_id: str
    project: str
    platform_source: str
    started_epoch_ms: int
    status: str = "active"


def normalised_platform(source: str | None) -> str:
    """The one spelling under which a platform is stored and compared (contract/schema.md, section 2)."""
    name = "-".join((source or "").lower().split())
    if not name:
        return "claude"
    if name == "transcript":
        return "codex"
    return next((known for known in ("codex", "cursor", "claude") if known in name), name)


def ensure(connection: sqlite3.Connection, session: NewSession) -> int:
    """The row id of a session, made if neither its memory id nor its content id is known."""
    row = connection.execute(
        "SELECT id FROM sdk_sessions WHERE memory_session_id = ?", (session.memory_session_id,)
    ).fetchone()
    if row is None:
        row = connection.execute(
            "SELECT id FROM sdk_sessions WHERE platform_source = ? AND content_session_id = ?",
            (session.platform_source, session.content_session_id),
        ).fetchone()
        if row is not None:
            connection.execute(
                "UPDATE sdk_sessions SET memory_session_id = ? WHERE id = ? AND memory_session_id IS NULL",
                (session.memory_session_id, row["id"]),
            )
    if row is not None:
        return int(row["id"])
    made = connection.execute(
        """INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, platform_source, started_at,
            started_at_epoch, status) VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (
            session.content_session_id, session.memory_session_id, session.project, session.platform_source,
            iso_utc(session.started_epoch_ms), session.started_epoch_ms, session.status,
        ),
    )  # fmt: skip
    return int(made.lastrowid or 0)


# The recursion jumps from name to name along the index instead of reading a row for each record.
_CATALOGUE = """
    WITH RECURSIVE names (project) AS (
        SELECT min(project) FROM py_docs
        UNION ALL SELECT (SELECT min(project) FROM py_docs WHERE project > names.project) FROM names
            WHERE names.project IS NOT NULL),
    used (project, platform, epoch) AS (
        SELECT project, coalesce(nullif(platform_source, ''), 'claude'), max(started_at_epoch) FROM sdk_sessions
            GROUP BY 1, 2
        UNION ALL SELECT d.project, d.platform, d.epoch FROM names JOIN py_docs d ON d.docid =
            (SELECT docid FROM py_docs WHERE project = names.project ORDER BY epoch DESC LIMIT 1))
    SELECT project, platform, max(epoch) AS latest FROM used
    WHERE project NOT IN ('', :internal) AND (:platform IS NULL OR platform = :platform)
    GROUP BY project, platform ORDER BY latest DESC, project"""


def projects(connection: sqlite3.Connection, platform_source: str | None = None) -> Projects:
    """The catalogue, most recently used first; projects known by their records alone are in it too."""
    found = connection.execute(_CATALOGUE, {"internal": INTERNAL_PROJECT, "platform": platform_source}).fetchall()
    by_source: dict[str, list[str]] = {}
    for row in found:
        by_source.setdefault(row["platform"], []).append(row["project"])
    sources = sorted(by_source, key=lambda name: (_rank(name), name))
    return Projects(
        projects=tuple(dict.fromkeys(row["project"] for row in found)),
        sources=tuple(sources),
        projectsBySource={source: tuple(by_source[source]) for source in sources},
    )


def _rank(source: str) -> int:
    return _SOURCES_FIRST.index(source) if source in _SOURCES_FIRST else len(_SOURCES_FIRST)

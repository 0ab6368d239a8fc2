"""What is captured, written into the original's tables: sessions, prompts, tool uses. Whatever is given is clean."""

import hashlib
import sqlite3
from dataclasses import dataclass

from worker.contract.when import iso_utc
from worker.store import turns
from worker.store.pending import Captured

UNKNOWN = "unknown"
_DUPLICATE_MS = 10_000
_FIRST_PROMPT_CHARS = 4_000
_IDLE_MS = 3 * 3_600_000
_MOST_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Known:
    """A session that is there. is_new: made just now."""

    id: int
    project: str
    memory_session_id: str | None
    is_new: bool = False


def find(connection: sqlite3.Connection, platform_source: str, content_session_id: str) -> Known | None:
    """The session that an agent calls so, if it is known."""
    row = connection.execute(
        """SELECT id, project, memory_session_id FROM sdk_sessions
            WHERE platform_source = ? AND content_session_id = ?""",
        (platform_source, content_session_id),
    ).fetchone()
    return None if row is None else Known(row["id"], row["project"], row["memory_session_id"])


def session(
    connection: sqlite3.Connection,
    platform_source: str,
    content_session_id: str,
    *,
    project: str | None,
    epoch_ms: int,
    custom_title: str | None = None,
) -> Known:
    """The session that an agent calls so, made if it is not known; what it lacks is filled in.

    project: None for what tells none, as a folder for temporary things.
    """
    known = find(connection, platform_source, content_session_id)
    if known is None:
        made = connection.execute(
            """INSERT INTO sdk_sessions (content_session_id, project, platform_source, started_at, started_at_epoch,
                status, custom_title) VALUES (?, ?, ?, ?, ?, 'active', ?)""",
            (content_session_id, project or UNKNOWN, platform_source, iso_utc(epoch_ms), epoch_ms, custom_title),
        )
        return Known(int(made.lastrowid or 0), project or UNKNOWN, None, is_new=True)
    if custom_title:
        connection.execute(
            "UPDATE sdk_sessions SET custom_title = ? WHERE id = ? AND custom_title IS NULL", (custom_title, known.id)
        )
    if project and known.project in ("", UNKNOWN):
        connection.execute("UPDATE sdk_sessions SET project = ? WHERE id = ?", (project, known.id))
        return Known(known.id, project, known.memory_session_id)
    return known


def prompts_until(connection: sqlite3.Connection, session_db_id: int, epoch_ms: int) -> int:
    """How many prompts of a session there were at a moment: the number of the one it was about."""
    count: int = connection.execute(
        "SELECT count(*) FROM user_prompts WHERE session_db_id = ? AND created_at_epoch <= ?",
        (session_db_id, epoch_ms),
    ).fetchone()[0]
    return count


def prompts_of(connection: sqlite3.Connection, session_db_id: int) -> int:
    """How many prompts of a session are kept."""
    return prompts_until(connection, session_db_id, 2**62)


def same_prompt(connection: sqlite3.Connection, session_db_id: int, text: str, epoch_ms: int) -> int | None:
    """The number of the same prompt in the ten seconds around a moment, None if there is none."""
    row = connection.execute(
        """SELECT prompt_number FROM user_prompts
            WHERE session_db_id = ? AND created_at_epoch BETWEEN ? AND ? AND prompt_text = ? LIMIT 1""",
        (session_db_id, epoch_ms - _DUPLICATE_MS, epoch_ms + _DUPLICATE_MS, text),
    ).fetchone()
    return None if row is None else int(row[0])


def add_prompt(
    connection: sqlite3.Connection, session_db_id: int, content_session_id: str, text: str, epoch_ms: int
) -> int:
    """The number of a prompt, which is kept; of the session's first also in the session's row, for its title."""
    number = prompts_of(connection, session_db_id) + 1
    connection.execute(
        """INSERT INTO user_prompts (session_db_id, content_session_id, prompt_number, prompt_text, created_at,
            created_at_epoch) VALUES (?, ?, ?, ?, ?, ?)""",
        (session_db_id, content_session_id, number, text, iso_utc(epoch_ms), epoch_ms),
    )
    short = text if len(text) <= _FIRST_PROMPT_CHARS else text[: _FIRST_PROMPT_CHARS - 1] + "…"
    connection.execute(
        "UPDATE sdk_sessions SET user_prompt = ? WHERE id = ? AND user_prompt IS NULL", (short, session_db_id)
    )
    return number


def has_tool_use(connection: sqlite3.Connection, content_session_id: str, tool_use_id: str) -> bool:
    """Whether a use of a tool is kept already, under the agent's own id of it."""
    found = connection.execute(
        "SELECT 1 FROM tool_uses WHERE content_session_id = ? AND tool_use_id = ?", (content_session_id, tool_use_id)
    ).fetchone()
    return found is not None


def add_tool_use(
    connection: sqlite3.Connection,
    known: Known,
    session: tuple[str, str],
    what: Captured,
    *,
    router: tuple[str | None, str | None] = (None, None),
) -> None:
    """Keep a use of a tool that has an id. session: platform and the agent's id of it. router: OpenRouter's ids."""
    platform, content = session
    connection.execute(
        """INSERT INTO tool_uses (tool_use_id, content_session_id, memory_session_id, session_db_id, project,
            platform_source, tool_name, tool_input, tool_response, cwd, prompt_number, agent_type, agent_id,
            or_generation_id, or_session_id, content_hash, created_at, created_at_epoch)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (content_session_id, tool_use_id) DO NOTHING""",
        (
            what.tool_use_id, content, known.memory_session_id, known.id, what.project, platform, what.tool_name,
            _cut(what.tool_input), _cut(what.tool_response), what.cwd, what.prompt_number or None, what.agent_type,
            what.agent_id, *router, digest(what), iso_utc(what.occurred_epoch_ms), what.occurred_epoch_ms,
        ),
    )  # fmt: skip


def digest(what: Captured) -> str:
    """The same for what says the same: 16 hex digits."""
    said = (what.tool_name, what.tool_input, what.tool_response, what.last_assistant_message)
    return hashlib.sha256("\0".join(text or "" for text in said).encode("utf-8", "replace")).hexdigest()[:16]


def forget(connection: sqlite3.Connection, session_db_id: int, since_epoch_ms: int, until_epoch_ms: int) -> None:
    """Take out the tool uses of a session in [since, until), as that turned out to be private."""
    connection.execute(
        "DELETE FROM tool_uses WHERE session_db_id = ? AND created_at_epoch >= ? AND created_at_epoch < ?",
        (session_db_id, since_epoch_ms, until_epoch_ms),
    )


def note_model(connection: sqlite3.Connection, session_db_id: int, model: str | None, billing: str | None) -> None:
    """What the agent ran on, as far as it is told."""
    connection.execute(
        """UPDATE sdk_sessions SET observed_model = coalesce(?, observed_model),
            observed_billing = coalesce(?, observed_billing) WHERE id = ?""",
        (model, billing, session_db_id),
    )


def complete(connection: sqlite3.Connection, session_db_id: int, epoch_ms: int) -> None:
    """The session is over since a moment. A later prompt does not change that here, as in the original."""
    connection.execute(
        "UPDATE sdk_sessions SET status = 'completed', completed_at = ?, completed_at_epoch = ? WHERE id = ?",
        (iso_utc(epoch_ms), epoch_ms, session_db_id),
    )


def complete_idle(connection: sqlite3.Connection, now_epoch_ms: int) -> list[int]:
    """Complete the sessions that nobody ended, that were not heard of for hours, and of which nothing waits.

    They were over when they were last heard of. Gives their ids.
    """
    found = connection.execute(
        """SELECT s.id, h.epoch_ms FROM sdk_sessions s JOIN py_heard h ON h.session_db_id = s.id
            WHERE s.status = 'active' AND h.epoch_ms < ?
            AND NOT EXISTS (SELECT 1 FROM py_captured c WHERE c.session_db_id = s.id)""",
        (now_epoch_ms - _IDLE_MS,),
    ).fetchall()
    for number, heard in found:
        complete(connection, number, heard)
        turns.end(connection, number, heard)
    return [int(number) for number, _ in found]


def _cut(text: str | None) -> str | None:
    """As in the original: 64 KiB, then how much there was."""
    raw = (text or "").encode("utf-8", "replace")
    if len(raw) <= _MOST_BYTES:
        return text
    return f"{raw[:_MOST_BYTES].decode('utf-8', 'ignore')}…[truncated: {len(raw)} bytes]"

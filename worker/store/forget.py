"""Records taken away for good."""

import sqlite3

from worker.contract.errors import NotFound, Unavailable
from worker.contract.records import RecordKey, RecordKind
from worker.store import erasing

_TABLES = {
    RecordKind.OBSERVATION: "observations",
    RecordKind.SUMMARY: "session_summaries",
    RecordKind.PROMPT: "user_prompts",
}
_OUT_OF_SESSION = """UPDATE sdk_sessions SET user_prompt = NULL
    WHERE content_session_id = ?1 AND user_prompt IN (?2, substr(?2, 1, length(user_prompt) - 1) || '…')
        AND NOT EXISTS (SELECT 1 FROM user_prompts WHERE content_session_id = ?1 AND prompt_text = ?2)"""


def delete(connection: sqlite3.Connection, key: RecordKey) -> None:
    """Delete a record; triggers take it out of the full-text tables and queue it for our index. A prompt is taken out
    of its session too, which has the first one's text or its beginning. ``erasing`` takes what is left out of the file.

    Errors: ``NotFound``, also for a row of another device, which only that device can take back; ``Unavailable`` for
    one that the cloud has a copy of, because only a worker that syncs can take that copy back too.
    """
    said = "SELECT content_session_id, prompt_text FROM user_prompts WHERE id = ?"
    prompts = connection.execute(said, (key.id,)).fetchall() if key.kind is RecordKind.PROMPT else []
    gone = connection.execute(
        f"DELETE FROM {_TABLES[key.kind]} WHERE id = ? AND coalesce(origin_device_id, '') = ''", (key.id,)
    ).rowcount
    if not gone:
        raise NotFound(f"{key.kind.value} #{key.id} not found", field="id")
    if _has_copy(connection, key):
        raise Unavailable(
            "this record was synced to the cloud; delete it with cloud sync switched on", retry_after_s=None
        )
    for prompt in prompts:
        connection.execute(_OUT_OF_SESSION, tuple(prompt))


def delete_tool_use(connection: sqlite3.Connection, row_id: int) -> None:
    """Delete what an agent did with a tool; what was learned of it stays. Errors: ``NotFound``."""
    if not connection.execute("DELETE FROM tool_uses WHERE id = ?", (row_id,)).rowcount:
        raise NotFound(f"tool use #{row_id} not found", field="id")
    erasing.begin_log(connection)


def clear_session(connection: sqlite3.Connection, row_id: int) -> str:
    """Take the texts out of a session's own row, which are its first prompt and its title; its records stay, and need
    the row. Gives the project. Errors: ``NotFound``.
    """
    found = connection.execute("SELECT project FROM sdk_sessions WHERE id = ?", (row_id,)).fetchone()
    if found is None:
        raise NotFound(f"session #{row_id} not found", field="id")
    connection.execute("UPDATE sdk_sessions SET user_prompt = NULL, custom_title = NULL WHERE id = ?", (row_id,))
    erasing.begin_log(connection)
    return str(found[0])


def _has_copy(connection: sqlite3.Connection, key: RecordKey) -> bool:
    """Whether the cloud holds a row of this device's. Heads of other devices may have the same local number."""
    head = """SELECT 1 FROM sync_entity_heads h WHERE h.kind = ? AND h.origin_local_id = ? AND h.deleted = 0
        AND NOT EXISTS (SELECT 1 FROM {table} r
            WHERE r.origin_device_id = h.origin_device_id AND r.origin_local_id = h.origin_local_id)"""
    found = connection.execute(head.format(table=_TABLES[key.kind]), (key.kind.value, str(key.id))).fetchone()
    return found is not None

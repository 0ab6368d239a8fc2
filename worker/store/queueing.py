"""Pure: the triggers that queue a record for our index whenever a row changes, whoever changes it.

They run on other programs' connections too, so they use nothing but built-in SQL.
"""

from collections.abc import Iterator

from worker.contract.records import RecordKind
from worker.store.rows import CODES

BASE = {
    RecordKind.PROMPT: "user_prompts",
    RecordKind.OBSERVATION: "observations",
    RecordKind.SUMMARY: "session_summaries",
}
"""The table of each kind."""

SHOWN = {
    RecordKind.PROMPT: "session_db_id, content_session_id, prompt_number, prompt_text, created_at_epoch",
    RecordKind.OBSERVATION: "memory_session_id, project, text, type, title, subtitle, facts, narrative, concepts, "
    "files_read, files_modified, prompt_number, created_at_epoch, discovery_tokens, merged_into_project",
    RecordKind.SUMMARY: "memory_session_id, project, request, investigated, learned, completed, next_steps, notes, "
    "files_read, files_edited, prompt_number, created_at_epoch, discovery_tokens, merged_into_project",
}
"""The columns whose change changes the index."""

_UNIQUE = {kind: [("origin_device_id", "origin_local_id")] for kind in BASE}
_UNIQUE[RecordKind.OBSERVATION] += [("memory_session_id", "content_hash")]
"""The columns of which no two rows have the same, besides the id."""


def triggers() -> dict[str, str]:
    """Trigger name → what creates it."""
    return dict(_triggers())


def _triggers() -> Iterator[tuple[str, str]]:
    for kind, table in BASE.items():
        code, queue = CODES[kind], "INSERT INTO py_queue (docid) VALUES"
        for event, side in (("INSERT", "new"), ("DELETE", "old"), (f"UPDATE OF id, {SHOWN[kind]}", "new")):
            name = f"py_{table}_{event.split()[0].lower()}"
            body = f"{queue} ({side}.id * 4 + {code});"
            if event.startswith("UPDATE"):
                body += f" INSERT INTO py_queue (docid) SELECT old.id * 4 + {code} WHERE old.id <> new.id;"
            yield name, f"CREATE TRIGGER {name} AFTER {event} ON {table} BEGIN {body} END"
        # A row that INSERT OR REPLACE or UPDATE OR REPLACE pushes out fires no delete trigger, so it is queued before.
        pairs = _UNIQUE[kind]
        update = f"UPDATE OF {', '.join(column for pair in pairs for column in pair)}"
        for ending, event, other in (("replace", "INSERT", ""), ("update_replace", update, " AND id <> old.id")):
            name = f"py_{table}_{ending}"
            body = "".join(
                f"INSERT INTO py_queue (docid) SELECT id * 4 + {code} FROM {table} "
                f"WHERE {first} = new.{first} AND {second} = new.{second}{other};"
                for first, second in pairs
            )
            yield name, f"CREATE TRIGGER {name} BEFORE {event} ON {table} BEGIN {body} END"
    moved = "".join(
        f"INSERT INTO py_queue (docid) SELECT id * 4 + {CODES[kind]} FROM {BASE[kind]} WHERE {where};"
        for kind, where in (
            (RecordKind.PROMPT, "session_db_id = new.id OR content_session_id = new.content_session_id"),
            (RecordKind.OBSERVATION, "memory_session_id = new.memory_session_id"),
            (RecordKind.SUMMARY, "memory_session_id = new.memory_session_id"),
        )
    )
    yield (
        "py_sdk_sessions_update",
        "CREATE TRIGGER py_sdk_sessions_update "
        f"AFTER UPDATE OF project, platform_source, memory_session_id ON sdk_sessions BEGIN {moved} END",
    )

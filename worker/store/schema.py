"""Pure: the tables of a finished database as data, as the original's newest version leaves them.

The original opens a file made from this and migrates nothing: same tables, columns, indexes, triggers, version rows.
Source: contract/schema.md; compared with a file of the original's in ``tests/parts/test_schema.py``.
"""

from collections.abc import Iterator

VERSIONS = (
    4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 20, 21, 22, 23, 24, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 39, 41, 42, 44, 45,
    46, 47, 48, 49, 50, 51, 52,
)  # fmt: skip
"""Migrations that such a file counts as done; without their rows the original would run some of them again."""

MARKERS = (".cwd-remap-applied-v1", ".cleanup-v12.4.3-applied")
"""Files that keep the original's one-time clean-ups away from a data directory that never needed them."""

_SYNC = "synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1'"
_CHILD = (
    "FOREIGN KEY (memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE"
)
_KIND = "CHECK (kind IN ('observation', 'summary', 'prompt'))"

TABLES: dict[str, str] = {
    "schema_versions": "id INTEGER PRIMARY KEY, version INTEGER UNIQUE NOT NULL, applied_at TEXT NOT NULL",
    "sdk_sessions": """id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
        memory_session_id TEXT UNIQUE, project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT 'claude',
        user_prompt TEXT, started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL, completed_at TEXT,
        completed_at_epoch INTEGER,
        status TEXT CHECK (status IN ('active', 'completed', 'failed')) NOT NULL DEFAULT 'active',
        worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT, observed_model TEXT,
        observed_billing TEXT""",
    "session_summaries": f"""id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT,
        files_read TEXT, files_edited TEXT, notes TEXT, prompt_number INTEGER, created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, merged_into_project TEXT, {_SYNC},
        {_CHILD}""",
    "observations": f"""id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
        text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT,
        files_read TEXT, files_modified TEXT, prompt_number INTEGER, created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT,
        generated_by_model TEXT, relevance_count INTEGER DEFAULT 0, merged_into_project TEXT, agent_type TEXT,
        agent_id TEXT, metadata TEXT, {_SYNC}, {_CHILD}""",
    "user_prompts": f"""id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER, content_session_id TEXT NOT NULL,
        prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, {_SYNC},
        FOREIGN KEY (session_db_id) REFERENCES sdk_sessions(id) ON DELETE CASCADE""",
    "pending_messages": """id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER NOT NULL,
        content_session_id TEXT NOT NULL,
        message_type TEXT NOT NULL CHECK (message_type IN ('observation', 'summarize')), tool_name TEXT,
        tool_input TEXT, tool_response TEXT, cwd TEXT, last_user_message TEXT, last_assistant_message TEXT,
        prompt_number INTEGER,
        status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'processing')),
        created_at_epoch INTEGER NOT NULL, agent_type TEXT, agent_id TEXT, tool_use_id TEXT,
        FOREIGN KEY (session_db_id) REFERENCES sdk_sessions(id) ON DELETE CASCADE""",
    "sync_state": "k TEXT PRIMARY KEY, v TEXT",
    "sync_outbox": """id INTEGER PRIMARY KEY AUTOINCREMENT, op_uuid TEXT NOT NULL UNIQUE,
        rev TEXT NOT NULL DEFAULT '1', body TEXT NOT NULL, canonical_body TEXT, operation_sha256 TEXT,
        created_at_epoch INTEGER NOT NULL""",
    "sync_entity_heads": f"""entity_id TEXT PRIMARY KEY, kind TEXT NOT NULL {_KIND}, origin_device_id TEXT NOT NULL,
        origin_local_id TEXT NOT NULL, entity_rev TEXT NOT NULL, operation_sha256 TEXT NOT NULL,
        deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)), updated_at_epoch INTEGER NOT NULL""",
    "sync_content_outbox": f"""id INTEGER PRIMARY KEY AUTOINCREMENT, entity_id TEXT NOT NULL,
        kind TEXT NOT NULL {_KIND}, origin_local_id TEXT NOT NULL, entity_rev TEXT NOT NULL, body TEXT NOT NULL,
        operation_sha256 TEXT NOT NULL, deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
        created_at_epoch INTEGER NOT NULL, UNIQUE (entity_id, entity_rev)""",
    "sync_dead_letter": """id INTEGER PRIMARY KEY AUTOINCREMENT,
        lane TEXT NOT NULL CHECK (lane IN ('content', 'mutation')), queue_key TEXT NOT NULL, kind TEXT,
        origin_local_id TEXT, entity_rev TEXT, reason TEXT NOT NULL, raw_body TEXT,
        created_at_epoch INTEGER NOT NULL, UNIQUE (lane, queue_key, entity_rev, reason)""",
    "sync_launch_exclusions": f"""kind TEXT NOT NULL {_KIND}, origin_local_id TEXT NOT NULL,
        through_rev TEXT NOT NULL, PRIMARY KEY (kind, origin_local_id)""",
    "tool_uses": """id INTEGER PRIMARY KEY AUTOINCREMENT, tool_use_id TEXT NOT NULL, content_session_id TEXT NOT NULL,
        memory_session_id TEXT, session_db_id INTEGER, project TEXT NOT NULL,
        platform_source TEXT NOT NULL DEFAULT 'claude', tool_name TEXT NOT NULL, tool_input TEXT, tool_response TEXT,
        cwd TEXT, prompt_number INTEGER, agent_type TEXT, agent_id TEXT, observation_id INTEGER,
        or_generation_id TEXT, or_session_id TEXT, content_hash TEXT, created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, UNIQUE (content_session_id, tool_use_id)""",
    "telegram_wrapups": """id INTEGER PRIMARY KEY AUTOINCREMENT, platform_source TEXT NOT NULL,
        content_session_id TEXT NOT NULL, project TEXT NOT NULL, route_key TEXT NOT NULL,
        summary_created_at_epoch INTEGER NOT NULL, status TEXT NOT NULL CHECK (status IN ('claimed', 'sent')),
        claimed_at_epoch INTEGER NOT NULL, sent_at_epoch INTEGER,
        UNIQUE (platform_source, content_session_id, project, route_key)""",
}

INDEXES: dict[str, str] = {
    "idx_sdk_sessions_claude_id": "sdk_sessions(content_session_id)",
    "idx_sdk_sessions_sdk_id": "sdk_sessions(memory_session_id)",
    "idx_sdk_sessions_project": "sdk_sessions(project)",
    "idx_sdk_sessions_status": "sdk_sessions(status)",
    "idx_sdk_sessions_started": "sdk_sessions(started_at_epoch DESC)",
    "idx_sdk_sessions_platform_source": "sdk_sessions(platform_source)",
    "idx_session_summaries_sdk_session": "session_summaries(memory_session_id)",
    "idx_session_summaries_project": "session_summaries(project)",
    "idx_session_summaries_created": "session_summaries(created_at_epoch DESC)",
    "idx_summaries_merged_into": "session_summaries(merged_into_project)",
    "idx_observations_sdk_session": "observations(memory_session_id)",
    "idx_observations_project": "observations(project)",
    "idx_observations_type": "observations(type)",
    "idx_observations_created": "observations(created_at_epoch DESC)",
    "idx_observations_content_hash": "observations(content_hash, created_at_epoch)",
    "idx_observations_merged_into": "observations(merged_into_project)",
    "idx_observations_agent_type": "observations(agent_type)",
    "idx_observations_agent_id": "observations(agent_id)",
    "idx_user_prompts_session": "user_prompts(session_db_id)",
    "idx_user_prompts_claude_session": "user_prompts(content_session_id)",
    "idx_user_prompts_created": "user_prompts(created_at_epoch DESC)",
    "idx_user_prompts_prompt_number": "user_prompts(prompt_number)",
    "idx_user_prompts_lookup": "user_prompts(session_db_id, prompt_number)",
    "idx_user_prompts_content_lookup": "user_prompts(content_session_id, prompt_number)",
    "idx_pending_messages_session": "pending_messages(session_db_id)",
    "idx_pending_messages_status": "pending_messages(status)",
    "idx_pending_messages_claude_session": "pending_messages(content_session_id)",
    "idx_observations_unsynced": "observations(id) WHERE synced_at IS NULL",
    "idx_session_summaries_unsynced": "session_summaries(id) WHERE synced_at IS NULL",
    "idx_user_prompts_unsynced": "user_prompts(id) WHERE synced_at IS NULL",
    "idx_tool_uses_project": "tool_uses(project)",
    "idx_tool_uses_memory_session": "tool_uses(memory_session_id)",
    "idx_tool_uses_content_session": "tool_uses(content_session_id)",
    "idx_tool_uses_session_db_id": "tool_uses(session_db_id)",
    "idx_tool_uses_tool_name": "tool_uses(tool_name)",
    "idx_tool_uses_created_at_epoch": "tool_uses(created_at_epoch)",
    "idx_tool_uses_observation_id": "tool_uses(observation_id)",
    "idx_tool_uses_or_generation_id": "tool_uses(or_generation_id)",
    "idx_telegram_wrapups_platform_content": "telegram_wrapups(platform_source, content_session_id)",
}

_ORIGIN = "(origin_device_id, origin_local_id) WHERE origin_device_id IS NOT NULL"
UNIQUE_INDEXES: dict[str, str] = {
    "ux_observations_session_hash": "observations(memory_session_id, content_hash)",
    "ux_sdk_sessions_platform_content": "sdk_sessions(platform_source, content_session_id)",
    "ux_pending_session_tool": "pending_messages(session_db_id, tool_use_id) WHERE tool_use_id IS NOT NULL",
    "ux_observations_origin": f"observations{_ORIGIN}",
    "ux_session_summaries_origin": f"session_summaries{_ORIGIN}",
    "ux_user_prompts_origin": f"user_prompts{_ORIGIN}",
}

FULLTEXT: dict[str, tuple[str, tuple[str, ...]]] = {
    "user_prompts_fts": ("user_prompts", ("prompt_text",)),
    "observations_fts": ("observations", ("title", "subtitle", "narrative", "text", "facts", "concepts")),
    "session_summaries_fts": (
        "session_summaries",
        ("request", "investigated", "learned", "completed", "next_steps", "notes"),
    ),
}
"""The original's own full-text tables: name → (content table, columns). Kept for it; our search does not read them."""


RENAMED = {"claude_session_id": "content_session_id", "sdk_session_id": "memory_session_id"}
"""Columns by the names they had before migration 17."""

RETIRED = {"pending_messages": ("retry_count", "failed_at_epoch", "completed_at_epoch", "worker_pid")}
"""Columns that migrations 31 and 32 take away."""

KEPT = {"pending_messages": "status IN ('pending', 'processing')"}
"""Which rows of an old table have a place in the new one. What was processed or had failed for good is work done;
migration 31 of the original deletes it too."""

COUNTED_IN_TEXT = ("sync_rev", "rev")
"""Columns that held numbers until migration 46."""

MAIN = ("sdk_sessions", "observations", "session_summaries", "user_prompts")
"""The tables that hold what people keep."""


def statements(*, fulltext: bool = True) -> Iterator[str]:
    """What makes an empty file a finished database, in order; only built-in SQL."""
    for name in TABLES:
        yield table(name)
    for name in (*INDEXES, *UNIQUE_INDEXES):
        yield index(name)
    for name in FULLTEXT if fulltext else ():
        yield fulltext_table(name)
        yield from triggers(name).values()


def table(name: str, *, under: str = "") -> str:
    """What creates a table. under: another name for it."""
    return f"CREATE TABLE {under or name} ({TABLES[name]})"


def index(name: str) -> str:
    """What creates an index."""
    unique = UNIQUE_INDEXES.get(name)
    return f"CREATE INDEX {name} ON {INDEXES[name]}" if unique is None else f"CREATE UNIQUE INDEX {name} ON {unique}"


def fulltext_table(name: str) -> str:
    """What creates one of the original's full-text tables."""
    content, texts = FULLTEXT[name]
    return f"CREATE VIRTUAL TABLE {name} USING fts5({', '.join(texts)}, content='{content}', content_rowid='id')"


def triggers(name: str) -> dict[str, str]:
    """What keeps a full-text table in step: trigger name → what creates it."""
    table, columns = FULLTEXT[name]
    listed = ", ".join(columns)
    new, old = (", ".join(f"{row}.{column}" for column in ("id", *columns)) for row in ("new", "old"))
    add = f"INSERT INTO {name}(rowid, {listed}) VALUES ({new});"
    remove = f"INSERT INTO {name}({name}, rowid, {listed}) VALUES ('delete', {old});"
    return {
        f"{table}_ai": f"CREATE TRIGGER {table}_ai AFTER INSERT ON {table} BEGIN {add} END",
        f"{table}_ad": f"CREATE TRIGGER {table}_ad AFTER DELETE ON {table} BEGIN {remove} END",
        f"{table}_au": f"CREATE TRIGGER {table}_au AFTER UPDATE ON {table} BEGIN {remove} {add} END",
    }

"""Databases as older versions of the original left them, with rows such as people have.

A generation is the number of the last migration that ran. What each one has is in contract/schema.md, sections 3 and
7; column order and constraints are those of the day. Every text holds a word of its own, by which it must be found.
"""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from worker.contract.when import iso_utc

GENERATIONS = (5, 7, 8, 11, 16, 20, 21, 28, 32, 33, 39, 42, 46, 50)
NOON = 1_772_625_600_000

_RAN = (4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 20, 21, 22, 23, 24, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 39, 41, 42, 44,
        45, 46, 47, 48, 49, 50)  # fmt: skip
_OLD_NAMES = {"content_session_id": "claude_session_id", "memory_session_id": "sdk_session_id"}

# Column definitions with the migrations that added them, in the order they came; `~` leads a table constraint.
_SESSIONS = (
    (4, "content_session_id TEXT UNIQUE NOT NULL", 32), (33, "content_session_id TEXT NOT NULL"),
    (4, "memory_session_id TEXT UNIQUE"), (4, "project TEXT NOT NULL"), (4, "user_prompt TEXT"),
    (4, "started_at TEXT NOT NULL"), (4, "started_at_epoch INTEGER NOT NULL"), (4, "completed_at TEXT"),
    (4, "completed_at_epoch INTEGER"),
    (4, "status TEXT CHECK(status IN ('active', 'completed', 'failed')) NOT NULL DEFAULT 'active'"),
    (5, "worker_port INTEGER"), (6, "prompt_counter INTEGER DEFAULT 0"), (23, "custom_title TEXT"),
    (24, "platform_source TEXT NOT NULL DEFAULT 'claude'"), (50, "observed_model TEXT"), (50, "observed_billing TEXT"),
)  # fmt: skip
_CHILD = "~FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE"
_SYNC = (
    (39, "synced_at INTEGER"), (41, "origin_device_id TEXT"), (41, "origin_local_id TEXT"),
    (41, "sync_rev INTEGER NOT NULL DEFAULT 1", 45), (46, "sync_rev TEXT NOT NULL DEFAULT '1'"),
)  # fmt: skip
_FAMILY = ((4, _CHILD, 20), (21, f"{_CHILD} ON UPDATE CASCADE"))
_OBSERVATIONS = (
    (4, "memory_session_id TEXT NOT NULL"), (4, "project TEXT NOT NULL"),
    (4, "text TEXT NOT NULL", 8), (9, "text TEXT"),
    (4, "type TEXT NOT NULL CHECK(type IN ('decision', 'bugfix', 'feature', 'refactor', 'discovery'))", 8),
    (9, "type TEXT NOT NULL CHECK(type IN ('decision', 'bugfix', 'feature', 'refactor', 'discovery', 'change'))", 20),
    (21, "type TEXT NOT NULL"), (8, "title TEXT"), (8, "subtitle TEXT"), (8, "facts TEXT"), (8, "narrative TEXT"),
    (8, "concepts TEXT"), (8, "files_read TEXT"), (8, "files_modified TEXT"), (6, "prompt_number INTEGER"),
    (11, "discovery_tokens INTEGER DEFAULT 0"), (4, "created_at TEXT NOT NULL"),
    (4, "created_at_epoch INTEGER NOT NULL"), (22, "content_hash TEXT"), (26, "generated_by_model TEXT"),
    (26, "relevance_count INTEGER DEFAULT 0"), (26, "merged_into_project TEXT"), (27, "agent_type TEXT"),
    (27, "agent_id TEXT"), (30, "metadata TEXT"), *_SYNC, *_FAMILY,
)  # fmt: skip
_SUMMARIES = (
    (4, "memory_session_id TEXT UNIQUE NOT NULL", 6), (7, "memory_session_id TEXT NOT NULL"),
    (4, "project TEXT NOT NULL"), (4, "request TEXT"), (4, "investigated TEXT"), (4, "learned TEXT"),
    (4, "completed TEXT"), (4, "next_steps TEXT"), (4, "files_read TEXT"), (4, "files_edited TEXT"), (4, "notes TEXT"),
    (6, "prompt_number INTEGER"), (11, "discovery_tokens INTEGER DEFAULT 0"), (4, "created_at TEXT NOT NULL"),
    (4, "created_at_epoch INTEGER NOT NULL"), (26, "merged_into_project TEXT"), *_SYNC, *_FAMILY,
)  # fmt: skip
_PROMPTS = (
    (34, "session_db_id INTEGER"), (10, "content_session_id TEXT NOT NULL"), (10, "prompt_number INTEGER NOT NULL"),
    (10, "prompt_text TEXT NOT NULL"), (10, "created_at TEXT NOT NULL"), (10, "created_at_epoch INTEGER NOT NULL"),
    *_SYNC,
    (10, "~FOREIGN KEY(content_session_id) REFERENCES sdk_sessions(content_session_id) ON DELETE CASCADE", 33),
    (34, "~FOREIGN KEY(session_db_id) REFERENCES sdk_sessions(id) ON DELETE CASCADE"),
)  # fmt: skip
_PENDING = (
    (16, "session_db_id INTEGER NOT NULL"), (16, "content_session_id TEXT NOT NULL"),
    (16, "message_type TEXT NOT NULL CHECK(message_type IN ('observation', 'summarize'))"), (16, "tool_name TEXT"),
    (16, "tool_input TEXT"), (16, "tool_response TEXT"), (16, "cwd TEXT"), (16, "last_user_message TEXT"),
    (16, "last_assistant_message TEXT"), (16, "prompt_number INTEGER"),
    (16, "status TEXT NOT NULL DEFAULT 'pending' "
         "CHECK(status IN ('pending', 'processing', 'processed', 'failed'))", 30),
    (31, "status TEXT NOT NULL DEFAULT 'pending' CHECK(status IN ('pending', 'processing'))"),
    (16, "retry_count INTEGER NOT NULL DEFAULT 0", 30), (16, "created_at_epoch INTEGER NOT NULL"),
    (16, "completed_at_epoch INTEGER", 30), (20, "failed_at_epoch INTEGER", 30), (20, "worker_pid INTEGER", 31),
    (27, "agent_type TEXT"), (27, "agent_id TEXT"), (28, "tool_use_id TEXT"),
    (16, "~FOREIGN KEY (session_db_id) REFERENCES sdk_sessions(id) ON DELETE CASCADE"),
)  # fmt: skip
_TABLES: dict[str, tuple[tuple[Any, ...], ...]] = {
    "sdk_sessions": _SESSIONS, "observations": _OBSERVATIONS, "session_summaries": _SUMMARIES,
    "user_prompts": _PROMPTS, "pending_messages": _PENDING,
}  # fmt: skip
_INDEXES = (
    (4, "idx_sdk_sessions_claude_id ON sdk_sessions(content_session_id)"),
    (4, "idx_observations_created ON observations(created_at_epoch DESC)"),
    (4, "idx_session_summaries_sdk_session ON session_summaries(memory_session_id)"),
    (10, "idx_user_prompts_lookup ON user_prompts(content_session_id, prompt_number)"),
    (16, "idx_pending_messages_status ON pending_messages(status)"),
    (20, "idx_pending_messages_worker_pid ON pending_messages(worker_pid)", 31),
)
_UNIQUE = (
    (28, "ux_pending_session_tool ON pending_messages(session_db_id, tool_use_id) WHERE tool_use_id IS NOT NULL"),
    (29, "ux_observations_session_hash ON observations(memory_session_id, content_hash)"),
    (33, "ux_sdk_sessions_platform_content ON sdk_sessions(platform_source, content_session_id)"),
)
_SYNC_TABLES = (
    (41, "sync_state (k TEXT PRIMARY KEY, v TEXT)"),
    (42, "sync_outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, op_uuid TEXT NOT NULL UNIQUE, rev INTEGER NOT NULL"
         " DEFAULT 1, body TEXT NOT NULL, created_at_epoch INTEGER NOT NULL)", 45),
)  # fmt: skip
_FULLTEXT = {
    "user_prompts": ("prompt_text",),
    "observations": ("title", "subtitle", "narrative", "text", "facts", "concepts"),
    "session_summaries": ("request", "investigated", "learned", "completed", "next_steps", "notes"),
}


def make(path: Path, generation: int, *, fulltext: Iterable[str] = _FULLTEXT, rows: int = 1) -> None:
    """A database of a generation. fulltext: the tables that have full-text tables. rows: how often each row comes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER UNIQUE NOT NULL,"
                           " applied_at TEXT NOT NULL)")  # fmt: skip
        for statement in _structure(generation):
            connection.execute(_named(statement, generation))
        for table in fulltext:
            if _has(table, generation):
                make_fulltext(connection, table, generation)
        connection.executemany(
            "INSERT INTO schema_versions (version, applied_at) VALUES (?, ?)",
            [(number, iso_utc(NOON)) for number in _RAN if number <= generation],
        )
        fill(connection, generation, rows)
        connection.execute("COMMIT")


def fill(connection: sqlite3.Connection, generation: int, rows: int = 1) -> None:
    """Rows as that generation wrote them."""
    for repeat in range(rows):
        for table, row in _rows(repeat, generation):
            _insert(connection, table, row, generation)


def _structure(generation: int) -> Iterable[str]:
    for table, parts in _TABLES.items():
        if _has(table, generation):
            own = [str(part[1]) for part in parts if _lives(part, generation)]
            columns = [part for part in own if not part.startswith("~")]
            rules = [part[1:] for part in own if part.startswith("~")]
            yield f"CREATE TABLE {table} ({', '.join(('id INTEGER PRIMARY KEY AUTOINCREMENT', *columns, *rules))})"
    yield from (f"CREATE TABLE {part[1]}" for part in _SYNC_TABLES if _lives(part, generation))
    yield from (f"CREATE INDEX {part[1]}" for part in _INDEXES if _lives(part, generation))
    yield from (f"CREATE UNIQUE INDEX {part[1]}" for part in _UNIQUE if _lives(part, generation))


def make_fulltext(connection: sqlite3.Connection, table: str, generation: int) -> None:
    """The full-text table and its triggers."""
    listed = ", ".join(_fulltext_columns(table, generation))
    new, old = (", ".join(f"{side}.{name}" for name in ("id", *listed.split(", "))) for side in ("new", "old"))
    add = f"INSERT INTO {table}_fts(rowid, {listed}) VALUES ({new});"
    take = f"INSERT INTO {table}_fts({table}_fts, rowid, {listed}) VALUES('delete', {old});"
    for statement in (
        f"CREATE VIRTUAL TABLE {table}_fts USING fts5({listed}, content='{table}', content_rowid='id')",
        f"CREATE TRIGGER {table}_ai AFTER INSERT ON {table} BEGIN {add} END;",
        f"CREATE TRIGGER {table}_ad AFTER DELETE ON {table} BEGIN {take} END;",
        f"CREATE TRIGGER {table}_au AFTER UPDATE ON {table} BEGIN {take} {add} END;",
    ):
        connection.execute(statement)


def _fulltext_columns(table: str, generation: int) -> list[str]:
    return [name for name in _FULLTEXT[table] if name in columns(table, generation)]


def columns(table: str, generation: int) -> list[str]:
    """The columns of a table, under their new names; not the id."""
    return [str(part[1]).split()[0] for part in _TABLES[table] if _lives(part, generation) and part[1][0] != "~"]


def _lives(part: tuple[Any, ...], generation: int) -> bool:
    return bool(part[0] <= generation <= (part[2] if len(part) > 2 else 999))


def _has(table: str, generation: int) -> bool:
    return any(_lives(part, generation) for part in _TABLES[table])


def _named(sql: str, generation: int) -> str:
    if generation < 17:
        for new, old in _OLD_NAMES.items():
            sql = sql.replace(new, old)
    return sql


def _insert(connection: sqlite3.Connection, table: str, row: dict[str, Any], generation: int) -> None:
    if not _has(table, generation):
        return
    kept = {name: value for name, value in row.items() if name in columns(table, generation)}
    names = _named(", ".join(kept), generation)
    marks = ", ".join("?" for _ in kept)
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(kept.values()))


def _rows(repeat: int, generation: int) -> Iterable[tuple[str, dict[str, Any]]]:
    """Table and row under the new names; what a generation has no column for is left out when it is written."""
    tag = f"{repeat:04d}"
    at = NOON + repeat * 60_000
    dated = {"created_at": iso_utc(at), "created_at_epoch": at}
    memory, content = f"memory-{tag}", f"content-{tag}"
    yield "sdk_sessions", _session(content, memory, at, user_prompt="Warum läuft das Token nicht ab? 🔐")
    yield "sdk_sessions", _session(f"silent-{tag}", None, at + 1, status="active", platform_source="codex")
    child = {"memory_session_id": memory, "project": "shop", "prompt_number": 1, "discovery_tokens": 812, **dated}
    texts = (
        (f"kiwi{tag} 用户身份校验失败 после ошибки", "bugfix"),
        (f"mango{tag} emoji 🎉👩‍💻 and\ttabs\nlines", "decision"),
        (f"papaya{tag} <b>&amp;</b> ' \" ; DROP TABLE observations; --", "feature"),
        (f"cherry{tag} " + "long " * 900, "refactor"),
    )  # fmt: skip
    for number, (text, kind) in enumerate(texts):
        yield "observations", child | _observation(text, kind, number, titled=number != 3, generation=generation)
    yield "session_summaries", child | {
        "request": f"grape{tag} 조선 역사 정리", "investigated": "", "learned": None, "completed": "完了 ✔",
        "next_steps": "—",
        "files_read": None, "files_edited": '["src/a.py"]', "notes": None,
    }  # fmt: skip
    if generation >= 7:
        yield "session_summaries", child | {"request": f"lemon{tag} second of its session", "created_at_epoch": at + 5}
    for number, text in ((1, f"plum{tag} 为什么 token 还有效？"), (2, f"quince{tag} and 'this' 🤔"), (3, "   ")):
        prompt = {"content_session_id": content, "prompt_number": number, "prompt_text": text, **dated}
        yield "user_prompts", prompt | {"session_db_id": repeat * 2 + 1}
    for number, status in enumerate(("pending", "processing", "processed", "failed")):
        if generation < 31 or number < 2:
            yield "pending_messages", {
                "session_db_id": repeat * 2 + 1, "content_session_id": content, "message_type": "observation",
                "tool_name": "Read", "tool_input": '{"file_path": "ü.py"}', "status": status, "retry_count": number,
                "created_at_epoch": at, "tool_use_id": f"use-{number}",
            }  # fmt: skip


def _session(content: str, memory: str | None, at: int, **over: Any) -> dict[str, Any]:
    return {
        "content_session_id": content, "memory_session_id": memory, "project": "shop", "started_at": iso_utc(at),
        "started_at_epoch": at, "completed_at": None, "status": "completed", "worker_port": 37777,
        "custom_title": "夜のデプロイ", "platform_source": "claude",
    } | over  # fmt: skip


def _observation(text: str, kind: str, number: int, *, titled: bool, generation: int) -> dict[str, Any]:
    odd = (json.dumps(["a", "ü"], ensure_ascii=False), "[]", None, "not json [")[number]
    described = '["gotcha: tokens live a minute too long","how-it-works","std::vector"]'
    return {
        "text": text if generation < 9 or not titled else None, "type": kind, "title": text if titled else None,
        "subtitle": None, "facts": odd, "narrative": "" if number else "说明 body of it",
        "concepts": described if number == 1 and generation < 49 else odd, "files_read": odd, "files_modified": "[]",
        "content_hash": f"{number}{text[:8]}".upper(), "metadata": '{"k": 1}', "agent_type": None,
        "synced_at": NOON if number == 0 else None, "sync_rev": number + 1,
        "origin_device_id": "other" if number == 2 else None, "origin_local_id": text[:10] if number == 2 else None,
    }  # fmt: skip


def words(repeat: int, generation: int) -> list[str]:
    """The words of which each finds one record."""
    fruits = ["kiwi", "mango", "papaya", "cherry", "grape"]
    fruits += ["lemon"] * (generation >= 7) + ["plum", "quince"] * (generation >= 10)
    return [f"{fruit}{repeat:04d}" for fruit in fruits]

"""Our own index beside the original's tables: what is searched, counted, listed and put in time order.

`py_docs` has a narrow row for each record of any kind, `py_text` its search words, `py_queue` the records that changed
since they were last indexed. Triggers of built-in SQL fill the queue, so that rows of other programs (the original
itself, on the same file) are noticed too; ``drain`` empties it, in the transaction of each write of ours.

A record's docid is its id × 4 + the code of its kind.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from worker.contract.records import Record, RecordKey, RecordKind, key_of
from worker.store import analysis, rows
from worker.store.changes import Change, Deed
from worker.store.rows import CODES, KINDS, SELECTS

FORMAT = f"2.{analysis.VERSION}"
"""Format of these tables and version of the words in them; an index of another format is built anew."""

COLUMNS = ("title", "subtitle", "narrative", "facts", "concepts", "files")
_BASE = {
    RecordKind.PROMPT: "user_prompts",
    RecordKind.OBSERVATION: "observations",
    RecordKind.SUMMARY: "session_summaries",
}
_SHOWN = {
    RecordKind.PROMPT: "session_db_id, content_session_id, prompt_number, prompt_text, created_at_epoch",
    RecordKind.OBSERVATION: "memory_session_id, project, text, type, title, subtitle, facts, narrative, concepts, "
    "files_read, files_modified, prompt_number, created_at_epoch, discovery_tokens, merged_into_project",
    RecordKind.SUMMARY: "memory_session_id, project, request, investigated, learned, completed, next_steps, notes, "
    "files_read, files_edited, prompt_number, created_at_epoch, discovery_tokens, merged_into_project",
}
_ALSO_UNIQUE = {
    RecordKind.OBSERVATION: ("memory_session_id = new.memory_session_id AND content_hash = new.content_hash",)
}
_CHUNK = 500

_TABLES = f"""
CREATE TABLE IF NOT EXISTS py_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS py_queue (seq INTEGER PRIMARY KEY, docid INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS py_queue_docid ON py_queue (docid);
CREATE TABLE IF NOT EXISTS py_docs (
    docid INTEGER PRIMARY KEY, kind INTEGER NOT NULL, record_id INTEGER NOT NULL, epoch INTEGER NOT NULL,
    project TEXT NOT NULL, merged TEXT, type TEXT NOT NULL, platform TEXT NOT NULL, session TEXT,
    prompt_number INTEGER, read_tokens INTEGER NOT NULL, discovery_tokens INTEGER NOT NULL, title TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS py_docs_time ON py_docs (epoch, kind, record_id);
CREATE INDEX IF NOT EXISTS py_docs_project ON py_docs (project, epoch, kind, record_id);
CREATE INDEX IF NOT EXISTS py_docs_merged ON py_docs (merged, epoch) WHERE merged IS NOT NULL;
CREATE VIRTUAL TABLE IF NOT EXISTS py_text USING fts5({", ".join(COLUMNS)}, tokenize="{analysis.TOKENIZER}");
"""


def docid(key: RecordKey) -> int:
    """The number under which a record is indexed."""
    return key.id * 4 + CODES[key.kind]


def key(number: int) -> RecordKey:
    """The record that is indexed under a number."""
    return RecordKey(KINDS[number % 4], number // 4)


def install(connection: sqlite3.Connection) -> int:
    """Make tables and triggers, queue every record that is not indexed or no longer there; how many are queued.

    Run twice it changes nothing. An index of another format is dropped and everything queued.
    """
    if _format(connection) not in (None, FORMAT):
        for name in ("py_text", "py_docs", "py_queue"):
            connection.execute(f"DROP TABLE IF EXISTS {name}")
        for name, _ in _triggers():
            connection.execute(f"DROP TRIGGER IF EXISTS {name}")
    for statement in _TABLES.split(";"):
        if statement.strip():
            connection.execute(statement)
    for _, statement in _triggers():
        connection.execute(statement)
    connection.execute("INSERT OR REPLACE INTO py_meta VALUES ('search_index', ?)", (FORMAT,))
    for kind, table in _BASE.items():
        code = CODES[kind]
        connection.execute(
            f"""INSERT INTO py_queue (docid) SELECT id * 4 + {code} FROM {table}
                WHERE id * 4 + {code} NOT IN (SELECT docid FROM py_docs WHERE kind = {code})
                UNION ALL SELECT docid FROM py_docs WHERE kind = {code} AND record_id NOT IN (SELECT id FROM {table})"""
        )
    return queued(connection)


def queued(connection: sqlite3.Connection) -> int:
    """How many records wait to be indexed."""
    count: int = connection.execute("SELECT count(DISTINCT docid) FROM py_queue").fetchone()[0]
    return count


def mark(connection: sqlite3.Connection) -> int:
    """The end of the queue as it is now, for ``drain``."""
    last: int = connection.execute("SELECT coalesce(max(seq), 0) FROM py_queue").fetchone()[0]
    return last


def drain(connection: sqlite3.Connection, *, limit: int = -1, after: int = 0) -> list[Change]:
    """Index what is queued, newest record first; what changed, oldest first.

    limit: records, all by default. after: only what was queued after this ``mark``.
    """
    sql = "SELECT DISTINCT docid FROM py_queue WHERE seq > ? ORDER BY docid DESC LIMIT ?"
    numbers = [row[0] for row in connection.execute(sql, (after, limit))]
    if not numbers:
        return []
    changes = [change for chunk in _chunks(sorted(numbers)) for change in _index(connection, chunk)]
    if limit < 0 and not after:
        connection.execute("DELETE FROM py_queue")
    else:
        for chunk in _chunks(numbers):
            connection.execute(f"DELETE FROM py_queue WHERE docid IN ({rows.placeholders(chunk)})", chunk)
    return changes


def _index(connection: sqlite3.Connection, numbers: Sequence[int]) -> Iterator[Change]:
    marks = rows.placeholders(numbers)
    known = {row[0] for row in connection.execute(f"SELECT docid FROM py_docs WHERE docid IN ({marks})", numbers)}
    for table, column in (("py_docs", "docid"), ("py_text", "rowid")):
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(number,) for number in known])
    found = list(_records(connection, numbers))
    records = {number: record for number, record, _ in found}
    content_ids = {number: content_id for number, _, content_id in found}
    documents = {number: rows.document(record) for number, record in records.items()}
    connection.executemany(
        f"INSERT INTO py_docs VALUES ({rows.placeholders(range(13))})",
        [_doc(number, record, documents[number]) for number, record in records.items()],
    )
    connection.executemany(
        f"INSERT INTO py_text (rowid, {', '.join(COLUMNS)}) VALUES ({rows.placeholders(range(len(COLUMNS) + 1))})",
        [(number, *_words(document)) for number, document in documents.items()],
    )
    for number in numbers:
        if number in records:
            deed = Deed.CHANGED if number in known else Deed.ADDED
            yield Change(key(number), deed, records[number], content_ids[number])
        elif number in known:
            yield Change(key(number), Deed.DELETED, None)


def _records(connection: sqlite3.Connection, numbers: Sequence[int]) -> Iterator[tuple[int, Record, str]]:
    for code, group in groupby(sorted(numbers, key=lambda number: number % 4), key=lambda number: number % 4):
        kind, ids = KINDS[code], [number // 4 for number in group]
        for row in connection.execute(f"{SELECTS[kind]} WHERE r.id IN ({rows.placeholders(ids)})", ids):
            yield row["id"] * 4 + code, rows.to_record(kind, row), row["content_id"] or ""


def _doc(number: int, record: Record, shown: rows.Document) -> tuple[object, ...]:
    kind, record_id = key_of(record)
    return (
        number, CODES[kind], record_id, record.created_at_epoch, record.project or "",
        getattr(record, "merged_into_project", None) or None, shown.type, record.platform_source or "claude",
        record.memory_session_id, record.prompt_number, shown.read_tokens, shown.discovery_tokens, shown.shown_title,
    )  # fmt: skip


def _words(shown: rows.Document) -> tuple[str, ...]:
    return tuple(" ".join(analysis.words(getattr(shown, column))) for column in COLUMNS)


def _format(connection: sqlite3.Connection) -> str | None:
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'py_meta'").fetchone() is None:
        return None
    row = connection.execute("SELECT value FROM py_meta WHERE key = 'search_index'").fetchone()
    return None if row is None else str(row[0])


def _triggers() -> Iterator[tuple[str, str]]:
    """Triggers that queue a record; they are fired on other programs' connections too, so they use nothing of ours."""
    for kind, table in _BASE.items():
        code, queue = CODES[kind], "INSERT INTO py_queue (docid) VALUES"
        for event, side in (("INSERT", "new"), ("DELETE", "old"), (f"UPDATE OF id, {_SHOWN[kind]}", "new")):
            name = f"py_{table}_{event.split()[0].lower()}"
            body = f"{queue} ({side}.id * 4 + {code});"
            if event.startswith("UPDATE"):
                body += f" INSERT INTO py_queue (docid) SELECT old.id * 4 + {code} WHERE old.id <> new.id;"
            yield name, f"CREATE TRIGGER IF NOT EXISTS {name} AFTER {event} ON {table} BEGIN {body} END"
        # A row that INSERT OR REPLACE pushes out fires no delete trigger, so it is queued before.
        name = f"py_{table}_replace"
        body = "".join(
            f"INSERT INTO py_queue (docid) SELECT id * 4 + {code} FROM {table} WHERE {where};"
            for where in (
                "origin_device_id = new.origin_device_id AND origin_local_id = new.origin_local_id",
                *_ALSO_UNIQUE.get(kind, ()),
            )
        )
        yield name, f"CREATE TRIGGER IF NOT EXISTS {name} BEFORE INSERT ON {table} BEGIN {body} END"
    moved = "".join(
        f"INSERT INTO py_queue (docid) SELECT id * 4 + {CODES[kind]} FROM {_BASE[kind]} WHERE {where};"
        for kind, where in (
            (RecordKind.PROMPT, "session_db_id = new.id OR content_session_id = new.content_session_id"),
            (RecordKind.OBSERVATION, "memory_session_id = new.memory_session_id"),
            (RecordKind.SUMMARY, "memory_session_id = new.memory_session_id"),
        )
    )
    yield (
        "py_sdk_sessions_update",
        "CREATE TRIGGER IF NOT EXISTS py_sdk_sessions_update "
        f"AFTER UPDATE OF project, platform_source, memory_session_id ON sdk_sessions BEGIN {moved} END",
    )


def _chunks(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[at : at + _CHUNK] for at in range(0, len(numbers), _CHUNK))

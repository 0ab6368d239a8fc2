"""Our own index beside the original's tables: what is searched, counted, listed and put in time order.

`py_docs` has a narrow row for each record of any kind, `py_concepts` its concepts, `py_text` its search words,
`py_queue` the records that changed since they were last indexed. Triggers of built-in SQL fill the queue, so that
rows of other programs (the original itself, on the same file) are noticed too; ``drain`` empties it, in the
transaction of each write of ours. Where SQLite has no FTS5 the words stand in `py_words` instead (``plain``).
``proof`` shows that nothing is missing.

A record's docid is its id × 4 + the code of its kind; from id 2**61 on that is no whole number of SQLite's any more,
and a record is not indexed (``checkup`` tells how many). Its seal is a checksum of all that the index was made from.
"""

import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from worker.contract.records import Record, RecordKey, RecordKind, key_of
from worker.store import (
    aliases,
    analysis,
    erasing,
    given,
    memo,
    ordering,
    originals,
    outbox,
    pending,
    recalls,
    rows,
    spend,
    turns,
    vectors,
)
from worker.store.changes import Change, Deed
from worker.store.queueing import SHOWN, triggers
from worker.store.rows import CODES, KINDS, SELECTS

FORMAT = f"5.{analysis.VERSION}"
"""Format of these tables and version of the words in them; an index of another format is built anew."""

MOST_ID = 2**61 - 1
COLUMNS = ("title", "subtitle", "narrative", "facts", "concepts", "files")
_SEALED = {kind: (*columns.split(", "), "platform_source") for kind, columns in SHOWN.items()}
_SEALED[RecordKind.PROMPT] += ("project", "memory_session_id")
_CHUNK = 500

Line = Callable[[str], str]
"""A text's search words, as ``analysis.line`` gives them."""

_TABLES = {
    "py_meta": "CREATE TABLE py_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "py_queue": "CREATE TABLE py_queue (seq INTEGER PRIMARY KEY, docid INTEGER NOT NULL)",
    "py_queue_docid": "CREATE INDEX py_queue_docid ON py_queue (docid)",
    "py_docs": """CREATE TABLE py_docs (
        docid INTEGER PRIMARY KEY, kind INTEGER NOT NULL, record_id INTEGER NOT NULL, epoch INTEGER NOT NULL,
        project TEXT NOT NULL, merged TEXT, type TEXT NOT NULL, platform TEXT NOT NULL, session TEXT,
        prompt_number INTEGER, read_tokens INTEGER NOT NULL, discovery_tokens INTEGER NOT NULL, title TEXT NOT NULL,
        seal INTEGER NOT NULL)""",
    "py_concepts": """CREATE TABLE py_concepts (
        concept TEXT NOT NULL, docid INTEGER NOT NULL, PRIMARY KEY (concept, docid)) WITHOUT ROWID""",
    "py_concepts_docid": "CREATE INDEX py_concepts_docid ON py_concepts (docid)",
    # With the project, so that a deep page passes over the rows before it without opening one.
    "py_docs_time": "CREATE INDEX py_docs_time ON py_docs (epoch, kind, record_id, project)",
    "py_docs_project": "CREATE INDEX py_docs_project ON py_docs (project, epoch, kind, record_id)",
    "py_docs_merged": "CREATE INDEX py_docs_merged ON py_docs (merged, epoch) WHERE merged IS NOT NULL",
    "py_docs_session": "CREATE INDEX py_docs_session ON py_docs (session, epoch, kind, record_id)",
    **ordering.INDEXES,
}
_TEXT = f'CREATE VIRTUAL TABLE py_text USING fts5({", ".join(COLUMNS)}, tokenize="{analysis.TOKENIZER}")'
_WORDS = "CREATE TABLE py_words (docid INTEGER PRIMARY KEY, words TEXT NOT NULL)"


def docid(key: RecordKey) -> int:
    """The number under which a record is indexed."""
    return key.id * 4 + CODES[key.kind]


def key(number: int) -> RecordKey:
    """The record that is indexed under a number."""
    return RecordKey(KINDS[number % 4], number // 4)


def is_installed(connection: sqlite3.Connection, *, fulltext: bool) -> bool:
    """Whether the tables are there, in this format, and every trigger as it should be."""
    there = {row[0]: row[1] for row in connection.execute("SELECT name, sql FROM sqlite_master")}
    wanted = _wanted(fulltext)
    return all(there.get(name) == sql for name, sql in wanted.items()) and _format(connection) == _named(fulltext)


def install(connection: sqlite3.Connection, *, fulltext: bool = True) -> None:
    """Make the tables and triggers that are missing or other than they should be.

    An index of another format is dropped. fulltext: whether this SQLite has FTS5.
    """
    wanted = _wanted(fulltext)
    there = {row[0]: (row[1], row[2]) for row in connection.execute("SELECT name, type, sql FROM sqlite_master")}
    parts = ("py_docs", "py_concepts", "py_text" if fulltext else "py_words")
    # Of an index of which a part is not there, or another, nobody can tell what else is missing.
    if _format(connection) != _named(fulltext) or any(there.get(name, ("", ""))[1] != wanted[name] for name in parts):
        clear(connection, fulltext=fulltext)
    for name, (kind, sql) in there.items():
        if name in wanted and sql != wanted[name]:
            connection.execute(f"DROP {kind} IF EXISTS {name}")
    # A table takes its indexes and triggers along.
    there = {row[0]: row[1:] for row in connection.execute("SELECT name, type, sql FROM sqlite_master")}
    for name, sql in wanted.items():
        if name not in there:
            connection.execute(sql)
    connection.execute("INSERT OR REPLACE INTO py_meta VALUES ('search_index', ?)", (_named(fulltext),))


def clear(connection: sqlite3.Connection, *, fulltext: bool) -> None:
    """Drop all that was indexed, and what was queued for it. Without FTS5 its table cannot be dropped: it stays, and
    goes when the index is of this format again."""
    if fulltext:
        originals.remove(connection, "py_text")
    for name in ("py_docs", "py_concepts", "py_words", "py_queue"):
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'py_meta'").fetchone():
        memo.changed(connection)
        connection.execute("DELETE FROM py_meta WHERE key IN ('search_index', 'proved')")


def queue(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Have records indexed, or taken out of the index when they are gone."""
    connection.executemany("INSERT INTO py_queue (docid) VALUES (?)", [(number,) for number in numbers])


def queued(connection: sqlite3.Connection) -> int:
    """How many records wait to be indexed."""
    count: int = connection.execute("SELECT count(DISTINCT docid) FROM py_queue").fetchone()[0]
    return count


def mark(connection: sqlite3.Connection) -> int:
    """The end of the queue as it is now, 0 if it is empty. While that stands there, what is queued comes after it."""
    last: int = connection.execute("SELECT coalesce(max(seq), 0) FROM py_queue").fetchone()[0]
    return last


def drain(
    connection: sqlite3.Connection, *, after: int = 0, limit: int = -1, line: Line = analysis.line
) -> list[Change]:
    """Index what was queued after a ``mark``; what changed, oldest record first.

    limit: changes looked at, those that were queued first; all by default. line: for whoever knows the search words
    already.
    """
    sql = "SELECT DISTINCT docid FROM (SELECT docid FROM py_queue WHERE seq > ? ORDER BY seq LIMIT ?)"
    numbers = [row[0] for row in connection.execute(sql, (after, limit))]
    changes = _index_all(connection, numbers, line)
    _take_out(connection, numbers, "seq <> ?", after)
    return changes


def drain_backlog(connection: sqlite3.Connection, upto: int, *, limit: int) -> bool:
    """Index what was queued up to a ``mark``, newest record first; whether there is more of it.

    The last that was queued stays in the queue to the end: what is queued meanwhile comes after it.
    """
    sql = "SELECT DISTINCT docid FROM py_queue WHERE seq <= ? ORDER BY docid DESC LIMIT ?"
    numbers = [row[0] for row in connection.execute(sql, (upto, limit))]
    all_taken = len(numbers) < limit
    _index_all(connection, numbers, analysis.line)
    _take_out(connection, numbers, "seq <= ?" if all_taken else "seq < ?", upto)
    return not all_taken


def _index_all(connection: sqlite3.Connection, numbers: Sequence[int], line: Line) -> list[Change]:
    if numbers:
        memo.changed(connection)
    indexable = sorted(number for number in numbers if isinstance(number, int))
    return [change for chunk in _chunks(indexable) for change in _index(connection, chunk, line)]


def _take_out(connection: sqlite3.Connection, numbers: Sequence[int], where: str, seq: int) -> None:
    for chunk in _chunks(numbers):
        marks = rows.placeholders(chunk)
        connection.execute(f"DELETE FROM py_queue WHERE docid IN ({marks}) AND {where}", (*chunk, seq))


def _index(connection: sqlite3.Connection, numbers: Sequence[int], line: Line) -> Iterator[Change]:
    marks = rows.placeholders(numbers)
    known = {row[0] for row in connection.execute(f"SELECT docid FROM py_docs WHERE docid IN ({marks})", numbers)}
    fulltext = has_text(connection)
    words, place = ("py_text", "rowid") if fulltext else ("py_words", "docid")
    connection.executemany("DELETE FROM py_docs WHERE docid = ?", [(number,) for number in known])
    # Not only the known ones: the tables may have come apart.
    for table, column in ((words, place), ("py_concepts", "docid")):
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(number,) for number in numbers])
    found = list(indexed(connection, numbers, line))
    connection.executemany(
        f"INSERT INTO py_docs VALUES ({rows.placeholders(range(14))})", [entry.doc for entry in found]
    )
    connection.executemany(
        "INSERT INTO py_concepts VALUES (?, ?)",
        [(concept, entry.number) for entry in found for concept in entry.concepts],
    )
    if fulltext:
        columns = rows.placeholders(range(len(COLUMNS) + 1))
        connection.executemany(
            f"INSERT INTO py_text (rowid, {', '.join(COLUMNS)}) VALUES ({columns})",
            [(entry.number, *entry.words) for entry in found],
        )
    else:
        connection.executemany(
            "INSERT INTO py_words VALUES (?, ?)", [(each.number, joined(each.words)) for each in found]
        )
    entries = {entry.number: entry for entry in found}
    gone = [number for number in numbers if number not in entries]
    outbox.note(connection, list(entries), gone)
    recalls.forget(connection, gone)
    given.forget(connection, gone)
    if gone:
        erasing.begin(connection)
    for number in numbers:
        if number in entries:
            deed = Deed.CHANGED if number in known else Deed.ADDED
            yield Change(key(number), deed, entries[number].record, entries[number].content_id)
        elif number in known:
            yield Change(key(number), Deed.DELETED, None)


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the index holds of a record. doc: its row of `py_docs`; words: of `py_text`, column by column.

    concepts: each once.
    """

    number: int
    record: Record
    content_id: str
    doc: tuple[object, ...]
    words: tuple[str, ...]
    concepts: tuple[str, ...]


def indexed(connection: sqlite3.Connection, numbers: Sequence[int], line: Line = analysis.line) -> Iterator[Indexed]:
    """What the index should hold of records, as they are now; those that are gone are left out."""
    for code, group in groupby(sorted(numbers, key=lambda number: number % 4), key=lambda number: number % 4):
        kind, ids = KINDS[code], [number // 4 for number in group]
        for row in connection.execute(f"{SELECTS[kind]} WHERE r.id IN ({rows.placeholders(ids)})", ids):
            number, record = row["id"] * 4 + code, rows.to_record(kind, row)
            shown = rows.document(record)
            doc = (*_doc(number, record, shown), seal(kind, row))
            concepts = tuple(dict.fromkeys(filter(None, shown.concepts.split("\n"))))
            yield Indexed(number, record, row["content_id"] or "", doc, tuple(map(line, texts(shown))), concepts)


def seal(kind: RecordKind, row: sqlite3.Row) -> int:
    """The checksum of what is indexed of a row of ``SELECTS``."""
    return zlib.crc32(repr([row[column] for column in _SEALED[kind]]).encode("utf-8", "surrogatepass"))


def joined(words: Sequence[str]) -> str:
    """The words of all columns as `py_words` holds them: a blank around each, no phrase across columns."""
    return " " + " | ".join(words) + " "


def has_text(connection: sqlite3.Connection) -> bool:
    """Whether the words are in FTS5's table."""
    return _format(connection) == FORMAT


def _doc(number: int, record: Record, shown: rows.Document) -> tuple[object, ...]:
    kind, record_id = key_of(record)
    return (
        number, CODES[kind], record_id, record.created_at_epoch, record.project or "",
        getattr(record, "merged_into_project", None) or None, shown.type, record.platform_source or "claude",
        record.memory_session_id, record.prompt_number, shown.read_tokens, shown.discovery_tokens, shown.shown_title,
    )  # fmt: skip


def texts(shown: rows.Document) -> tuple[str, ...]:
    """What of a record is indexed, column by column."""
    return tuple(getattr(shown, column) for column in COLUMNS)


def _format(connection: sqlite3.Connection) -> str | None:
    return meta(connection, "search_index")


def meta(connection: sqlite3.Connection, name: str) -> str | None:
    """What is noted about the index under a name."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'py_meta'").fetchone() is None:
        return None
    row = connection.execute("SELECT value FROM py_meta WHERE key = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def _named(fulltext: bool) -> str:
    return FORMAT if fulltext else f"{FORMAT}-plain"


def _wanted(fulltext: bool) -> dict[str, str]:
    """Table, index or trigger → what creates it."""
    words = {"py_text": _TEXT} if fulltext else {"py_words": _WORDS}
    kept = (
        vectors.TABLES, outbox.TABLES, recalls.TABLES, given.TABLES, pending.TABLES, turns.TABLES, spend.TABLES,
        aliases.TABLES,
    )  # fmt: skip
    return _TABLES | words | {name: sql for tables in kept for name, sql in tables.items()} | triggers()


def _chunks(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[at : at + _CHUNK] for at in range(0, len(numbers), _CHUNK))

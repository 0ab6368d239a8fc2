"""That the index is complete: what a start can show in a moment, and what it takes to be certain.

Triggers queue every change of a row, so an index that was complete stays so for as long as they stand. SQLite counts
the changes of a file's schema; the count at which the index was last proved is noted, and while it is the same
nobody took a trigger away. At each start the numbers of records and of indexed records are compared, and a sample
word for word. Where the count is another, every record is held against its seal, in the background.
"""

import sqlite3
from collections.abc import Iterable, Sequence

from worker.contract.records import RecordKind
from worker.store import search_index
from worker.store.queueing import BASE
from worker.store.rows import CODES, SELECTS

Connection = sqlite3.Connection

_SAMPLE = 32
BEFORE_ALL = -search_index.MOST_ID - 1
"""Before the id of every record that is indexed."""
CHUNK = 1_000
"""Records held against their seals at once: some 10 ms."""


def schema_count(connection: Connection) -> int:
    """How often the schema of the file was changed."""
    count: int = connection.execute("PRAGMA schema_version").fetchone()[0]
    return count


def is_proved(connection: Connection) -> bool:
    """Whether the triggers have stood since the index was last shown to be complete."""
    return search_index.meta(connection, "proved") == str(schema_count(connection))


def note(connection: Connection, count: int) -> None:
    """The index is complete with regard to the schema of this count."""
    connection.execute("INSERT OR REPLACE INTO py_meta VALUES ('proved', ?)", (str(count),))


def astray(connection: Connection) -> list[int]:
    """Records that are not indexed and not queued, and indexed ones that are no longer there; by docid."""
    words = "SELECT id FROM py_text_docsize" if search_index.has_text(connection) else "SELECT docid FROM py_words"
    records = " UNION ALL ".join(f"SELECT id * 4 + {CODES[kind]} FROM {table}" for kind, table in BASE.items())
    # Compared here, which takes a third of the time of EXCEPT.
    there, docs, worded = (
        {row[0] for row in _plain(connection, sql)} for sql in (records, "SELECT docid FROM py_docs", words)
    )
    found = (there ^ docs) | (docs ^ worded)
    queued = _queued(connection) if found else set()
    return sorted(number for number in found - queued if isinstance(number, int))


def _queued(connection: Connection) -> set[object]:
    return {row[0] for row in connection.execute("SELECT docid FROM py_queue")}


def _plain(connection: Connection, sql: str) -> Iterable[tuple[int]]:
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor.execute(sql)


def sample_is_true(connection: Connection) -> bool:
    """Whether some records spread over all of them are indexed as they should be, word for word."""
    first, last = connection.execute("SELECT min(docid), max(docid) FROM py_docs").fetchone()
    if first is None:
        return True
    step = max(1, (last - first) // _SAMPLE)
    near = "SELECT docid FROM py_docs WHERE docid >= ? AND docid NOT IN (SELECT docid FROM py_queue) LIMIT 1"
    found = (connection.execute(near, (at,)).fetchone() for at in range(first, last + 1, step))
    numbers = sorted({row[0] for row in found if row is not None})
    wanted = {each.number: each for each in search_index.indexed(connection, numbers)}
    return all(
        number in wanted
        and _doc(connection, number) == wanted[number].doc
        and _words(connection, number) == search_index.joined(wanted[number].words)
        and _finds(connection, number, " ".join(wanted[number].words).split())
        and _concepts(connection, number) == set(wanted[number].concepts)
        for number in numbers
    )


def _doc(connection: Connection, number: int) -> tuple[object, ...]:
    return tuple(connection.execute("SELECT * FROM py_docs WHERE docid = ?", (number,)).fetchone())


def _words(connection: Connection, number: int) -> str | None:
    if not search_index.has_text(connection):
        row = connection.execute("SELECT words FROM py_words WHERE docid = ?", (number,)).fetchone()
        return None if row is None else str(row[0])
    listed = ", ".join(search_index.COLUMNS)
    row = connection.execute(f"SELECT {listed} FROM py_text WHERE rowid = ?", (number,)).fetchone()
    return None if row is None else search_index.joined(tuple(row))


def _finds(connection: Connection, number: int, words: Sequence[str]) -> bool:
    """Whether FTS5 has a record under the longest of its words."""
    if not words or not search_index.has_text(connection):
        return True
    match = f'"{max(words, key=len)}"'
    found = "SELECT 1 FROM py_text WHERE py_text MATCH ? AND rowid = ?"
    return connection.execute(found, (match, number)).fetchone() is not None


def _concepts(connection: Connection, number: int) -> set[str]:
    return {row[0] for row in connection.execute("SELECT concept FROM py_concepts WHERE docid = ?", (number,))}


def unsealed(connection: Connection, kind: RecordKind, after: int) -> tuple[list[int], int | None]:
    """Of the ``CHUNK`` records of a kind after an id: those whose seal is not the one in the index, by docid, unless
    they are queued; and the last id looked at, None at the end."""
    code = CODES[kind]
    page = f"{SELECTS[kind]} WHERE r.id > ? AND r.id <= {search_index.MOST_ID} ORDER BY r.id LIMIT {CHUNK}"
    found = connection.execute(page, (after,)).fetchall()
    if not found:
        return [], None
    last = found[-1]["id"]
    seals = dict(
        connection.execute(
            "SELECT docid, seal FROM py_docs WHERE docid BETWEEN ? AND ?", (after * 4 + 4, last * 4 + 3)
        ).fetchall()
    )
    wrong = {row["id"] * 4 + code for row in found if seals.get(row["id"] * 4 + code) != search_index.seal(kind, row)}
    return sorted(wrong - _queued(connection)) if wrong else [], last


def kinds() -> Sequence[RecordKind]:
    """In the order in which they are looked through."""
    return tuple(BASE)

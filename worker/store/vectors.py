"""The vectors of records, kept so that no text is ever embedded twice and Chroma's folder can be filled again.

`py_vectors` has a row per record and model: `parts` names the documents that the record was cut into and the hash of
each one's text, `vectors` has a float16 row for each of them, in that order, the whole record first. `seal` is the
record's seal (`py_docs`) when it was embedded. `stale` names documents of former texts that Chroma may still hold.
`tokens` has a bit for each number of each telling token of the whole; NULL where the model does not tell its tokens.
A deleted record's row loses its vectors and tokens at once and keeps its parts until Chroma has lost them too. Whenever
vectors are kept or lost their row gets a new `id`, larger than all before: what changed since is what has a larger one.

What has yet to be done is in ``outbox``. A record goes by its docid here, as in ``search_index``.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from worker.contract.index import Coverage
from worker.store.rows import KINDS, placeholders

TABLES = {
    # Tokens come last: whoever reads vectors opens no page of them.
    "py_vectors": """CREATE TABLE py_vectors (
        id INTEGER PRIMARY KEY, docid INTEGER NOT NULL, model TEXT NOT NULL, seal INTEGER, size INTEGER NOT NULL,
        parts TEXT NOT NULL, stale TEXT, vectors BLOB, tokens BLOB)""",
    # All that is counted and compared without opening a row, which holds kilobytes.
    "py_vectors_docid": "CREATE UNIQUE INDEX py_vectors_docid ON py_vectors (docid, model, seal, size)",
}
STAMP = "vectors_stamp"
"""The note of the last `id` that was given to a row."""
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Part:
    """A document of a record: the end of its id (`fact_0`; empty for a prompt's only one), and its text's hash."""

    suffix: str
    digest: str


@dataclass(frozen=True, slots=True)
class Stored:
    """A record's vectors: ``parts`` rows of float16, the whole of the record first."""

    docid: int
    parts: int
    vectors: bytes


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a record. seal: of what was embedded; stale: suffixes that Chroma may hold beyond ``parts``.

    tokens: of the whole; None where the model tells none, empty where the whole has none.
    """

    docid: int
    seal: int | None
    parts: tuple[Part, ...]
    stale: tuple[str, ...]
    vectors: bytes | None
    tokens: bytes | None = None


@dataclass(frozen=True, slots=True)
class Shelf:
    """What is kept of records in that state of the file in which a connection reads. stamp: as ``stamp`` tells it."""

    connection: sqlite3.Connection
    stamp: int

    def changed(self, model: str, after: int) -> list[int]:
        """Records of which vectors were kept, or let go, since a stamp."""
        sql = "SELECT docid FROM py_vectors WHERE id > ? AND model = ?"
        return [row[0] for row in self.connection.execute(sql, (after, model))]

    def vectors(self, model: str, docids: Sequence[int]) -> Iterator[Stored]:
        """The vectors of records, in no order; records without any are left out."""
        return stored(self.connection, model, docids)

    def tokens(self, model: str, docids: Sequence[int]) -> dict[int, bytes]:
        """The tokens of records; records without any are left out."""
        return tokens(self.connection, model, docids)


def shelf(connection: sqlite3.Connection) -> Shelf:
    """What is kept as a connection finds it."""
    return Shelf(connection, stamp(connection))


def stamp(connection: sqlite3.Connection) -> int:
    """A number that grows whenever vectors are kept, or let go."""
    # The note alone knows of rows that are gone, the rows alone of what a former version of this program kept.
    last: int = connection.execute(
        """SELECT max(coalesce((SELECT max(id) FROM py_vectors), 0),
            coalesce((SELECT CAST(value AS INTEGER) FROM py_meta WHERE key = ?), 0))""",
        (STAMP,),
    ).fetchone()[0]
    return last


def _note_stamp(connection: sqlite3.Connection, last: int) -> None:
    connection.execute("INSERT OR REPLACE INTO py_meta VALUES (?, ?)", (STAMP, str(last)))


def stored(connection: sqlite3.Connection, model: str, docids: Sequence[int]) -> Iterator[Stored]:
    """The vectors that a model made of records, in no order; records without any are left out."""
    for chunk in _chunks(docids):
        found = connection.execute(
            f"""SELECT docid, size, vectors FROM py_vectors
                WHERE docid IN ({placeholders(chunk)}) AND model = ? AND length(vectors) > 0""",
            (*chunk, model),
        )
        for docid, size, raw in found:
            yield Stored(docid, size, raw)


def tokens(connection: sqlite3.Connection, model: str, docids: Sequence[int]) -> dict[int, bytes]:
    """The tokens of records that a model made; records without any are left out."""
    found: dict[int, bytes] = {}
    for chunk in _chunks(docids):
        rows = connection.execute(
            f"""SELECT docid, tokens FROM py_vectors
                WHERE docid IN ({placeholders(chunk)}) AND model = ? AND length(tokens) > 0""",
            (*chunk, model),
        )
        found.update(rows.fetchall())
    return found


def kept(connection: sqlite3.Connection, model: str, docids: Sequence[int]) -> dict[int, Kept]:
    """All that is kept of records under a model."""
    found: dict[int, Kept] = {}
    for chunk in _chunks(docids):
        rows = connection.execute(
            f"""SELECT docid, seal, parts, stale, vectors, tokens FROM py_vectors
                WHERE docid IN ({placeholders(chunk)}) AND model = ?""",
            (*chunk, model),
        )
        for docid, seal, parts, stale, raw, told in rows:
            found[docid] = Kept(docid, seal, _named(parts), _stale(stale), raw, told)
    return found


def keep(connection: sqlite3.Connection, model: str, rows: Iterable[Kept]) -> set[int]:
    """Keep what was embedded; the docids for which it was still true.

    A record that changed since it was read keeps what it had: it is pending, and is read again when its turn comes.
    """
    taken: set[int] = set()
    last = stamp(connection)
    for row in rows:
        now = connection.execute("SELECT seal FROM py_docs WHERE docid = ?", (row.docid,)).fetchone()
        if (None if now is None else now[0]) != row.seal:
            continue
        parts = msgspec.json.encode([(part.suffix, part.digest) for part in row.parts]).decode()
        stale = msgspec.json.encode(row.stale).decode() if row.stale else None
        last += 1
        values = (last, row.seal, len(row.parts), parts, stale, row.vectors, row.tokens, row.docid, model)
        changed = connection.execute(
            """UPDATE py_vectors SET id = ?, seal = ?, size = ?, parts = ?, stale = ?, vectors = ?, tokens = ?
                WHERE docid = ? AND model = ?""",
            values,
        )
        if not changed.rowcount:
            connection.execute(
                """INSERT INTO py_vectors (id, seal, size, parts, stale, vectors, tokens, docid, model)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                values,
            )
        taken.add(row.docid)
    _note_stamp(connection, last)
    return taken


def let_go(connection: sqlite3.Connection, docids: Sequence[int]) -> None:
    """Records are gone: so are their vectors and tokens, under every model; their parts stay for now."""
    last = stamp(connection)
    for chunk in _chunks(docids):
        ids = connection.execute(f"SELECT id FROM py_vectors WHERE docid IN ({placeholders(chunk)})", chunk).fetchall()
        connection.executemany(
            "UPDATE py_vectors SET id = ?, vectors = NULL, tokens = NULL, seal = NULL WHERE id = ?",
            [(last := last + 1, row[0]) for row in ids],
        )
    _note_stamp(connection, last)


def freshen(connection: sqlite3.Connection, model: str, docids: Iterable[int]) -> None:
    """Chroma holds nothing of records any more but what they have now."""
    connection.executemany(
        "UPDATE py_vectors SET stale = NULL WHERE docid = ? AND model = ? AND stale IS NOT NULL",
        [(docid, model) for docid in docids],
    )


def remove_gone(connection: sqlite3.Connection, docids: Iterable[int]) -> None:
    """Forget records that are no longer there, under every model."""
    connection.executemany(
        "DELETE FROM py_vectors WHERE docid = ?1 AND NOT EXISTS (SELECT 1 FROM py_docs WHERE docid = ?1)",
        [(docid,) for docid in docids],
    )


def sizes(connection: sqlite3.Connection, model: str) -> tuple[int, int]:
    """Fewest and most documents that an index can hold which holds all that is written and nothing else."""
    most: int = connection.execute(
        "SELECT coalesce(sum(size), 0) FROM py_vectors WHERE model = ?", (model,)
    ).fetchone()[0]
    waiting, former = connection.execute(
        """SELECT coalesce(sum(v.size), 0), coalesce(sum(json_array_length(v.stale)), 0)
            FROM py_pending p JOIN py_vectors v ON v.docid = p.docid AND v.model = ?""",
        (model,),
    ).fetchone()
    return most - waiting, most + former


def suffixes(
    connection: sqlite3.Connection, model: str, docids: Sequence[int]
) -> dict[int, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The documents that an index should hold of records, and those of former texts that it may hold; without opening
    the vectors."""
    found: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for chunk in _chunks(docids):
        rows = connection.execute(
            f"SELECT docid, parts, stale FROM py_vectors WHERE docid IN ({placeholders(chunk)}) AND model = ?",
            (*chunk, model),
        )
        for docid, parts, stale in rows:
            found[docid] = tuple(part.suffix for part in _named(parts)), _stale(stale)
    return found


def written_after(connection: sqlite3.Connection, model: str, after: int, most: int) -> list[tuple[int, int]]:
    """(docid, number of documents) of the first records after a docid of which an index should hold all."""
    found = connection.execute(
        """SELECT v.docid, v.size FROM py_vectors v WHERE v.docid > ? AND v.model = ?
            AND NOT EXISTS (SELECT 1 FROM py_pending p WHERE p.docid = v.docid) ORDER BY v.docid LIMIT ?""",
        (after, model, most),
    )
    return [(row[0], row[1]) for row in found]


def of_model(connection: sqlite3.Connection, model: str, most: int) -> list[int]:
    """Row numbers of vectors of a model."""
    return [row[0] for row in connection.execute("SELECT id FROM py_vectors WHERE model = ? LIMIT ?", (model, most))]


def damaged(connection: sqlite3.Connection, model: str, dimension: int) -> list[int]:
    """Records whose vectors are not of the length that they say, or whose tokens are of none that tokens have."""
    found = connection.execute(
        """SELECT docid FROM py_vectors
            WHERE model = ? AND seal IS NOT NULL
            AND (coalesce(length(vectors), -1) <> size * ? OR length(tokens) % ? <> 0)""",
        (model, dimension * 2, -(-dimension // 8)),
    )
    return [row[0] for row in found]


def others(connection: sqlite3.Connection, serving: Sequence[str], most: int) -> list[int]:
    """Row numbers of vectors of other models than these."""
    found = connection.execute(
        f"SELECT id FROM py_vectors WHERE model NOT IN ({placeholders(serving)}) LIMIT ?", (*serving, most)
    )
    return [row[0] for row in found]


def drop(connection: sqlite3.Connection, ids: Sequence[int]) -> None:
    """Throw rows of vectors away, by their numbers."""
    connection.executemany("DELETE FROM py_vectors WHERE id = ?", [(number,) for number in ids])


def counts(connection: sqlite3.Connection, model: str) -> tuple[int, int]:
    """How many records there are, and of how many a model has vectors."""
    (records,) = connection.execute("SELECT count(*) FROM py_docs").fetchone()
    (embedded,) = connection.execute(
        "SELECT count(*) FROM py_vectors WHERE model = ? AND seal IS NOT NULL", (model,)
    ).fetchone()
    return records, embedded


def coverage(connection: sqlite3.Connection, model: str) -> tuple[Coverage, ...]:
    """How far a model is, by project and kind."""
    marks = _by_group(connection, "SELECT project, kind, mark FROM py_watermarks")
    waiting = _by_group(
        connection,
        """SELECT d.project, d.kind, count(*) FROM py_pending p JOIN py_docs d ON d.docid = p.docid
            WHERE p.stored = 0 GROUP BY d.project, d.kind""",
    )
    embedded = _by_group(
        connection,
        """SELECT d.project, d.kind, count(*) FROM py_docs d JOIN py_vectors v ON v.docid = d.docid
            WHERE v.model = ? AND v.seal IS NOT NULL GROUP BY d.project, d.kind""",
        model,
    )
    there = _by_group(connection, "SELECT project, kind, count(*) FROM py_docs GROUP BY project, kind")
    return tuple(
        Coverage(
            project=project,
            kind=KINDS[kind],
            records=count,
            embedded=embedded.get((project, kind), 0),
            watermark=marks.get((project, kind), 0),
            pending=waiting.get((project, kind), 0),
        )
        for (project, kind), count in sorted(there.items())
    )


def _named(parts: str) -> tuple[Part, ...]:
    """Tolerant: what cannot be read names nothing, and is embedded anew."""
    try:
        return tuple(Part(*pair) for pair in msgspec.json.decode(parts, type=list[tuple[str, str]]))
    except msgspec.MsgspecError:
        return ()


def _stale(stale: str | None) -> tuple[str, ...]:
    try:
        return tuple(msgspec.json.decode(stale, type=list[str])) if stale else ()
    except msgspec.MsgspecError:
        return ()


def _by_group(connection: sqlite3.Connection, sql: str, *values: object) -> dict[tuple[str, int], int]:
    return {(row[0], row[1]): row[2] for row in connection.execute(sql, values)}


def _chunks(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[at : at + _CHUNK] for at in range(0, len(numbers), _CHUNK))

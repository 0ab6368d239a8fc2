"""Rows brought in from elsewhere: all of a batch or nothing, and nothing twice."""

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from worker.contract.records import items
from worker.contract.transfer import EQUAL_IN, NTH, SHARED, ImportBatch, ImportStats, Mended, RowKind
from worker.store import exports, incoming, sessions, spend
from worker.store.incoming import Reader, Row
from worker.store.migrations import key_word
from worker.store.observations import content_hash
from worker.store.rows import placeholders
from worker.store.sessions import NewSession, normalised_platform

_FILLED = ("memory_session_id", "user_prompt", "custom_title", "observed_model", "observed_billing")
_AT_ONCE = 50
_LISTS = frozenset(("facts", "concepts", "files_read", "files_modified", "files_edited"))
_TOLD_BY = {
    RowKind.OBSERVATION: ("title", "subtitle", "narrative", "text"),
    RowKind.SUMMARY: ("request", "investigated", "learned", "completed", "next_steps", "notes"),
}
"""The texts by which the rows of one moment are looked up."""


def import_batch(
    connection: sqlite3.Connection, batch: ImportBatch, *, mended: list[Mended] | None = None
) -> ImportStats:
    """``import_rows`` of all tables."""
    given = {kind: getattr(batch, kind.plural) for kind in _WRITERS}
    new = {kind: import_rows(connection, kind, rows, range(len(rows)), mended=mended) for kind, rows in given.items()}
    return stats((kind, new[kind], len(rows)) for kind, rows in given.items())


def stats(written: Iterable[tuple[RowKind, int, int]]) -> ImportStats:
    """Kind, rows that were new and all of them, of each part of a batch, as they are told."""
    counted: Counter[str] = Counter()
    for kind, new, whole in written:
        counted.update({f"{kind.plural}Imported": new, f"{kind.plural}Skipped": whole - new})
    return ImportStats(**counted)


def import_rows(
    connection: sqlite3.Connection,
    kind: RowKind,
    rows: Sequence[Mapping[str, Any]],
    places: Sequence[int],
    *,
    mended: list[Mended] | None = None,
) -> int:
    """Write what is new of some rows of a table; how many that were. Errors: ``Invalid`` naming the row and key.

    places: where each stands in what was sent. mended: takes what was replaced of values that cannot be stored;
    without it they are errors.

    Of n equal records as many are written as are wanting. Records are told by ``EQUAL_IN``, sessions by platform and
    content id. A record whose session is not known gets one made for it, which its real session replaces when it comes
    later.
    """
    table, reader, write = _WRITERS[kind]
    read = [reader(row, f"{kind.plural}[{at}]", mended) for at, row in zip(places, rows, strict=True)]
    held = _Held(connection, table)
    new = sum(write(connection, row, held) for row in read)
    held.insert()
    return new


@contextlib.contextmanager
def undone(connection: sqlite3.Connection) -> Iterator[None]:
    """What is written within it is counted, and not kept."""
    connection.execute("SAVEPOINT dry_run")
    try:
        yield
    finally:
        connection.execute("ROLLBACK TO dry_run")
        connection.execute("RELEASE dry_run")


class _Held:
    """Rows on their way into a table, many with one statement.

    The original's word index writes what it has to disk before each statement, which takes longer than all the rest of
    a row. Whoever is to find a row here, by a mark that it left, has them inserted first.
    """

    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        self._connection, self._table = connection, table
        self._rows: list[Row] = []
        self._marks: set[Hashable] = set()

    def add(self, row: Row, *marks: Hashable) -> None:
        """A row to insert, and by what others may look for it."""
        self._rows.append(row)
        self._marks.update(marks)
        if len(self._rows) == _AT_ONCE:
            self.insert()

    def settle(self, *marks: Hashable) -> None:
        """Before looking into the table for one of these."""
        if not self._marks.isdisjoint(marks):
            self.insert()

    def insert(self) -> None:
        """All that are held."""
        if not self._rows:
            return
        names = ", ".join(self._rows[0])
        values = ", ".join([f"({placeholders(self._rows[0])})"] * len(self._rows))
        self._connection.execute(
            f"INSERT INTO {self._table} ({names}) VALUES {values}",
            [value for row in self._rows for value in row.values()],
        )
        self._rows.clear()
        self._marks.clear()


def _session(connection: sqlite3.Connection, row: Row, held: _Held) -> bool:
    shared = row.pop(SHARED)
    is_new = _placed(connection, row, held)
    if shared:
        found = connection.execute(
            "SELECT id FROM sdk_sessions WHERE platform_source = ? AND content_session_id = ?",
            (row["platform_source"], row["content_session_id"]),
        ).fetchone()
        if found is not None:
            spend.note_shared(connection, found["id"])
    return is_new


def _placed(connection: sqlite3.Connection, row: Row, held: _Held) -> bool:
    """Whether the session is new."""
    row["platform_source"] = normalised_platform(row["platform_source"])
    known = connection.execute(
        "SELECT id FROM sdk_sessions WHERE platform_source = ? AND content_session_id = ?",
        (row["platform_source"], row["content_session_id"]),
    ).fetchone()
    memory = row["memory_session_id"]
    taken = connection.execute(
        "SELECT id, content_session_id FROM sdk_sessions WHERE memory_session_id = ?", (memory,)
    ).fetchone()
    if known is not None:
        _complete(connection, known["id"], row | {"memory_session_id": memory if taken is None else None})
    elif taken is None:
        held.add(row)
        held.insert()  # sessions are found by ids of several kinds, so none is held back
        return True
    elif taken["content_session_id"] == _stand_in(memory):
        assignments = ", ".join(f"{name} = ?" for name in row)
        connection.execute(f"UPDATE sdk_sessions SET {assignments} WHERE id = ?", (*row.values(), taken["id"]))
        return True
    return False


def _complete(connection: sqlite3.Connection, session_id: int, row: Row) -> None:
    """Fill what a known session lacks; what it has stays."""
    assignments = ", ".join(f"{name} = coalesce({name}, ?)" for name in _FILLED)
    wanted = " OR ".join(f"({name} IS NULL AND ? IS NOT NULL)" for name in _FILLED)
    values = [row[name] for name in _FILLED]
    connection.execute(
        f"UPDATE sdk_sessions SET {assignments} WHERE id = ? AND ({wanted})", (*values, session_id, *values)
    )
    if row["project"]:
        connection.execute(
            "UPDATE sdk_sessions SET project = ? WHERE id = ? AND project = ''", (row["project"], session_id)
        )


def _stand_in(memory_session_id: str) -> str:
    """The content id of a session that we made: the agent's own is not known, and must not meet another session's."""
    return f"imported-{memory_session_id}"


def _observation(connection: sqlite3.Connection, row: Row, held: _Held) -> bool:
    platform, nth = row.pop("platform_source"), row.pop(NTH)
    moment = (row["memory_session_id"], row["created_at_epoch"])
    held.settle(moment)
    if _equal_ones(connection, RowKind.OBSERVATION, row) >= nth:
        return False
    _parent(connection, row, platform)
    digest = row["content_hash"] or content_hash(row["memory_session_id"], row["title"], row["narrative"])
    taken = (row["memory_session_id"], digest)
    held.settle(taken)
    # The same words at another time are another row: the unique hash stays empty rather than losing it.
    row["content_hash"] = None if _hash_taken(connection, row["memory_session_id"], digest) else digest
    held.add(row, moment, taken)
    return True


def _hash_taken(connection: sqlite3.Connection, memory_session_id: str, digest: str) -> bool:
    return (
        connection.execute(
            "SELECT 1 FROM observations WHERE memory_session_id = ? AND content_hash = ?", (memory_session_id, digest)
        ).fetchone()
        is not None
    )


def _equal_ones(connection: sqlite3.Connection, kind: RowKind, row: Row) -> int:
    """How many rows are there that are equal to one."""
    values, (table, _, _) = tuple(row[name] for name in EQUAL_IN[kind]), _WRITERS[kind]
    told_by = "".join(f" AND {_same_text(name, row[name])}" for name in _TOLD_BY[kind])
    there = connection.execute(
        f"""SELECT {", ".join(EQUAL_IN[kind])} FROM {table}
            WHERE memory_session_id = :memory_session_id AND created_at_epoch = :created_at_epoch{told_by}""",
        row,
    )
    return sum(tuple(known) == values or _is_same(kind, known, row) for known in there)


def _same_text(name: str, value: str | None) -> str:
    """SQL that keeps the rows whose text, as it is read, may be this one, which it takes by name.

    Another program may have stored it as a BLOB, or have written bytes that are no UTF-8 where this one has U+FFFD.
    """
    return "TRUE" if value is not None and "\ufffd" in value else f"CAST({name} AS TEXT) IS :{name}"


def _is_same(kind: RowKind, known: sqlite3.Row, row: Row) -> bool:
    """What is there may be in another program's form: taken out and read as if it came in, it is as what comes in."""
    _, reader, _ = _WRITERS[kind]
    read = reader({name: exports.plain(known[name]) for name in EQUAL_IN[kind]}, "", [])
    return all(
        read[name] == row[name] or (name in _LISTS and _listed(name, read[name]) == _listed(name, row[name]))
        for name in EQUAL_IN[kind]
    )


def _listed(name: str, column: str | None) -> list[object]:
    # A migration has been over the concepts of what is there, and perhaps not over what comes in.
    return list(dict.fromkeys(map(key_word, items(column)))) if name == "concepts" else list(items(column))


def _summary(connection: sqlite3.Connection, row: Row, held: _Held) -> bool:
    platform, nth = row.pop("platform_source"), row.pop(NTH)
    moment = (row["memory_session_id"], row["created_at_epoch"])
    held.settle(moment)
    if _equal_ones(connection, RowKind.SUMMARY, row) >= nth:
        return False
    _parent(connection, row, platform)
    held.add(row, moment)
    return True


def _prompt(connection: sqlite3.Connection, row: Row, held: _Held) -> bool:
    project, platform, nth = row.pop("project"), normalised_platform(row.pop("platform_source")), row.pop(NTH)
    content = row["content_session_id"]
    owner = connection.execute(
        "SELECT id FROM sdk_sessions WHERE content_session_id = ? ORDER BY platform_source = ? DESC, id LIMIT 1",
        (content, platform),
    ).fetchone()
    session_id = (
        int(owner["id"])
        if owner
        else sessions.ensure(
            connection, NewSession(content, content, project or "", platform, row["created_at_epoch"], "completed")
        )
    )
    moment = (content, row["created_at_epoch"])
    held.settle(moment)
    # Not by the number alone: the original counts rows to number the next one, so numbers come twice after a deletion.
    known = connection.execute(
        f"""SELECT prompt_text FROM user_prompts
            WHERE coalesce(session_db_id, :owner) = :owner AND content_session_id = :content_session_id
            AND created_at_epoch = :created_at_epoch AND prompt_number = coalesce(:prompt_number, prompt_number)
            AND {_same_text("prompt_text", row["prompt_text"])}""",
        row | {"owner": session_id},
    )
    if sum(exports.plain(there["prompt_text"]) == row["prompt_text"] for there in known) >= nth:
        return False
    if row["prompt_number"] is None:
        held.settle(session_id)
        before = connection.execute("SELECT count(*) FROM user_prompts WHERE session_db_id = ?", (session_id,))
        row["prompt_number"] = 1 + before.fetchone()[0]
    held.add({"session_db_id": session_id, **row}, moment, session_id)
    return True


def _parent(connection: sqlite3.Connection, row: Row, platform_source: str | None) -> None:
    memory = row["memory_session_id"]
    if connection.execute("SELECT 1 FROM sdk_sessions WHERE memory_session_id = ?", (memory,)).fetchone() is None:
        platform = normalised_platform(platform_source)
        sessions.ensure(
            connection,
            NewSession(_stand_in(memory), memory, row["project"], platform, row["created_at_epoch"], "completed"),
        )


_Writer = Callable[[sqlite3.Connection, Row, _Held], bool]
_WRITERS: dict[RowKind, tuple[str, Reader, _Writer]] = {
    RowKind.SESSION: ("sdk_sessions", incoming.session, _session),
    RowKind.OBSERVATION: ("observations", incoming.observation, _observation),
    RowKind.SUMMARY: ("session_summaries", incoming.summary, _summary),
    RowKind.PROMPT: ("user_prompts", incoming.prompt, _prompt),
}
"""Table by table, in the order in which they are written: its name, what reads a row, what writes it and says whether
it was new."""

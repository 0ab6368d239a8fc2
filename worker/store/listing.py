"""Records as entries: found by words, listed by filter, around a moment, counted."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Entry, Order
from worker.store import axis, ordering, ranking, search_index, weights
from worker.store.axis import Run
from worker.store.filters import INTERNAL_PROJECT, Condition
from worker.store.memo import again, remembered
from worker.store.ranking import Weigh, Weighed
from worker.store.rows import CODES, KINDS, placeholders
from worker.store.standing import Atom, look
from worker.store.weights import Known

WEIGHTS = (2.5, 1.0, 1.0, 0.9, 0.5, 0.3)
"""bm25 weight of each column of ``search_index.COLUMNS``. Measured on five retrieval sets, open halves: paths are
mostly noise, facts repeat the narrative, titles carry twice."""

_BM25 = f"bm25(py_text, {', '.join(map(str, WEIGHTS))})"
# CROSS JOIN keeps SQLite from starting at py_docs: the words are the narrower door.
_FOUND = "FROM py_text CROSS JOIN py_docs d ON d.docid = py_text.rowid WHERE py_text MATCH ? AND"
# What everybody is shown needs no look at each row's py_docs: at 100,000 records that halves the time of a question.
_FOUND_ANYWHERE = "FROM py_text WHERE py_text MATCH ?"
_SHOWN = f"py_text.rowid NOT IN (SELECT docid FROM py_docs WHERE project = '{INTERNAL_PROJECT}')"
_LONG = 3_000
"""So many records are weighed in a few milliseconds."""
_DEEP = 1_000
"""Places from the best; further down all are weighed."""
_STEP = 2_000
"""Records from one remembered place of a list to the next: passing over them takes half a millisecond."""
_MOST_ENTRIES, _ENTRY_BYTES = 1_000, 600
"""Remembered, and what one takes."""
_LINE_BYTES = 200
"""What a remembered line of counts takes."""
_KIND_BITS = 21
"""Of a number that counts three kinds at once."""
NEWEST, OLDEST = ordering.by(Order.DATE_DESC), ordering.by(Order.DATE_ASC)

Place = tuple[float, ...]
"""Where a record stands in an order, as ``ordering.place`` tells it. Empty: before all."""


class Ranked(NamedTuple):
    """A record and how well it fits; larger is better."""

    key: RecordKey
    score: float


def search(
    connection: sqlite3.Connection, match: str, where: Condition, *, order: Order, limit: int, offset: int
) -> list[Ranked]:
    """The records that an FTS5 expression finds. Ties in relevance: what was recorded later first."""
    if order is not Order.RELEVANCE:
        source, values = _source(connection, match, where, dated=True)
        sql = f"SELECT py_text.rowid, {_BM25} s {source} ORDER BY {ordering.by(order)} LIMIT ? OFFSET ?"
        found = connection.execute(sql, (*values, limit, offset)).fetchall()
    else:
        found = _best(connection, match, where, offset + limit)[offset:]
    return [Ranked(search_index.key(row[0]), -row[1]) for row in found]


def _best(connection: sqlite3.Connection, match: str, where: Condition, need: int) -> list[Weighed]:
    """The best of what an expression finds, without weighing what cannot be among them."""
    if (words := _known(connection, match, where)) is not None:
        return words.best(need)
    weigh, parts = _weighing(connection, where, need), ranking.parts_of(match)
    if len(parts) < 2 or need > _DEEP or (passing := sum(count(connection, match, where).values())) < _LONG:
        return weigh(match, None)
    if _is_crowd(connection, parts):
        return ranking.of_crowd(ranking.crowd(connection, parts), match, need, passing, weigh)
    return ranking.by_halves(connection, parts, need, weigh)


def _is_crowd(connection: sqlite3.Connection, parts: Sequence[str]) -> bool:
    """Whether all that so many words find is looked at together."""
    many = len(parts) > ranking.FEW_PARTS and ranking.records(connection) >= _LONG
    return many and ranking.is_dense(connection)


def _weighing(connection: sqlite3.Connection, where: Condition, need: int) -> Weigh:
    def weigh(match: str, docids: Sequence[int] | None) -> list[Weighed]:
        source, values = _source(connection, match, where, dated=False)
        if docids is not None:
            # The plus sign keeps SQLite from asking for one after the other.
            source += " AND +py_text.rowid IN (SELECT value FROM json_each(?))"
            values = (*values, ranking.among(docids))
        sql = f"SELECT py_text.rowid, {_BM25} s {source} ORDER BY s, py_text.rowid DESC LIMIT ?"
        return _rows(connection, sql, (*values, need))

    return weigh


def count(
    connection: sqlite3.Connection, match: str, where: Condition, *, ranked: bool = False
) -> dict[RecordKind, int]:
    """How many records of each kind an FTS5 expression finds; all that fit the filters, without one.

    ranked: the best of them are asked for next, so that to weigh them all may be the way to count them.
    """
    key = ("count", match, where.sql, *where.values)
    return remembered(connection, key, lambda: _counted(connection, match, where, ranked=ranked))


def _counted(connection: sqlite3.Connection, match: str, where: Condition, *, ranked: bool) -> dict[RecordKind, int]:
    source, values = _source(connection, match, where, dated=False)
    if not match:
        return by_kind(connection, source, values, "d.kind")
    parts = ranking.parts_of(match)
    words = _known(connection, match, where) if ranked else None
    if words is not None:
        counts = {kind: words.count(CODES[kind]) for kind in RecordKind}
    # Of a small memory all are counted sooner than a crowd is made of them, which nobody needs: all are weighed too.
    elif source == _FOUND_ANYWHERE and _is_crowd(connection, parts):
        crowd = ranking.crowd(connection, parts)
        counts = {kind: crowd.count(CODES[kind]) for kind in RecordKind}
    else:
        # One sum for all kinds: a function called for each row and kind takes as long as finding the row.
        packed = connection.execute(f"SELECT sum(1 << (py_text.rowid & 3) * {_KIND_BITS}) {source}", values)
        total = packed.fetchone()[0] or 0
        counts = {kind: total >> CODES[kind] * _KIND_BITS & (1 << _KIND_BITS) - 1 for kind in RecordKind}
    return {kind: found for kind, found in counts.items() if found}


def known(connection: sqlite3.Connection, match: str, where: Condition | None = None) -> Known | None:
    """What is remembered of an expression's words; None where FTS5 tells what they find sooner. where: None if all may
    be found."""

    def weigh(word: str, most: int) -> list[Weighed]:
        return _rows(connection, f"SELECT rowid, {_BM25} {_FOUND_ANYWHERE} ORDER BY rowid LIMIT ?", (word, most))

    return weights.known(connection, match, where, weigh)


def _known(connection: sqlite3.Connection, match: str, where: Condition) -> Known | None:
    return again(
        connection,
        ("known", match, where.sql, *where.values),
        lambda: known(connection, match, where if where.narrow or _is_hidden(connection) else None),
    )


def by_kind(connection: sqlite3.Connection, source: str, values: Sequence[object], kind: str) -> dict[RecordKind, int]:
    """``count`` of what FROM and WHERE give; kind: SQL for the kind's code."""
    # Sums, because GROUP BY would sort all of them; most are observations, which are what is left.
    prompts, summaries = CODES[RecordKind.PROMPT], CODES[RecordKind.SUMMARY]
    total, asked, concluded = connection.execute(
        f"SELECT count(*), total({kind} = {prompts}), total({kind} = {summaries}) {source}", values
    ).fetchone()
    counts = {
        RecordKind.PROMPT: int(asked),
        RecordKind.OBSERVATION: total - int(asked) - int(concluded),
        RecordKind.SUMMARY: int(concluded),
    }
    return {found: count for found, count in counts.items() if count}


def listing(
    connection: sqlite3.Connection, where: Condition, *, order: Order, limit: int, offset: int
) -> list[RecordKey]:
    """The records that fit the filters, newest first unless another order is asked for."""
    after, passed = _place_before(connection, where, order, offset)
    found = connection.execute(
        f"SELECT d.docid {_onward(where, order, after)} LIMIT ? OFFSET ?",
        (*where.values, *after, limit, offset - passed),
    )
    return [search_index.key(row[0]) for row in found]


def _onward(where: Condition, order: Order, after: Place) -> str:
    """What follows a place; all if there is none."""
    further = f" AND {ordering.beyond(order)}" if after else ""
    return f"FROM py_docs d WHERE {where.sql}{further} ORDER BY {ordering.by(order)}"


def _place_before(connection: sqlite3.Connection, where: Condition, order: Order, offset: int) -> tuple[Place, int]:
    """A place in the list, and how many records stand before and at it: not many less than ``offset``.

    SQLite passes over all of them one by one. So a place in every few thousand is remembered, as far as anybody paged.
    """
    if offset < _STEP:
        return (), 0
    key = ("places", order, where.sql, *where.values)
    places: dict[int, Place] = remembered(connection, key, lambda: {0: ()})
    wanted = offset // _STEP
    at = max(number for number in tuple(places) if number <= wanted)
    while at < wanted:
        last = places[at]
        sql = f"SELECT {', '.join(ordering.columns(order))} {_onward(where, order, last)} LIMIT 1 OFFSET ?"
        found = connection.execute(sql, (*where.values, *last, _STEP - 1)).fetchone()
        if found is None:
            break
        at += 1
        places[at] = ordering.place(order, tuple(found))  # another thread may do the same, and finds the same
    return places[at], at * _STEP


def entries(connection: sqlite3.Connection, keys: Sequence[RecordKey]) -> dict[RecordKey, Entry]:
    """The entries of records; those that are gone are left out."""
    kept: dict[RecordKey, Entry] = remembered(connection, ("entries",), dict, lambda _: _MOST_ENTRIES * _ENTRY_BYTES)
    found = {key: entry for key in keys if (entry := kept.get(key)) is not None}
    numbers = [search_index.docid(key) for key in keys if key not in found]
    if numbers:
        sql = f"SELECT * FROM py_docs WHERE docid IN ({placeholders(numbers)})"
        read = {entry.key: entry for entry in map(_entry, _rows(connection, sql, numbers))}
        found |= read
        if len(kept) + len(read) > _MOST_ENTRIES:
            kept.clear()
        kept |= read
    return found


def around(
    connection: sqlite3.Connection, where: Condition, moment: tuple[int, int, int], *, before: int, after: int
) -> tuple[list[Entry], list[Entry]]:
    """What lies strictly before a moment (epoch ms, kind code, id) and what at or after it, each oldest first."""
    place = "(d.epoch, d.kind, d.record_id)"
    earlier = connection.execute(
        f"SELECT * FROM py_docs d WHERE {place} < (?, ?, ?) AND {where.sql} ORDER BY {NEWEST} LIMIT ?",
        (*moment, *where.values, before),
    ).fetchall()
    later = connection.execute(
        f"SELECT * FROM py_docs d WHERE {place} >= (?, ?, ?) AND {where.sql} ORDER BY {OLDEST} LIMIT ?",
        (*moment, *where.values, after),
    ).fetchall()
    return [_entry(row) for row in reversed(earlier)], [_entry(row) for row in later]


def place(entry: Entry) -> tuple[int, int, int]:
    """Where an entry stands in time order, as ``around`` takes it."""
    return entry.created_at_epoch, CODES[entry.kind], entry.id


@dataclass(frozen=True, slots=True)
class Group:
    """How many records of a filtered set have one kind, type and project, and from when to when."""

    kind: RecordKind
    type: str
    project: str
    count: int
    first_epoch_ms: int
    last_epoch_ms: int


def groups(connection: sqlite3.Connection, match: str, where: Condition) -> list[Group]:
    """A filtered set by kind, type and project."""
    return remembered(
        connection,
        ("groups", match, where.sql, *where.values),
        lambda: grouped(connection, *_source(connection, match, where, dated=True)),
        lambda made: _LINE_BYTES * len(made),
    )


def grouped(connection: sqlite3.Connection, source: str, values: Sequence[object]) -> list[Group]:
    """``groups`` of what FROM and WHERE give, `py_docs` being `d` in them."""
    found = connection.execute(
        f"SELECT d.kind, d.type, d.project, count(*), min(d.epoch), max(d.epoch) {source} GROUP BY 1, 2, 3", values
    )
    return [Group(KINDS[row[0]], *tuple(row)[1:]) for row in found]


def concepts(connection: sqlite3.Connection, match: str, where: Condition, most: int) -> list[tuple[str, int]]:
    """The most frequent concepts of a filtered set, and how many records have them."""
    return remembered(
        connection,
        ("concepts", match, most, where.sql, *where.values),
        lambda: by_concept(connection, *_source(connection, match, where, dated=True), most),
        lambda made: _LINE_BYTES * len(made),
    )


def by_concept(
    connection: sqlite3.Connection, source: str, values: Sequence[object], most: int
) -> list[tuple[str, int]]:
    """``concepts`` of what FROM and WHERE give, `py_docs` being `d` in them."""
    found = connection.execute(
        f"SELECT concept, count(*) FROM py_concepts WHERE docid IN (SELECT d.docid {source}) "
        "GROUP BY concept ORDER BY 2 DESC, 1 LIMIT ?",
        (*values, most),
    )
    return [(row[0], row[1]) for row in found]


def histogram(
    connection: sqlite3.Connection, match: str, where: Condition, runs: Sequence[Run]
) -> list[tuple[int, str, int]]:
    """(first moment, type, records) of each bucket and type in a filtered set, all of it within the buckets."""
    return remembered(
        connection,
        ("histogram", match, tuple(runs), where.sql, *where.values),
        lambda: by_time(connection, *_source(connection, match, where, dated=True), runs),
        lambda made: _LINE_BYTES * len(made),
    )


def by_time(
    connection: sqlite3.Connection, source: str, values: Sequence[object], runs: Sequence[Run]
) -> list[tuple[int, str, int]]:
    """``histogram`` of what FROM and WHERE give, `py_docs` being `d` in them."""
    found = connection.execute(
        f"SELECT min(d.epoch), d.type, count(*) {source} GROUP BY {axis.bucket(runs)}, d.type", values
    )
    return [(row[0], row[1], row[2]) for row in found]


def found(match: str) -> tuple[str, tuple[object, ...]]:
    """The docids that an expression finds, as a question within another, and its parameters."""
    return "SELECT rowid FROM py_text WHERE py_text MATCH ?", (match,)


def standing(connection: sqlite3.Connection, exact: str, near: str, phrase: Sequence[Atom]) -> tuple[int, ...]:
    """The docids of what is near a phrase and has it, besides what has it exactly."""
    sql = f"SELECT rowid, {', '.join(search_index.COLUMNS)} {_FOUND_ANYWHERE} ORDER BY rowid DESC LIMIT ?"
    return look(connection, sql, (f"{near} NOT {exact}",), phrase)


def _source(
    connection: sqlite3.Connection, match: str, where: Condition, *, dated: bool
) -> tuple[str, tuple[object, ...]]:
    """FROM and WHERE of a filtered set, and the parameters. dated: the columns of ``py_docs d`` are needed."""
    if not match:
        return f"FROM py_docs d WHERE {where.sql}", where.values
    if where.narrow or dated:
        return f"{_FOUND} {where.sql}", (match, *where.values)
    return f"{_FOUND_ANYWHERE} AND {_SHOWN}" if _is_hidden(connection) else _FOUND_ANYWHERE, (match,)


def _is_hidden(connection: sqlite3.Connection) -> bool:
    """Whether there is anything that is not for everybody."""
    sql = "SELECT 1 FROM py_docs WHERE project = ? LIMIT 1"
    return remembered(
        connection, ("hidden",), lambda: connection.execute(sql, (INTERNAL_PROJECT,)).fetchone() is not None
    )


def _rows(connection: sqlite3.Connection, sql: str, values: Sequence[object]) -> list[Any]:
    """Rows as they are, without names, which take as long as the numbers in them."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor.execute(sql, values).fetchall()


def _entry(row: Sequence[Any]) -> Entry:
    """A row of `py_docs`, by place: by name takes three times as long."""
    _, kind, record_id, epoch, project, _, type_, platform, session, prompt_number, read, discovery, title, _ = row
    return Entry(
        kind=KINDS[kind],
        id=record_id,
        type=type_,
        title=title,
        project=project,
        created_at_epoch=epoch,
        read_tokens=read,
        discovery_tokens=discovery,
        session=session,
        prompt_number=prompt_number,
        platform_source=platform,
    )

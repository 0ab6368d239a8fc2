"""The word search where SQLite has no FTS5: the same questions, answered by LIKE over `py_words`.

It takes the very expressions that FTS5 would: quoted words and phrases, `*` for a beginning, AND, OR and brackets. A
word finds the words that begin with it, as there are no stems here. How well a record fits is the number of words
and phrases it has; what is newer comes first among equals. Each question reads every record's words.
"""

import re
import sqlite3
from collections.abc import Sequence

from worker.contract.records import RecordKind
from worker.contract.search import Order
from worker.store import listing, ordering, search_index
from worker.store.axis import Run
from worker.store.filters import Condition
from worker.store.listing import Group, Ranked
from worker.store.standing import Atom, look

_QUOTED = re.compile(r'"([^"]*)"\s*\*?')
_NEAR = re.compile(r"NEAR\(([^)]*), \d+\)")
_QUOTED_WORDS = re.compile(r'"[^"]*"')
_MOST_WORDS = 24
"""LIKEs in one question; more words than that say no more."""


def search(
    connection: sqlite3.Connection, match: str, where: Condition, *, order: Order, limit: int, offset: int
) -> list[Ranked]:
    """The records that an expression finds. Equally good ones: newest first."""
    source, values = _source(match, where)
    parts = list(dict.fromkeys(_patterns(match)))[:_MOST_WORDS]
    score = " + ".join("(w.words LIKE ?)" for _ in parts) or "0"
    by = f"s DESC, {listing.NEWEST}" if order is Order.RELEVANCE else ordering.by(order)
    found = connection.execute(
        f"SELECT d.docid, {score} s {source} ORDER BY {by} LIMIT ? OFFSET ?", (*parts, *values, limit, offset)
    )
    return [Ranked(search_index.key(row[0]), float(row[1])) for row in found]


def count(
    connection: sqlite3.Connection, match: str, where: Condition, *, ranked: bool = False
) -> dict[RecordKind, int]:
    """How many records of each kind an expression finds; all that fit the filters, without one.

    ranked: plays no part here.
    """
    source, values = _source(match, where)
    return listing.by_kind(connection, source, values, "d.kind")


def groups(connection: sqlite3.Connection, match: str, where: Condition) -> list[Group]:
    """A filtered set by kind, type and project."""
    return listing.grouped(connection, *_source(match, where))


def concepts(connection: sqlite3.Connection, match: str, where: Condition, most: int) -> list[tuple[str, int]]:
    """The most frequent concepts of a filtered set, and how many records have them."""
    return listing.by_concept(connection, *_source(match, where), most)


def histogram(
    connection: sqlite3.Connection, match: str, where: Condition, runs: Sequence[Run]
) -> list[tuple[int, str, int]]:
    """(first moment, type, records) of each bucket and type in a filtered set, all of it within the buckets."""
    return listing.by_time(connection, *_source(match, where), runs)


def found(match: str) -> tuple[str, tuple[object, ...]]:
    """The docids that an expression finds, as a question within another, and its parameters."""
    sql, patterns = _condition(match)
    return f"SELECT w.docid FROM py_words w WHERE {sql}", patterns


def standing(connection: sqlite3.Connection, exact: str, near: str, phrase: Sequence[Atom]) -> tuple[int, ...]:
    """The docids of what is near a phrase and has it, besides what has it exactly."""
    (sql, close), (other, exactly) = _condition(near), _condition(exact)
    found = f"SELECT w.docid, w.words FROM py_words w WHERE ({sql}) AND NOT ({other}) ORDER BY w.docid DESC LIMIT ?"
    return look(connection, found, (*close, *exactly), phrase)


def _source(match: str, where: Condition) -> tuple[str, tuple[object, ...]]:
    if not match:
        return f"FROM py_docs d WHERE {where.sql}", where.values
    sql, patterns = _condition(match)
    return f"FROM py_words w JOIN py_docs d ON d.docid = w.docid WHERE ({sql}) AND {where.sql}", (
        *patterns,
        *where.values,
    )


def _condition(match: str) -> tuple[str, tuple[str, ...]]:
    """An FTS5 expression as SQL: what stands between the quoted words is the same in both. How near words are to each
    other, nobody can tell here."""
    match = _NEAR.sub(lambda near: f"({' AND '.join(_QUOTED_WORDS.findall(near[1]))})", match)
    return _QUOTED.sub("w.words LIKE ?", match), tuple(_patterns(match))


def _patterns(match: str) -> list[str]:
    # A word holds letters and digits only, so nothing in it is a wildcard.
    return [f"% {words}%" for words in _QUOTED.findall(match)]

"""What bm25 gives for the records of a small memory, added up from what it gives for each word of a question.

bm25 is a sum over the words, and what a word adds to a record's weight does not depend on the others: FTS5 adds up the
very numbers that it gives for each word alone, in the order of the words. So a word is weighed once, for all questions
that have it: every letter typed after it, the next page, the same question put otherwise. FTS5 takes 0.7 µs to weigh
a record; to add up what is remembered takes 0.1 µs a word, and words that most records have need not be added up.
"""

import heapq
import operator
import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from worker.store import ranking
from worker.store.filters import Condition
from worker.store.memo import remembered
from worker.store.ranking import Weighed

_SMALL = 3_000
"""Of a memory of fewer records the weights of common words take little room."""
_FEW = 20
"""Of records of which one in so many passes the filters, those that do are weighed sooner than all that have a word."""
_LIGHT = 1e-5
"""What a word that more than half of all records have can weigh at most: FTS5 gives it the least idf there is."""
_ROUNDING = 1e-9
"""More than what the order of some numbers makes of their sum."""


@dataclass(frozen=True, slots=True)
class Records:
    """Some records. docids: ascending; bits: the same, a bit for each."""

    docids: "array[int]"
    bits: int

    @property
    def size(self) -> int:
        """In bytes."""
        return 8 * len(self.docids) + self.bits.bit_length() // 8


def records(docids: Iterable[int]) -> Records:
    """Some records by docid, ascending."""
    numbers = array("q", docids)
    row = bytearray(numbers[-1] // 8 + 1 if numbers else 0)
    for docid in numbers:
        row[docid >> 3] |= 1 << (docid & 7)
    return Records(numbers, int.from_bytes(row, "little"))


@dataclass(frozen=True, slots=True)
class Word:
    """The records that have a word. weights: what bm25 gives for each, below zero; most: for the heaviest, above."""

    found: Records
    weights: "array[float]"
    most: float

    @property
    def size(self) -> int:
        """In bytes."""
        return self.found.size + 8 * len(self.weights)


@dataclass(frozen=True, slots=True)
class Known:
    """The words of a question. passing: the records that may be found, None where all may."""

    words: Sequence[Word]
    passing: Records | None = None

    def count(self, code: int) -> int:
        """How many records of a kind any of the words finds, by its code."""
        found = reduce(operator.or_, (word.found.bits for word in self.words), 0)
        of_kind = (1 << (found.bit_length() | 3) + 1) // 15 << code
        return (found & of_kind & (-1 if self.passing is None else self.passing.bits)).bit_count()

    def best(self, need: int) -> list[Weighed]:
        """The best of what any of the words finds, those first; of two alike what was recorded later."""
        heavy = [word for word in self.words if word.most > _LIGHT]
        total = self._added(heavy)
        if len(heavy) < len(self.words):
            light = sum(word.most for word in self.words if word.most <= _LIGHT) + _ROUNDING
            last = _last(total, need)
            if len(total) >= need and last < -light:
                # Who has light words alone comes after these, and of these only who is as near can change places.
                near = [docid for docid, weight in total.items() if weight <= last + light]
                total = {docid: self._weight(docid) for docid in near}
            else:
                total = self._added(self.words)
        last = _last(total, need)
        found = [(weight, -docid) for docid, weight in total.items() if weight <= last]
        return [(-number, weight) for weight, number in sorted(found)[:need]]

    def of(self, docids: Iterable[int]) -> dict[int, float]:
        """What bm25 gives for some records; those that have none of the words are left out."""
        there = reduce(operator.or_, (word.found.bits for word in self.words), 0)
        return {docid: self._weight(docid) for docid in docids if there >> docid & 1}

    def _weight(self, docid: int) -> float:
        total = 0.0
        for word in self.words:
            if word.found.bits >> docid & 1:
                total += word.weights[bisect_left(word.found.docids, docid)]
        return total

    def _added(self, words: Iterable[Word]) -> dict[int, float]:
        total: dict[int, float] = {}
        for word in words:
            each = zip(word.found.docids, word.weights, strict=True)
            if not total:
                total = dict(each)
                continue
            get = total.get
            for docid, weight in each:
                total[docid] = get(docid, 0.0) + weight
        if self.passing is None:
            return total
        return {docid: total[docid] for docid in self.passing.docids if docid in total}


def _last(total: dict[int, float], need: int) -> float:
    """The weight of the last that is needed."""
    return heapq.nsmallest(need, total.values())[-1] if total else 0.0


Weigh = Callable[[str, int], Sequence[Weighed]]
"""Gives at most so many of the records that a word finds, by docid."""


def known(connection: sqlite3.Connection, match: str, where: Condition | None, weigh: Weigh) -> Known | None:
    """The words of an expression, None where FTS5 tells sooner what they find. where: None if all may be found."""
    words, there = ranking.parts_of(match), ranking.records(connection)
    if not words or there >= _SMALL or not ranking.is_dense(connection):
        return None
    # Between two changes there may be one question and no other, for which nothing need be remembered.
    if remembered(connection, ("first question",), lambda: match) == match:
        return None
    passing = _passing(connection, where) if where is not None else None
    if passing is not None and len(passing.docids) * _FEW < there:
        return None
    each = weighed(connection, words, weigh, there)
    return None if each is None else Known(each, passing)


def _passing(connection: sqlite3.Connection, where: Condition) -> Records:
    def read() -> Records:
        found = connection.execute(f"SELECT d.docid FROM py_docs d WHERE {where.sql}", where.values)
        return records(sorted(row[0] for row in found))

    return remembered(connection, ("passing records", where.sql, *where.values), read, lambda made: made.size)


def weighed(connection: sqlite3.Connection, words: Iterable[str], weigh: Weigh, room: int) -> list[Word] | None:
    """The words of a question; None where to weigh them all takes long.

    room: how many records may be weighed. What is weighed is remembered whatever comes of it, so that the next question
    has less to do.
    """

    def anew(word: str) -> Word | None:
        nonlocal room
        found = weigh(word, room + 1)
        room -= len(found)
        if room < 0:
            return None
        weights = array("d", [weight for _, weight in found])
        return Word(records([docid for docid, _ in found]), weights, -min(weights, default=0.0))

    made: list[Word] = []
    for word in words:
        each = remembered(connection, ("word", word), partial(anew, word), _size)
        if each is None:
            return None
        made.append(each)
    return made


def _size(word: Word | None) -> int:
    return word.size if word is not None else 0

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

from worker.store.memo import remembered
from worker.store.ranking import Weighed

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

    def weight(self, docid: int) -> float:
        """What it adds to a record's weight."""
        if not self.found.bits >> docid & 1:
            return 0.0
        return self.weights[bisect_left(self.found.docids, docid)]


def weighed(
    connection: sqlite3.Connection, words: Iterable[str], weigh: Callable[[str, int], Sequence[Weighed]], room: int
) -> list[Word] | None:
    """The words of a question; None where to weigh them all takes long.

    weigh: gives at most so many of the records that a word finds, by docid. room: how many may be weighed. What is
    weighed is remembered whatever comes of it, so that the next question has less to do.
    """

    def anew(word: str) -> Word | None:
        nonlocal room
        found = weigh(word, room + 1)
        room -= len(found)
        if room < 0:
            return None
        weights = array("d", [weight for _, weight in found])
        return Word(records([docid for docid, _ in found]), weights, -min(weights, default=0.0))

    known: list[Word] = []
    for word in words:
        each = remembered(connection, ("word", word), partial(anew, word), lambda made: made.size if made else 0)
        if each is None:
            return None
        known.append(each)
    return known


def count(words: Iterable[Word], passing: Records | None, code: int) -> int:
    """How many records of a kind any of the words finds, by its code. passing: those that may be found, if not all."""
    found = reduce(operator.or_, (word.found.bits for word in words), 0)
    of_kind = (1 << (found.bit_length() | 3) + 1) // 15 << code
    return (found & of_kind & (-1 if passing is None else passing.bits)).bit_count()


def best(words: Sequence[Word], passing: Records | None, need: int) -> list[Weighed]:
    """The best of what any of the words finds, those first; of two alike what was recorded later."""
    heavy = [word for word in words if word.most > _LIGHT]
    total = _added(heavy, passing)
    if len(heavy) < len(words):
        light = sum(word.most for word in words if word.most <= _LIGHT) + _ROUNDING
        last = _last(total, need)
        if len(total) >= need and last < -light:
            # Who has light words alone comes after these, and of these only who is as near can change places.
            near = [docid for docid, weight in total.items() if weight <= last + light]
            total = {docid: reduce(operator.add, [word.weight(docid) for word in words]) for docid in near}
        else:
            total = _added(words, passing)
    last = _last(total, need)
    found = [(weight, -docid) for docid, weight in total.items() if weight <= last]
    return [(-number, weight) for weight, number in sorted(found)[:need]]


def _added(words: Iterable[Word], passing: Records | None) -> dict[int, float]:
    total: dict[int, float] = {}
    for word in words:
        for docid, weight in zip(word.found.docids, word.weights, strict=True):
            total[docid] = total.get(docid, 0.0) + weight
    return total if passing is None else {docid: total[docid] for docid in passing.docids if docid in total}


def _last(total: dict[int, float], need: int) -> float:
    """The weight of the last that is needed."""
    return heapq.nsmallest(need, total.values())[-1] if total else 0.0

"""What bm25 gives for the records of a small memory, added up from what it gives for each word of a question.

bm25 is a sum over the words, and what a word adds to a record's weight does not depend on the others: FTS5 adds up the
very numbers that it gives for each word alone, in the order of the words. So a word is weighed once, for all questions
that have it: every letter typed after it, the next page, the same question put otherwise. FTS5 takes 0.7 µs to weigh
a record; to add up what is remembered takes 0.1 µs a word.
"""

import heapq
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from worker.store.memo import remembered
from worker.store.ranking import Weighed


@dataclass(frozen=True, slots=True)
class Weights:
    """Docids and what bm25 gives for each, in no order: columns, because a dict takes six times the room."""

    docids: "array[int]"
    weights: "array[float]"

    @property
    def codes(self) -> bytes:
        """The code of each record's kind, a byte each."""
        return bytes([docid & 3 for docid in self.docids])

    def among(self, docids: Iterable[int]) -> "Weights":
        """Those of some records."""
        there = dict(zip(self.docids, self.weights, strict=True))
        return _weights({docid: there[docid] for docid in docids if docid in there})

    def best(self, need: int) -> list[Weighed]:
        """The best, those first; of two alike what was recorded later."""
        last = heapq.nsmallest(need, self.weights)[-1:]
        found = [each for each in zip(self.docids, self.weights, strict=True) if each[1] <= last[0]]
        return sorted(found, key=lambda each: (each[1], -each[0]))[:need]


def size(weights: Weights | None) -> int:
    """In bytes."""
    return 16 * len(weights.docids) if weights is not None else 0


def added(
    connection: sqlite3.Connection, words: Sequence[str], weigh: Callable[[str, int], Sequence[Weighed]], room: int
) -> Weights | None:
    """What any of the words finds; None where to weigh them all takes long.

    weigh: gives so many of the records that a word finds, in no order. room: how many may be weighed. What is weighed
    is remembered whatever comes of it, so that the next question has less to do.
    """

    def weighed(word: str) -> Weights | None:
        nonlocal room
        found = weigh(word, room + 1)
        room -= len(found)
        return _weights(dict(found)) if room >= 0 else None

    total: dict[int, float] = {}
    for word in words:
        each = remembered(connection, ("weights", word), partial(weighed, word), size)
        if each is None:
            return None
        for docid, weight in zip(each.docids, each.weights, strict=True):
            total[docid] = total.get(docid, 0.0) + weight
    return _weights(total)


def _weights(found: dict[int, float]) -> Weights:
    return Weights(array("q", found), array("d", found.values()))

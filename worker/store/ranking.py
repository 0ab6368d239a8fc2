"""The best of what many common words find, without weighing all of it.

Finding is cheap: FTS5 walks through 100,000 records in 10 ms. Weighing them by bm25 takes 100 ms. What one word adds
to a record's weight stays below 2.2 × its idf, however often it stands there; so once there are enough records with
all of the words, those with few of them need no weighing. What is given is exactly what weighing all would give.
"""

import json
import math
import re
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from worker.store.memo import remembered

Weighed = tuple[int, float]
"""A docid and what bm25 gives for it: below zero, the smaller the better."""

Weigh = Callable[[str, Sequence[int] | None], list[Weighed]]
"""The best of what an expression finds, among these docids if any are given."""

FEW_PARTS = 4
"""Up to so many words the search is split in halves; of more, halves find nearly all there is."""

_PART = r'"[^"]+"\*?'
_PARTS = re.compile(f"{_PART}(?: OR {_PART})*")
_MOST_OF_A_WORD = 2.2  # k1 + 1
_LEAST_IDF = 1e-6
_FULL = 255
_FIRST = 12
"""At most one in so many of those found is looked at first. At 100,000 records one in 100 to one in 6 had to be;
looking again takes as long as looking at one in ten."""

_SPARSEST, _FORGIVEN = 16, 10_000
"""Places in a row for each record that is there, and for so many more."""

_DOCIDS = msgspec.json.Decoder(list[int])


def parts_of(match: str) -> list[str]:
    """The words of an expression that asks for any of them; none if it is of another form."""
    return match.split(" OR ") if _PARTS.fullmatch(match) else []


def by_halves(connection: sqlite3.Connection, parts: Sequence[str], need: int, weigh: Weigh) -> list[Weighed]:
    """The ``need`` best: first of what has words of both halves, then of one half alone if that can reach as far."""
    found = "SELECT count(*) FROM py_text WHERE py_text MATCH ?"
    there = records(connection)
    most = {part: _most(connection.execute(found, (part,)).fetchone()[0], there) for part in parts}
    best: list[Weighed] = []
    waiting: list[tuple[list[str], list[str]]] = [(list(parts), [])]
    while waiting:
        waiting.sort(key=lambda group: sum(most[part] for part in group[0]))
        group, without = waiting.pop()
        if len(best) == need and -best[-1][1] >= sum(most[part] for part in group):
            break
        one, other = _halves(group, most)
        expression = f"({_any(one)}) AND ({_any(other)})" if other else _any(one)
        best = _merged(best, weigh(f"({expression}) NOT ({_any(without)})" if without else expression, None), need)
        waiting += [(one, without + other), (other, without + one)] if other else []
    return best


def _any(parts: Sequence[str]) -> str:
    return " OR ".join(parts)


def _halves(parts: Sequence[str], most: dict[str, float]) -> tuple[list[str], list[str]]:
    """Two halves, as even in weight as may be; the second is empty for one word.

    The words keep their order, because a sum of the same numbers in another order may be another number.
    """

    def heavier(at: int) -> float:
        return max(sum(most[part] for part in parts[:at]), sum(most[part] for part in parts[at:]))

    cut = min(range(1, len(parts)), key=heavier, default=1)
    return list(parts[:cut]), list(parts[cut:])


@dataclass(frozen=True, slots=True)
class Crowd:
    """What any of many words finds. reach: by docid, the most that its words can weigh × ``scale``, as a byte."""

    reach: bytes
    scale: float

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.reach)

    def count(self, code: int) -> int:
        """How many records of a kind, by its code."""
        of_kind = self.reach[code::4]
        return len(of_kind) - of_kind.count(0)

    def between(self, low: int, high: int) -> list[int]:
        """The docids that reach so far."""
        inside = re.compile(b"[\\x%02x-\\x%02x]" % (low, high), re.DOTALL)
        return [found.start() for found in inside.finditer(self.reach)]

    def hopeful(self, need: int, passing: int) -> int:
        """How far one must reach to be looked at first. passing: how many of all pass the filters."""
        found = self.reach.translate(None, b"\0")
        levels = range(1, _FULL + 2)

        def reaching(level: int) -> int:
            # By what is left when the others are deleted: to count each level takes five times as long.
            return -len(found.translate(None, bytes(range(level))))

        # Not the first level that is enough: half of all may have just that, those with a common word and no other.
        many = bisect_left(levels, -(len(found) // _FIRST), key=reaching)
        few = bisect_right(levels, -(2 * need * len(found) // max(1, passing)), key=reaching) - 1
        return levels[max(0, min(many, few))]


def crowd(connection: sqlite3.Connection, parts: Sequence[str]) -> Crowd:
    """What any of the words finds, and how much of them each record can have."""
    return remembered(connection, ("crowd", *parts), lambda: _crowd(connection, parts), lambda made: made.size)


def _crowd(connection: sqlite3.Connection, parts: Sequence[str]) -> Crowd:
    there = records(connection)
    found = [_docids(connection, part) for part in parts]
    size = 1 + max(int(docids.strip("[]").rpartition(",")[2] or 0) for docids in found)
    most = [_most(docids.count(",") + 1, there) for docids in found]
    scale = (_FULL - len(parts)) / sum(most)
    total = 0
    # One number with a byte for each record: adding two of them adds all bytes at once, and no byte overflows.
    for docids, bound in zip(found, most, strict=True):
        level, row = int(bound * scale) + 1, bytearray(size)
        for docid in _DOCIDS.decode(docids):
            row[docid] = level
        total += int.from_bytes(row, "little")
    return Crowd(total.to_bytes(size, "little"), scale)


def of_crowd(found: Crowd, match: str, need: int, passing: int, weigh: Weigh) -> list[Weighed]:
    """The ``need`` best: first of those that can weigh most, then of whoever can still come among them.

    passing: how many of all pass the filters.
    """
    low, high = found.hopeful(need, passing), _FULL
    best = weigh(match, found.between(low, high))
    while low > 1:
        reached = -best[-1][1] * found.scale if len(best) == need else 0.0
        if reached >= low - 1:
            break
        low, high = max(1, math.ceil(reached)), low - 1
        best = _merged(best, weigh(match, found.between(low, high)), need)
    return best


def among(docids: Sequence[int]) -> str:
    """Docids as one parameter, for `json_each`."""
    return json.dumps(docids, separators=(",", ":"))


def _merged(one: Sequence[Weighed], other: Sequence[Weighed], need: int) -> list[Weighed]:
    return sorted((*one, *other), key=lambda found: (found[1], -found[0]))[:need]


def _docids(connection: sqlite3.Connection, part: str) -> str:
    """In order, as the text of a list: rows of their own would take five times as long, numbers ten times the room."""
    found = "SELECT json_group_array(rowid) FROM py_text WHERE py_text MATCH ?"
    text: str = connection.execute(found, (part,)).fetchone()[0]
    return text


def records(connection: sqlite3.Connection) -> int:
    """How many there are."""

    def count() -> int:
        return int(connection.execute("SELECT count(*) FROM py_docs").fetchone()[0])

    return remembered(connection, ("records",), count)


def is_dense(connection: sqlite3.Connection) -> bool:
    """Whether docids can be places in a row. What is deleted leaves gaps, and a program may give any number."""

    def span() -> tuple[int, int]:
        found = connection.execute("SELECT (SELECT min(docid) FROM py_docs), (SELECT max(docid) FROM py_docs)")
        least, most = found.fetchone()
        return least or 0, most or 0

    least, most = remembered(connection, ("span",), span)
    return least >= 0 and most < _SPARSEST * (records(connection) + _FORGIVEN)


def _most(frequency: int, records: int) -> float:
    """What a word can add to a record's weight, as FTS5 reckons; a little more, for rounding and for records of which
    only the words are left."""
    there = records * 1.01 + 1
    idf = max(_LEAST_IDF, math.log(max(_LEAST_IDF, (there - frequency + 0.5) / (frequency + 0.5))))
    return _MOST_OF_A_WORD * idf * (1 + 1e-9)

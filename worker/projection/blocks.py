"""Vectors of many records side by side, to be compared in one go, and those of the last questions kept at hand.

Reading a thousand records of six documents takes 10 ms of CPU, rounding them 4, and comparing them 0.3. Whoever types
asks about the same records again and again.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worker.projection import rounding
from worker.projection.beside import Beside, by_two
from worker.projection.embed import Multiply, Vector
from worker.projection.meaning import Nearest, Nearness, Shelf, Thought
from worker.projection.recent import Recent
from worker.projection.rounding import Asked, Halves, Rounded
from worker.store.vectors import Stored

FINE_MOST = 3_000
"""Up to so many records are compared as exactly as they are stored. Of more the cosines are off by 0.0003, for half the
time and room: one or two of a hundred in the first ten are others, and the quality sets' scores are the same."""
_FINE, _COARSE = 2, 1
"""Bytes of a number."""
_MOST_AT_HAND_BYTES = 36 * 2**20
"""12,000 records of six documents in one byte, and 1,700 in two."""
_MOST_OF_SINGLE_BYTES = 12 * 2**20
"""2,500 records of six."""
_FEWEST = 200
"""Records that are worth keeping side by side."""
_TOGETHER = 1_000
_MOST_BLOCKS, _MOST_PIECES = 16, 8
_LOOKED_AT = 4
"""Of the blocks of the last questions, for what they have of another's records."""

_Indexes: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Near:
    """How near many records are: their docids, and two cosines of each."""

    docids: NDArray[np.int64]
    wholes: Vector
    parts: Vector

    def best(self, most: int) -> _Indexes:
        """Where the nearest by both together are, nearest first; of two as near, what was recorded later."""
        away = -(self.wholes + self.parts)
        if len(away) <= most:
            return np.lexsort((-self.docids, away))
        kept = np.argpartition(away, most)[:most]
        return kept[np.lexsort((-self.docids[kept], away[kept]))]

    def all(self) -> dict[int, Nearness]:
        """Of all, in no order."""
        return _by_docid(self.docids, self.wholes, self.parts)

    def at(self, places: _Indexes) -> dict[int, Nearness]:
        """Of some, in the order given."""
        return _by_docid(self.docids[places], self.wholes[places], self.parts[places])


def _by_docid(docids: NDArray[np.int64], wholes: Vector, parts: Vector) -> dict[int, Nearness]:
    cosines = zip(wholes.tolist(), parts.tolist(), strict=True)
    return dict(zip(docids.tolist(), map(Nearness._make, cosines), strict=True))


class Rows(NamedTuple):
    """Whose rows are whose. starts: the row at which each record begins, with its whole; spans: from its first part to
    the row after its last, of each record one after the other, without the end of the last record."""

    docids: NDArray[np.int64]
    starts: _Indexes
    spans: _Indexes

    def near(self, cosines: Vector) -> Near:
        """How near each record is, by the cosine of each row."""
        return Near(self.docids, cosines[self.starts], np.maximum.reduceat(cosines, self.spans)[::2])


@dataclass(frozen=True, slots=True)
class Piece:
    """Records side by side. rounded: the rows of all; width: numbers in a row."""

    rows: Rows
    rounded: Rounded
    width: int

    @property
    def size_bytes(self) -> int:
        """Of its rows."""
        return self.rounded.numbers.nbytes + self.rounded.steps.nbytes

    def near(self, question: Asked, multiply: Multiply) -> Near:
        """How near each record is."""
        return self.rows.near(rounding.cosines(question, self.rounded, multiply))

    def only(self, docids: NDArray[np.int64]) -> "Piece":
        """Those of its records that are among these."""
        stay = np.isin(self.rows.docids, docids)
        if stay.all():
            return self
        counts = np.diff(self.rows.starts, append=len(self.rounded.steps))
        chosen = np.repeat(stay, counts)
        rows = Rows(self.rows.docids[stay], *_bounds(counts[stay]))
        return Piece(rows, Rounded(self.rounded.numbers[chosen], self.rounded.steps[chosen]), self.width)


def _bounds(counts: NDArray[np.intp]) -> tuple[_Indexes, _Indexes]:
    """``starts`` and ``spans`` of a piece, by the rows of its records. One of a single row is its own part."""
    ends = np.cumsum(counts)
    starts = ends - counts
    return starts, np.stack((np.minimum(starts + 1, ends - 1), ends), 1).ravel()[:-1]


def joined(found: Sequence[Near]) -> Near:
    """All of them as one."""
    if not found:
        return Near(np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros(0, np.float32))
    if len(found) == 1:
        return found[0]
    columns = zip(*((each.docids, each.wholes, each.parts) for each in found), strict=True)
    return Near(*(np.concatenate(column) for column in columns))


def near_of(stored: Iterable[Stored], vector: Vector) -> Near:
    """How near records are that nobody asks about together again; of vectors of another length none is."""
    return joined(
        [
            rows.near(rounding.cosines_of_halves(vector, halves))
            for rows, halves in _grouped(stored)
            if halves.shape[1] == len(vector)
        ]
    )


def pieces(stored: Iterable[Stored], size: int) -> Iterator[Piece]:
    """What one model stored, so many records at a time; size: bytes that a number is rounded to."""
    for rows, halves in _grouped(stored):
        yield Piece(rows, rounding.rounded(halves, size), halves.shape[1])


def _grouped(stored: Iterable[Stored]) -> Iterator[tuple[Rows, Halves]]:
    """Records so many at a time, and their rows; what is not as long as it says is left out."""
    found = iter(stored)
    while some := list(islice(found, _TOGETHER)):
        width = len(some[0].vectors) // 2 // max(1, some[0].parts)
        group = [each for each in some if each.parts and len(each.vectors) == 2 * width * each.parts]
        if group:
            counts = np.array([each.parts for each in group], np.intp)
            docids = np.array([each.docid for each in group], np.int64)
            halves = np.frombuffer(b"".join(each.vectors for each in group), np.int16).reshape(-1, width)
            yield Rows(docids, *_bounds(counts)), halves


class Block(NamedTuple):
    """Records that were asked about together, and the stamp of the shelf that they are from."""

    pieces: tuple[Piece, ...]
    stamp: int


class _Place(NamedTuple):
    """What a block is kept by. size: bytes of a number; records, digest: how many docids, and a number made of all."""

    model: str
    size: int
    records: int
    digest: int


class Blocks:
    """The blocks of the last questions, and the records of others; for several threads."""

    def __init__(self) -> None:
        self._at_hand: OrderedDict[_Place, Block] = OrderedDict()
        self._recent = Recent[Stored](_MOST_OF_SINGLE_BYTES, lambda each: len(each.vectors))
        self._lock = threading.Lock()

    def near_some(self, thought: Thought, docids: Sequence[int], shelf: Shelf) -> Near:
        """How near records are that nobody asks about together again: each is kept at hand by itself."""
        return near_of(self._singly(thought.model, docids, shelf), thought.vector)

    def read_ahead(self, model: str, docids: Sequence[int], shelf: Shelf) -> None:
        """Have records at hand that ``near_some`` is to be asked about."""
        self._recent.stored(model, docids, shelf, partial(_read_singly, shelf))

    def comparison(self, model: str, docids: Sequence[int], shelf: Shelf, also: Sequence[int]) -> "Comparison":
        """Records side by side, from what is at hand; what is not, or was stored anew since, is read. also: certain
        others, which may be among them."""
        size = _FINE if len(docids) <= FINE_MOST else _COARSE
        read = self._together(model, docids, shelf, size)
        return Comparison(model, size, read, also, partial(self._singly, model, shelf=shelf))

    def _singly(self, model: str, docids: Sequence[int], shelf: Shelf) -> Collection[Stored]:
        return self._recent.stored(model, docids, shelf, partial(_read_singly, shelf)).values()

    def _together(self, model: str, docids: Sequence[int], shelf: Shelf, size: int) -> Iterator[Piece]:
        if len(docids) < _FEWEST:
            return pieces(self._singly(model, docids, shelf), size)
        place = _Place(model, size, len(docids), hash(np.asarray(docids, np.int64).tobytes()))
        block = self._known(place)
        if block is None or block.stamp != shelf.stamp:
            return self._read(place, docids, shelf)
        return iter(block.pieces)

    def _read(self, place: _Place, docids: Sequence[int], shelf: Shelf) -> Iterator[Piece]:
        at_hand = self._still_true(place, docids, shelf)
        absent = np.setdiff1d(np.asarray(docids, np.int64), _docids(at_hand)).tolist()
        yield from at_hand
        kept: list[Piece] | None = at_hand
        for piece in pieces(shelf.vectors(place.model, absent), place.size):
            yield piece
            if kept is not None:
                kept.append(piece)
                kept = kept if sum(each.size_bytes for each in kept) <= _MOST_AT_HAND_BYTES else None
        if kept:
            self._keep(place, Block(tuple(kept), shelf.stamp))

    def _still_true(self, place: _Place, docids: Sequence[int], shelf: Shelf) -> list[Piece]:
        """What is at hand of records, from the block that has most of them, as it would be read now."""
        wanted = np.array(docids, np.int64)
        with self._lock:
            last = [each for kept, each in reversed(self._at_hand.items()) if kept[:2] == place[:2]]
        best, most = None, 0
        for block in last[:_LOOKED_AT]:
            there = sum(int(np.isin(piece.rows.docids, wanted).sum()) for piece in block.pieces)
            if there > most and block.stamp <= shelf.stamp:
                best, most = block, there
        if best is None or 2 * most < len(wanted):
            return []
        changed = np.array(shelf.changed(place.model, best.stamp), np.int64)
        unchanged = np.setdiff1d(wanted, changed)
        true = [piece.only(unchanged) for piece in best.pieces]
        allowed = _MOST_PIECES + 2 * len(wanted) // _TOGETHER
        if len(true) > allowed:  # the small ones are read again as one
            true = [piece for piece in true if len(piece.rows.docids) * allowed >= len(wanted)]
        return [piece for piece in true if len(piece.rows.docids)]

    def _known(self, place: _Place) -> Block | None:
        with self._lock:
            if place in self._at_hand:
                self._at_hand.move_to_end(place)
            return self._at_hand.get(place)

    def _keep(self, place: _Place, block: Block) -> None:
        with self._lock:
            known = self._at_hand.get(place)
            if known is None or known.stamp <= block.stamp:
                self._at_hand[place] = block
                self._at_hand.move_to_end(place)
            while len(self._at_hand) > _MOST_BLOCKS or self._size_bytes() > _MOST_AT_HAND_BYTES:
                self._at_hand.popitem(last=False)

    def _size_bytes(self) -> int:
        """Of what is at hand: one block may have pieces of another."""
        there = {id(piece): piece for block in self._at_hand.values() for piece in block.pieces}
        return sum(piece.size_bytes for piece in there.values())


class Comparison:
    """Records to be compared with a question: as many as there is room for are read before it is there.

    model: whose vectors they are.
    """

    def __init__(
        self,
        model: str,
        size: int,
        read: Iterator[Piece],
        also: Sequence[int],
        singly: Callable[[Sequence[int]], Collection[Stored]],
    ) -> None:
        self.model = model
        self._size, self._rest, self._also, self._singly = size, read, also, singly
        self._pieces: list[Piece] = []
        self._others: _Others | None = None
        room = _MOST_AT_HAND_BYTES
        while room > 0:
            piece = next(read, None)
            if piece is None:
                self._others = self._among(_docids(self._pieces))
                break
            self._pieces.append(piece)
            room -= piece.size_bytes

    def nearest(self, thought: Thought, most: int, beside: Beside) -> Nearest:
        """The nearest, at most so many; and how near the others are. To be asked once.

        beside: on which a part is done, where there is much to compare.
        """
        vector, multiply = thought.vector, thought.multiply or rounding.multiplied
        question = rounding.asked(vector, self._size)

        def compared(piece: Piece) -> Near:
            return piece.near(question, multiply) if piece.width == len(vector) else joined(())

        found = joined([*by_two(compared, self._pieces, beside), *map(compared, self._rest)])
        others = self._others
        if others is None or others.among != len(found.docids):  # there was no room for all, or some are no vectors
            others = self._among(found.docids)
        best = found.best(most)
        near = found.at(np.concatenate((best, others.places)))
        order = list(islice(near, len(best)))
        near |= near_of(others.stored, vector).all()
        return Nearest(order, near)

    def _among(self, together: NDArray[np.int64]) -> "_Others":
        """The others: where they are among these, or what is stored of them."""
        there = np.isin(together, np.array(self._also, np.int64))
        found = set(together[there].tolist())
        return _Others(
            len(together), np.flatnonzero(there), self._singly([each for each in self._also if each not in found])
        )


def _docids(pieces: Sequence[Piece]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, np.int64), *(piece.rows.docids for piece in pieces)])


class _Others(NamedTuple):
    """places: of those that are among so many which are compared together; stored: of the rest."""

    among: int
    places: _Indexes
    stored: Collection[Stored]


def _read_singly(shelf: Shelf, model: str, docids: Sequence[int]) -> dict[int, Stored]:
    return {each.docid: each for each in shelf.vectors(model, docids)}

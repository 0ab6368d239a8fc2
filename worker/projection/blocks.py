"""Vectors of many records side by side, to be compared in one go, and those of the last questions kept at hand.

Reading a thousand records takes 10 ms of CPU, making floats of them 1, and comparing them 0.4. Whoever types asks about
the same records again and again.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worker.projection.embed import Matrix, Vector
from worker.projection.meaning import Nearest, Nearness, Shelf, Thought
from worker.projection.recent import Recent
from worker.store.vectors import Stored

_MOST_AT_HAND_BYTES = 24 * 2**20
"""7,000 records of four or five documents."""
_MOST_AS_FLOATS_BYTES = 20 * 2**20
"""2,000 records of six."""
_MOST_OF_SINGLE_BYTES = 12 * 2**20
"""2,500 records of six."""
_FEWEST = 200
"""Records that are worth keeping side by side."""
_TOGETHER = 1_000
_MOST_BLOCKS, _MOST_PIECES = 16, 8
_LOOKED_AT = 4
"""Of the blocks of the last questions, for what they have of another's records."""
_AT_A_GLANCE = 128
"""Rows made floats of at a time: more of them leave the processor's cache, which takes longer."""
_OF_A_HALF = np.int32(0x8FFF_E000 - 2**32)
"""Where the sign, the exponent and the fraction of a float16 are when it is shifted into the place of a float32's."""
_BIAS = np.float32(2.0**112)
"""Between the exponents of the two."""

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


@dataclass(frozen=True, slots=True)
class Piece:
    """Records side by side. raw: the rows of all as they are stored, float16; width: numbers in a row; starts: the row
    at which each record begins, with its whole. floats: the rows, in place of ``raw``. spans: from its first part to
    the row after its last, of each record one after the other, without the end of the last record."""

    docids: NDArray[np.int64]
    raw: bytes
    width: int
    starts: _Indexes
    spans: _Indexes
    floats: Matrix | None = None

    @property
    def is_floats(self) -> bool:
        """Whether its rows are."""
        return self.floats is not None

    @property
    def size_bytes(self) -> int:
        """Of its rows."""
        return len(self.raw) if self.floats is None else self.floats.nbytes

    def only(self, docids: NDArray[np.int64]) -> "Piece":
        """Those of its records that are among these."""
        stay = np.isin(self.docids, docids)
        if stay.all():
            return self
        rows = len(self._halves() if self.floats is None else self.floats)
        counts = np.diff(self.starts, append=rows)
        chosen = np.repeat(stay, counts)
        starts, spans = _bounds(counts[stay])
        return replace(
            self,
            docids=self.docids[stay],
            raw=self._halves()[chosen].tobytes() if self.floats is None else b"",
            starts=starts,
            spans=spans,
            floats=None if self.floats is None else self.floats[chosen],
        )

    def near(self, vector: Vector) -> Near:
        """How near each is; of vectors of another length none is."""
        if self.width != len(vector):
            return joined(())
        cosines = self._cosines(vector) if self.floats is None else self.floats @ vector
        return Near(self.docids, cosines[self.starts], np.maximum.reduceat(cosines, self.spans)[::2])

    def as_floats(self) -> "Piece":
        """The same in twice the room, compared in a third of the time."""
        halves = self._halves()
        return replace(self, raw=b"", floats=widened(halves, np.empty(halves.shape, np.int32)))

    def _halves(self) -> NDArray[np.int16]:
        return np.frombuffer(self.raw, np.int16).reshape(-1, self.width)

    def _cosines(self, vector: Vector) -> Vector:
        halves = self._halves()
        cosines = np.empty(len(halves), np.float32)
        # In one place from first to last: memory that is new each time costs more than all that is done in it.
        room = np.empty((min(len(halves), _AT_A_GLANCE), self.width), np.int32)
        for at in range(0, len(halves), _AT_A_GLANCE):
            rows = widened(halves[at : at + _AT_A_GLANCE], room)
            np.matmul(rows, vector, out=cosines[at : at + len(rows)])
        return cosines


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


def pieces(stored: Iterable[Stored]) -> Iterator[Piece]:
    """What one model stored, so many records at a time; what is not as long as it says is left out."""
    found = iter(stored)
    while some := list(islice(found, _TOGETHER)):
        width = len(some[0].vectors) // 2 // max(1, some[0].parts)
        group = [each for each in some if each.parts and len(each.vectors) == 2 * width * each.parts]
        if group:
            counts = np.array([each.parts for each in group], np.intp)
            docids = np.array([each.docid for each in group], np.int64)
            yield Piece(docids, b"".join(each.vectors for each in group), width, *_bounds(counts))


def widened(halves: NDArray[np.int16], room: NDArray[np.int32]) -> Matrix:
    """Rows of finite float16 numbers as float32, in less than half the time that ``astype`` takes.

    halves: their bits; room: where they are made, as many rows or more.
    """
    bits = room[: len(halves)]
    bits[...] = halves
    bits <<= 13
    bits &= _OF_A_HALF
    numbers = bits.view(np.float32)
    numbers *= _BIAS
    return numbers


class Block(NamedTuple):
    """Records that were asked about together, and the stamp of the shelf that they are from."""

    pieces: tuple[Piece, ...]
    stamp: int

    def as_floats(self) -> "Block":
        """The same as floats, if they are few enough."""
        size = sum(piece.size_bytes * (1 if piece.is_floats else 2) for piece in self.pieces)
        if size > _MOST_AS_FLOATS_BYTES or all(piece.is_floats for piece in self.pieces):
            return self
        return Block(tuple(piece if piece.is_floats else piece.as_floats() for piece in self.pieces), self.stamp)


class Blocks:
    """The blocks of the last questions, and the records of others; for several threads."""

    def __init__(self) -> None:
        self._at_hand: OrderedDict[tuple[str, int, int], Block] = OrderedDict()
        self._recent = Recent[Stored](_MOST_OF_SINGLE_BYTES, lambda each: len(each.vectors))
        self._lock = threading.Lock()

    def near_some(self, thought: Thought, docids: Sequence[int], shelf: Shelf) -> Near:
        """How near records are that nobody asks about together again: each is kept at hand by itself."""
        return joined([piece.near(thought.vector) for piece in self._singly(thought.model, docids, shelf)])

    def read_ahead(self, model: str, docids: Sequence[int], shelf: Shelf) -> None:
        """Have records at hand that ``near_some`` is to be asked about."""
        self._recent.stored(model, docids, shelf, partial(_read_singly, shelf))

    def comparison(self, model: str, docids: Sequence[int], shelf: Shelf, also: Sequence[int]) -> "Comparison":
        """Records side by side, from what is at hand; what is not, or was stored anew since, is read. also: certain
        others, which may be among them."""
        return Comparison(model, self._together(model, docids, shelf), also, partial(self._singly, model, shelf=shelf))

    def _singly(self, model: str, docids: Sequence[int], shelf: Shelf) -> Iterator[Piece]:
        return pieces(self._recent.stored(model, docids, shelf, partial(_read_singly, shelf)).values())

    def _together(self, model: str, docids: Sequence[int], shelf: Shelf) -> Iterator[Piece]:
        if len(docids) < _FEWEST:
            return self._singly(model, docids, shelf)
        place = (model, len(docids), hash(tuple(docids)))
        block = self._known(place)
        if block is None or block.stamp != shelf.stamp:
            return self._read(place, docids, shelf)
        # Where something is stored after each question, no block is asked about twice, nor made floats of.
        floats = block.as_floats()
        if floats is not block:
            self._keep(place, floats)
        return iter(floats.pieces)

    def _read(self, place: tuple[str, int, int], docids: Sequence[int], shelf: Shelf) -> Iterator[Piece]:
        model = place[0]
        at_hand = self._still_true(model, docids, shelf)
        known = {docid for piece in at_hand for docid in piece.docids.tolist()}
        yield from at_hand
        kept: list[Piece] | None = at_hand
        for piece in pieces(shelf.vectors(model, [docid for docid in docids if docid not in known])):
            yield piece
            if kept is not None:
                kept.append(piece)
                kept = kept if sum(each.size_bytes for each in kept) <= _MOST_AT_HAND_BYTES else None
        if kept:
            self._keep(place, Block(tuple(kept), shelf.stamp))

    def _still_true(self, model: str, docids: Sequence[int], shelf: Shelf) -> list[Piece]:
        """What is at hand of records, from the block that has most of them, as it would be read now."""
        wanted = np.array(docids, np.int64)
        with self._lock:
            last = [each for place, each in reversed(self._at_hand.items()) if place[0] == model]
        best, most = None, 0
        for block in last[:_LOOKED_AT]:
            there = sum(int(np.isin(piece.docids, wanted).sum()) for piece in block.pieces)
            if there > most and block.stamp <= shelf.stamp:
                best, most = block, there
        if best is None or 2 * most < len(wanted):
            return []
        changed = np.array(shelf.changed(model, best.stamp), np.int64)
        true = [piece.only(np.setdiff1d(wanted, changed)) for piece in best.pieces]
        if len(true) > _MOST_PIECES:  # the small ones are read again as one
            true = [piece for piece in true if len(piece.docids) * _MOST_PIECES >= len(wanted)]
        return [piece for piece in true if len(piece.docids)]

    def _known(self, place: tuple[str, int, int]) -> Block | None:
        with self._lock:
            if place in self._at_hand:
                self._at_hand.move_to_end(place)
            return self._at_hand.get(place)

    def _keep(self, place: tuple[str, int, int], block: Block) -> None:
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
        self, model: str, read: Iterator[Piece], also: Sequence[int], singly: Callable[[Sequence[int]], Iterator[Piece]]
    ) -> None:
        self.model = model
        self._rest, self._also, self._singly = read, also, singly
        self._pieces: list[Piece] = []
        self._others: _Others | None = None
        room = _MOST_AT_HAND_BYTES
        while room > 0:
            piece = next(read, None)
            if piece is None:
                self._others = self._among([each.docids for each in self._pieces])
                break
            self._pieces.append(piece)
            room -= piece.size_bytes

    def nearest(self, vector: Vector, most: int) -> Nearest:
        """The nearest, at most so many; and how near the others are. To be asked once."""
        found = joined([piece.near(vector) for piece in chain(self._pieces, self._rest)])
        others = self._others
        if others is None or others.among != len(found.docids):  # there was no room for all, or some are no vectors
            others = self._among([found.docids])
        best = found.best(most)
        near = found.at(np.concatenate((best, others.places)))
        order = list(islice(near, len(best)))
        for piece in others.pieces:
            near |= piece.near(vector).all()
        return Nearest(order, near)

    def _among(self, docids: Sequence[NDArray[np.int64]]) -> "_Others":
        """The others: where they are among these, or on pieces of their own."""
        together = np.concatenate(docids) if docids else np.zeros(0, np.int64)
        there = np.isin(together, np.array(self._also, np.int64))
        found = set(together[there].tolist())
        return _Others(
            len(together),
            np.flatnonzero(there),
            tuple(self._singly([each for each in self._also if each not in found])),
        )


class _Others(NamedTuple):
    """places: of those that are among so many which are compared together; pieces: of the rest."""

    among: int
    places: _Indexes
    pieces: tuple[Piece, ...]


def _read_singly(shelf: Shelf, model: str, docids: Sequence[int]) -> dict[int, Stored]:
    return {each.docid: each for each in shelf.vectors(model, docids)}

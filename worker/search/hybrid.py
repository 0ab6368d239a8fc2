"""Words and meaning together: which records are candidates, and in what order they stand.

The best hundred by words and the best hundred by meaning make a window with one order. What else has the words follows
it as the words rank it, so a list can be paged to its end; in a list by concept, type or file, all that passes follows.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Degraded, Order
from worker.projection.meaning import Comparing, Meaning, Nearness, Thought
from worker.search import emphasis, fusion, terms
from worker.store import candidates, frequencies, listing, outbox, search_index, vectors
from worker.store.filters import Condition
from worker.store.finder import Finder
from worker.store.listing import Ranked
from worker.store.tables import Connection

POOL = fusion.PER_ENGINE

_DARK = 0.1
"""The share of records without vectors that changes an order hardly at all."""
_UNKNOWN = (None, None)
_TOKENS_AT_ONCE = 25
"""Records whose tokens are read between two looks whether the model is done."""
_WEIGHED_AT_ONCE = 1_000
"""Of what has the words, if it is no more, all are weighed while the model thinks, and not the nearest after it."""
_UNWRITTEN = 1_000
"""Records that have vectors and are not in Chroma yet: as many as may lack while it is asked."""


Meanwhile = Callable[[Sequence[RecordKey], Future[Any]], None]
"""Called with the best by words and what is waited for: has a little time, until that is done."""


def _nothing_else(likely: Sequence[RecordKey], awaited: Future[Any]) -> None:
    """There is nothing else to do."""


class Placed(NamedTuple):
    """A record in its place. score: larger is better. keyword_rank, vector_rank, cosine: as in ``Hit``."""

    key: RecordKey
    score: float
    keyword_rank: int | None = None
    vector_rank: int | None = None
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for. match: as an expression; where: the filters. strict: only what has the words may be found.

    sentence: the words as they were said. whole: by concept, type or file, so that all of it is listed, what fits best
    first. weighed: the index can tell how rare a word is. alone: meaning ranks by itself. now_epoch_ms,
    half_life_days: make what is new a little better.
    """

    sentence: str
    match: str
    where: Condition
    strict: bool = False
    whole: bool = False
    weighed: bool = True
    alone: bool = False
    now_epoch_ms: int | None = None
    half_life_days: float = fusion.RECENCY_WINDOW_DAYS


@dataclass(frozen=True, slots=True)
class Window:
    """The candidates in order. by_words, by_meaning: the places of docids, from 1, in the list of each engine.

    unworded: docids of those that have none of the words; beyond: of those that have them but are not among the best
    by words. rest: of what else passes the filters, where all of it is listed; None where it is not. degraded: of what
    was compared too little has vectors yet.
    """

    asked: Asked
    fused: tuple[fusion.Fused, ...]
    by_words: dict[int, int]
    by_meaning: dict[int, int]
    unworded: tuple[int, ...]
    beyond: tuple[int, ...]
    rest: tuple[int, ...] | None = None
    degraded: Degraded | None = None

    @property
    def kinds(self) -> dict[RecordKind, int]:
        """How many of each kind meaning adds to what has the words; of a list that is whole or of meaning alone, how
        many there are."""
        if self.rest is None:
            return candidates.kinds(self.unworded)
        return candidates.kinds([*(each.candidate.docid for each in self.fused), *self.rest])

    @property
    def is_all(self) -> bool:
        """Whether nothing follows it."""
        return self.rest is not None or self.asked.alone


def by_words(ranked: Sequence[Ranked], offset: int = 0) -> list[Placed]:
    """What the words alone found, from a place of their list on."""
    return [Placed(found.key, found.score, offset + rank) for rank, found in enumerate(ranked, start=1)]


@dataclass(frozen=True, slots=True)
class Added:
    """What meaning adds to what has the words, in no order; numbers: docids. everything: all that passes the filters
    is listed, and numbers are none."""

    numbers: tuple[int, ...] = ()
    everything: bool = False


def window(
    connection: Connection,
    finder: Finder,
    meaning: Meaning,
    thinking: Future[Thought],
    asked: Asked,
    worded: int,
    meanwhile: Meanwhile = _nothing_else,
) -> Window:
    """The candidates of both engines in one order.

    thinking: the question on its way to a vector; what the words find is looked for meanwhile. worded: how many
    records have the words. meanwhile: what else there is to do while others are waited for.
    Errors: ``Unanswered`` when meaning has nothing to say.
    """
    pool = _pool(connection, finder, meaning, thinking, asked, worded, meanwhile)
    weights, floor = pool.weights, pool.floor
    fused = [each for each in _fused(meaning, pool) if each.candidate.is_shown(floor)]
    order = [each.candidate.docid for each in fused]
    rest: tuple[int, ...] | None = None
    if pool.passing is not None and pool.is_everything:
        rest = _rest(connection, finder, asked, order, len(pool.passing.docids))
    return Window(
        asked,
        fused=tuple(fused),
        by_words={} if asked.alone else _ranks(pool.scores),
        by_meaning=_ranks(pool.nearest),
        unworded=tuple(number for number in order if number not in weights),
        beyond=tuple(number for number in order if number in pool.further),
        rest=rest,
        degraded=None if pool.is_lit else Degraded.INDEX_STARTING,
    )


def added(
    connection: Connection, finder: Finder, meaning: Meaning, thinking: Future[Thought], asked: Asked, worded: int
) -> Added:
    """What ``window`` would add, for whoever counts: nothing is put in order. Errors: ``Unanswered``."""
    pool = _pool(connection, finder, meaning, thinking, asked, worded)
    if pool.is_everything:
        return Added(everything=True)
    weights, floor = pool.weights, pool.floor
    unworded = (
        fusion.Candidate(number, 0, None, *pool.nearness.get(number, _UNKNOWN))
        for number in pool.numbers
        if number not in weights
    )
    return Added(tuple(sorted(each.docid for each in unworded if each.is_shown(floor))))


@dataclass(frozen=True, slots=True)
class _Pool:
    """The candidates of both engines, not in order yet.

    scores: of the best by words; further: of what else has them, of the nearest. passing: all that passes the filters,
    None where that is too much or does not matter. nearest: best first; nearness, epochs (ms): theirs and of the best
    by words.
    """

    asked: Asked
    shelf: vectors.Shelf
    thought: Thought
    emphases: Sequence[float]
    scores: dict[int, float]
    further: dict[int, float]
    passing: candidates.Passing | None
    nearest: Sequence[int]
    nearness: dict[int, Nearness]
    epochs: dict[int, int]
    is_lit: bool

    @property
    def weights(self) -> dict[int, float]:
        """How well each has the words, of those that have them; nothing where meaning ranks by itself."""
        return {} if self.asked.alone else self.scores | self.further

    @property
    def numbers(self) -> list[int]:
        """All of them."""
        return [*self.scores, *(number for number in self.nearest if number not in self.scores)]

    @property
    def floor(self) -> float:
        """What has none of the words must be this near."""
        return fusion.FLOOR if self.weights else fusion.FLOOR_OF_ALL

    @property
    def is_everything(self) -> bool:
        """Whether all that passes the filters is listed."""
        return self.asked.whole and self.passing is not None


@dataclass(frozen=True, slots=True)
class _Ready:
    """What is known, and at hand, before a question has its vector.

    weighed: how well each has the words, of the best first; likely: the best of them. passing: as in ``_Pool``;
    comparing: what passes, where all of it is compared.
    """

    weighed: dict[int, float]
    likely: Sequence[RecordKey]
    passing: candidates.Passing | None
    comparing: Comparing | None
    rarity: "_Rarity | None"
    shelf: vectors.Shelf
    epochs: dict[int, int]

    @property
    def numbers(self) -> list[int]:
        """Of the best by words."""
        return list(islice(self.weighed, POOL))


def _ready(
    connection: Connection,
    finder: Finder,
    meaning: Meaning,
    thinking: Future[Thought],
    asked: Asked,
    most: int,
    meanwhile: Meanwhile,
) -> _Ready:
    wording = _best(connection, finder, asked, most) if not asked.alone or asked.strict else []
    weighed = {search_index.docid(found.key): found.score for found in wording}
    likely = [found.key for found in wording[:POOL]]
    numbers = list(weighed)[:POOL]
    passing = None if asked.strict else candidates.passing(connection, asked.where, meaning.exact_most())
    rarity = _rarity(connection, asked)
    shelf = vectors.shelf(connection)
    comparing = None
    if passing is None:
        meaning.read_ahead(numbers, shelf)
        epochs = candidates.moments(connection, numbers)
    else:
        comparing = meaning.comparing(passing.docids, shelf, also=numbers)
        epochs = passing.moments(numbers)
    meanwhile(likely, thinking)
    for at in range(0, len(numbers) if rarity is not None else 0, _TOKENS_AT_ONCE):
        if thinking.done():
            break
        meaning.read_tokens_ahead(numbers[at : at + _TOKENS_AT_ONCE], shelf)
    return _Ready(weighed, likely, passing, comparing, rarity, shelf, epochs)


def _pool(
    connection: Connection,
    finder: Finder,
    meaning: Meaning,
    thinking: Future[Thought],
    asked: Asked,
    worded: int,
    meanwhile: Meanwhile = _nothing_else,
) -> _Pool:
    # In this order nobody waits who could work: a model takes 4 ms for a question, Chroma 3 ms for an answer.
    are_few = worded <= _WEIGHED_AT_ONCE
    most = max(POOL, worded) if are_few else POOL
    ready = _ready(connection, finder, meaning, thinking, asked, most, meanwhile)
    thought = meaning.settle(thinking)
    numbers, weighed, passing, shelf, epochs = ready.numbers, ready.weighed, ready.passing, ready.shelf, ready.epochs
    scores = {number: weighed[number] for number in numbers}
    emphases = ready.rarity.weights(thought) if ready.rarity is not None and thought.offsets else []
    thought = meaning.leaning(thought, emphases) if emphases else thought
    near: Collection[int]
    if ready.comparing is not None and passing is not None:
        near = passing.docids
        nearest, nearness = ready.comparing.nearest(thought, POOL)
        epochs |= passing.moments([number for number in nearest if number not in epochs])
    elif asked.strict:
        near, nearness = numbers, meaning.near(thought, numbers, shelf)
        nearest = _best_of(nearness, near)
    else:
        seeking = meaning.seek(thought)
        nearness = meaning.near(thought, numbers, shelf)
        meanwhile(ready.likely, seeking)
        near = _sought(connection, meaning, thought, asked, seeking)
        epochs |= near
        nearness |= meaning.near(thought, [number for number in near if number not in scores], shelf)
        nearest = _best_of(nearness, near)
    further: dict[int, float] = {}
    unranked = [number for number in nearest if number not in scores]
    if are_few:
        further = {number: weighed[number] for number in unranked if number in weighed}
    elif unranked and not asked.alone:
        further = candidates.weighed_of(connection, asked.match, unranked)
    lit = _is_lit(scores or near, nearness)
    return _Pool(asked, shelf, thought, emphases, scores, further, passing, nearest, nearness, epochs, lit)


def _best_of(nearness: Mapping[int, Nearness], numbers: Iterable[int]) -> list[int]:
    """Those of some records that are nearest by both together, nearest first; of two as near, what was recorded
    later."""
    order = sorted((-sum(nearness[number]), -number) for number in numbers if number in nearness)
    return [-number for _, number in order[:POOL]]


@dataclass(frozen=True, slots=True)
class _Rarity:
    """How rare the words of a question are among the records that are asked."""

    pieces: tuple[emphasis.Span, ...]
    frequencies: dict[str, int]
    records: int

    def weights(self, thought: Thought) -> list[float]:
        """How much each token of the question weighs."""
        return emphasis.token_weights(thought.offsets, self.pieces, self.frequencies, self.records)


def _rarity(connection: Connection, asked: Asked) -> _Rarity | None:
    """None where it cannot be told, or would tell nothing."""
    if not asked.weighed or fusion.is_cjk(asked.sentence):
        return None
    pieces = emphasis.spans(asked.sentence)
    words = dict.fromkeys(word for piece in pieces for word in piece.words)
    found = frequencies.frequencies(connection, words, asked.where)
    return _Rarity(pieces, found, frequencies.records(connection, asked.where))


def _candidates(pool: _Pool) -> list[fusion.Candidate]:
    weights, epochs, nearness = pool.weights, pool.epochs, pool.nearness
    return [
        fusion.Candidate(number, epochs.get(number, 0), weights.get(number), *nearness.get(number, _UNKNOWN))
        for number in pool.numbers
    ]


def _fused(meaning: Meaning, pool: _Pool) -> list[fusion.Fused]:
    """All candidates in one order, those that are hardly near among them: they tell how near the others are.

    The best of them are compared token by token, and all are put in order once more.
    """
    asked, thought = pool.asked, pool.thought
    fusing = fusion.fusion(
        _candidates(pool),
        cjk=fusion.is_cjk(asked.sentence),
        words=len(terms.terms(asked.sentence)),
        now_epoch_ms=asked.now_epoch_ms,
        half_life_days=asked.half_life_days,
    )
    tokens = meaning.token_nearness(thought, pool.emphases, fusing.head(), pool.shelf) if pool.emphases else None
    return fusing.fused(tokens)


def page(connection: Connection, finder: Finder, found: Window, *, limit: int, offset: int) -> list[Placed]:
    """A page of the list that begins with the window."""
    asked = found.asked
    head = [_placed(found, each) for each in found.fused[offset : offset + limit]]
    start = max(0, offset - len(found.fused))
    if len(head) < limit and found.rest is not None:
        more = found.rest[start : start + limit - len(head)]
        return [*head, *(Placed(search_index.key(number), 0.0) for number in more)]
    if len(head) == limit or found.is_all:
        return head
    # The words' own list without what the window took from below its first hundred.
    others = candidates.without(asked.where, found.beyond)
    place = POOL + start
    tail = finder.search(connection, asked.match, others, order=Order.RELEVANCE, limit=limit - len(head), offset=place)
    return [*head, *by_words(tail, place)]


def _rest(connection: Connection, finder: Finder, asked: Asked, order: Sequence[int], passing: int) -> tuple[int, ...]:
    """What passes the filters and is not in the window: as the words rank it, then newest first."""
    worded = _best(connection, finder, asked, passing)
    newest = listing.listing(connection, asked.where, order=Order.DATE_DESC, limit=passing, offset=0)
    numbers = (search_index.docid(key) for key in (*(found.key for found in worded), *newest))
    return tuple(fusion.intersect_with_ranking(numbers, order)[len(order) :])


def _is_lit(numbers: Collection[int], nearness: Collection[int]) -> bool:
    """Whether nearly all of these records have vectors, as far as can be told; of few one may be on its way."""
    looked_at = numbers if len(numbers) <= POOL else nearness
    dark = sum(number not in nearness for number in looked_at)
    return dark <= max(1, len(looked_at) * _DARK) and bool(nearness or not numbers)


def _placed(found: Window, fused: fusion.Fused) -> Placed:
    number = fused.candidate.docid
    near = fused.candidate.nearness
    return Placed(search_index.key(number), fused.score, found.by_words.get(number), found.by_meaning.get(number), near)


def _ranks(numbers: Iterable[int]) -> dict[int, int]:
    return {number: rank for rank, number in enumerate(numbers, start=1)}


def _best(connection: Connection, finder: Finder, asked: Asked, most: int) -> list[Ranked]:
    return finder.search(connection, asked.match, asked.where, order=Order.RELEVANCE, limit=most, offset=0)


def _sought(
    connection: Connection, meaning: Meaning, thought: Thought, asked: Asked, seeking: Future[list[int]]
) -> dict[int, int]:
    """What is near and passes the filters, where too much passes to compare it one by one; each with its moment."""
    unwritten = outbox.unwritten(connection, _UNWRITTEN)
    found = candidates.passing_of(connection, asked.where, list(dict.fromkeys((*meaning.sought(seeking), *unwritten))))
    if len(found) < POOL // 2:
        more = meaning.sought(meaning.seek(thought, more=True))
        found = candidates.passing_of(connection, asked.where, list(dict.fromkeys((*more, *unwritten))))
    return found

"""Words and meaning together: which records are candidates, and in what order they stand.

The best hundred by words and the best hundred by meaning make a window with one order. What else has the words follows
it as the words rank it, so a list can be paged to its end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Order
from worker.projection.meaning import Meaning, Nearness, Thought
from worker.search import fusion
from worker.store import candidates, search_index, vectors
from worker.store.filters import Condition
from worker.store.finder import Finder
from worker.store.listing import Ranked
from worker.store.tables import Connection

POOL = fusion.PER_ENGINE
FLOOR = 0.15
"""What has none of the words and is not even this near has nothing to do with the question."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A record in its place. score: larger is better. keyword_rank, vector_rank: as in ``Hit``."""

    key: RecordKey
    score: float
    keyword_rank: int | None = None
    vector_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for. match: as an expression; where: the filters. strict: only what has the words may be found.

    sentence: the words as they were said. alone: meaning ranks by itself. now_epoch_ms: makes what is new a little
    better; None leaves age out.
    """

    sentence: str
    match: str
    where: Condition
    strict: bool = False
    alone: bool = False
    now_epoch_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """The candidates in order.

    unworded: docids of those that have none of the words; beyond: of those that have them but are not among the best
    by words. alone: nothing follows them.
    """

    placed: tuple[Placed, ...]
    unworded: tuple[int, ...] = ()
    beyond: tuple[int, ...] = ()
    alone: bool = False

    @property
    def kinds(self) -> dict[RecordKind, int]:
        """What meaning adds to the count of what has the words."""
        return candidates.kinds(self.unworded)


def by_words(ranked: Sequence[Ranked], offset: int = 0) -> list[Placed]:
    """What the words alone found, from a place of their list on."""
    return [Placed(found.key, found.score, offset + rank) for rank, found in enumerate(ranked, start=1)]


def window(
    connection: Connection, finder: Finder, meaning: Meaning, thought: Thought, asked: Asked, worded: int
) -> Window:
    """The candidates of both engines in one order.

    worded: how many records have the words. Errors: ``Unanswered`` when meaning has nothing to say.
    """
    wording = _best(connection, finder, asked, POOL) if not asked.alone or asked.strict else []
    scores = {search_index.docid(found.key): found.score for found in wording}
    near = _near(connection, meaning, thought, asked, scores)
    read = partial(vectors.stored, connection, thought.model)
    nearness = meaning.nearness(thought, near, read)
    unread = [number for number in scores if number not in nearness]
    nearness |= meaning.nearness(thought, unread, read) if unread else {}
    there = (number for number in near if number in nearness and max(nearness[number]) >= FLOOR)
    by_meaning = sorted(there, key=lambda number: _order(nearness[number], number))[:POOL]
    numbers = list(dict.fromkeys((*scores, *by_meaning)))
    epochs = candidates.moments(connection, numbers)
    fused = fusion.fuse(
        [
            fusion.Candidate(
                number,
                epochs.get(number, 0),
                None if asked.alone else scores.get(number),
                *nearness.get(number, (None, None)),
            )
            for number in numbers
        ],
        cjk=fusion.is_cjk(asked.sentence),
        now_epoch_ms=asked.now_epoch_ms,
    )
    ranks = {number: rank for rank, number in enumerate(by_meaning, start=1)}
    places = {number: rank for rank, number in enumerate(scores, start=1)}
    order = [found.candidate.docid for found in fused]
    added = order if asked.alone else [number for number in order if number not in scores]
    beyond: set[int] = set()
    if worded > POOL and added and not asked.alone:
        beyond = candidates.worded_of(connection, finder.found(asked.match), added)
    return Window(
        tuple(
            Placed(search_index.key(number), found.score, places.get(number), ranks.get(number))
            for number, found in zip(order, fused, strict=True)
        ),
        unworded=tuple(number for number in added if number not in beyond),
        beyond=tuple(number for number in added if number in beyond),
        alone=asked.alone,
    )


def page(
    connection: Connection, finder: Finder, asked: Asked, found: Window, *, limit: int, offset: int
) -> list[Placed]:
    """A page of the list that begins with the window."""
    head = list(found.placed[offset : offset + limit])
    if len(head) == limit or asked.alone:
        return head
    # The words' own list without what the window took from below its first hundred.
    rest = candidates.without(asked.where, found.beyond)
    start = POOL + max(0, offset - len(found.placed))
    tail = finder.search(connection, asked.match, rest, order=Order.RELEVANCE, limit=limit - len(head), offset=start)
    return [*head, *by_words(tail, start)]


def _best(connection: Connection, finder: Finder, asked: Asked, most: int) -> list[Ranked]:
    return finder.search(connection, asked.match, asked.where, order=Order.RELEVANCE, limit=most, offset=0)


def _near(
    connection: Connection, meaning: Meaning, thought: Thought, asked: Asked, scores: dict[int, float]
) -> list[int]:
    """Docids of what may be near: all that passes the filters, if that is not too much to compare one by one."""
    if asked.strict:
        return list(scores)
    most = meaning.exact_most(narrow=asked.where.narrow)
    passing = candidates.passing(connection, asked.where, most)
    if passing is not None:
        return passing
    near = candidates.passing_of(connection, asked.where, meaning.nearest(thought))
    if len(near) >= POOL // 2:
        return near
    return candidates.passing_of(connection, asked.where, meaning.nearest(thought, more=True))


def _order(nearness: Nearness, number: int) -> tuple[float, int]:
    """The nearest first; of two as near, what was recorded later."""
    return -(nearness.whole + nearness.part), -number

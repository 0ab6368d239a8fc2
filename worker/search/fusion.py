"""Pure: what was found by words and what was found by meaning as one list.

Words and meaning are compared as z-scores over one question's candidates: unlike ranks they keep how sure each engine
is. All numbers here were measured on the open halves of five retrieval sets, all in one memory, by nDCG@10 (locomo,
devmem, devask, cosqa, cjk; then their mean):

    words alone                                                    71.7  88.1  74.3  38.3  96.5  73.8
    meaning alone                                                  59.7  81.3  77.5  60.2  24.8  60.7
    reciprocal ranks of both                                       68.2  87.0  78.5  51.5  54.5  67.9
    0.5 / 0.25 / 0.25, bm25 of the best hundred by words only      71.5  89.4  82.4  55.7  96.0  79.0
    bm25 of every candidate                                        72.8  89.9  81.8  56.0  96.0  79.3
    the vectors of questions lean to rare words (``emphasis``)     74.6  90.0  81.6  55.2  96.0  79.5
    words weigh by how many they are                               74.4  90.1  82.2  58.1  96.3  80.2
    the best thirty compared token by token                        76.1  89.8  82.7  57.6  96.4  80.5

Tried and left out, because they help one set and harm another: weights that follow how sure either engine is, the share
of the question's words that a record has, titles by themselves, the length of a record, its neighbours in the session,
questions moved towards their best hits. Learned weights (listwise, cross-validated) end within 0.3 of these.
"""

import math
import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from worker.store import analysis

K = TypeVar("K", bound=Hashable)

PER_ENGINE = 100
"""How many of its best each engine gives: together they hold 98 of 100 records that are looked for; 200 of each, or 50,
change nothing. bm25 must be told of all of them, not only of the best by words: without, chat memories lose 1.3."""

HEAD = 30
"""So many of the best are worth comparing token by token. Of fifty chats gain 0.14 and code loses 0.1, and a question
takes a twentieth more time."""

FLOOR = 0.3
"""What has none of the words and is not even this near is not shown. Sixteen questions about nothing in the memory
found some four records by whole texts, in place of a hundred; no record that was looked for was lost."""

FLOOR_OF_ALL = 0.2
"""The same where the words find nothing at all, so that there is nothing else to show, or are not asked."""

RECENCY_WINDOW_DAYS = 90
"""After so many days half of what is added for being new is left."""

RECENCY = 0.02
"""The most that is added for being new, in the units of a score: what is ahead by more is never passed."""

_INEXACT = 1e-5
"""Vectors are stored as float16: cosines are no more exact."""
_A_WORD = 0.05
_MOST_WORDS = 12
_CJK_SHARE = 0.3
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class _Weights:
    words: float
    whole: float
    part: float
    tokens: float


_CJK = _Weights(words=0.9, whole=0.05, part=0.05, tokens=0.0)
"""Where the model has little to say: it was trained on English, and finds 24 where words find 96."""


def _weights(words: int) -> _Weights:
    # Three words tell less than meaning does, ten tell more.
    return _Weights(words=_A_WORD * min(max(words, 1), _MOST_WORDS), whole=0.25, part=0.25, tokens=0.25)


class Candidate(NamedTuple):
    """A record that one of the engines found; a tuple, because a question makes some two hundred of them.

    bm25: larger is better; None where no word is in it. whole: cosine with the text of the whole record; part: the best
    cosine with its title, its narrative or one of its facts; None where the record has no vectors yet.
    """

    docid: int
    epoch_ms: int
    bm25: float | None = None
    whole: float | None = None
    part: float | None = None

    @property
    def nearness(self) -> float | None:
        """How near it is to the question at best."""
        if self.whole is None or self.part is None:
            return self.part if self.whole is None else self.whole
        return max(self.whole, self.part)

    def is_shown(self, floor: float = FLOOR) -> bool:
        """Whether it has a word of the question or is near enough to it.

        To be asked after ``Fusion.fused``: what is far off still tells it how near the others are.
        """
        return self.bm25 is not None or (self.nearness or 0.0) >= floor


class Fused(NamedTuple):
    """A candidate and how well it fits: larger is better, comparable within one list only."""

    candidate: Candidate
    score: float


@dataclass(frozen=True, slots=True)
class Fusion:
    """Candidates by words and meaning, before the best of them are compared token by token.

    words: z-scores; scores: by all that is known so far; weight: of the tokens.
    """

    candidates: Sequence[Candidate]
    words: Sequence[float]
    scores: Sequence[float]
    weight: float

    def head(self) -> list[int]:
        """The docids of the best, which are worth comparing token by token (``HEAD``)."""
        return [self.candidates[at].docid for at in self._order(self.scores)[:HEAD]]

    def fused(self, tokens: Mapping[int, float] | None = None) -> list[Fused]:
        """All of them, best first; ties: newer first. tokens: how near those of the question are, of the best few
        (``head``)."""
        scores = self.scores
        if tokens:
            by_tokens = _or_else(self._by_tokens(tokens), self.words)
            scores = [score + self.weight * more for score, more in zip(scores, by_tokens, strict=True)]
        return [Fused(self.candidates[at], scores[at]) for at in self._order(scores)]

    def _order(self, scores: Sequence[float]) -> list[int]:
        """The places of the candidates, best first."""
        places = range(len(scores))
        if len(set(scores)) == len(scores):  # to sort numbers takes a third of the time
            return sorted(places, key=scores.__getitem__, reverse=True)
        keys = [(score, each.epoch_ms, each.docid) for score, each in zip(scores, self.candidates, strict=True)]
        return sorted(places, key=keys.__getitem__, reverse=True)

    def _by_tokens(self, tokens: Mapping[int, float]) -> list[float | None]:
        """z-scores of the head. What has vectors and is not in it stays behind it."""
        scores = _z_scores([tokens.get(each.docid) for each in self.candidates])
        least = min([score for score in scores if score is not None], default=None)
        return [
            least if score is None and each.whole is not None else score
            for each, score in zip(self.candidates, scores, strict=True)
        ]


def fusion(
    candidates: Sequence[Candidate],
    *,
    cjk: bool = False,
    words: int = 8,
    now_epoch_ms: int | None = None,
    half_life_days: float = RECENCY_WINDOW_DAYS,
) -> Fusion:
    """How well each candidate fits.

    cjk: whether the question is mostly in a script without blanks (``is_cjk``). words: how many it has that tell
    something (``terms.terms``). now_epoch_ms: what is new is a little ahead of what is old, and half as much after
    ``half_life_days``; None leaves age out.

    While vectors are missing, a cosine that is not known counts as what the words say, and meaning weighs by the share
    of the worded candidates that have vectors. So no set ends below words alone by more than 0.1: with half of the
    vectors they gain 2.6 on the mean, 1.9 if it is the newest half, 0.4 with a tenth.
    """
    weights = _CJK if cjk else _weights(words)
    _, epochs, bm25s, wholes, parts = zip(*candidates, strict=True) if candidates else ((),) * 5
    by_words = _or_else(_z_scores([bm25 or 0.0 for bm25 in bm25s]), [0.0] * len(candidates))
    lit = _lit(bm25s, wholes)
    by_whole = _or_else(_z_scores(_positive(wholes), _INEXACT), by_words)
    by_part = _or_else(_z_scores(_positive(parts), _INEXACT), by_words)
    newness = _newness(epochs, now_epoch_ms, half_life_days)
    for_words, for_whole, for_part = weights.words, weights.whole, weights.part
    scores = [
        for_words * one + lit * (for_whole * two + for_part * three) + new
        for one, two, three, new in zip(by_words, by_whole, by_part, newness, strict=True)
    ]
    return Fusion(candidates, by_words, scores, lit * weights.tokens)


def is_cjk(text: str) -> bool:
    """Whether more than three in ten of its letters are of a script without blanks."""
    letters = [character for character in text if character.isalnum()]
    return sum(map(analysis.is_unspaced, letters)) > _CJK_SHARE * len(letters)


def intersect_with_ranking(passing: Iterable[K], ranking: Iterable[K]) -> list[K]:
    """What passes a filter, in the order of a ranking; what the ranking does not name comes after, in its own order.

    passing: by words or by date, best or newest first. Nothing that passes is lost, nothing else is let in.
    """
    there = dict.fromkeys(passing)
    named = dict.fromkeys(key for key in ranking if key in there)
    return [*named, *(key for key in there if key not in named)]


def _lit(bm25s: Sequence[float | None], wholes: Sequence[float | None]) -> float:
    """Which share of what has the words has vectors; all, where nothing has the words."""
    if None not in wholes:
        return 1.0
    worded = [whole is not None for bm25, whole in zip(bm25s, wholes, strict=True) if bm25 is not None]
    return sum(worded) / len(worded) if worded else 1.0


def _positive(cosines: Sequence[float | None]) -> list[float | None]:
    """Below zero texts have nothing to do with each other, and how much of nothing tells nothing."""
    return [0.0 if cosine is not None and cosine < 0.0 else cosine for cosine in cosines]


def _or_else(values: list[float | None], others: Sequence[float]) -> list[float]:
    """Each value that is known, else the other one in its place."""
    return [other if value is None else value for value, other in zip(values, others, strict=True)]


def _z_scores(values: Sequence[float | None], inexact: float = 1e-9) -> list[float | None]:
    """How many standard deviations above the mean of those that are known each value is; none, where they are as good
    as the same: what rounding leaves of no spread must not be blown up. inexact: the least there is to tell apart."""
    known = [value for value in values if value is not None]
    if not known:
        return [None] * len(values)
    mean = math.fsum(known) / len(known)
    apart = [value - mean for value in known]
    deviation = math.sqrt(math.fsum(map(operator.mul, apart, apart)) / len(known))
    scale = 0.0 if deviation < inexact else 1 / deviation
    if len(known) == len(values):
        return [each * scale for each in apart]
    return [None if value is None else (value - mean) * scale for value in values]


def _newness(epochs: Sequence[int], now_epoch_ms: int | None, half_life_days: float) -> list[float]:
    if now_epoch_ms is None:
        return [0.0] * len(epochs)
    half_life_ms = half_life_days * _DAY_MS
    return [RECENCY * 0.5 ** (max(0, now_epoch_ms - epoch_ms) / half_life_ms) for epoch_ms in epochs]

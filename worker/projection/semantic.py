"""The search side of the index: questions to vectors, and what lies near them.

Every call has a time limit: a search never waits for a model or for Chroma longer than that, and goes by words then.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from worker.contract.errors import MemError
from worker.contract.search import Degraded
from worker.projection import late
from worker.projection.blocks import Blocks
from worker.projection.documents import number_of
from worker.projection.embed import Embedder, Reader
from worker.projection.index import VectorIndex
from worker.projection.meaning import Nearness, Read, Thought, Unanswered

EXACT_MOST = 2_000
"""Up to so many records all are compared: 7 ms of CPU a thousand when they are read for it, which is what Chroma takes
for its search of any number."""
EXACT_OF_FILTERED = 10_000
"""The same of what passes a filter. Chroma's own filters take 80 ms and more; of its nearest few may pass."""
EXACT_WITHOUT_CHROMA = 50_000
"""The same while Chroma is away: slower, but meaning has its say."""

_log = logging.getLogger("worker.projection")
_THINK_S = 0.6
_NEAREST_S = 0.8
_FRAGMENTS = 300
"""Documents asked of Chroma, five or six to a record."""
_MORE_FRAGMENTS = 1_500
_REMEMBERED = 256
_REST_S = 2.0
"""After a failure or a delay of Chroma, this long nobody asks it again."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What answers now. model: as the stored vectors name it. index: None while Chroma is away.

    written: another number whenever stored vectors changed.
    """

    embedder: Embedder
    model: str
    index: VectorIndex | None
    written: int = 0


class Semantics:
    """Asks whatever serves at the moment. ``close`` it.

    serving: what answers now, or why nothing does.
    """

    def __init__(
        self,
        serving: Callable[[], Serving | Degraded],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._serving, self._clock = serving, clock
        self._thinking = ThreadPoolExecutor(1, "embed-query")
        self._asking = ThreadPoolExecutor(2, "ask-chroma")
        self._thoughts: OrderedDict[tuple[str, str], Future[Thought]] = OrderedDict()
        self._lock = threading.Lock()
        self._blocks = Blocks()
        self._rest_until = -1.0

    def exact_most(self, *, narrow: bool) -> int:
        """Up to so many records are compared one by one."""
        serving = self._serving()
        if isinstance(serving, Degraded) or serving.index is None or self._clock() < self._rest_until:
            return EXACT_WITHOUT_CHROMA
        return EXACT_OF_FILTERED if narrow else EXACT_MOST

    def think(self, text: str) -> Future[Thought]:
        """Begin to understand a question; returns at once. The same question again is not embedded again."""
        serving = self._serving()
        if isinstance(serving, Degraded):
            future: Future[Thought] = Future()
            future.set_exception(Unanswered(serving))
            return future
        place = (serving.model, text)
        with self._lock:
            known = self._thoughts.get(place)
            if known is None or (known.done() and known.exception() is not None):
                known = self._thoughts[place] = self._thinking.submit(_understood, serving, text)
            self._thoughts.move_to_end(place)
            while len(self._thoughts) > _REMEMBERED:
                self._thoughts.popitem(last=False)
            return known

    def settle(self, thought: Future[Thought]) -> Thought:
        """What was understood. Errors: ``Unanswered``."""
        return _waited(thought, _THINK_S)

    def leaning(self, thought: Thought, weights: Sequence[float]) -> Thought:
        """The same question, leaning to some of its tokens."""
        if thought.vectors is None:
            return thought
        leaning = np.asarray(weights, np.float32) @ thought.vectors
        return replace(thought, vector=leaning / max(float(np.linalg.norm(leaning)), 1e-12))

    def nearest(self, thought: Thought, *, more: bool = False) -> list[int]:
        """Docids of records near a question, nearest first. Errors: ``Unanswered``."""
        serving = self._serving()
        if isinstance(serving, Degraded):
            raise Unanswered(serving)
        if serving.model != thought.model:
            raise Unanswered(Degraded.INDEX_STARTING)
        if serving.index is None or self._clock() < self._rest_until:
            raise Unanswered(Degraded.INDEX_FAILED)
        count = _MORE_FRAGMENTS if more else _FRAGMENTS
        try:
            matches = _waited(self._asking.submit(serving.index.nearest, thought.vector, count), _NEAREST_S)
        except Unanswered:
            self._rest_until = self._clock() + _REST_S
            raise
        numbers = (number_of(match.id) for match in matches)
        return list(dict.fromkeys(number for number in numbers if number is not None))

    def compare(
        self, thought: Thought, docids: Sequence[int], read: Read, *, most: int, also: Sequence[int], again: bool
    ) -> tuple[dict[int, Nearness], dict[int, Nearness]]:
        """The nearest of many records, and how near certain others are.

        Vectors of the last questions' records are at hand if nothing was written since.
        """
        serving = self._serving()
        written = -1 if isinstance(serving, Degraded) else serving.written
        look = self._blocks.near if again else self._blocks.near_some
        near = look(thought, docids, read, written=written)
        best, others = near.best(most), near.of(also)
        absent = [docid for docid in also if docid not in others]
        if absent:
            others |= self._blocks.near_some(thought, absent, read, written=written).of(absent)
        return best, others

    def token_nearness(
        self, thought: Thought, weights: Sequence[float], records: Mapping[int, bytes]
    ) -> dict[int, float]:
        """How near each record is token by token, by docid."""
        return {} if thought.vectors is None else late.nearness(thought.vectors, weights, records)

    def close(self) -> None:
        """Give up what is waited for."""
        self._thinking.shutdown(wait=False, cancel_futures=True)
        self._asking.shutdown(wait=False, cancel_futures=True)


def _understood(serving: Serving, text: str) -> Thought:
    if isinstance(serving.embedder, Reader):
        read = serving.embedder.read(text)
        return Thought(serving.model, read.vector, read.vectors, read.offsets)
    return Thought(serving.model, serving.embedder.embed([text], "query")[0])


T = TypeVar("T")


def _waited(future: Future[T], limit_s: float) -> T:
    """What comes of it in time. Errors: ``Unanswered`` with the reason."""
    try:
        return future.result(limit_s)
    except Unanswered:
        raise
    except Late as late:
        raise Unanswered(Degraded.INDEX_SLOW) from late
    except CancelledError as error:
        raise Unanswered(Degraded.INDEX_FAILED) from error
    except MemError as error:
        _log.warning("search by meaning failed: %s", error.message)
        raise Unanswered(Degraded.INDEX_FAILED) from error

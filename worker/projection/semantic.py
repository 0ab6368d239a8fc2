"""The search side of the index: questions to vectors, and what lies near them.

Every call has a time limit: a search never waits for a model or for Chroma longer than that, and goes by words then.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from worker.contract.errors import MemError
from worker.contract.search import Degraded
from worker.projection import late
from worker.projection.beside import Beside
from worker.projection.blocks import Blocks, Comparison
from worker.projection.cores import Apart, Linux
from worker.projection.documents import number_of
from worker.projection.embed import Embedder, Multiplying, Reader, Vector
from worker.projection.index import VectorIndex
from worker.projection.meaning import Nearest, Nearness, Shelf, Thought, Unanswered
from worker.projection.recent import Recent

EXACT_MOST = 12_000
"""Up to so many records all are compared: ten thousand of six documents take 3 ms and 23 MB, where Chroma and what is
around it take 13 ms and may miss some; its own filters take 80 and more."""
EXACT_WITHOUT_CHROMA = 50_000
"""The same while Chroma is away: slower, but meaning has its say."""

_log = logging.getLogger("worker.projection")
_THINK_S = 0.6
_NEAREST_S = 0.8
_FRAGMENTS = 300
"""Documents asked of Chroma, five or six to a record."""
_MORE_FRAGMENTS = 1_500
_REMEMBERED = 256
_MOST_OF_TOKENS_BYTES = 16 * 2**20
"""1,400 records of 250, as many as the model reads, or 4,600 of 75."""
_REST_S = 2.0
"""After a failure or a delay of Chroma, this long nobody asks it again."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What answers now. model: as the stored vectors name it. index: None while Chroma is away."""

    embedder: Embedder
    model: str
    index: VectorIndex | None


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
        self._tokens = Recent[bytes](_MOST_OF_TOKENS_BYTES, len)
        self._rest_until = -1.0
        self._apart = Apart(Linux())

    def exact_most(self) -> int:
        """Up to so many records are compared one by one."""
        serving = self._serving()
        if isinstance(serving, Degraded) or serving.index is None or self._clock() < self._rest_until:
            return EXACT_WITHOUT_CHROMA
        return EXACT_MOST

    def think(self, text: str) -> Future[Thought]:
        """Begin to understand a question; returns at once. The same question again is not embedded again."""
        serving = self._serving()
        if isinstance(serving, Degraded):
            return _failed(serving)
        place = (serving.model, text)
        with self._lock:
            known = self._thoughts.get(place)
            if known is None or (known.done() and known.exception() is not None):
                self._apart.call()
                known = self._thoughts[place] = self._thinking.submit(self._understood, serving, text)
            self._thoughts.move_to_end(place)
            while len(self._thoughts) > _REMEMBERED:
                self._thoughts.popitem(last=False)
            return known

    def work_beside(self) -> None:
        """This thread has something to do while another thinks."""
        self._apart.leave()

    def settle(self, thought: Future[Thought]) -> Thought:
        """What was understood. Errors: ``Unanswered``."""
        return _waited(thought, _THINK_S)

    def leaning(self, thought: Thought, weights: Sequence[float]) -> Thought:
        """The same question, leaning to some of its tokens."""
        if thought.vectors is None:
            return thought
        leaning = np.asarray(weights, np.float32) @ thought.vectors
        return replace(thought, vector=leaning / max(float(np.linalg.norm(leaning)), 1e-12))

    def seek(self, thought: Thought, *, more: bool = False) -> Future[list[int]]:
        """Begin to look for records near a question; returns at once."""
        serving = self._serving()
        if isinstance(serving, Degraded):
            return _failed(serving)
        if serving.model != thought.model:
            return _failed(Degraded.INDEX_STARTING)
        if serving.index is None or self._clock() < self._rest_until:
            return _failed(Degraded.INDEX_FAILED)
        return self._asking.submit(_numbers, serving.index, thought.vector, _MORE_FRAGMENTS if more else _FRAGMENTS)

    def sought(self, seeking: Future[list[int]]) -> list[int]:
        """Docids of what was looked for, nearest first. Errors: ``Unanswered``."""
        was_asked = not _is_refused(seeking)
        try:
            return _waited(seeking, _NEAREST_S)
        except Unanswered:
            if was_asked:
                self._rest_until = self._clock() + _REST_S
            raise

    def read_ahead(self, docids: Sequence[int], shelf: Shelf) -> None:
        """Have at hand what is stored of records that will be compared."""
        serving = self._serving()
        if not isinstance(serving, Degraded):
            self._blocks.read_ahead(serving.model, docids, shelf)

    def read_tokens_ahead(self, docids: Sequence[int], shelf: Shelf) -> None:
        """The same of what is kept of their tokens."""
        serving = self._serving()
        if not isinstance(serving, Degraded):
            self._tokens.stored(serving.model, docids, shelf, shelf.tokens)

    def near(self, thought: Thought, docids: Sequence[int], shelf: Shelf) -> dict[int, Nearness]:
        """How near records are."""
        return self._blocks.near_some(thought, docids, shelf).all()

    def comparing(self, docids: Sequence[int], shelf: Shelf, *, also: Sequence[int]) -> "_Comparing":
        """Have ready many records, and certain others, to be compared with a question."""
        serving = self._serving()
        comparison = partial(self._blocks.comparison, docids=docids, shelf=shelf, also=also)
        return _Comparing(
            comparison, None if isinstance(serving, Degraded) else comparison(serving.model), self._thinking.submit
        )

    def token_nearness(
        self, thought: Thought, weights: Sequence[float], docids: Sequence[int], shelf: Shelf
    ) -> dict[int, float]:
        """How near each record is token by token, by docid."""
        if thought.vectors is None:
            return {}
        tokens = self._tokens.stored(thought.model, docids, shelf, shelf.tokens)
        return late.nearness(thought.vectors, weights, tokens, thought.multiply)

    def close(self) -> None:
        """Give up what is waited for."""
        self._thinking.shutdown(wait=False, cancel_futures=True)
        self._asking.shutdown(wait=False, cancel_futures=True)

    def _understood(self, serving: Serving, text: str) -> Thought:
        self._apart.begin()
        try:
            return _thought(serving, text)
        finally:
            self._apart.end()


def _thought(serving: Serving, text: str) -> Thought:
    embedder = serving.embedder
    if not isinstance(embedder, Reader):
        return Thought(serving.model, embedder.embed([text], "query")[0])
    read = embedder.read(text)
    multiply = embedder.multiplied if isinstance(embedder, Multiplying) else None
    return Thought(serving.model, read.vector, read.vectors, read.offsets, multiply)


@dataclass(frozen=True, slots=True)
class _Comparing:
    """comparison: makes it, by the model; ready: what answers now has made already."""

    comparison: Callable[[str], Comparison]
    ready: Comparison | None
    beside: Beside

    def nearest(self, thought: Thought, most: int) -> Nearest:
        """See ``Comparing``."""
        if self.ready is not None and self.ready.model == thought.model:
            return self.ready.nearest(thought, most, self.beside)
        return self.comparison(thought.model).nearest(thought, most, self.beside)


def _numbers(index: VectorIndex, vector: Vector, count: int) -> list[int]:
    """Docids of the records that the nearest documents belong to."""
    numbers = (number_of(match.id) for match in index.nearest(vector, count))
    return list(dict.fromkeys(number for number in numbers if number is not None))


T = TypeVar("T")


def _failed(reason: Degraded) -> Future[T]:
    """What nothing comes of."""
    future: Future[T] = Future()
    future.set_exception(Unanswered(reason))
    return future


def _is_refused(future: Future[T]) -> bool:
    """Whether nobody was asked."""
    return future.done() and not future.cancelled() and isinstance(future.exception(), Unanswered)


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

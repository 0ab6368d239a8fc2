"""What a page shows of its records: made at the end, or before it for what is likely to be shown.

A question by meaning waits twice, for a model and for Chroma. Most of what words find best stands on the page in the
end; to mark it meanwhile takes nothing from the time of an answer that the wait would not.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

import msgspec

from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Entry, Hit, Snippet
from worker.search.hybrid import Placed
from worker.search.snippet import Highlighter, Marks
from worker.store import listing
from worker.store.tables import Connection

T = TypeVar("T")

_AHEAD = 20
"""So many of the best by words are made before their time, if there is time: 13 of 20 stood on the page in the end, of
the first ones more."""

_LOOKED_UP = 3
"""So many times as many are read: most of what else comes on the page stands right behind them."""
_AT_ONCE = 4
"""Records between two looks at what is waited for."""
_UNMARKED = Marks(Snippet(""), ())


class Showing(Generic[T]):
    """Of one question. read: what is needed of records; texts: what of that is marked, nothing if there is none.

    rows: what was read, of those that are there.
    """

    def __init__(
        self,
        connection: Connection,
        read: Callable[[Connection, Sequence[RecordKey]], dict[RecordKey, T]],
        texts: Callable[[RecordKind, T], Iterable[str]] | None,
        marker: Highlighter,
    ) -> None:
        self._connection, self._read, self._texts, self._marker = connection, read, texts, marker
        self._entries: dict[RecordKey, Entry] = {}
        self._marks: dict[RecordKey, Marks] = {}
        self.rows: dict[RecordKey, T] = {}

    def ahead(self, likely: Sequence[RecordKey], count: int, awaited: Future[Any]) -> None:
        """Make what is likely to be shown, for as long as something else is waited for. count: of a page."""
        if awaited.done():
            return
        keys = likely[: min(count, _AHEAD)]
        self._look_up(likely[: _LOOKED_UP * len(keys)])
        for at in range(0, len(keys), _AT_ONCE):
            if awaited.done():
                return
            self._mark(keys[at : at + _AT_ONCE])

    def hits(self, placed: Sequence[Placed]) -> list[Hit]:
        """What stands on the page, without what is gone."""
        keys = [each.key for each in placed]
        self._look_up(keys)
        self._mark(keys)
        return [self._hit(each) for each in placed if each.key in self.rows]

    def _look_up(self, keys: Sequence[RecordKey]) -> None:
        new = [key for key in keys if key not in self.rows]
        if new:
            self._entries |= listing.entries(self._connection, new)
            self.rows |= self._read(self._connection, new)

    def _mark(self, keys: Sequence[RecordKey]) -> None:
        if self._texts is not None:
            new = [key for key in keys if key in self.rows and key not in self._marks]
            shown = [(self._entries[key].title, self._texts(key.kind, self.rows[key])) for key in new]
            self._marks |= zip(new, self._marker.marks(shown), strict=True)

    def _hit(self, placed: Placed) -> Hit:
        snippet, title_matches = self._marks.get(placed.key, _UNMARKED)
        return Hit(
            **msgspec.structs.asdict(self._entries[placed.key]),
            score=round(placed.score, 4),
            snippet=snippet,
            title_matches=title_matches,
            keyword_rank=placed.keyword_rank,
            vector_rank=placed.vector_rank,
            cosine=placed.cosine,
        )

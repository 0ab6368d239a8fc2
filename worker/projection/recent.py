"""What is stored of the records that were read last: to read one takes ten times as long as to compare it, and what is
near one question is near others too."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Generic, TypeVar

from worker.projection.meaning import Shelf

T = TypeVar("T")


class Recent(Generic[T]):
    """For several threads. most_bytes: that are kept at most; size: how many bytes one takes."""

    def __init__(self, most_bytes: int, size: Callable[[T], int]) -> None:
        self._most, self._size = most_bytes, size
        self._kept: OrderedDict[int, T] = OrderedDict()
        self._bytes = 0
        self._state: tuple[str, int] = ("", 0)
        self._lock = threading.Lock()

    def stored(
        self, model: str, docids: Sequence[int], shelf: Shelf, read: Callable[[str, Sequence[int]], Mapping[int, T]]
    ) -> dict[int, T]:
        """What is stored of records, by docid in no order; those of which nothing is are left out.

        read: gives it from the shelf. What is kept is what it would give.
        """
        found = self._known(model, docids, shelf)
        absent = [docid for docid in docids if docid not in found]
        if absent:
            new = read(model, absent)
            self._keep((model, shelf.stamp), new)
            found |= new
        return found

    def _known(self, model: str, docids: Sequence[int], shelf: Shelf) -> dict[int, T]:
        with self._lock:
            kept_of, stamp = self._state
            if shelf.stamp < stamp:  # who asks has begun to read before what is kept was stored
                return {}
            gone: Collection[int] = ()
            if model != kept_of:
                gone = tuple(self._kept)
            elif self._kept and shelf.stamp > stamp:
                gone = shelf.changed(model, stamp)
            for docid in gone:
                self._drop(docid)
            self._state = (model, shelf.stamp)
            known = {docid: self._kept[docid] for docid in docids if docid in self._kept}
            for docid in known:
                self._kept.move_to_end(docid)
        return known

    def _keep(self, state: tuple[str, int], new: Mapping[int, T]) -> None:
        with self._lock:
            if state != self._state:
                return
            for docid, each in new.items():
                self._drop(docid)
                self._bytes += self._size(each)
                self._kept[docid] = each
            while self._bytes > self._most:
                self._drop(next(iter(self._kept)))

    def _drop(self, docid: int) -> None:
        each = self._kept.pop(docid, None)
        self._bytes -= 0 if each is None else self._size(each)

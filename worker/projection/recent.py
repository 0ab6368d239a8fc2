"""What is stored of the records that were read last: to read one takes ten times as long as to compare it, and what is
near one question is near others too."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

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
        self, model: str, docids: Sequence[int], read: Callable[[str, Sequence[int]], Mapping[int, T]], *, written: int
    ) -> dict[int, T]:
        """What is stored of records, by docid in no order; those of which nothing is are left out.

        written: another number whenever anything stored changed; what is kept from before is read anew.
        """
        state = (model, written)
        found = self._known(state, docids)
        absent = [docid for docid in docids if docid not in found]
        if absent:
            new = read(model, absent)
            self._keep(state, new)
            found |= new
        return found

    def _known(self, state: tuple[str, int], docids: Sequence[int]) -> dict[int, T]:
        with self._lock:
            if state != self._state:
                self._kept.clear()
                self._bytes, self._state = 0, state
            known = {docid: self._kept[docid] for docid in docids if docid in self._kept}
            for docid in known:
                self._kept.move_to_end(docid)
        return known

    def _keep(self, state: tuple[str, int], new: Mapping[int, T]) -> None:
        with self._lock:
            if state != self._state:
                return
            for docid, each in new.items():
                before = self._kept.pop(docid, None)
                self._bytes += self._size(each) - (0 if before is None else self._size(before))
                self._kept[docid] = each
            while self._bytes > self._most:
                self._bytes -= self._size(self._kept.popitem(last=False)[1])

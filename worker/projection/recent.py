"""The vectors of the records that were read last, as they are stored: to read one takes ten times as long as to
compare it, and what is near one question is near others too."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from worker.projection.meaning import Read
from worker.store.vectors import Stored

_MOST_BYTES = 12 * 2**20
"""2,500 records of six documents."""


class Recent:
    """For several threads."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[int, Stored] = OrderedDict()
        self._bytes = 0
        self._state: tuple[str, int] = ("", 0)
        self._lock = threading.Lock()

    def stored(self, model: str, docids: Sequence[int], read: Read, *, written: int) -> Iterator[Stored]:
        """What is stored of records, in no order; each is to be named once.

        written: another number whenever stored vectors changed; what is kept from before is read anew.
        """
        state = (model, written)
        known = self._known(state, docids)
        yield from known.values()
        absent = [docid for docid in docids if docid not in known]
        if absent:
            new = list(read(model, absent))
            self._keep(state, new)
            yield from new

    def read_ahead(self, model: str, docids: Sequence[int], read: Read, *, written: int) -> None:
        """Keep records that will be asked for."""
        state = (model, written)
        known = self._known(state, docids)
        if absent := [docid for docid in docids if docid not in known]:
            self._keep(state, list(read(model, absent)))

    def _known(self, state: tuple[str, int], docids: Sequence[int]) -> dict[int, Stored]:
        with self._lock:
            if state != self._state:
                self._kept.clear()
                self._bytes, self._state = 0, state
            known = {docid: self._kept[docid] for docid in docids if docid in self._kept}
            for docid in known:
                self._kept.move_to_end(docid)
        return known

    def _keep(self, state: tuple[str, int], new: Sequence[Stored]) -> None:
        with self._lock:
            if state != self._state:
                return
            for each in new:
                before = self._kept.pop(each.docid, None)
                self._bytes += len(each.vectors) - (len(before.vectors) if before else 0)
                self._kept[each.docid] = each
            while self._bytes > self._most:
                self._bytes -= len(self._kept.popitem(last=False)[1].vectors)

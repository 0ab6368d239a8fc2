"""What was counted once, kept for as long as the index stays as it is.

A page of an answer asks what the page before it asked, and the whole memory is counted again and again. The index
carries the number of its last change (``GENERATION`` in `py_meta`), so what is kept is true in whatever state of the
file a reader stands.
"""

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

GENERATION = "generation"
_ROOM_BYTES = 4 * 2**20
_SMALL_BYTES = 1024


class Memo:
    """The last answers to questions, as many as there is room for; for any thread."""

    def __init__(self, room_bytes: int = _ROOM_BYTES) -> None:
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._room = room_bytes
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """The answer, None if it is not kept."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, answer: object, size: int) -> None:
        """Keep an answer of about so many bytes; what was not asked for longest gives way."""
        with self._lock:
            before = self._kept.pop(key, None)
            self._room += before[1] if before else 0
            self._kept[key] = answer, size
            self._room -= size
            while self._room < 0:
                self._room += self._kept.popitem(last=False)[1][1]


class Remembering(sqlite3.Connection):
    """A connection whose questions are remembered, if it was given a memory.

    generation: of the index, as the transaction that is under way sees it. Whoever begins one sets it to None.
    last: what was asked of it last by ``again``, and the answer.
    """

    memo: Memo | None = None
    generation: str | None = None
    last: tuple[tuple[Hashable, ...], Any] = ((), None)


def remembered(
    connection: sqlite3.Connection,
    key: tuple[Hashable, ...],
    make: Callable[[], T],
    size: Callable[[T], int] = lambda _: _SMALL_BYTES,
) -> T:
    """What ``make`` gives, or gave in this state of the index. Nobody changes it, but for a collection of what is found
    by and by, of whatever size was told.

    key: all that the answer follows from, but the index. size: of an answer, in bytes. None is not kept.
    """
    if not isinstance(connection, Remembering) or connection.memo is None:
        return make()
    key = (_generation(connection), *key)
    kept: T | None = connection.memo.get(key)
    if kept is None:
        kept = make()
        if kept is not None:
            connection.memo.put(key, kept, size(kept))
    return kept


def again(connection: sqlite3.Connection, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
    """The same of what one question asks more than once, and none after it: only the last answer is kept.

    None is not kept here either: who gave up may have less to do the next time.
    """
    if not isinstance(connection, Remembering) or connection.memo is None:
        return make()
    key = (_generation(connection), *key)
    if connection.last[0] != key or connection.last[1] is None:
        connection.last = key, make()
    answer: T = connection.last[1]
    return answer


def _generation(connection: Remembering) -> str:
    if connection.generation is None or not connection.in_transaction:
        row = connection.execute("SELECT value FROM py_meta WHERE key = ?", (GENERATION,)).fetchone()
        connection.generation = row[0] if row else ""
    return connection.generation


def changed(connection: sqlite3.Connection) -> None:
    """The index is another from this transaction on."""
    connection.execute(
        "INSERT INTO py_meta VALUES (?, '1') ON CONFLICT (key) DO UPDATE SET value = value + 1", (GENERATION,)
    )

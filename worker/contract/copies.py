"""Which of several equal rows a row is: each of them is to be there, and none twice."""

from collections.abc import MutableMapping
from typing import Any

import msgspec

from worker.contract.transfer import EQUAL_IN, NTH, RowKind


class Copies:
    """Remembers the rows of one source, by a number each."""

    def __init__(self) -> None:
        self._ids: dict[int, tuple[object, ...]] = {}

    def mark(self, kind: RowKind, row: MutableMapping[str, Any]) -> None:
        """Say on a row which it is (``NTH``), unless it is the first or says so.

        Without an id, or with the id of an equal one, it is that row again.
        """
        number = row.get("id")
        if kind not in EQUAL_IN or number is None or NTH in row:
            return
        says = hash(msgspec.json.encode([kind, *map(row.get, EQUAL_IN[kind])]))
        ids = self._ids.get(says, ())
        if number not in ids:
            self._ids[says] = ids = (*ids, number)
        if number != ids[0]:
            row[NTH] = ids.index(number) + 1

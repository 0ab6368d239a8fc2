"""Which of several equal rows of a source a row is: each of them is to be there, and none twice."""

import msgspec

from worker.cli.importers.source import Row
from worker.contract.transfer import EQUAL_IN


class Copies:
    """Remembers all rows that it is asked for, by a number each."""

    def __init__(self) -> None:
        self._ids: dict[int, tuple[object, ...]] = {}

    def nth(self, row: Row) -> int:
        """From 1. A row without an id, or with the id of an equal one, is that row again."""
        number = row.value.get("id")
        if row.kind not in EQUAL_IN or number is None:
            return 1
        says = msgspec.json.encode([row.kind, *map(row.value.get, EQUAL_IN[row.kind])])
        ids = self._ids.get(hash(says), ())
        if number not in ids:
            self._ids[hash(says)] = ids = (*ids, number)
        return ids.index(number) + 1

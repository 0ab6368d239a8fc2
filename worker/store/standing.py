"""What of the records near a phrase has it: told from their words in the index, one by one."""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from worker.store.memo import remembered

_MOST = 10_000
"""Records that are looked at, the latest first; what is beyond counts as having it not. A look takes 12 µs."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Docids: of those that have the phrase, and of those that do not."""

    there: tuple[int, ...] = ()
    absent: tuple[int, ...] = ()


def look(connection: sqlite3.Connection, sql: str, values: Sequence[object], pattern: str) -> Standing:
    """Who has a phrase. sql: gives a docid and the words of a field each, for its parameters, the latest first."""

    def read() -> Standing:
        has = re.compile(pattern).search
        there: list[int] = []
        absent: list[int] = []
        for row in connection.execute(sql, values):
            looked = len(there) + len(absent) < _MOST and any(has(words) for words in tuple(row)[1:])
            (there if looked else absent).append(row[0])
        return Standing(tuple(there), tuple(absent))

    return remembered(
        connection, ("standing", *values, pattern), read, lambda made: 40 * (len(made.there) + len(made.absent))
    )

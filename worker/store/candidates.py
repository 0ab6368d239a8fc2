"""Records that a question may be about, by docid: what passes its filters, and what of that has its words."""

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from worker.contract.records import RecordKind
from worker.store import frequencies, listing, search_index
from worker.store.filters import Condition
from worker.store.listing import WEIGHTS
from worker.store.memo import remembered

_THESE = "(SELECT value FROM json_each(?))"
"""Any number of them: SQLite takes 32,766 parameters."""
_BM25 = f"bm25(py_text, {', '.join(map(str, WEIGHTS))})"


@dataclass(frozen=True, slots=True)
class Passing:
    """All that passes some filters. docids: ascending; epochs: the moment of each, ms."""

    docids: "array[int]"
    epochs: "array[int]"

    def moments(self, numbers: Iterable[int]) -> dict[int, int]:
        """When some of these records were made, epoch ms by docid."""
        found: dict[int, int] = {}
        for number in numbers:
            at = bisect_left(self.docids, number)
            if at < len(self.docids) and self.docids[at] == number:
                found[number] = self.epochs[at]
        return found


def passing(connection: sqlite3.Connection, where: Condition, most: int) -> Passing | None:
    """All that passes the filters; None when it is more than ``most``."""
    if frequencies.records(connection, where) > most:
        return None

    def read() -> Passing:
        docids, epochs = array("q"), array("q")
        sql = f"SELECT d.docid, d.epoch FROM py_docs d WHERE {where.sql} ORDER BY d.docid"
        for docid, epoch in connection.execute(sql, where.values):
            docids.append(docid)
            epochs.append(epoch)
        return Passing(docids, epochs)

    return remembered(
        connection, ("those passing", where.sql, *where.values), read, lambda found: 16 * len(found.docids)
    )


def passing_of(connection: sqlite3.Connection, where: Condition, numbers: Sequence[int]) -> dict[int, int]:
    """Those of some records that are there and pass the filters, in their order; each with its moment, epoch ms."""
    found = connection.execute(
        f"SELECT d.docid, d.epoch FROM py_docs d WHERE d.docid IN {_THESE} AND {where.sql}",
        (_listed(numbers), *where.values),
    )
    there: dict[int, int] = dict(found.fetchall())
    return {number: there[number] for number in numbers if number in there}


def weighed_of(connection: sqlite3.Connection, match: str, numbers: Sequence[int]) -> dict[int, float]:
    """Those of some records that an FTS5 expression finds, and how well; larger is better."""
    if (words := listing.known(connection, match)) is not None:
        return {number: -weight for number, weight in words.of(numbers).items()}
    # The plus sign keeps SQLite from asking for one after the other.
    rows = connection.execute(
        f"SELECT rowid, {_BM25} FROM py_text WHERE py_text MATCH ? AND +rowid IN {_THESE}",
        (match, _listed(numbers)),
    )
    return {row[0]: -row[1] for row in rows}


def without(where: Condition, numbers: Sequence[int]) -> Condition:
    """The same filters, and none of these records."""
    if not numbers:
        return where
    marks = ",".join(map(str, numbers))
    return Condition(f"{where.sql} AND d.docid NOT IN ({marks})", where.values)


def only(numbers: Sequence[int]) -> Condition:
    """A condition that is true for these records."""
    return Condition(f"d.docid IN ({','.join(map(str, numbers))})", ())


def kinds(numbers: Sequence[int]) -> dict[RecordKind, int]:
    """How many of each kind there are among records."""
    counts: dict[RecordKind, int] = {}
    for number in numbers:
        kind = search_index.key(number).kind
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def moments(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, int]:
    """When records were made, epoch ms by docid."""
    return dict(connection.execute(f"SELECT docid, epoch FROM py_docs WHERE docid IN {_THESE}", (_listed(numbers),)))


def _listed(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"

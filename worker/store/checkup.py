"""Whether the database is sound and its index complete."""

import contextlib
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from worker.contract.records import RecordKind
from worker.contract.upkeep import Check
from worker.store.queueing import BASE
from worker.store.rows import CODES
from worker.store.search_index import MOST_ID


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many records there are of each kind and how many of them are indexed; how many wait for it."""

    kinds: dict[RecordKind, tuple[int, int]]
    queued: int

    @property
    def complete(self) -> bool:
        """Whether everything can be found."""
        return not self.queued and all(records == indexed for records, indexed in self.kinds.values())

    def told(self) -> str:
        """`9 of 10 records (observations 4 of 5), 1 waiting`."""
        records, indexed = (sum(counts[at] for counts in self.kinds.values()) for at in (0, 1))
        lacking = [f"{BASE[kind]} {part} of {whole}" for kind, (whole, part) in self.kinds.items() if part != whole]
        waiting = f", {self.queued} waiting" if self.queued else ""
        return f"{indexed} of {records} records" + (f" ({', '.join(lacking)})" if lacking else "") + waiting


def integrity(connection: sqlite3.Connection) -> Check:
    """Whether SQLite's quick check finds a fault; the first one."""
    said = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    return Check(name="database", ok=said == "ok", message="sound" if said == "ok" else f"damaged: {said}")


def coverage(connection: sqlite3.Connection) -> Coverage:
    """What of the records is in the index."""
    rows = connection.execute("SELECT docid & 3, count(*) FROM py_docs GROUP BY 1")
    indexed = {int(code): int(count) for code, count in rows}
    (queued,) = connection.execute("SELECT count(DISTINCT docid) FROM py_queue").fetchone()
    kinds = {
        kind: (int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]), indexed.get(CODES[kind], 0))
        for kind, table in BASE.items()
    }
    return Coverage(kinds, int(queued))


TOO_LARGE = (
    "{:,} have numbers from 2**61 on, with which they cannot be found: in another data directory, "
    "`claude-mem import` of this file numbers them anew"
)


def too_large(connection: sqlite3.Connection) -> int:
    """How many records no index of ours can hold; so will be all that come after them."""
    counted = [f"(SELECT count(*) FROM {table} WHERE id > {MOST_ID})" for table in BASE.values()]
    (count,) = connection.execute(f"SELECT {' + '.join(counted)}").fetchone()
    return int(count)


def completeness(connection: sqlite3.Connection) -> Check:
    """Whether every record is in the index."""
    found = coverage(connection)
    beyond = too_large(connection)
    told = f"{found.told()}; {TOO_LARGE.format(beyond)}" if beyond else found.told()
    return Check(name="index", ok=found.complete, message=told)


def fulltext(*, there: bool) -> Check:
    """Whether this SQLite has FTS5."""
    message = f"SQLite {sqlite3.sqlite_version} {'has' if there else 'lacks'} FTS5"
    return Check(name="fulltext", ok=there, message=message)


def _has_fulltext(probe: sqlite3.Connection) -> bool:
    try:
        probe.execute("CREATE VIRTUAL TABLE probe USING fts5(word)")
    except sqlite3.DatabaseError:
        return False
    return True


def look(folder: Path, file: Path) -> list[Check]:
    """The checks that need no worker, on a file that is only read. folder: whose settings were read already."""
    os.umask(0o077)  # reading makes files too: the log's shared memory
    found = [Check(name="settings", ok=True, message=f"{folder / 'settings.json'} is readable, or not there")]
    with contextlib.closing(sqlite3.connect(":memory:")) as probe:
        found.append(fulltext(there=_has_fulltext(probe)))
    if not file.exists():
        nothing = (Check(name=name, ok=True, message="not there yet") for name in ("database", "index"))
        return [*found, *nothing]
    try:
        with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            found.append(integrity(connection))
            made = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'py_docs'").fetchone()
            fresh = Check(name="index", ok=True, message="not made yet: the worker makes it at its start")
            found.append(completeness(connection) if made else fresh)
    except sqlite3.Error as error:
        found.append(Check(name="database", ok=False, message=f"{file} cannot be read: {error}"))
    return found

"""How often each record was given back: `py_recalls`, to which ``tally`` brings its counts every few seconds.

A record goes by its docid, as in ``search_index``, which takes out what is gone. One whose docid is no whole number of
SQLite's is not counted.
"""

import sqlite3
from collections.abc import Mapping, Sequence

from worker.contract.recalls import Recalled
from worker.store.queueing import BASE
from worker.store.rows import CODES, placeholders

TABLES = {
    "py_recalls": """CREATE TABLE py_recalls (
        docid INTEGER PRIMARY KEY, listed INTEGER NOT NULL, read INTEGER NOT NULL, last_epoch_ms INTEGER NOT NULL)""",
}
_SINCE = "recalls_since"
_LAST = 2**63 - 1


def add(connection: sqlite3.Connection, seen: Mapping[int, Recalled]) -> None:
    """Add counts to those that are there. What was deleted meanwhile is passed over."""
    for kind, table in BASE.items():
        connection.executemany(
            f"""INSERT INTO py_recalls SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM {table} WHERE id = ?1 / 4)
                ON CONFLICT (docid) DO UPDATE SET listed = listed + excluded.listed, read = read + excluded.read,
                last_epoch_ms = max(last_epoch_ms, excluded.last_epoch_ms)""",
            [
                (number, counts.listed, counts.read, counts.last_epoch_ms or 0)
                for number, counts in seen.items()
                if number % 4 == CODES[kind] and number <= _LAST
            ],
        )
    first = min((counts.last_epoch_ms or 0 for counts in seen.values()), default=0)
    connection.execute("INSERT OR IGNORE INTO py_meta VALUES (?, ?)", (_SINCE, str(first)))


def forget(connection: sqlite3.Connection, gone: Sequence[int]) -> None:
    """Take out records that are no longer there."""
    connection.executemany("DELETE FROM py_recalls WHERE docid = ?", [(number,) for number in gone])


def of(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Recalled]:
    """The counts of records; those that never came back are left out."""
    held = [number for number in numbers if number <= _LAST]
    found = connection.execute(
        f"SELECT docid, listed, read, last_epoch_ms FROM py_recalls WHERE docid IN ({placeholders(held)})", held
    )
    return {number: Recalled(listed=listed, read=read, last_epoch_ms=last) for number, listed, read, last in found}


def since(connection: sqlite3.Connection) -> int | None:
    """When the first recall was counted, epoch ms; None if none ever was."""
    row = connection.execute("SELECT value FROM py_meta WHERE key = ?", (_SINCE,)).fetchone()
    return None if row is None else int(row[0])

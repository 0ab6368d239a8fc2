"""Whether the database is sound and its index complete."""

import sqlite3
from dataclasses import dataclass

_RECORDS = ("observations", "session_summaries", "user_prompts")


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many records there are, how many of them are indexed, and how many wait for it."""

    records: int
    indexed: int
    queued: int


def integrity(connection: sqlite3.Connection) -> str:
    """`ok`, or the first fault that SQLite's quick check finds."""
    row = connection.execute("PRAGMA quick_check(1)").fetchone()
    return str(row[0])


def coverage(connection: sqlite3.Connection) -> Coverage:
    """What of the records is in the index."""
    records = sum(int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) for table in _RECORDS)
    indexed, queued = connection.execute(
        "SELECT (SELECT count(*) FROM py_docs), (SELECT count(DISTINCT docid) FROM py_queue)"
    ).fetchone()
    return Coverage(records, int(indexed), int(queued))

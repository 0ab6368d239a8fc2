"""The original's own full-text tables: whether they are whole, and made anew where they are not.

Our search does not read them; they are kept right because the original's does, and because their triggers run with
each row of ours.
"""

import contextlib
import sqlite3

from worker.store import schema
from worker.store.shape import quoted

Connection = sqlite3.Connection


def faulty(connection: Connection, *, thorough: bool = False) -> list[str]:
    """The full-text tables that are missing, partial, without their triggers, or have another count of rows.

    thorough: compare word for word with the rows as well; reads everything and needs a write transaction.
    """
    there = {row[0]: row[1] for row in connection.execute("SELECT name, sql FROM sqlite_master")}
    return [
        name
        for name in schema.FULLTEXT
        if not (_is_whole(connection, name, there) and (not thorough or is_true(connection, name)))
    ]


def in_the_way(connection: Connection) -> list[str]:
    """The full-text tables whose triggers would refuse every row where FTS5 is missing."""
    triggers = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
    return [name for name in schema.FULLTEXT if triggers & set(schema.triggers(name))]


def detach(connection: Connection, name: str) -> None:
    """Take a full-text table's triggers away; the next start that has FTS5 makes it whole again."""
    for trigger in schema.triggers(name):
        connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")


def make(connection: Connection, name: str) -> None:
    """A full-text table with its triggers, filled."""
    detach(connection, name)
    remove(connection, name)
    connection.execute(schema.fulltext_table(name))
    for statement in schema.triggers(name).values():
        connection.execute(statement)
    connection.execute(f"INSERT INTO {name}({name}) VALUES ('rebuild')")


def _is_whole(connection: Connection, name: str, there: dict[str, str | None]) -> bool:
    table, columns = schema.FULLTEXT[name]
    triggers = schema.triggers(name)
    shadows = [f"{name}_{part}" for part in ("config", "data", "docsize", "idx")]
    if any(each not in there for each in (name, table, *shadows, *triggers)):
        return False
    if any(_plain(there[trigger]) != _plain(sql) for trigger, sql in triggers.items()):
        return False
    try:
        own = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        counts = (connection.execute(f"SELECT count(*) FROM {each}").fetchone()[0] for each in (table, shadows[2]))
        return own == list(columns) and len(set(counts)) == 1
    except sqlite3.DatabaseError:
        return False


def is_true(connection: Connection, name: str) -> bool:
    """Whether a full-text table says word for word what its rows say; asks for a write transaction."""
    try:
        connection.execute(f"INSERT INTO {name}({name}, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError:
        return False
    return True


def remove(connection: Connection, name: str) -> None:
    """Drop a full-text table and all its parts, those of one that cannot be opened too."""
    try:
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    except sqlite3.DatabaseError:
        # It cannot even be opened to be dropped, so only its entry can go.
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
        connection.execute("PRAGMA writable_schema = RESET")
    for part in ("config", "data", "docsize", "idx", "content"):
        with contextlib.suppress(sqlite3.DatabaseError):
            connection.execute(f"DROP TABLE IF EXISTS {quoted(f'{name}_{part}')}")


def _plain(sql: str | None) -> str:
    return "".join((sql or "").lower().replace("if not exists", "").replace('"', "").split()).replace("end;", "end")

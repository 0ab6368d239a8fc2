"""Projects that are one for people: names for what comes (`py_aliases`), and what is there found under another name.

A record keeps the project it was made in; what it was merged into stands beside it, as in the original, and every
search by project looks at both. An alias changes under which project what comes is filed; what was filed under the
alias before is found by either name.
"""

import sqlite3

from worker.contract.errors import Conflict, Invalid, NotFound
from worker.contract.project_name import together as together

TABLES = {
    "py_aliases": "CREATE TABLE py_aliases (alias TEXT PRIMARY KEY, project TEXT NOT NULL) WITHOUT ROWID",
}
_RECORDS = ("observations", "session_summaries")


def named(connection: sqlite3.Connection, project: str) -> str:
    """Under which name what comes from a project is filed: its own, unless it is an alias."""
    row = connection.execute("SELECT project FROM py_aliases WHERE alias = ?", (project,)).fetchone()
    return project if row is None else str(row[0])


def every(connection: sqlite3.Connection) -> dict[str, str]:
    """Alias → project."""
    return {str(row[0]): str(row[1]) for row in connection.execute("SELECT alias, project FROM py_aliases")}


def put(connection: sqlite3.Connection, alias: str, project: str) -> None:
    """What comes from ``alias`` is filed under ``project`` from now on; under its own name again if that is given.

    Errors: ``Conflict`` where an alias would lead to another alias.
    """
    if alias == project:
        connection.execute("DELETE FROM py_aliases WHERE alias = ?", (alias,))
        return
    if (further := named(connection, project)) != project:
        raise Conflict(f"{project!r} is itself an alias, of {further!r}; name that one")
    if connection.execute("SELECT 1 FROM py_aliases WHERE project = ?", (alias,)).fetchone():
        raise Conflict(f"{alias!r} has aliases of its own; give them to {project!r} first")
    connection.execute("INSERT OR REPLACE INTO py_aliases VALUES (?, ?)", (alias, project))


def merge(connection: sqlite3.Connection, source: str, target: str) -> tuple[int, int]:
    """How many observations and summaries of ``source`` are found under ``target`` too, from now on.

    Also those that were merged into ``source`` before. The triggers have our indexes follow.
    Errors: ``Invalid`` for one and the same; ``NotFound`` for a project that has no such record.
    """
    if source == target:
        raise Invalid("a project cannot be merged into itself", field="into")
    known = any(
        connection.execute(
            f"SELECT 1 FROM {table} WHERE project = ? OR merged_into_project = ? LIMIT 1", (source, source)
        ).fetchone()
        for table in _RECORDS
    )
    if not known:
        raise NotFound(f"nothing is filed under {source!r}", field="project")
    counts = [
        connection.execute(
            f"""UPDATE {table} SET merged_into_project = ?1
                WHERE (project = ?2 OR merged_into_project = ?2) AND project <> ?1
                AND merged_into_project IS NOT ?1""",
            (target, source),
        ).rowcount
        for table in _RECORDS
    ]
    return counts[0], counts[1]

"""A table made anew with every row of the old one, its id, and the columns that nobody here knows.

Runs inside the transaction of ``reconcile``, with foreign keys off and SQLite's old way of renaming a table: then
nothing else in the file is touched by it.
"""

import sqlite3

from worker.contract.errors import Unavailable
from worker.store import schema
from worker.store.shape import Column, Table, quoted

_NEW = "py_new_table"
_ALIASES = {new: old for old, new in schema.RENAMED.items()}
_MOMENT = {"sdk_sessions": "started_at_epoch"}


def rebuild(connection: sqlite3.Connection, name: str, want: Table, real: Table) -> None:
    """Put a table as it is wanted in the place of one that is not so. Errors: ``Unavailable`` when rows are missing."""
    connection.execute(schema.table(name, under=_NEW))
    extra = _extra_columns(name, want, real)
    for column in extra:
        connection.execute(f"ALTER TABLE {_NEW} ADD COLUMN {column.definition}")
    values = {quoted(column.name): _value(column, want, real) for column in want.columns.values()}
    values |= {quoted(column.name): f"o.{quoted(column.name)}" for column in extra}
    kept = f"WHERE {schema.KEPT[name]}" if name in schema.KEPT else ""
    # Version rows are the only ones of which one may stand for two.
    verb = "INSERT OR IGNORE" if name == "schema_versions" else "INSERT"
    into, taken = ", ".join(values), ", ".join(values.values())
    connection.execute(f"{verb} INTO {_NEW} ({into}) SELECT {taken} FROM {name} o {kept} ORDER BY rowid")
    counted = f"SELECT (SELECT count(*) FROM {name} {kept}), (SELECT count(*) FROM {_NEW})"
    before, after = connection.execute(counted).fetchone()
    if before != after and name != "schema_versions":
        raise Unavailable(f"{name} has {before} rows and only {after} could be carried over; nothing was changed")
    sequence = _sequence(connection, name)
    connection.execute(f"DROP TABLE {name}")
    connection.execute(f"ALTER TABLE {_NEW} RENAME TO {name}")
    if sequence:
        _advance(connection, name, sequence)


def _extra_columns(name: str, want: Table, real: Table) -> list[Column]:
    """What the old table has beyond the wanted one, made so that it never refuses a row."""
    dropped = {*schema.RETIRED.get(name, ()), *(_ALIASES[new] for new in want.columns if _replaced(new, real))}
    return [
        Column(column.name, column.type, column.required and column.default is not None, column.default, False)
        for column in real.columns.values()
        if column.name not in want.columns and column.name not in dropped
    ]


def _replaced(new: str, real: Table) -> bool:
    return new in _ALIASES and _ALIASES[new] in real.columns and new not in real.columns


def _value(column: Column, want: Table, real: Table) -> str:
    """SQL for a column's value out of a row ``o`` of the old table."""
    names = [name for name in (column.name, _ALIASES.get(column.name)) if name in real.columns]
    sources = [f"o.{quoted(name)}" for name in names if name]
    empty = column.default or ("0" if column.type == "INTEGER" else "''")
    if not sources:
        return (empty if column.required else column.default) or "NULL"
    value = sources[0] if len(sources) == 1 else f"coalesce({', '.join(sources)})"
    if column.name in schema.COUNTED_IN_TEXT:
        whole = f"CAST({value} AS INTEGER)"
        value = (
            f"CASE WHEN typeof({value}) = 'text' THEN {value} WHEN {whole} > 0 THEN CAST({whole} AS TEXT) ELSE '1' END"
        )
    if column.required and not column.primary:
        value = f"coalesce({value}, {empty})"
    if column.name in want.choices:
        allowed = sorted(want.choices[column.name])
        value = f"CASE WHEN {value} IN ({', '.join(allowed)}) THEN {value} ELSE {column.default or allowed[0]} END"
    key = (column.name,)
    if key in want.constraints and key not in real.unique and not column.required and not column.primary:
        # Which of two sessions of one id is meant, nobody can tell: the older one keeps it.
        value = f"CASE WHEN row_number() OVER (PARTITION BY {value} ORDER BY o.rowid) = 1 THEN {value} END"
    return value


def is_leftover(connection: sqlite3.Connection, name: str, tables: set[str]) -> bool:
    """Whether one of the tables was left by a migration; where rows have no ids it is somebody's own."""
    return name in tables and "id" in _columns(connection, name)


def fold_leftover(connection: sqlite3.Connection, name: str) -> None:
    """Clear away `<name>_new`, left by a migration that was cut off; rows that are nowhere else come over first.

    A leftover of the table's own past is a copy and goes: a row that it alone has was deleted since. One that the
    table does not come from (the table was made empty after a crash) holds the only copy.
    """
    leftover = f"{name}_new"
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if name not in there:
        sequence = _sequence(connection, leftover)
        connection.execute(f"ALTER TABLE {leftover} RENAME TO {name}")
        _advance(connection, name, sequence)
        return
    if _is_copy(connection, name):
        connection.execute(f"DROP TABLE {leftover}")
        return
    shared = _shared(connection, name)
    into = ", ".join(quoted(column) for column, _ in shared)
    values = ", ".join(f"o.{quoted(source)}" for _, source in shared)
    moment = _moment(connection, name)
    absent = (
        f"NOT EXISTS (SELECT 1 FROM {name} r WHERE r.id = o.id AND r.{moment} = o.{moment})" if moment else
        f"NOT EXISTS (SELECT 1 FROM {name} r WHERE r.id = o.id)"
    )  # fmt: skip
    number = f"CASE WHEN EXISTS (SELECT 1 FROM {name} r WHERE r.id = o.id) THEN NULL ELSE o.id END"
    (wanted,) = connection.execute(f"SELECT count(*) FROM {leftover} o WHERE {absent}").fetchone()
    # Those that keep their number come first, or a new number could be one of theirs.
    made = connection.execute(
        f"INSERT OR IGNORE INTO {name} (id, {into}) SELECT {number} AS number, {values} FROM {leftover} o "
        f"WHERE {absent} ORDER BY number IS NULL, o.id"
    )
    if made.rowcount == wanted:
        connection.execute(f"DROP TABLE {leftover}")
    else:
        # A row was refused for repeating another in what must not repeat; it may be more than a repetition.
        connection.execute(f"ALTER TABLE {leftover} RENAME TO {_free_name(connection, name)}")


def _free_name(connection: sqlite3.Connection, name: str) -> str:
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    return next(each for number in range(1, 1_000) if (each := f"py_kept_{name}_{number}") not in there)


def _is_copy(connection: sqlite3.Connection, name: str) -> bool:
    """Whether a table descends from what its leftover was copied from."""
    moment = _moment(connection, name)
    if moment:
        other = f"SELECT 1 FROM {name} r JOIN {name}_new o ON o.id = r.id WHERE o.{moment} <> r.{moment} LIMIT 1"
        if connection.execute(other).fetchone():
            return False
    highest = connection.execute(f"SELECT coalesce(max(id), 0) FROM {name}_new").fetchone()[0]
    own = connection.execute(f"SELECT coalesce(max(id), 0) FROM {name}").fetchone()[0]
    return bool(highest <= max(own, _sequence(connection, name)))


def _moment(connection: sqlite3.Connection, name: str) -> str | None:
    column = _MOMENT.get(name, "created_at_epoch")
    sides = (_columns(connection, name), _columns(connection, f"{name}_new"))
    return column if all(column in side for side in sides) else None


def _shared(connection: sqlite3.Connection, name: str) -> list[tuple[str, str]]:
    """(column of the table, column of its leftover) for all that both have, by whatever name; not the id."""
    old = _columns(connection, f"{name}_new")
    return [
        (column, source)
        for column in _columns(connection, name)
        for source in (column, _ALIASES.get(column), schema.RENAMED.get(column))
        if source in old and column != "id"
    ]


def _columns(connection: sqlite3.Connection, name: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({quoted(name)})")]


def _sequence(connection: sqlite3.Connection, name: str) -> int:
    """The highest id that a table ever gave."""
    if not _columns(connection, "sqlite_sequence"):
        return 0
    row = connection.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = ?", (name,)).fetchone()
    return int(row[0] or 0)


def _advance(connection: sqlite3.Connection, name: str, sequence: int) -> None:
    """No id is given twice, of deleted rows neither."""
    if not _columns(connection, "sqlite_sequence"):
        return
    if connection.execute("SELECT 1 FROM sqlite_sequence WHERE name = ?", (name,)).fetchone() is None:
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, sequence))
    connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (sequence, name))


LEFTOVERS = (*schema.MAIN, "pending_messages")
"""Tables that the original makes anew under `<name>_new`."""

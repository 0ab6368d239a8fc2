"""What a table of a file really looks like, and whether it will do for the one that is wanted.

Read from SQLite's own pragmas, never from version rows: the wanted shapes come the same way, from a scratch database
made of ``schema``.
"""

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from worker.store import schema

Key = tuple[str, ...]

_BARE = re.compile(r"""[+-]?[\w.]+(?:[eE][+-]?\d+)?|[xX]?'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
"""Defaults that may stand without parentheses. SQLite takes those of all others away and does not add them again."""
_CHOICE = re.compile(r"CHECK\s*\(\s*[\"`\[]?(\w+)[\"`\]]?\s+IN\s*\(([^)]*)\)\s*\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """One column. required: NOT NULL. default: as SQL, an expression without its parentheses."""

    name: str
    type: str
    required: bool
    default: str | None
    primary: bool

    @property
    def definition(self) -> str:
        """How it is declared when it is added later."""
        return " ".join(
            (quoted(self.name), self.type, *(["NOT NULL"] if self.required else []),
             *([f"DEFAULT {self._default}"] if self.default is not None else []))
        )  # fmt: skip

    @property
    def _default(self) -> str:
        text = self.default or ""
        return text if _BARE.fullmatch(text) else f"({text})"


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    foreign_keys: (parent, on update, on delete, column, parent's column, …). constraints: columns that are unique by
    the table's own definition; unique: by any index over all rows. choices: values that a CHECK allows, by column.
    """

    columns: dict[str, Column]
    foreign_keys: frozenset[Key]
    constraints: frozenset[Key]
    unique: frozenset[Key]
    choices: dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Index:
    """An index: unique, its columns with their order, its condition."""

    unique: bool
    columns: tuple[tuple[str | None, int], ...]
    where: str


def wanted() -> tuple[dict[str, Table], dict[str, Index]]:
    """The tables and the indexes of a finished database."""
    with contextlib.closing(sqlite3.connect(":memory:")) as scratch:
        for statement in schema.statements(fulltext=False):
            scratch.execute(statement)
        tables = {name: _table(scratch, name) for name in schema.TABLES}
        return tables, {name: index(scratch, name) for name in (*schema.INDEXES, *schema.UNIQUE_INDEXES)}


def present(connection: sqlite3.Connection) -> dict[str, Table]:
    """The tables of ``schema`` that a file has."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {row[0]: _table(connection, row[0]) for row in found if row[0] in schema.TABLES}


def index(connection: sqlite3.Connection, name: str) -> Index:
    """The shape of an index that is there."""
    sql: str = connection.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?", (name,)
    ).fetchone()[0]
    unique = re.match(r"\s*CREATE\s+UNIQUE", sql, re.IGNORECASE) is not None
    found = connection.execute(f"PRAGMA index_xinfo({quoted(name)})").fetchall()
    columns = tuple((row[2], row[3]) for row in found if row[5])
    where = re.split(r"\bWHERE\b", sql, maxsplit=1, flags=re.IGNORECASE)[1:]
    return Index(unique, columns, " ".join("".join(where).lower().split()))


def _table(connection: sqlite3.Connection, name: str) -> Table:
    sql = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)).fetchone()[0]
    columns = [
        Column(row[1], row[2].upper(), bool(row[3]), row[4], bool(row[5]))
        for row in connection.execute(f"PRAGMA table_info({name})")
    ]
    keys: dict[int, Key] = {}
    for row in connection.execute(f"PRAGMA foreign_key_list({name})"):
        keys[row[0]] = (*keys.get(row[0], (row[2], row[5], row[6])), row[3], row[4] or "id")
    unique = [
        (row[3], tuple(sorted(str(part[2]) for part in connection.execute(f"PRAGMA index_info({quoted(row[1])})"))))
        for row in connection.execute(f"PRAGMA index_list({name})")
        if row[2] and not row[4]
    ]
    return Table(
        columns={column.name: column for column in columns},
        foreign_keys=frozenset(keys.values()),
        constraints=frozenset(key for origin, key in unique if origin != "c"),
        unique=frozenset(key for _, key in unique),
        choices={column: frozenset(_literals(listed)) for column, listed in _CHOICE.findall(sql)},
    )


def _literals(listed: str) -> Iterator[str]:
    return (part.strip() for part in listed.split(","))


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def addable(want: Table, real: Table) -> list[Column]:
    """The columns that are missing and that SQLite can add where the table stands."""
    missing = [column for name, column in want.columns.items() if name not in real.columns]
    return [column for column in missing if _can_be_added(column, want)]


def _can_be_added(column: Column, want: Table) -> bool:
    return not (
        column.primary
        or (column.required and column.default is None)
        or any(column.name in key for key in want.constraints)
        or any(column.name in key[3::2] for key in want.foreign_keys)
    )


def faults(want: Table, real: Table, retired: tuple[str, ...] = ()) -> list[str]:
    """Why a table must be made anew; empty when it will do, with columns added at most.

    A column that nobody here knows is no fault, nor is a rule that refuses nothing that the wanted one allows.
    """
    found = [
        f"{name} is called {old}"
        for old, name in schema.RENAMED.items()
        if old in real.columns and name in want.columns and name not in real.columns
    ]
    found += [f"{name} is no longer kept" for name in retired if name in real.columns]
    found += [
        f"{column.name} is missing"
        for name, column in want.columns.items()
        if name not in real.columns and not _can_be_added(column, want)
    ]
    found += [
        f"{name} counts in {real.columns[name].type or 'anything'}"
        for name in schema.COUNTED_IN_TEXT
        if name in want.columns and name in real.columns and "CHAR" not in real.columns[name].type
        and "TEXT" not in real.columns[name].type
    ]  # fmt: skip
    found += refusals(want, real)
    found += [f"no foreign key {' '.join(key)}" for key in sorted(want.foreign_keys - real.foreign_keys)]
    surplus = [key for key in sorted(real.foreign_keys - want.foreign_keys) if set(key[3::2]) <= set(want.columns)]
    found += [f"a foreign key {' '.join(key)}" for key in surplus]
    return found + [f"{', '.join(key)} may repeat" for key in sorted(want.constraints - real.unique)]


def refusals(want: Table, real: Table) -> list[str]:
    """What a table refuses that the wanted one takes."""
    found = [f"{column.name} refuses NULL" for column in real.columns.values() if _too_strict(column, want)]
    found += [
        f"{name} refuses values"
        for name, allowed in real.choices.items()
        if name in want.columns and not (name in want.choices and want.choices[name] <= allowed)
    ]
    surplus = [key for key in sorted(real.constraints - want.constraints) if set(key) <= set(want.columns)]
    return found + [f"{', '.join(key)} must not repeat" for key in surplus]


def _too_strict(column: Column, want: Table) -> bool:
    """Whether a row as we or the original write it would be refused for this column's NULL."""
    if not column.required or column.primary:
        return False
    other = want.columns.get(column.name)
    if other is None:
        return column.default is None
    return not other.required or (column.default is None and other.default is not None)

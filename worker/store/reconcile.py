"""An older database brought to the form in ``schema``: looked at, copied, changed in one transaction.

What the tables really look like decides; version rows are written, hardly ever read. A database of a newer version
than ``schema`` knows is left as it is. Cut off at any point, the file is as it was and the next start begins anew;
run on a finished database it writes nothing.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from worker.contract.errors import Unavailable
from worker.store import backup, migrations, originals, rebuild, schema, shape
from worker.store.shape import Column, Index, Table, quoted

_log = logging.getLogger("worker.store")
Connection = sqlite3.Connection
_NAMED = 4
_WRITTEN = (*schema.MAIN, "pending_messages", "tool_uses")
"""The original's tables in which rows of ours are."""


@dataclass(slots=True)
class Plan:
    """What a file lacks. anew: table → why it must be made anew. versions: rows that are missing."""

    leftovers: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    anew: dict[str, list[str]] = field(default_factory=dict)
    columns: list[tuple[str, Column]] = field(default_factory=list)
    changes: list[migrations.Migration] = field(default_factory=list)
    indexes: list[str] = field(default_factory=list)
    fulltext: list[str] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)

    @property
    def structure(self) -> bool:
        """Whether tables have not the wanted form, so that their data cannot be looked at yet."""
        return bool(self.leftovers or self.tables or self.anew or self.columns)

    @property
    def touches_records(self) -> bool:
        """Whether something is done that a copy would be wanted of; what can be made out of the rows is not."""
        return self.structure or bool(self.changes or self.versions)

    def __bool__(self) -> bool:
        return self.touches_records or bool(self.indexes or self.fulltext)

    def told(self) -> str:
        """In a few words, for the log: what is few by name, the rest as how many there are."""
        parts = [f"{name} anew ({'; '.join(why)})" for name, why in self.anew.items()]
        parts += _few("columns", [f"{table}.{column.name}" for table, column in self.columns])
        parts += [change.what for change in self.changes]
        named = {
            "tables": self.tables,
            "indexes": self.indexes,
            "full text": self.fulltext,
            "left over": self.leftovers,
        }
        for what, names in named.items():
            parts += _few(what, names)
        return ", ".join(parts) or "notes of what was done before"


def _few(what: str, names: Sequence[str]) -> list[str]:
    return list(names) if len(names) <= _NAMED else [f"{len(names)} {what}"]


def reconcile(
    connection: Connection,
    path: Path,
    *,
    fulltext: bool,
    reader: Callable[[], Connection],
    free: Callable[[Path], int] = backup.free_bytes,
) -> None:
    """Bring a file to the wanted form, a new one too.

    connection: in no transaction. fulltext: whether this SQLite has FTS5. reader: opens another connection to the
    same file, for the copy. Errors: ``Unavailable`` with the reason, and nothing was changed.
    """
    tables, indexes = shape.wanted()
    if _is_newer(connection):
        _refuse_unreadable(connection, tables)
        return
    # The full comparison reads everything, so it is made where nobody vouched for the file before us.
    thorough = not _ours(connection)
    if not plan(connection, tables, indexes, fulltext=fulltext) and not thorough:
        return
    with _bare(connection):
        # Another process may have been a moment faster, so the look that counts is taken under the lock.
        needed = plan(connection, tables, indexes, fulltext=fulltext, thorough=thorough)
        if not needed:
            return
        copied = None
        if needed.touches_records and any(_has_rows(connection, name) for name in schema.MAIN):
            copied = _copy(connection, path, needed, reader, free)
        new = set(needed.tables) == set(tables)
        _log.info("%s: %s", "making the database" if new else "bringing the database up to date", needed.told())
        try:
            _carry_out(connection, needed, tables, indexes, fulltext=fulltext)
        except BaseException:
            # The file stays as it is, and every start fails anew: a copy each time would fill the disk.
            if copied is not None:
                copied.unlink()
            raise


def is_finished(connection: Connection, *, fulltext: bool) -> bool:
    """Whether ``reconcile`` would leave the file as it is; reads only."""
    tables, indexes = shape.wanted()
    return _is_newer(connection) or (_ours(connection) and not plan(connection, tables, indexes, fulltext=fulltext))


def refusal(connection: Connection) -> str:
    """What cannot be written to a newer database, though it can be read, as a sentence; empty when all can be."""
    if not _is_newer(connection):
        return ""
    tables, _ = shape.wanted()
    found = [
        f"{name}: {'; '.join(why)}"
        for name, real in shape.present(connection).items()
        if name in _WRITTEN and (why := shape.refusals(tables[name], real))
    ]
    if not found:
        return ""
    return (
        f"this database was made by a newer claude-mem than this program knows; it can be read, and not be written as "
        f"before ({', '.join(found)}). Bring this program up to date"
    )


def plan(
    connection: Connection,
    tables: dict[str, Table],
    indexes: dict[str, Index],
    *,
    fulltext: bool,
    thorough: bool = False,
) -> Plan:
    """What is to be done; reads only, unless thorough, which asks for a write transaction."""
    made = _structure(connection, tables)
    rows = _versions(connection)
    made.versions = [version for version in schema.VERSIONS if version not in rows]
    made.changes = [] if made.structure else migrations.due(connection, rows)
    made.indexes = [name for name, index in indexes.items() if _found(connection, name) != index]
    made.fulltext = originals.faulty(connection, thorough=thorough) if fulltext else originals.in_the_way(connection)
    return made


def _structure(connection: Connection, tables: dict[str, Table]) -> Plan:
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    made = Plan(leftovers=[name for name in rebuild.LEFTOVERS if rebuild.is_leftover(connection, f"{name}_new", there)])
    present = shape.present(connection)
    made.tables = [name for name in tables if name not in present]
    for name, real in present.items():
        why = shape.faults(tables[name], real, schema.RETIRED.get(name, ()))
        if why:
            made.anew[name] = why
        else:
            made.columns += [(name, column) for column in shape.addable(tables[name], real)]
    return made


def _carry_out(
    connection: Connection, needed: Plan, tables: dict[str, Table], indexes: dict[str, Index], *, fulltext: bool
) -> None:
    kept = _own_statements(connection)
    for name in needed.fulltext:
        originals.detach(connection, name)
    for name in needed.leftovers:
        rebuild.fold_leftover(connection, name)
    for name in _structure(connection, tables).tables:
        connection.execute(schema.table(name))
    for name, real in shape.present(connection).items():
        if shape.faults(tables[name], real, schema.RETIRED.get(name, ())):
            rebuild.rebuild(connection, name, tables[name], real)
        for column in shape.addable(tables[name], shape.present(connection)[name]):
            connection.execute(f"ALTER TABLE {name} ADD COLUMN {column.definition}")
    _index(connection, {name: index for name, index in indexes.items() if not index.unique})
    for migration in migrations.due(connection, _versions(connection)):
        migration.carry_out(connection)
    _index(connection, indexes)
    if fulltext:
        for name in originals.faulty(connection):
            originals.make(connection, name)
    _restore(connection, kept)
    stamp = (
        "INSERT OR IGNORE INTO schema_versions (version, applied_at) VALUES (?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))"
    )
    connection.executemany(stamp, [(version,) for version in schema.VERSIONS])
    for name in tables:
        if row := connection.execute(f"PRAGMA foreign_key_check({name})").fetchone():
            raise Unavailable(f"row {row[1]} of {row[0]} would have no {row[2]} any more; nothing was changed")


def _index(connection: Connection, indexes: dict[str, Index]) -> None:
    for name, index in indexes.items():
        if _found(connection, name) != index:
            connection.execute(f"DROP INDEX IF EXISTS {name}")
            connection.execute(schema.index(name))


def _found(connection: Connection, name: str) -> Index | None:
    there = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?", (name,)).fetchone()
    return shape.index(connection, name) if there else None


def _own_statements(connection: Connection) -> dict[str, str]:
    """Indexes and triggers that neither the original nor we made: name → what creates it."""
    ours = {
        *schema.INDEXES,
        *schema.UNIQUE_INDEXES,
        *(name for one in schema.FULLTEXT for name in schema.triggers(one)),
    }
    found = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL"
    )
    return {row[0]: row[1] for row in found if row[0] not in ours and not row[0].startswith("py_")}


def _restore(connection: Connection, kept: dict[str, str]) -> None:
    """Make again what went with a table; what no longer fits it stays away, and is told."""
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    for name, sql in kept.items():
        if name in there:
            continue
        try:
            connection.execute(sql)
        except sqlite3.OperationalError as error:
            _log.warning("%s does not fit the table any more and is left out: %s", quoted(name), error)


def _copy(
    connection: Connection, path: Path, needed: Plan, reader: Callable[[], Connection], free: Callable[[Path], int]
) -> Path:
    if (fault := connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
        raise Unavailable(f"the database {path} is damaged and was left as it is: {fault}")
    with closing(reader()) as source:
        made = backup.copy(source, path, str(min(needed.versions, default="repair")), free=free)
    _log.info("the database as it was is kept in %s", made)
    return made


def _is_newer(connection: Connection) -> bool:
    return max(_versions(connection), default=0) > schema.VERSIONS[-1]


def _refuse_unreadable(connection: Connection, tables: dict[str, Table]) -> None:
    """Errors: ``Unavailable`` when a newer database has not what we read any more."""
    present = shape.present(connection)
    for name in schema.MAIN:
        missing = sorted(set(tables[name].columns) - set(present[name].columns if name in present else ()))
        if missing:
            raise Unavailable(
                f"this database was made by a newer claude-mem than this program knows (its {name} lack "
                f"{', '.join(missing)}); bring this program up to date. Nothing was changed"
            )


def _versions(connection: Connection) -> set[int]:
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'schema_versions'").fetchone() is None:
        return set()
    return {row[0] for row in connection.execute("SELECT version FROM schema_versions") if isinstance(row[0], int)}


def _ours(connection: Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'py_meta'").fetchone() is not None


def _has_rows(connection: Connection, name: str) -> bool:
    there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    return there is not None and connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() is not None


@contextmanager
def _bare(connection: Connection) -> Iterator[None]:
    """One transaction in which tables can be taken away and put back; all of it or nothing."""
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("PRAGMA legacy_alter_table = ON")
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    finally:
        connection.execute("PRAGMA legacy_alter_table = OFF")
        connection.execute("PRAGMA foreign_keys = ON")

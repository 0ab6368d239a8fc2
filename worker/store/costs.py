"""Tokens of the records that pass some filters, summed in a few ways; and of what was recalled of them."""

import sqlite3
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from worker.store import axis, shares
from worker.store.axis import Run
from worker.store.filters import Condition
from worker.store.memo import remembered
from worker.store.rows import placeholders

_LINE_BYTES = 300
"""What a remembered line takes."""


@dataclass(frozen=True, slots=True)
class Sums:
    """Of some records. recalled_work: what cost those that came back; back_work: those that came back in full."""

    records: int = 0
    read: int = 0
    work: int = 0
    recalled: int = 0
    recalled_work: int = 0
    back: int = 0
    back_tokens: int = 0
    back_work: int = 0

    def __add__(self, other: "Sums") -> "Sums":
        """Of both."""
        return Sums(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


_SPENT = "count(*), total(d.read_tokens), total(d.discovery_tokens)"
_SPENT_LESS = f"0, 0, total({shares.LESS})"
_CAME_BACK = """count(*), total(d.discovery_tokens), total(r.read > 0), total(r.read * d.read_tokens),
    total(CASE WHEN r.read > 0 THEN d.discovery_tokens END)"""
_CAME_BACK_LESS = f"0, total({shares.LESS}), 0, 0, total(CASE WHEN r.read > 0 THEN {shares.LESS} END)"
# CROSS JOIN: what was recalled is the narrower door.
_RECALLED = "FROM py_recalls r CROSS JOIN py_docs d ON d.docid = r.docid"
_RECALLED_PARTS = f"{shares.OF_PARTS} CROSS JOIN py_recalls r ON r.docid = d.docid"


def by_project_and_type(connection: sqlite3.Connection, where: Condition) -> dict[tuple[str, str], Sums]:
    """The sums for each project and type."""
    found = _summed(connection, where, "d.project", "d.type")
    return {(str(project), str(kind)): sums for (project, kind), sums in found.items()}


def by_day(connection: sqlite3.Connection, where: Condition, days: Sequence[Run]) -> dict[int, Sums]:
    """The sums for each day, by a moment in it. days: those that are looked at."""
    within = Condition(f"{where.sql} AND {axis.within(days)}", where.values)
    return {int(str(day)): sums for (day,), sums in _summed(connection, within, axis.bucket(days)).items()}


def by_session(connection: sqlite3.Connection, where: Condition, most: int) -> tuple[dict[str, Sums], int]:
    """The sums for the sessions that cost most, those first; and how many sessions there are in all."""
    key = ("costly", most, where.sql, *where.values)
    costly, count = remembered(connection, key, lambda: _costly(connection, where, most), lambda _: most * _LINE_BYTES)
    if not costly:
        return {}, 0
    narrowed = Condition(f"{where.sql} AND d.session IN ({placeholders(costly)})", (*where.values, *costly))
    sums = {str(session): of for (session,), of in _summed(connection, narrowed, "d.session").items()}
    return {session: sums[session] for session in costly if session in sums}, count


def span(connection: sqlite3.Connection, where: Condition) -> tuple[int | None, int | None]:
    """The first and the last moment, epoch ms."""
    first, last = (
        connection.execute(
            f"SELECT d.epoch FROM py_docs d WHERE {where.sql} ORDER BY d.epoch {way} LIMIT 1", where.values
        ).fetchone()
        for way in ("ASC", "DESC")
    )
    return (None, None) if first is None or last is None else (first[0], last[0])


def _costly(connection: sqlite3.Connection, where: Condition, most: int) -> tuple[list[str], int]:
    found = connection.execute(
        f"""{shares.WITH_PARTS} SELECT session, count(*) OVER () FROM (
                SELECT d.session, d.discovery_tokens AS work, d.epoch FROM py_docs d WHERE {where.sql}
                UNION ALL SELECT d.session, {shares.LESS}, d.epoch {shares.OF_PARTS} WHERE {where.sql})
            WHERE session IS NOT NULL GROUP BY session ORDER BY sum(work) DESC, max(epoch) DESC, session LIMIT ?""",
        (*where.values, *where.values, most),
    ).fetchall()
    return [row[0] for row in found], found[0][1] if found else 0


def _summed(connection: sqlite3.Connection, where: Condition, *columns: str) -> dict[tuple[object, ...], Sums]:
    """The sums for each value of some columns.

    What was spent is remembered as long as the index stays as it is; what came back changes without it.
    """
    listed, width = ", ".join(columns), len(columns)

    def grouped(sums: str, source: str, before: str = "") -> list[tuple[object, ...]]:
        found = connection.execute(
            f"{before} SELECT {listed}, {sums} {source} WHERE {where.sql} GROUP BY {listed}", where.values
        )
        return [tuple(row) for row in found]

    def added(sums: str, source: str, less: str, of_parts: str) -> dict[tuple[object, ...], list[int]]:
        found = {row[:width]: list(map(_whole, row[width:])) for row in grouped(sums, source)}
        for row in grouped(less, of_parts, shares.WITH_PARTS) if _has_parts(connection) else ():
            if row[:width] in found:
                found[row[:width]] = [
                    one + _whole(more) for one, more in zip(found[row[:width]], row[width:], strict=True)
                ]
        return found

    key = ("spent", listed, where.sql, *where.values)
    spent = remembered(
        connection,
        key,
        lambda: added(_SPENT, "FROM py_docs d", _SPENT_LESS, shares.OF_PARTS),
        lambda made: _LINE_BYTES * len(made),
    )
    back = added(_CAME_BACK, _RECALLED, _CAME_BACK_LESS, _RECALLED_PARTS)
    return {group: Sums(*sums, *back.get(group, ())) for group, sums in spent.items()}


def _has_parts(connection: sqlite3.Connection) -> bool:
    sql = f"{shares.WITH_PARTS} SELECT 1 FROM parts LIMIT 1"
    return remembered(connection, ("has parts",), lambda: connection.execute(sql).fetchone() is not None)


def _whole(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0

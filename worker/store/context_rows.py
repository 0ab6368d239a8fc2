"""The records that a session start chooses from."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from worker.contract.records import Observation, Record, RecordKey, RecordKind, Summary
from worker.store import given, records, search_index, shares
from worker.store.given import Wishes
from worker.store.rows import CODES, placeholders

R = TypeVar("R", Observation, Summary)

_OBSERVATION, _SUMMARY = CODES[RecordKind.OBSERVATION], CODES[RecordKind.SUMMARY]
_LATEST = 30
"""Of sub-agents, which leave many records of little use to others."""


@dataclass(frozen=True, slots=True)
class Looked:
    """observations, summaries: newest first. read: tokens to read each observation, by id. wishes: by docid.

    before: docids of what the last session of the project was given. hidden: fitting observations not looked at.
    shared: ids of observations whose costs are parts already.
    """

    observations: tuple[Observation, ...]
    summaries: tuple[Summary, ...]
    read: dict[int, int]
    wishes: Wishes
    before: frozenset[int]
    hidden: int
    shared: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records. projects: their own or merged into them; the last is the one that starts. platform: None for all.

    types, concepts: in lower case; empty for all. observations, summaries: at most so many.
    """

    projects: tuple[str, ...]
    platform: str | None = None
    types: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    observations: int = 200
    summaries: int = 4


def look(connection: sqlite3.Connection, wanted: Wanted) -> Looked:
    """What there is to choose from: the newest, some of sub-agents, and what is pinned, however old."""
    where, values = _where(wanted)
    observed = f"{where} AND d.kind = {_OBSERVATION}"
    wishes = given.wishes(connection)
    narrowed, more = _narrowed(wanted)
    source = f"FROM py_docs d JOIN observations o ON o.id = d.record_id WHERE {observed}{narrowed}"
    newest = "ORDER BY d.epoch DESC, d.record_id DESC LIMIT ?"
    numbers: set[int] = set()
    looked_for = [("= ''", wanted.observations)]
    # Where there are none, looking for them would pass over every row.
    if connection.execute("SELECT 1 FROM observations WHERE agent_id > '' LIMIT 1").fetchone():
        looked_for.append(("<> ''", min(_LATEST, wanted.observations)))
    for test, limit in looked_for:
        sql = f"SELECT d.docid {source} AND coalesce(o.agent_id, '') {test} {newest}"
        numbers |= {row[0] for row in connection.execute(sql, (*values, *more, limit))}
    if wishes.pinned:
        marks = placeholders(sorted(wishes.pinned))
        sql = f"SELECT d.docid FROM py_docs d WHERE {observed} AND d.docid IN ({marks})"
        numbers |= {row[0] for row in connection.execute(sql, (*values, *sorted(wishes.pinned)))}
    counted = f"SELECT count(*) FROM py_docs d WHERE {observed}{narrowed}"
    total = connection.execute(counted, (*values, *more)).fetchone()[0]
    sql = f"SELECT d.docid FROM py_docs d WHERE {where} AND d.kind = {_SUMMARY} {newest}"
    summaries = [row[0] for row in connection.execute(sql, (*values, wanted.summaries))]
    found = records.by_keys(connection, [search_index.key(number) for number in (*numbers, *summaries)])
    observations = _newest(found, Observation)
    return Looked(
        observations=observations,
        summaries=_newest(found, Summary),
        read=_read_tokens(connection, sorted(numbers)),
        wishes=wishes,
        before=given.given(connection, f"project:{wanted.projects[-1]}"),
        hidden=max(0, total - len(numbers)),
        shared=shares.shared_out(connection, [record.id for record in observations]),
    )


def content_ids(connection: sqlite3.Connection, memory_session_ids: Sequence[str]) -> dict[str, str]:
    """The agent's own names of sessions, by the ids that their records stand under."""
    found = connection.execute(
        f"""SELECT memory_session_id, content_session_id FROM sdk_sessions
            WHERE memory_session_id IN ({placeholders(memory_session_ids)})""",
        tuple(memory_session_ids),
    )
    return {str(row[0]): str(row[1]) for row in found}


def _where(wanted: Wanted) -> tuple[str, list[object]]:
    marks = placeholders(wanted.projects)
    sql = f"(d.project IN ({marks}) OR d.merged IN ({marks}))"
    values: list[object] = [*wanted.projects, *wanted.projects]
    if wanted.platform:
        sql += " AND d.platform = ?"
        values.append(wanted.platform)
    return sql, values


def _narrowed(wanted: Wanted) -> tuple[str, list[object]]:
    """The filters of observations alone."""
    sql = ""
    if wanted.types:
        sql += f" AND d.type COLLATE NOCASE IN ({placeholders(wanted.types)})"
    if wanted.concepts:
        marks = placeholders(wanted.concepts)
        sql += f" AND d.docid IN (SELECT docid FROM py_concepts WHERE lower(concept) IN ({marks}))"
    return sql, [*wanted.types, *wanted.concepts]


def _newest(found: dict[RecordKey, Record], kind: type[R]) -> tuple[R, ...]:
    mine = [record for record in found.values() if isinstance(record, kind)]
    return tuple(sorted(mine, key=lambda record: (record.created_at_epoch, record.id), reverse=True))


def _read_tokens(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, int]:
    found = connection.execute(
        f"SELECT record_id, read_tokens FROM py_docs WHERE docid IN ({placeholders(numbers)})", numbers
    )
    return {row[0]: row[1] for row in found}

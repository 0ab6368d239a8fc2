"""Pure: the filters of a question as a condition on ``py_docs d`` and its parameters."""

from collections.abc import Sequence
from dataclasses import dataclass

from worker.contract.records import RecordKind
from worker.contract.search import SearchQuery
from worker.store.rows import CODES, placeholders

INTERNAL_PROJECT = "observer-sessions"
"""Where the original's own extraction sessions go; shown only to those who ask for it by name."""

_OBSERVATION, _SUMMARY = CODES[RecordKind.OBSERVATION], CODES[RecordKind.SUMMARY]


@dataclass(frozen=True, slots=True)
class Condition:
    """SQL that is true for the wanted rows of ``py_docs d``, and its parameters in order.

    narrow: whether it asks for more than what everybody is shown.
    """

    sql: str
    values: tuple[object, ...]
    narrow: bool = True


def condition(query: SearchQuery) -> Condition:
    """All filters of a query; its words are not among them."""
    parts: list[tuple[str, Sequence[object]]] = [_scope(query.project)]
    if query.platform_source:
        parts.append(("d.platform = ?", [query.platform_source]))
    if query.since_epoch_ms is not None:
        parts.append(("d.epoch >= ?", [query.since_epoch_ms]))
    if query.until_epoch_ms is not None:
        parts.append(("d.epoch <= ?", [query.until_epoch_ms]))
    if query.kinds:
        parts.append((f"d.kind IN ({placeholders(query.kinds)})", [CODES[kind] for kind in query.kinds]))
    if query.types:
        parts.append((f"d.type IN ({placeholders(query.types)})", query.types))
    if query.concepts:
        parts.append((_CONCEPTS.format(marks=placeholders(query.concepts)), query.concepts))
    if query.files:
        parts.append(_files(query.files))
    sql = " AND ".join(sql for sql, _ in parts)
    values = tuple(value for _, values in parts for value in values)
    return Condition(sql, values, narrow=len(parts) > 1 or query.project is not None)


def scope(project: str | None, platform_source: str | None = None) -> Condition:
    """The filters of a timeline."""
    return condition(SearchQuery(project=project, platform_source=platform_source))


def _scope(project: str | None) -> tuple[str, Sequence[object]]:
    if project is None:
        return "d.project <> ?", [INTERNAL_PROJECT]
    return "(d.project = ? OR d.merged = ?)", [project, project]


# One row with text that is no JSON must not fail the whole question.
_EACH = "json_each(CASE WHEN json_valid({column}) THEN {column} ELSE '[]' END)"
_CONCEPTS = (
    f"d.kind = {_OBSERVATION} AND EXISTS (SELECT 1 FROM observations o, {_EACH.format(column='o.concepts')} c "
    "WHERE o.id = d.record_id AND c.value IN ({marks}))"
)


def _files(paths: Sequence[str]) -> tuple[str, Sequence[object]]:
    """Any of the paths is part of any path of the record; letter case does not matter."""
    # Not LIKE: it refuses long patterns.
    parts = " OR ".join("instr(lower(f.value), lower(?))" for _ in paths)
    tests: list[str] = []
    values: list[object] = []
    for code, table, columns in (
        (_OBSERVATION, "observations", ("o.files_read", "o.files_modified")),
        (_SUMMARY, "session_summaries", ("o.files_read", "o.files_edited")),
    ):
        for column in columns:
            each = _EACH.format(column=column)
            tests.append(
                f"d.kind = {code} AND EXISTS (SELECT 1 FROM {table} o, {each} f WHERE o.id = d.record_id AND ({parts}))"
            )
            values += paths
    return "(" + " OR ".join(f"({test})" for test in tests) + ")", values

"""Pure: the filters of a question as a condition on ``py_docs d`` and its parameters."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from worker.contract import project_name
from worker.contract.errors import Invalid
from worker.contract.query import Parsed
from worker.contract.records import RecordKind, parse_key
from worker.contract.search import SearchQuery
from worker.store.aliases import together
from worker.store.rows import CODES, placeholders

INTERNAL_PROJECT = "observer-sessions"
"""Where the original's own extraction sessions go; shown only to those who ask for it by name."""

_NO_ALIASES: Mapping[str, str] = MappingProxyType({})
_MOST_VALUES = 100
_LONGEST_SPELLED = 2_000
"""Characters of a pattern; SQLite refuses one of 50,000 bytes."""
_OBSERVATION, _SUMMARY = CODES[RecordKind.OBSERVATION], CODES[RecordKind.SUMMARY]


def _bounded(asked: SearchQuery | Parsed) -> None:
    """Errors: ``Invalid`` for more values in a filter than anybody means, and than SQLite can take."""
    for name in ("types", "concepts", "files", "projects", "sessions"):
        if len(getattr(asked, name, ())) > _MOST_VALUES:
            raise Invalid(f"{name}: at most {_MOST_VALUES} values", field=name)


Part = tuple[str, Sequence[object]]
"""SQL and its parameters in order."""


@dataclass(frozen=True, slots=True)
class Condition:
    """SQL that is true for the wanted rows of ``py_docs d``, and its parameters in order.

    narrow: whether it asks for more than what everybody is shown.
    """

    sql: str
    values: tuple[object, ...]
    narrow: bool = True


def condition(
    query: SearchQuery,
    said: Parsed | None = None,
    *,
    excluding: Part | None = None,
    known: Mapping[str, str] = _NO_ALIASES,
) -> Condition:
    """All filters of a query and of what its line says; words are not among them.

    known: alias → the project it stands for. excluding: a question for docids and its parameters; what it finds is left
    out.
    """
    _bounded(query)
    parts = [_scope(query.project, known), *_shared(query)]
    if query.platform_source:
        parts.append(("d.platform = ?", [query.platform_source]))
    if query.session:
        parts.append(_sessions([query.session]))
    if said is not None:
        _bounded(said)
        parts += _shared(said)
        parts += [_projects(said.projects, known)] if said.projects else []
        parts += [_sessions(said.sessions)] if said.sessions else []
    if excluding is not None:
        parts.append((f"d.docid NOT IN ({excluding[0]})", excluding[1]))
    sql = " AND ".join(sql for sql, _ in parts)
    values = tuple(value for _, values in parts for value in values)
    return Condition(sql, values, narrow=len(parts) > 1 or query.project is not None)


def narrowed(where: Condition, parts: Sequence[Part]) -> Condition:
    """The same filters, and others."""
    sql = " AND ".join((where.sql, *(sql for sql, _ in parts)))
    values = tuple(value for _, values in parts for value in values)
    return Condition(sql, (*where.values, *values), narrow=where.narrow or bool(parts))


def any_of(docids: Sequence[int]) -> Part:
    """A record is one of these, as many as there may be."""
    return "d.docid IN (SELECT value FROM json_each(?))", [json.dumps(docids, separators=(",", ":"))]


def _shared(asked: SearchQuery | Parsed) -> list[Part]:
    """The filters that parameters and the query language have in common."""
    parts: list[Part] = []
    if asked.since_epoch_ms is not None:
        parts.append(("d.epoch >= ?", [asked.since_epoch_ms]))
    if asked.until_epoch_ms is not None:
        parts.append(("d.epoch <= ?", [asked.until_epoch_ms]))
    if asked.kinds:
        parts.append((f"d.kind IN ({placeholders(asked.kinds)})", [CODES[kind] for kind in asked.kinds]))
    if asked.types:
        parts.append((f"d.type COLLATE NOCASE IN ({placeholders(asked.types)})", asked.types))
    if asked.concepts:
        spelled = f"{_SPELLINGS} WHERE concept COLLATE NOCASE IN ({placeholders(asked.concepts)})"
        parts.append((f"d.docid IN (SELECT docid FROM py_concepts WHERE concept IN ({spelled}))", asked.concepts))
    if asked.files:
        parts.append(_files(asked.files))
    return parts


# Each concept once, by one step in the table's key a concept.
_SPELLINGS = """WITH RECURSIVE known (concept) AS (
    SELECT min(concept) FROM py_concepts
    UNION ALL
    SELECT (SELECT min(c.concept) FROM py_concepts c WHERE c.concept > known.concept) FROM known
    WHERE known.concept IS NOT NULL
) SELECT concept FROM known"""


def _projects(names: Sequence[str], known: Mapping[str, str]) -> Part:
    """Any of the projects, or merged into one, in any letter case."""
    lower = {alias.lower(): project.lower() for alias, project in known.items()}
    lowered = list(dict.fromkeys(other for name in names for other in together(lower, name.lower())))
    found = [_in_any_case(column, lowered) for column in ("d.project", "d.merged")]
    return f"({' OR '.join(sql for sql, _ in found)})", [value for _, values in found for value in values]


def _in_any_case(column: str, names: Sequence[str]) -> Part:
    """``named``, in any letter case. SQLite's own ``lower`` knows ASCII alone."""
    plain = [name for name in names if name.isascii()]
    tests = [named(f"lower({column})", plain)] if plain else []
    for name in names:
        if not name.isascii():
            head = project_name.head(name)
            patterns = _spelled(name) if head is None else [*_spelled(head), *_spelled(head, after="/*")]
            tests.append((" OR ".join(f"{column} GLOB ?" for _ in patterns), patterns))
    return f"({' OR '.join(sql for sql, _ in tests)})", [value for _, values in tests for value in values]


def _spelled(text: str, *, before: str = "", after: str = "") -> list[str]:
    """Patterns for GLOB that match a text in any letter case, its accents as one character or two.

    before, after: what of a pattern stands around.
    """
    text = text[:_LONGEST_SPELLED].replace("i\u0307", "i")  # what Python makes of the letter in ``_letter``
    forms = dict.fromkeys(unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    return [f"{before}{''.join(map(_letter, form))}{after}" for form in forms]


def _letter(character: str) -> str:
    """A pattern for one character in either case."""
    if character in "iIİ":
        return "[iIİ]"
    cases = {character, character.lower(), character.upper(), character.title()}
    return f"[{''.join(sorted(case for case in cases if len(case) == 1))}]" if character not in "]^" else character


def named(column: str, names: Sequence[str]) -> Part:
    """A column has any of the names; `shop/*` is `shop` and each of its worktrees."""
    heads = [head for name in names if (head := project_name.head(name)) is not None]
    plain = [*(name for name in names if project_name.head(name) is None), *heads]
    # "0" is what comes after "/": a range, so that an index can be used.
    below = "".join(f" OR ({column} > ? AND {column} < ?)" for _ in heads)
    bounds = [bound for head in heads for bound in (f"{head}/", f"{head}0")]
    return f"({column} IN ({placeholders(plain)}){below})", [*plain, *bounds]


def _sessions(names: Sequence[str]) -> Part:
    """Sessions by the beginning of either of their ids, or by one of their summaries: `S14`."""
    tests: list[str] = []
    values: list[object] = []
    for name in names:
        key = parse_key(name)
        if key is not None and key.kind is RecordKind.SUMMARY:
            tests.append("d.session = (SELECT memory_session_id FROM session_summaries WHERE id = ?)")
            values.append(key.id)
        else:
            tests.append(
                "d.session IN (SELECT memory_session_id FROM sdk_sessions "
                "WHERE substr(memory_session_id, 1, ?) = ? OR substr(content_session_id, 1, ?) = ?)"
            )
            values += [len(name), name, len(name), name]
    return "(" + " OR ".join(tests) + ")", values


def scope(
    project: str | None,
    platform_source: str | None = None,
    session: str | None = None,
    *,
    known: Mapping[str, str] = _NO_ALIASES,
) -> Condition:
    """The filters of a timeline. known: as for ``condition``."""
    return condition(SearchQuery(project=project, platform_source=platform_source, session=session), known=known)


def _scope(project: str | None, known: Mapping[str, str]) -> Part:
    if project is None:
        return "d.project <> ?", [INTERNAL_PROJECT]
    names = together(known, project)
    if names == (project,) and project_name.head(project) is None:
        return "(d.project = ? OR d.merged = ?)", [project, project]
    (own, values), (merged, _) = named("d.project", names), named("d.merged", names)
    return f"({own} OR {merged})", [*values, *values]


# One row with text that is no JSON must not fail the whole question.
_EACH = "json_each(CASE WHEN json_valid({column}) THEN {column} ELSE '[]' END)"
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")


def _files(paths: Sequence[str]) -> Part:
    """Any of the paths is part of any path of the record; letter case does not matter."""
    parts, given = _parts_of("f.value", paths)
    tests: list[str] = []
    values: list[object] = []
    for code, table, columns in (
        (_OBSERVATION, "observations", ("o.files_read", "o.files_modified")),
        (_SUMMARY, "session_summaries", ("o.files_read", "o.files_edited")),
    ):
        inside: list[str] = []
        for column in columns:
            near = " OR ".join(f"instr(lower({column}), ?)" for _ in paths)
            inside.append(f"(({near}) AND EXISTS (SELECT 1 FROM {_EACH.format(column=column)} f WHERE {parts}))")
            values += [*(plain_piece(path).lower() for path in paths), *given]
        tests.append(
            f"(d.kind = {code} AND EXISTS "
            f"(SELECT 1 FROM {table} o WHERE o.id = d.record_id AND ({' OR '.join(inside)})))"
        )
    return "(" + " OR ".join(tests) + ")", values


def _parts_of(column: str, paths: Sequence[str]) -> Part:
    """Any of the paths is part of the column, in any letter case."""
    tests: list[str] = []
    values: list[object] = []
    for path in paths:
        # Not LIKE or GLOB where it can be helped: they refuse long patterns.
        patterns = [] if path.isascii() else _spelled(path, before="*", after="*")
        tests += [f"{column} GLOB ?" for _ in patterns] or [f"instr(lower({column}), lower(?))"]
        values += patterns or [path]
    return " OR ".join(tests), values


def plain_piece(path: str) -> str:
    """A piece of a path that stands in its JSON text as it is: a cheap look that saves opening most lists."""
    return max(_PLAIN.findall(path), key=len, default="")

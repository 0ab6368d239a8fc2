"""Pure: rows of the database to records, and what of a record is indexed and shown."""

import functools
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from worker.contract.records import Observation, Prompt, Record, RecordKind, Summary, items, key_of
from worker.contract.tokens import estimate_tokens

R = TypeVar("R", Observation, Summary, Prompt)

CODES: dict[RecordKind, int] = {RecordKind.PROMPT: 0, RecordKind.OBSERVATION: 1, RecordKind.SUMMARY: 2}
"""Also the order of records of one moment: what was asked, what was learned, what it came to."""
KINDS: dict[int, RecordKind] = {code: kind for kind, code in CODES.items()}

_TITLE_CHARS = 200
_NUMBERS = frozenset(
    ("id", "session_db_id", "prompt_number", "created_at_epoch", "discovery_tokens", "relevance_count", "synced_at")
)
_TEXT, _NUMBER = (str, type(None)), (int, type(None))
_USUAL = {"created_at_epoch": (int,)}

SELECTS: dict[RecordKind, str] = {
    RecordKind.OBSERVATION: """SELECT r.*, s.platform_source, s.content_session_id AS content_id FROM observations r
        LEFT JOIN sdk_sessions s ON s.memory_session_id = r.memory_session_id""",
    RecordKind.SUMMARY: """SELECT r.*, s.platform_source, s.content_session_id AS content_id FROM session_summaries r
        LEFT JOIN sdk_sessions s ON s.memory_session_id = r.memory_session_id""",
    # Rows from before migration 34 name their session by its content id alone.
    RecordKind.PROMPT: """SELECT r.*, s.project, s.memory_session_id, s.platform_source,
            r.content_session_id AS content_id FROM user_prompts r
        LEFT JOIN sdk_sessions s ON s.id = coalesce(r.session_db_id,
            (SELECT min(id) FROM sdk_sessions WHERE content_session_id = r.content_session_id))""",
}
"""Rows as the records want them; ``r`` is the record's table, ``s`` its session, ``content_id`` the agent's own id of
the session, which no record but a prompt holds."""

BODIES: dict[RecordKind, tuple[str, ...]] = {
    RecordKind.OBSERVATION: ("narrative", "facts", "text", "subtitle"),
    RecordKind.SUMMARY: ("completed", "learned", "investigated", "next_steps", "notes"),
    RecordKind.PROMPT: ("prompt_text",),
}
"""The columns that an excerpt is taken from; the first that has what is looked for."""


def to_observation(row: sqlite3.Row) -> Observation:
    """A row of ``SELECTS`` as a record."""
    return _build(Observation, row)


def to_summary(row: sqlite3.Row) -> Summary:
    """A row of ``SELECTS`` as a record."""
    return _build(Summary, row)


def to_prompt(row: sqlite3.Row) -> Prompt:
    """A row of ``SELECTS`` as a record."""
    return _build(Prompt, row)


def to_record(kind: RecordKind, row: sqlite3.Row) -> Record:
    """A row of ``SELECTS[kind]`` as a record."""
    match kind:
        case RecordKind.OBSERVATION:
            return to_observation(row)
        case RecordKind.SUMMARY:
            return to_summary(row)
        case RecordKind.PROMPT:
            return to_prompt(row)


def _build(kind: type[R], row: sqlite3.Row) -> R:
    values: dict[str, Any] = {}
    for name, at, usual in _plan(kind, tuple(row.keys())):
        value = row[at]
        values[name] = value if type(value) in usual else _typed(name, value)
    return kind(**values)


@functools.lru_cache(maxsize=32)
def _plan(kind: type[Record], columns: tuple[str, ...]) -> tuple[tuple[str, int, tuple[type, ...]], ...]:
    """Of each field that has a column: its name, the column's place, the types that need no look at the value.

    To ask a row by name, and each value what it is, takes twice as long.
    """
    return tuple(
        (name, columns.index(name), _USUAL.get(name, _TEXT if name not in _NUMBERS else _NUMBER))
        for name in kind.__struct_fields__
        if name in columns
    )


def _typed(name: str, value: object) -> Any:
    """A value of the record's type: SQLite keeps whatever a program wrote, and one odd value must not hide a row."""
    if name not in _NUMBERS:
        return value if value is None or isinstance(value, str) else _decoded(value)
    if value is None or isinstance(value, int):
        return 0 if value is None and name == "created_at_epoch" else value
    return int(value) if isinstance(value, float) and abs(value) < 2**53 else 0


def _decoded(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def body(record: Record) -> Iterator[str]:
    """The texts of a record that an excerpt is taken from."""
    kind = key_of(record).kind
    return texts(kind, (getattr(record, column) for column in BODIES[kind]))


def texts(kind: RecordKind, values: Iterable[object]) -> Iterator[str]:
    """The same of the values of its ``BODIES``."""
    for column, value in zip(BODIES[kind], values, strict=True):
        text: str | None = _typed(column, value)
        if column == "facts":
            yield from items(text)
        elif text:
            yield text


@dataclass(frozen=True, slots=True)
class Document:
    """What of a record is indexed, field by field, and what is shown of it in an index."""

    title: str
    subtitle: str
    narrative: str
    facts: str
    concepts: str
    files: str
    shown_title: str
    type: str
    read_tokens: int
    discovery_tokens: int


def document(record: Record) -> Document:
    """The indexed and shown side of a record."""
    match record:
        case Observation():
            return _observation(record)
        case Summary():
            return _summary(record)
        case Prompt():
            text = _text(record.prompt_text)
            return Document(
                "", "", text, "", "", "", one_line(text) or "(empty prompt)", "prompt", estimate_tokens(text), 0
            )


def _observation(record: Observation) -> Document:
    title, subtitle, narrative = _text(record.title), _text(record.subtitle), _text(record.narrative)
    old_text = _text(record.text)
    facts = items(record.facts)
    shown = (one_line(text) for text in (title, subtitle, narrative, *facts, old_text))
    read = title + subtitle + (narrative or old_text) + _text(record.facts)
    return Document(
        title=title,
        subtitle=subtitle,
        narrative=f"{narrative}\n{old_text}".strip(),
        facts="\n".join(facts),
        concepts="\n".join(items(record.concepts)),
        files="\n".join((*items(record.files_read), *items(record.files_modified))),
        shown_title=next(filter(None, shown), "Untitled"),
        type=_text(record.type),
        read_tokens=estimate_tokens(read),
        discovery_tokens=_count(record.discovery_tokens),
    )


def _summary(record: Summary) -> Document:
    request = _text(record.request)
    fields = (record.investigated, record.learned, record.completed, record.next_steps, record.notes)
    body = [text for text in map(_text, fields) if text]
    shown = (one_line(text) for text in (request, *body))
    return Document(
        title=request,
        subtitle="",
        narrative="\n".join(body),
        facts="",
        concepts="",
        files="\n".join((*items(record.files_read), *items(record.files_edited))),
        shown_title=next(filter(None, shown), f"Session {_text(record.memory_session_id)[:8]}"),
        type="session",
        read_tokens=estimate_tokens("".join((request, *body))),
        discovery_tokens=_count(record.discovery_tokens),
    )


def one_line(text: str, limit: int = _TITLE_CHARS) -> str:
    """A text on one line, blanks folded, cut to ``limit`` characters with `…`."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _text(value: object) -> str:
    """A text column's text; NULL is empty, a number that some program wrote there is its digits."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def placeholders(values: Iterable[object]) -> str:
    """`?,?,?` for as many values."""
    return ",".join("?" for _ in values)

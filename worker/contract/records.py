"""What is remembered, row by row, with the original's column names.

The JSON columns (facts, concepts, files) stay the JSON text that they are in the database, because the original's
clients read them so; ``items`` opens one.
"""

import enum
from typing import Annotated, NamedTuple

import msgspec

Whole = Annotated[float, msgspec.Meta(extra_json_schema={"type": "integer", "minimum": 1, "maximum": 2**31})]
"""A number that is written `5.0`, which JSON does not tell from `5`."""


class RecordKind(enum.StrEnum):
    """The three kinds of record that can be found."""

    OBSERVATION = "observation"
    SUMMARY = "summary"
    PROMPT = "prompt"

    __hash__ = str.__hash__
    """Of an enum's own, which is Python, each look for a ``RecordKey`` in a dict takes three times as long."""


_PREFIX = {RecordKind.OBSERVATION: "", RecordKind.SUMMARY: "S", RecordKind.PROMPT: "P"}


class RecordKey(NamedTuple):
    """Which record: `118` is an observation, `S14` a session summary, `P40` a user prompt."""

    kind: RecordKind
    id: int

    def __str__(self) -> str:
        return f"{_PREFIX[self.kind]}{self.id}"


def parse_key(text: str) -> RecordKey | None:
    """The key that a person typed (`118`, `#118`, `S14`, `#P40`, `s14`), or None."""
    bare = text.strip().removeprefix("#").strip()
    kind = RecordKind.OBSERVATION
    if bare[:1] in ("S", "s"):
        kind, bare = RecordKind.SUMMARY, bare[1:]
    elif bare[:1] in ("P", "p"):
        kind, bare = RecordKind.PROMPT, bare[1:]
    if not (bare.isascii() and bare.isdigit()) or len(bare) > 18 or int(bare) == 0:
        return None
    return RecordKey(kind, int(bare))


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One thing learned. Epochs are milliseconds UTC; ``discovery_tokens`` is what it cost to find out."""

    id: int
    memory_session_id: str
    project: str
    text: str | None = None
    type: str
    title: str | None = None
    subtitle: str | None = None
    facts: str | None = None
    narrative: str | None = None
    concepts: str | None = None
    files_read: str | None = None
    files_modified: str | None = None
    prompt_number: int | None = None
    created_at: str
    created_at_epoch: int
    discovery_tokens: int | None = 0
    content_hash: str | None = None
    generated_by_model: str | None = None
    relevance_count: int | None = 0
    merged_into_project: str | None = None
    agent_type: str | None = None
    agent_id: str | None = None
    metadata: str | None = None
    synced_at: int | None = None
    origin_device_id: str | None = None
    origin_local_id: str | None = None
    sync_rev: str = "1"
    platform_source: str | None = None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a session (or a part of it) came to."""

    id: int
    memory_session_id: str
    project: str
    request: str | None = None
    investigated: str | None = None
    learned: str | None = None
    completed: str | None = None
    next_steps: str | None = None
    files_read: str | None = None
    files_edited: str | None = None
    notes: str | None = None
    prompt_number: int | None = None
    created_at: str
    created_at_epoch: int
    discovery_tokens: int | None = 0
    merged_into_project: str | None = None
    synced_at: int | None = None
    origin_device_id: str | None = None
    origin_local_id: str | None = None
    sync_rev: str = "1"
    platform_source: str | None = None


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """What the person asked, with the project and session it was asked in."""

    id: int
    session_db_id: int | None = None
    content_session_id: str
    prompt_number: int
    prompt_text: str
    created_at: str
    created_at_epoch: int
    synced_at: int | None = None
    origin_device_id: str | None = None
    origin_local_id: str | None = None
    sync_rev: str = "1"
    project: str | None = None
    memory_session_id: str | None = None
    platform_source: str | None = None


Record = Observation | Summary | Prompt


def key_of(record: Record) -> RecordKey:
    """The key of a record."""
    match record:
        case Observation():
            return RecordKey(RecordKind.OBSERVATION, record.id)
        case Summary():
            return RecordKey(RecordKind.SUMMARY, record.id)
        case Prompt():
            return RecordKey(RecordKind.PROMPT, record.id)


def items(column: str | None) -> tuple[str, ...]:
    """The texts in a JSON-array column. Tolerant: NULL gives (), text that is no JSON array is one item.

    An object gives its values.
    """
    if not column:
        return ()
    try:
        value = msgspec.json.decode(column)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return (column,)
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return (column,) if not isinstance(value, str) else ((value,) if value else ())
    return tuple(item if isinstance(item, str) else msgspec.json.encode(item).decode() for item in value if item)

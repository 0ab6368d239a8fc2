"""Pure: a record as the documents that are embedded, their ids and their metadata, and back from an id to the record.

Ids and metadata are the original's; `title` and `whole` are documents of our own. The text of a document is nowhere
but in SQLite; it is bounded here, because a model reads some hundred words and a narrative may have ten megabytes.
"""

import re
from collections.abc import Iterator

from worker.contract.records import Observation, Prompt, Record, RecordKey, RecordKind, Summary, items, key_of
from worker.projection.excerpt import excerpt
from worker.projection.index import Value
from worker.store.rows import CODES

FORMAT = "1"
"""Of the texts that are embedded and of what is kept of their tokens; another one is another set of vectors."""

Documents = list[tuple[str, str]]
"""(suffix, text), the whole record first; no suffix twice, no text without anything in it."""

WHOLE = "whole"
_OBSERVATION, _SUMMARY, _PROMPT = (
    CODES[kind] for kind in (RecordKind.OBSERVATION, RecordKind.SUMMARY, RecordKind.PROMPT)
)
_MOST_CHARS = 4_000
_MOST_VALUE_CHARS = 2_000
_MOST_FACTS = 100
_PREFIX = {RecordKind.OBSERVATION: "obs", RecordKind.SUMMARY: "summary", RecordKind.PROMPT: "prompt"}
_DOC_TYPE = {
    RecordKind.OBSERVATION: "observation",
    RecordKind.SUMMARY: "session_summary",
    RecordKind.PROMPT: "user_prompt",
}
_SAID = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_ID = re.compile(
    rf"obs_([1-9][0-9]{{0,17}})_(whole|title|narrative|text|fact_(?:0|[1-9][0-9]{{0,3}}))"
    rf"|summary_([1-9][0-9]{{0,17}})_(whole|{'|'.join(_SAID)})"
    r"|prompt_([1-9][0-9]{0,17})"
)


def documents(record: Record) -> Documents:
    """The texts of a record that are embedded."""
    match record:
        case Observation():
            parts = [
                ("title", _text(record.title)),
                ("narrative", _text(record.narrative)),
                ("text", _text(record.text)),
            ]
            facts = items(record.facts)[:_MOST_FACTS]
            parts += [(f"fact_{at}", _text(fact)) for at, fact in enumerate(facts)]
        case Summary():
            parts = [(name, _text(getattr(record, name))) for name in _SAID]
        case Prompt():
            text = _text(record.prompt_text)
            return [("", text)] if text else []
    said = [(suffix, text) for suffix, text in parts if text]
    return [(WHOLE, whole(text for _, text in said)), *said] if said else []


def whole(texts: Iterator[str]) -> str:
    """The text that stands for all of a record."""
    return "\n".join(texts)[:_MOST_CHARS]


def document_id(key: RecordKey, suffix: str) -> str:
    """`obs_12_fact_0`, `summary_3_request`, `prompt_7`."""
    return "_".join((_PREFIX[key.kind], str(key.id), *([suffix] if suffix else [])))


def parse_id(text: str) -> tuple[RecordKey, str] | None:
    """The record and the suffix of a document id; None for one that is not of our form."""
    found = _ID.fullmatch(text)
    if found is None:
        return None
    observation, part, summary, field, prompt = found.groups()
    if observation:
        return RecordKey(RecordKind.OBSERVATION, int(observation)), part
    if summary:
        return RecordKey(RecordKind.SUMMARY, int(summary)), field
    return RecordKey(RecordKind.PROMPT, int(prompt)), ""


def number_of(text: str) -> int | None:
    """The docid of the record that a document id belongs to; None for one that is not of our form."""
    # Not by ``parse_id``: a question asks this of three hundred.
    found = _ID.fullmatch(text)
    if found is None:
        return None
    observation, _, summary, _, prompt = found.groups()
    if observation:
        return int(observation) * 4 + _OBSERVATION
    return int(summary) * 4 + _SUMMARY if summary else int(prompt) * 4 + _PROMPT


def metadata(record: Record, suffix: str) -> dict[str, Value]:
    """What Chroma is told of a document, in the original's words: which it is, nothing empty.

    Not what is said in it, as the original does (title, concepts, file names): nothing asks Chroma for that, and its
    file keeps for long what was deleted.
    """
    kind, record_id = key_of(record)
    told: dict[str, Value | None] = {
        "sqlite_id": record_id,
        "doc_type": _DOC_TYPE[kind],
        "memory_session_id": record.memory_session_id,
        "project": record.project,
        "platform_source": record.platform_source or "claude",
        "created_at_epoch": record.created_at_epoch,
    }
    match record:
        case Observation():
            told |= {
                "merged_into_project": record.merged_into_project,
                "type": record.type,
            }
        case Summary():
            told |= {
                "merged_into_project": record.merged_into_project,
                "prompt_number": record.prompt_number or 0,
            }
        case Prompt():
            told["prompt_number"] = record.prompt_number
    if suffix.startswith("fact_"):
        told |= {"field_type": "fact", "fact_index": int(suffix.removeprefix("fact_"))}
    elif suffix:
        told["field_type"] = suffix
    return {name: _value(value) for name, value in told.items() if value is not None and value != ""}


def _value(value: Value) -> Value:
    return excerpt(value, _MOST_VALUE_CHARS) if isinstance(value, str) else value


def _text(value: str | None) -> str:
    return excerpt(value, _MOST_CHARS) if value else ""

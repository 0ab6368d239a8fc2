"""Pure: a committed change as the event that the original's viewers know."""

from typing import Any

import msgspec

from worker.contract.records import Observation, Prompt, Summary
from worker.store.changes import Change, Deed
from worker.store.filters import INTERNAL_PROJECT

_OBSERVATION = (
    "id", "memory_session_id", "session_id", "platform_source", "type", "title", "subtitle", "text", "narrative",
    "facts", "concepts", "files_read", "files_modified", "project", "prompt_number", "created_at_epoch",
)  # fmt: skip
_SUMMARY = (
    "id", "session_id", "platform_source", "request", "investigated", "learned", "completed", "next_steps", "notes",
    "project", "prompt_number", "created_at_epoch",
)  # fmt: skip
_PROMPT = (
    "id", "content_session_id", "project", "platform_source", "prompt_number", "prompt_text", "created_at_epoch",
)  # fmt: skip


def event(change: Change) -> dict[str, Any] | None:
    """The event of a change, None if it is none of the viewers' business.

    Keys and their order: contract/stream.md; deletions and edits are events of our own.
    """
    record = change.record
    if record is None:
        return {"type": "record_deleted", "kind": change.key.kind.value, "record_id": change.key.id}
    if record.project == INTERNAL_PROJECT and not isinstance(record, Prompt):
        return None
    verb = "new" if change.deed is Deed.ADDED else "changed"
    columns = msgspec.structs.asdict(record) | {"session_id": change.content_session_id}
    match record:
        case Observation():
            columns["text"] = None
            return {"type": f"{verb}_observation", "observation": {name: columns[name] for name in _OBSERVATION}}
        case Summary():
            return {"type": f"{verb}_summary", "summary": {name: columns[name] for name in _SUMMARY}}
        case Prompt():
            return {"type": f"{verb}_prompt", "prompt": {name: columns[name] for name in _PROMPT}}

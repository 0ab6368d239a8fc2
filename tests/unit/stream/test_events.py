from typing import Any

import pytest

from tests.factories import NOON, make_observation, make_prompt, make_summary
from worker.contract.records import Record, RecordKey, RecordKind, key_of
from worker.store.changes import Change, Deed
from worker.stream.events import event


def told(record: Record, deed: Deed = Deed.ADDED) -> dict[str, Any] | None:
    return event(Change(key_of(record), deed, record, "c-1"))


def test_observation_has_the_keys_of_the_original_s_stream() -> None:
    record = make_observation(title="t", text="old", facts='["f"]', platform_source="claude")
    assert told(record) == {
        "type": "new_observation",
        "observation": {
            "id": 118, "memory_session_id": "m-1", "session_id": "c-1", "platform_source": "claude", "type": "bugfix",
            "title": "t", "subtitle": None, "text": None, "narrative": None, "facts": '["f"]', "concepts": None,
            "files_read": None, "files_modified": None, "project": "shop", "prompt_number": None,
            "created_at_epoch": NOON,
        },
    }  # fmt: skip


def test_summary_and_prompt() -> None:
    assert told(make_summary(request="r")) == {
        "type": "new_summary",
        "summary": {
            "id": 14, "session_id": "c-1", "platform_source": None, "request": "r", "investigated": None,
            "learned": None, "completed": None, "next_steps": None, "notes": None, "project": "shop",
            "prompt_number": None, "created_at_epoch": NOON,
        },
    }  # fmt: skip
    assert told(make_prompt(project="shop", platform_source="codex")) == {
        "type": "new_prompt",
        "prompt": {
            "id": 40, "content_session_id": "c-1", "project": "shop", "platform_source": "codex", "prompt_number": 1,
            "prompt_text": "why?", "created_at_epoch": NOON,
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("record", "type_"),
    [
        (make_observation(), "changed_observation"),
        (make_summary(), "changed_summary"),
        (make_prompt(), "changed_prompt"),
    ],
)
def test_edit_is_told_apart(record: Record, type_: str) -> None:
    found = told(record, Deed.CHANGED)
    assert found is not None and found["type"] == type_


def test_internal_project_is_not_told() -> None:
    assert told(make_observation(project="observer-sessions")) is None
    assert told(make_summary(project="observer-sessions")) is None
    assert told(make_prompt(project="observer-sessions")) is not None


def test_deletion_names_kind_and_number() -> None:
    gone = event(Change(RecordKey(RecordKind.SUMMARY, 14), Deed.DELETED, None))
    assert gone == {"type": "record_deleted", "kind": "summary", "record_id": 14}

import msgspec

from tests.factories import NOON, make_observation
from worker.contract.records import Observation
from worker.present.lean import lean_row, row


def test_row_has_all_columns() -> None:
    assert list(row(make_observation())) == list(Observation.__struct_fields__)


def test_lean_row_leaves_out_what_tells_nothing() -> None:
    record = make_observation(
        title="t", subtitle="", facts='["f"]', concepts="[]", files_read=None, files_modified="no JSON",
        discovery_tokens=0, content_hash="abc", synced_at=5, agent_id="a", platform_source="claude",
    )  # fmt: skip
    assert lean_row(record) == {
        "id": 118, "memory_session_id": "m-1", "project": "shop", "type": "bugfix", "title": "t", "facts": ["f"],
        "files_modified": ["no JSON"], "created_at": "2026-03-04T12:00:00.000Z", "created_at_epoch": NOON,
        "platform_source": "claude",
    }  # fmt: skip


def test_lean_row_is_the_shorter() -> None:
    record = make_observation(title="t", narrative="n" * 50)
    assert len(msgspec.json.encode(lean_row(record))) < len(msgspec.json.encode(row(record)))

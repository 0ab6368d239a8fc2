import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import NOON, make_entry
from worker.contract.records import RecordKey, RecordKind
from worker.search.timeline import Anchor, Moment, parse_anchor, window


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("118", RecordKey(RecordKind.OBSERVATION, 118)),
        ("#S14", RecordKey(RecordKind.SUMMARY, 14)),
        ("P40", RecordKey(RecordKind.PROMPT, 40)),
        ("2026", RecordKey(RecordKind.OBSERVATION, 2026)),
        ("2026-03-04T12:00Z", Moment(NOON)),
        ("20260304", RecordKey(RecordKind.OBSERVATION, 20260304)),
        ("2026-03-04", Moment(NOON - 12 * 3_600_000)),
        (str(NOON), Moment(NOON)),
        ("", None),
        ("tomorrow", None),
        ("-5", None),
        ("0", None),
    ],
)
def test_anchors(text: str, anchor: Anchor | None) -> None:
    assert parse_anchor(text, dt.UTC) == anchor


@given(st.text())
def test_no_text_raises_as_an_anchor(text: str) -> None:
    parse_anchor(text, dt.UTC)


@given(st.integers(0, 6), st.integers(1, 6), st.integers(0, 6))
def test_window_around_a_record(before: int, after: int, depth: int) -> None:
    entries = [make_entry(id=number, created_at_epoch=NOON + number) for number in range(1, before + after + 1)]
    anchor = entries[before]
    found = window(entries[:before], entries[before:], anchor.key, depth_after=depth)
    assert found.anchor_index is not None
    assert found.entries[found.anchor_index] == anchor
    assert found.anchor_index == before
    assert len(found.entries) == before + min(after, depth + 1)


def test_window_around_a_moment_points_at_what_follows() -> None:
    earlier, later = [make_entry(id=1)], [make_entry(id=2), make_entry(id=3)]
    assert window(earlier, later, Moment(NOON), depth_after=5).anchor_index == 1
    assert window(earlier, [], Moment(NOON), depth_after=5).anchor_index == 0
    assert window([], [], Moment(NOON), depth_after=5).anchor_index is None


def test_record_outside_the_scope_is_no_entry() -> None:
    found = window([make_entry(id=1)], [make_entry(id=2)], RecordKey(RecordKind.PROMPT, 9), depth_after=1)
    assert found.anchor_index is None and len(found.entries) == 2

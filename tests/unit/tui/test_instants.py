"""Moments: steps of a calendar, and text that reads back as just that moment."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.memory import NOW_MS
from tui.state import chips, spans
from tui.state.instants import days_on, midnight, said
from worker.contract.query import parse
from worker.contract.when import parse_range

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = st.sampled_from([dt.UTC, BERLIN, ZoneInfo("America/New_York"), ZoneInfo("Asia/Kathmandu")])
EPOCHS = st.integers(0, 4_000_000_000_000)
TWICE = 1_793_000_000_000 - 1_793_000_000_000 % 3_600_000


def at(text: str) -> int:
    span = parse_range(text, BERLIN)
    assert span is not None
    return span[0]


@given(EPOCHS, ZONES)
def test_a_moment_reads_back(epoch_ms: int, zone: dt.tzinfo) -> None:
    assert parse_range(said(epoch_ms, zone), zone) == (epoch_ms, epoch_ms)


@given(EPOCHS, EPOCHS, ZONES)
def test_a_span_reads_back_and_takes_the_place_of_the_one_before(one: int, other: int, zone: dt.tzinfo) -> None:
    line = spans.brushed("type:bugfix auth since:3d until:yesterday", min(one, other), max(one, other), zone)
    read = parse(line, now_epoch_ms=NOW_MS, zone=zone)
    assert read.since_epoch_ms is not None and read.until_epoch_ms is not None
    assert 0 <= min(one, other) - read.since_epoch_ms < 60_000
    assert 0 <= read.until_epoch_ms - max(one, other) < 60_000
    assert (read.text, read.types) == ("auth", ("bugfix",))
    assert len(chips.chips(line)) == 3
    assert chips.shortened(chips.removed(line, chips.Chip("type", "bugfix"))) == "auth"


@given(EPOCHS, ZONES)
def test_the_past_reads_back_and_is_left(epoch_ms: int, zone: dt.tzinfo) -> None:
    line = spans.past("auth since:3d at:2h", epoch_ms, zone)
    assert spans.as_of(line, NOW_MS, zone) == epoch_ms
    assert spans.present(line) == "auth since:3d"
    assert spans.as_of(spans.present(line), NOW_MS, zone) is None
    brushed = spans.brushed(line, 0, 1, zone)
    assert spans.as_of(brushed, NOW_MS, zone) == epoch_ms


def test_a_span_of_days_is_no_past() -> None:
    assert spans.as_of("at:yesterday", NOW_MS, dt.UTC) is None
    assert spans.as_of("at:", NOW_MS, dt.UTC) is None


@pytest.mark.parametrize(
    ("start", "days", "there"),
    [
        ("2026-03-28T12:00", 1, "2026-03-29T12:00"),  # 23 hours on
        ("2026-10-24T12:00", 1, "2026-10-25T12:00"),  # 25
        ("2026-10-26T12:00", -7, "2026-10-19T12:00"),
        ("2026-03-28T02:30", 1, "2026-03-29T03:00"),  # that night clocks pass over 02:30
    ],
)
def test_a_day_on_is_the_same_time_of_day(start: str, days: int, there: str) -> None:
    found = days_on(at(start), days, BERLIN)
    assert abs(found - at(there)) <= (30 * 60_000 if "02:30" in start else 0)


@pytest.mark.parametrize(("moment", "hours"), [("2026-03-29T23:30", 22.5), ("2026-10-25T23:30", 24.5)])
def test_midnight_is_where_the_day_begins(moment: str, hours: float) -> None:
    assert at(moment) - midnight(at(moment), BERLIN) == hours * 3_600_000


@given(EPOCHS, ZONES)
def test_midnight_is_not_later_and_of_the_same_day(epoch_ms: int, zone: dt.tzinfo) -> None:
    start = midnight(epoch_ms, zone)
    assert 0 <= epoch_ms - start <= 25 * 3_600_000
    assert midnight(start, zone) == start

"""Moments: steps of a calendar, and text that reads back as just that moment."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.memory import NOW_MS
from tui.state import chips, spans
from tui.state.instants import day, said, week
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
        ("2026-03-28T12:00", 1, "2026-03-29T00:00"),
        ("2026-03-29T23:30", 1, "2026-03-30T00:00"),  # the day has 23 hours
        ("2026-10-25T23:30", 1, "2026-10-26T00:00"),  # 25
        ("2026-03-30T12:00", -1, "2026-03-29T00:00"),
    ],
)
def test_a_day_on_begins_at_its_midnight(start: str, days: int, there: str) -> None:
    assert day(at(start), days, BERLIN) == at(there)


@pytest.mark.parametrize(
    ("start", "weeks", "there"),
    [
        ("2026-03-29T12:00", 0, "2026-03-23T00:00"),  # a Sunday, whose week has an hour less
        ("2026-03-29T12:00", 1, "2026-03-30T00:00"),
        ("2026-03-30T00:00", 0, "2026-03-30T00:00"),
        ("2026-10-26T12:00", -1, "2026-10-19T00:00"),
    ],
)
def test_a_week_begins_on_its_monday(start: str, weeks: int, there: str) -> None:
    assert week(at(start), weeks, BERLIN) == at(there)


@pytest.mark.parametrize(("moment", "hours"), [("2026-03-29T23:30", 22.5), ("2026-10-25T23:30", 24.5)])
def test_midnight_is_where_the_day_begins(moment: str, hours: float) -> None:
    assert at(moment) - day(at(moment), 0, BERLIN) == hours * 3_600_000


@given(EPOCHS, ZONES)
def test_midnight_is_not_later_and_of_the_same_day(epoch_ms: int, zone: dt.tzinfo) -> None:
    start = day(epoch_ms, 0, zone)
    assert 0 <= epoch_ms - start <= 25 * 3_600_000
    assert day(start, 0, zone) == start

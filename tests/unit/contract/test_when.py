import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import DAY, HOUR
from tests.fakes import machine_zone
from worker.contract.when import at_ms, epoch_ms, iso_utc, parse_range

BERLIN, TAIPEI, UTC = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Taipei"), dt.UTC


def moment(text: str) -> int:
    return epoch_ms(dt.datetime.fromisoformat(text))


@pytest.mark.parametrize(
    ("text", "zone", "first", "hours"),
    [
        ("2026-03-10", UTC, "2026-03-10T00:00+00:00", 24),
        ("2026-3-1", UTC, "2026-03-01T00:00+00:00", 24),
        ("20260310", TAIPEI, "2026-03-09T16:00+00:00", 24),
        (" 2026-03-10 ", UTC, "2026-03-10T00:00+00:00", 24),
        ("2026-03-10", TAIPEI, "2026-03-09T16:00+00:00", 24),
        ("2026-03-29", BERLIN, "2026-03-28T23:00+00:00", 23),
        ("2026-10-25", BERLIN, "2026-10-24T22:00+00:00", 25),
        # Clocks that change at midnight: the day has no 00:00, or the day before has 23:00 twice.
        ("2018-11-04", ZoneInfo("America/Sao_Paulo"), "2018-11-04T03:00+00:00", 23),
        ("2018-02-17", ZoneInfo("America/Sao_Paulo"), "2018-02-17T02:00+00:00", 25),
        ("2026-11-01", ZoneInfo("America/Havana"), "2026-11-01T04:00+00:00", 25),
        ("9999-12-31", UTC, "9999-12-31T00:00+00:00", 24),
        ("0001-01-01", UTC, "0001-01-01T00:00+00:00", 24),
    ],
)
def test_date_alone_is_its_whole_day_in_the_zone(text: str, zone: dt.tzinfo, first: str, hours: int) -> None:
    """R030."""
    assert parse_range(text, zone) == (moment(first), moment(first) + hours * HOUR - 1)


@pytest.mark.parametrize("name", ["Europe/Berlin", "Asia/Taipei", "America/Sao_Paulo", "UTC"])
@pytest.mark.parametrize("text", ["2026-03-29", "2026-10-25", "2018-11-04", "2018-02-17", "2026-03-10T01:30"])
def test_zone_of_the_machine_reads_like_the_same_zone_by_name(name: str, text: str) -> None:
    """R030."""
    with machine_zone(name):
        assert parse_range(text) == parse_range(text, ZoneInfo(name))


@pytest.mark.parametrize("name", ["Europe/Berlin", "Pacific/Auckland", "America/Los_Angeles", "UTC"])
@pytest.mark.parametrize("text", ["0001-01-01", "0001-01", "9999-12-31", "9999-12-31T23:59:59", "0001-01-01T00:00"])
def test_the_first_and_the_last_day_are_days_too(name: str, text: str) -> None:
    """R030."""
    there = parse_range(text, UTC)
    assert there is not None
    with machine_zone(name):
        for zone in (None, ZoneInfo(name)):
            found = parse_range(text, zone)
            assert found is not None and found[0] <= found[1]
            assert [epoch_ms(at_ms(epoch, zone)) for epoch in found] == list(found)
            assert all(abs(one - other) <= DAY for one, other in zip(found, there, strict=True))


@pytest.mark.parametrize(
    ("text", "zone", "when"),
    [
        ("2026-03-10T01:30", TAIPEI, "2026-03-09T17:30+00:00"),
        ("2026-03-10 01:30", TAIPEI, "2026-03-09T17:30+00:00"),
        ("2026-03-10T01:30Z", TAIPEI, "2026-03-10T01:30+00:00"),
        ("2026-03-10T01:30:00.123+08:00", UTC, "2026-03-09T17:30:00.123+00:00"),
        ("1772625600000", UTC, "2026-03-04T12:00+00:00"),
        ("2026-03-10 1:30", TAIPEI, "2026-03-09T17:30+00:00"),
        ("202603101200", TAIPEI, "2026-03-10T04:00+00:00"),
        ("20260310120059", UTC, "2026-03-10T12:00:59+00:00"),
        ("20260310 12:00", UTC, "2026-03-10T12:00+00:00"),
    ],
)
def test_date_with_a_time_is_one_moment(text: str, zone: dt.tzinfo, when: str) -> None:
    assert parse_range(text, zone) == (moment(when), moment(when))


@pytest.mark.parametrize(
    "digits",
    ["1772625600000", "202613101200", "202602301200", "202603102500", "198903101200", "210203101200", "20260310120099"],
)
def test_digits_that_no_calendar_and_no_clock_shows_are_milliseconds(digits: str) -> None:
    assert parse_range(digits, BERLIN) == (int(digits), int(digits))


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "yesterday", "2026", "2026-13-01", "2026-02-30", "0000-01-01", "10000-01-01", "2026-03-10T25:00",
        "2026-03-10T", "118", "S14", "2026-W10", "-1772625600000", "1772625600", "177262560000000", "nan",
        "2026-03-10\n2026-03-11", "\udcaa", "\0", "20261310", "20260230", "18991231", "21010101",
    ],
)  # fmt: skip
def test_what_is_no_date_is_none(text: str) -> None:
    assert parse_range(text, UTC) is None


@given(st.text(max_size=40), st.sampled_from([UTC, BERLIN, TAIPEI, None]))
def test_no_text_raises(text: str, zone: dt.tzinfo | None) -> None:
    found = parse_range(text, zone)
    assert found is None or found[0] <= found[1]


@given(st.dates(), st.sampled_from([UTC, BERLIN, TAIPEI]))
def test_days_follow_each_other_without_a_gap(date: dt.date, zone: dt.tzinfo) -> None:
    if date.year < 2 or date > dt.date(9998, 12, 30):
        return
    today, tomorrow = (
        parse_range(f"{date:%Y-%m-%d}".zfill(10), zone),
        parse_range(f"{date + dt.timedelta(days=1):%Y-%m-%d}".zfill(10), zone),
    )
    assert today is not None and tomorrow is not None
    assert today[1] + 1 == tomorrow[0]
    assert abs(today[1] + 1 - today[0] - DAY) <= 2 * HOUR


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_moment_and_epoch_are_each_other_s_reverse(epoch: int) -> None:
    assert epoch_ms(at_ms(epoch, UTC)) == epoch
    assert parse_range(iso_utc(epoch), TAIPEI) == (epoch, epoch)


@pytest.mark.parametrize("epoch", [2**63, -(2**63), 10**30])
def test_epoch_beyond_all_years_gives_the_nearest(epoch: int) -> None:
    assert at_ms(epoch, TAIPEI).year == (9999 if epoch > 0 else 1)


def test_text_of_a_moment_is_utc_with_milliseconds() -> None:
    assert iso_utc(1_772_625_600_005) == "2026-03-04T12:00:00.005Z"


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("3d", "2026-03-01T12:00+00:00", None),
        ("2h", "2026-03-04T10:00+00:00", None),
        ("30min", "2026-03-04T11:30+00:00", None),
        ("2 weeks ago", "2026-02-18T12:00+00:00", None),
        ("3天前", "2026-03-01T12:00+00:00", None),
        ("now", "2026-03-04T12:00+00:00", None),
        ("14:30", "2026-03-04T13:30+00:00", None),
        ("today", "2026-03-03T23:00+00:00", "2026-03-04T23:00+00:00"),
        ("yesterday", "2026-03-02T23:00+00:00", "2026-03-03T23:00+00:00"),
        ("昨天", "2026-03-02T23:00+00:00", "2026-03-03T23:00+00:00"),
        ("last week", "2026-02-22T23:00+00:00", "2026-03-01T23:00+00:00"),
        ("上周", "2026-02-22T23:00+00:00", "2026-03-01T23:00+00:00"),
        ("Monday", "2026-03-01T23:00+00:00", "2026-03-02T23:00+00:00"),
        ("last thursday", "2026-02-25T23:00+00:00", "2026-02-26T23:00+00:00"),
        ("last  Wednesday", "2026-02-24T23:00+00:00", "2026-02-25T23:00+00:00"),
        ("wed", "2026-03-03T23:00+00:00", "2026-03-04T23:00+00:00"),
        ("周四", "2026-02-25T23:00+00:00", "2026-02-26T23:00+00:00"),
        ("last month", "2026-01-31T23:00+00:00", "2026-02-28T23:00+00:00"),
        ("2026-03", "2026-02-28T23:00+00:00", "2026-03-31T22:00+00:00"),
        ("last year", "2024-12-31T23:00+00:00", "2025-12-31T23:00+00:00"),
    ],
)
def test_what_is_told_from_now(text: str, first: str, last: str | None) -> None:
    """Wednesday 2026-03-04, 13:00 in Berlin."""
    now = moment("2026-03-04T12:00+00:00")
    span = parse_range(text, BERLIN, now_epoch_ms=now)
    assert span == (moment(first), moment(last) - 1 if last else moment(first))


@pytest.mark.parametrize("text", ["3d", "yesterday", "上周", "14:30"])
def test_without_a_now_there_is_nothing_to_tell_it_from(text: str) -> None:
    assert parse_range(text, BERLIN) is None


@pytest.mark.parametrize("text", ["3x", "99999999d", "25:00", "last decade", "2026-13", "", "周八"])
def test_no_date_from_now_either(text: str) -> None:
    assert parse_range(text, BERLIN, now_epoch_ms=moment("2026-03-04T12:00+00:00")) is None

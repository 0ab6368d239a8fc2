import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import DAY, HOUR, MINUTE, NOON
from tests.fakes import machine_zone
from worker.contract.when import at_ms, epoch_ms
from worker.search.buckets import WIDTHS_MS, fold, grain_for, start_of, width_for

ZONES = ["UTC", "Europe/Berlin", "Asia/Taipei", "Asia/Kolkata", "Asia/Kathmandu", "America/Sao_Paulo"]
EPOCHS = st.integers(0, 4_000_000_000_000)


def moment(text: str) -> int:
    return epoch_ms(dt.datetime.fromisoformat(text))


@given(st.dictionaries(EPOCHS, st.integers(1, 50)), st.sampled_from(WIDTHS_MS), st.sampled_from(ZONES))
def test_folding_keeps_the_sum_and_the_order(counts: dict[int, int], width: int, zone: str) -> None:
    found = fold(sorted(counts.items()), width, ZoneInfo(zone))
    assert sum(bucket.count for bucket in found) == sum(counts.values())
    starts = [bucket.start_epoch_ms for bucket in found]
    assert starts == sorted(set(starts))


@given(EPOCHS, st.sampled_from(WIDTHS_MS), st.sampled_from(ZONES))
def test_a_bucket_begins_before_what_is_in_it(epoch: int, width: int, zone: str) -> None:
    start = start_of(epoch, width, ZoneInfo(zone))
    assert start <= epoch < start + width + 2 * HOUR
    assert start_of(start, width, ZoneInfo(zone)) == start


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Sao_Paulo", "Asia/Taipei"])
@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25", "2018-11-04", "2018-02-17"])
def test_zone_of_the_machine_folds_like_the_same_zone_by_name(zone: str, day: str) -> None:
    first = moment(f"{day}T00:00+00:00") - DAY
    with machine_zone(zone):
        for width in WIDTHS_MS:
            for epoch in range(first, first + 3 * DAY, 15 * MINUTE):
                assert start_of(epoch, width) == start_of(epoch, width, ZoneInfo(zone)), at_ms(epoch, ZoneInfo(zone))


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-03-30", 24)])
def test_a_day_has_23_or_25_hours_where_clocks_change(day: str, hours: int) -> None:
    zone = ZoneInfo("Europe/Berlin")
    start = epoch_ms(dt.datetime.fromisoformat(day).replace(tzinfo=zone))
    counts = [(start + hour * HOUR, 1) for hour in range(-1, hours + 1)]
    assert [bucket.count for bucket in fold(counts, DAY, zone)] == [1, hours, 1]
    assert [bucket.count for bucket in fold(counts, HOUR, zone)] == [1] * (hours + 2)


def test_weeks_begin_on_monday() -> None:
    assert at_ms(start_of(NOON, 7 * DAY, dt.UTC), dt.UTC).isoformat() == "2026-03-02T00:00:00+00:00"


@given(EPOCHS, EPOCHS, st.integers(3, 400), st.sampled_from(ZONES))
def test_never_more_buckets_than_asked_for(one: int, other: int, most: int, zone: str) -> None:
    first, last = sorted((one, other))
    width = width_for(first, last, most)
    assert width % (5 * MINUTE) == 0
    step = max(1, (last - first) // 300)
    epochs = [*range(first, last, step), last]
    assert len(fold([(epoch, 1) for epoch in epochs], width, ZoneInfo(zone))) <= most


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Taipei", "America/New_York"])
@pytest.mark.parametrize("epoch", [-(2**63), -62_000_000_000_000, -1, 0, 253_000_000_000_000, 2**63 - 1])
@pytest.mark.parametrize("width", [*WIDTHS_MS, 6260 * DAY, 738_000 * DAY])
def test_no_epoch_raises(zone: str, epoch: int, width: int) -> None:
    start_of(epoch, width, ZoneInfo(zone))
    with machine_zone(zone):
        start_of(epoch, width)


@given(EPOCHS, st.sampled_from(WIDTHS_MS), st.sampled_from(ZONES))
def test_grain_lies_within_one_bucket(epoch: int, width: int, zone: str) -> None:
    where = ZoneInfo(zone)
    grain = grain_for(width, where)
    start = epoch - epoch % grain
    assert start_of(start, width, where) == start_of(start + grain - 1, width, where)

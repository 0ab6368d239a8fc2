import datetime as dt
from collections.abc import Sequence
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import DAY, HOUR, MINUTE, NOON
from tests.fakes import machine_zone
from worker.contract.search import BUCKET_WIDTHS_MS as WIDTHS_MS
from worker.contract.search import Bucket
from worker.contract.when import at_ms, epoch_ms
from worker.search.buckets import edges, most_frequent, runs, stack, start_of, width_for
from worker.store.axis import Run

ZONES = ["UTC", "Europe/Berlin", "Asia/Taipei", "Asia/Kolkata", "Asia/Kathmandu", "America/Sao_Paulo"]
EPOCHS = st.integers(0, 4_000_000_000_000)


def moment(text: str) -> int:
    return epoch_ms(dt.datetime.fromisoformat(text))


def fold(epochs: Sequence[int], width: int, zone: dt.tzinfo, *, empty: bool = False) -> list[Bucket]:
    """The histogram of some moments."""
    bounds = edges(min(epochs), max(epochs), width, zone)
    counts = [(epoch, "bugfix", 1) for epoch in epochs]
    return list(stack(counts, bounds, ["bugfix"], empty=empty))


@given(st.lists(st.integers(0, 400 * DAY), min_size=1), st.sampled_from(WIDTHS_MS[2:]), st.sampled_from(ZONES))
def test_buckets_hold_all_and_lie_side_by_side(epochs: list[int], width: int, zone: str) -> None:
    found = fold([NOON + epoch for epoch in epochs], width, ZoneInfo(zone), empty=True)
    assert sum(bucket.count for bucket in found) == len(epochs)
    assert found[0].count and found[-1].count
    assert [bucket.end_epoch_ms for bucket in found[:-1]] == [bucket.start_epoch_ms for bucket in found[1:]]
    assert all(start_of(bucket.start_epoch_ms, width, ZoneInfo(zone)) == bucket.start_epoch_ms for bucket in found)
    assert all(abs(bucket.end_epoch_ms - bucket.start_epoch_ms - width) <= HOUR for bucket in found)


def test_types_are_counted_and_the_rare_ones_summed() -> None:
    counts = [(0, "bugfix", 2), (0, "odd", 1), (0, "rare", 3), (MINUTE + 5, "bugfix", 4)]
    found = stack(counts, [0, MINUTE, 2 * MINUTE], ["bugfix"], empty=False)
    assert found == (Bucket(0, 6, {"bugfix": 2, "": 4}, MINUTE), Bucket(MINUTE, 4, {"bugfix": 4}, 2 * MINUTE))
    assert most_frequent([("b", 1), ("a", 1), ("c", 5), ("a", 1)]) == ("c", "a", "b")
    assert len(most_frequent([(str(number), 1) for number in range(50)])) == 12


def test_buckets_of_one_width_make_one_run() -> None:
    assert runs([0, 10, 20, 25, 35]) == (Run(0, 20, 10), Run(20, 25, 5), Run(25, 35, 10))
    assert runs([]) == runs([7]) == ()


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
    hours_of_it = [start + hour * HOUR for hour in range(-1, hours + 1)]
    assert [bucket.count for bucket in fold(hours_of_it, DAY, zone)] == [1, hours, 1]
    assert [bucket.count for bucket in fold(hours_of_it, HOUR, zone)] == [1] * (hours + 2)
    assert [bucket.end_epoch_ms - bucket.start_epoch_ms for bucket in fold(hours_of_it, DAY, zone)][1] == hours * HOUR


def test_weeks_begin_on_monday() -> None:
    assert at_ms(start_of(NOON, 7 * DAY, dt.UTC), dt.UTC).isoformat() == "2026-03-02T00:00:00+00:00"


@given(EPOCHS, EPOCHS, st.integers(3, 400), st.sampled_from(ZONES))
def test_never_more_buckets_than_asked_for(one: int, other: int, most: int, zone: str) -> None:
    first, last = sorted((one, other))
    width = width_for(first, last, most)
    assert width % (5 * MINUTE) == 0
    step = max(1, (last - first) // 300)
    epochs = [*range(first, last, step), last]
    assert len(fold(epochs, width, ZoneInfo(zone), empty=True)) <= most


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Taipei", "America/New_York"])
@pytest.mark.parametrize("epoch", [-(2**63), -62_000_000_000_000, -1, 0, 253_000_000_000_000, 2**63 - 1])
@pytest.mark.parametrize("width", [*WIDTHS_MS, 6260 * DAY, 738_000 * DAY])
def test_no_epoch_raises(zone: str, epoch: int, width: int) -> None:
    bounds = edges(epoch, epoch, width, ZoneInfo(zone))
    assert len(bounds) == 2 and bounds[0] <= epoch < bounds[1]
    with machine_zone(zone):
        assert len(edges(epoch, epoch, width)) == 2


@given(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62), st.integers(3, 400), st.sampled_from(ZONES))
def test_spans_beyond_the_calendar_have_an_end(one: int, other: int, most: int, zone: str) -> None:
    first, last = sorted((one, other))
    bounds = edges(first, last, width_for(first, last, most), ZoneInfo(zone))
    assert bounds == sorted(set(bounds)) and bounds[0] <= first and last < bounds[-1]
    assert len(bounds) <= most + 3

"""The strip over time: as wide as its room, without a hole, every record in it, moments where they belong."""

import datetime as dt
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.memory import DAY_MS, NOW_MS
from tui.cells import bars
from tui.cells.fit import width
from tui.cells.glyphs import ASCII, UNICODE
from tui.cells.look import Look
from tui.cells.strip import Fit, Shape, duration, shape
from worker.contract.search import Bucket
from worker.search.buckets import edges, stack

HOUR_MS = 3_600_000
BERLIN = ZoneInfo("Europe/Berlin")
LOOK = Look(UNICODE, lambda: NOW_MS, dt.UTC)
PLAIN = Look(ASCII, lambda: NOW_MS, dt.UTC)


def buckets(times: list[int], width_ms: int = DAY_MS, *, empty: bool = False) -> tuple[Bucket, ...]:
    """As the worker makes them."""
    bounds = edges(min(times), max(times), width_ms, dt.UTC)
    return stack([(time, ("bugfix", "decision")[time % 2], 1) for time in times], bounds, ("bugfix",), empty=empty)


def drawn(line: list[tuple[str, str]]) -> str:
    return "".join(text for _, text in line)


FITS = st.builds(
    Fit, st.integers(8, 160), per=st.integers(1, 2), folded=st.booleans(), gap=st.sampled_from("┄~"),
    window=st.booleans(), keep=st.none() | st.integers(0, 200),
)  # fmt: skip
TIMES = st.lists(st.integers(NOW_MS - 300 * DAY_MS, NOW_MS), min_size=1, max_size=30)


@given(TIMES, FITS, st.booleans(), st.sampled_from([HOUR_MS * 6, DAY_MS, 7 * DAY_MS]))
def test_slots_follow_each_other_within_the_room(times: list[int], fit: Fit, empty: bool, width_ms: int) -> None:
    found = buckets(times, width_ms, empty=empty)
    shown = shape(found, width_ms, fit, times[0])
    assert shown is not None
    assert shown.slots[0].at == 0
    for one, after in pairwise(shown.slots):
        assert after.at == one.at + one.width
        assert after.start_ms == one.end_ms
    assert 0 < shown.width <= fit.room
    inside = [time for time in times if shown.slot(time) is not None]
    assert sum(slot.count for slot in shown.slots) == len(inside)
    assert times[0] in inside
    if not fit.window:
        assert len(inside) == len(times)
    for slot in shown.slots:
        assert not slot.text or (fit.folded and width(slot.text) == slot.width and slot.count == 0)


@given(TIMES, FITS)
def test_a_moment_has_one_cell_and_time_goes_to_the_right(times: list[int], fit: Fit) -> None:
    shown = shape(buckets(times), DAY_MS, fit, times[0])
    assert shown is not None
    cells = [cell for time in sorted(times) if (cell := shown.cell(time)) is not None]
    assert cells == sorted(cells)
    assert all(0 <= cell < shown.width for cell in cells)
    assert shown.cell(shown.slots[0].start_ms - 1) is None
    assert shown.cell(shown.slots[-1].end_ms) is None


@given(TIMES, FITS, st.sampled_from([LOOK, PLAIN]), st.integers(1, 4))
def test_all_that_is_drawn_fits(times: list[int], fit: Fit, looks: Look, tall: int) -> None:
    shown = shape(buckets(times), DAY_MS, fit, times[0])
    assert shown is not None
    lines = bars.bars(shown, looks, tall, fine=fit.per == 2)
    assert [width(drawn(line)) for line in lines] == [shown.width] * tall
    for here in (None, times[0], times[-1], NOW_MS + DAY_MS):
        for brush in (None, (times[0], times[-1])):
            below = bars.below(shown, fit.room, looks, here_ms=here, marks_ms=times, brush_ms=brush)
            assert width(drawn(below)) == fit.room
            seen = here is not None and shown.cell(here) is not None
            assert (looks.glyphs.here in drawn(below)) is seen
    assert width(drawn(bars.labels(shown, fit.room, looks, "1 d UTC"))) <= fit.room


@given(TIMES, FITS)
def test_no_label_touches_another_and_none_is_cut(times: list[int], fit: Fit) -> None:
    shown = shape(buckets(times), DAY_MS, fit, times[0])
    assert shown is not None
    text = drawn(bars.labels(shown, fit.room, LOOK))
    known = {"Nov", "Oct", "Sep", "Aug", "Jul", "Jun", "May", "Apr", "Mar", "Feb", "Jan", *map(str, range(1, 32))}
    assert {*text.split()} <= known


def _window(here: int, keep: int | None, *, days: int = 100) -> Shape:
    found = buckets([NOW_MS - day * DAY_MS for day in range(days)], empty=True)
    shown = shape(found, DAY_MS, Fit(21, window=True, keep=keep), here)
    assert shown is not None
    return shown


@pytest.mark.parametrize("keep", [0, 5, 20])
def test_a_zoomed_strip_keeps_the_cell_of_the_playhead(keep: int) -> None:
    here = NOW_MS - 50 * DAY_MS
    assert _window(here, keep).cell(here) == keep
    assert _window(here, None).cell(here) == 10


def test_a_zoomed_strip_is_full_at_both_ends() -> None:
    for here in (NOW_MS, NOW_MS - 99 * DAY_MS):
        assert _window(here, 10).width == 21


def test_quiet_times_are_folded_and_can_be_shown() -> None:
    times = [NOW_MS, NOW_MS - 2 * HOUR_MS, NOW_MS - 40 * HOUR_MS]
    found = buckets(times, HOUR_MS)
    folded, whole = (shape(found, HOUR_MS, Fit(76, folded=wanted)) for wanted in (True, False))
    assert folded is not None and whole is not None
    assert [slot.text for slot in folded.slots if slot.text] == ["┄37h┄"]
    assert not any(slot.text for slot in whole.slots)
    assert folded.slot(NOW_MS - 20 * HOUR_MS) == folded.slots[1]
    assert drawn(bars.bars(folded, LOOK, 2)[0])[folded.slots[1].at] == " "


@pytest.mark.parametrize(
    ("span", "text"), [(40 * 60_000, "40m"), (3 * HOUR_MS, "3h"), (2 * DAY_MS, "2d"), (23 * DAY_MS, "3w"), (1, "1m")]
)
def test_durations(span: int, text: str) -> None:
    assert duration(span) == text


def test_strip_keeps_every_record_in_sight() -> None:
    """One record among thousands still shows."""
    shown = shape(buckets([NOW_MS] * 5000 + [NOW_MS - 50 * DAY_MS]), DAY_MS, Fit(76))
    assert shown is not None
    line = drawn(bars.bars(shown, LOOK, 1)[0])
    assert line.startswith("▁") and line.endswith("█")
    assert shown.slot(NOW_MS - 50 * DAY_MS) == shown.slots[0]


def test_no_set_no_strip() -> None:
    assert shape((), DAY_MS, Fit(80)) is None
    assert shape(buckets([NOW_MS]), DAY_MS, Fit(7)) is None
    assert shape(buckets([NOW_MS]), 0, Fit(80)) is None


def test_one_record_and_one_instant() -> None:
    for times in ([NOW_MS], [NOW_MS] * 3):
        shown = shape(buckets(times, HOUR_MS), HOUR_MS, Fit(76))
        assert shown is not None
        assert shown.cell(NOW_MS) is not None
        assert "▲" in drawn(bars.below(shown, 76, LOOK, here_ms=NOW_MS))


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-10-26", 24)])
def test_days_on_which_clocks_change_have_as_many_hours_as_they_have(day: str, hours: int) -> None:
    start = int(dt.datetime.fromisoformat(day).replace(tzinfo=BERLIN).timestamp()) * 1000
    end = start + hours * HOUR_MS
    bounds = edges(start, end - 1, HOUR_MS, BERLIN)
    found = stack([(start, "bugfix", 1), (end - 1, "bugfix", 1)], bounds, ("bugfix",), empty=True)
    shown = shape(found, HOUR_MS, Fit(76, folded=False))
    assert shown is not None
    assert len(shown.slots) == hours
    clock = Look(UNICODE, lambda: NOW_MS, BERLIN)
    text = drawn(bars.labels(shown, 76, clock))
    assert [slot.start_ms for slot in shown.slots] == bounds[:-1]
    assert "12:00" in text and "18:00" in text
    assert text.startswith(f"{dt.date.fromisoformat(day):%a} {int(day[-2:])}")


def test_bars_are_stacked_by_type_the_most_frequent_lowest() -> None:
    found = (Bucket(0, 8, {"bugfix": 6, "decision": 2}, DAY_MS), Bucket(DAY_MS, 1, {"decision": 1}, 2 * DAY_MS))
    shown = shape(found, DAY_MS, Fit(8))
    assert shown is not None
    top, bottom = bars.bars(shown, LOOK, 2)
    assert (top[0], bottom[0]) == (("decision", "██"), ("bugfix", "██"))
    four = [line[0][0] for line in bars.bars(shown, LOOK, 4)]
    assert four == ["decision", "bugfix", "bugfix", "bugfix"]
    assert bottom[1] == ("decision", "▂▂")
    assert "B6 D2" in drawn(bars.below(shown, 60, LOOK, here_ms=1))


def test_braille_has_two_bars_in_a_cell() -> None:
    found = (Bucket(0, 4, {}, DAY_MS), Bucket(DAY_MS, 1, {}, 2 * DAY_MS))
    shown = shape(found, DAY_MS, Fit(8, per=2))
    assert shown is not None
    assert bars.bars(shown, LOOK, 1, fine=True)[0][0] == ("bar", "⣇")


def test_one_line_has_the_playhead_in_it_and_its_time_at_the_end() -> None:
    shown = shape(buckets([NOW_MS - DAY_MS, NOW_MS]), DAY_MS, Fit(bars.single_room(48)))
    assert shown is not None
    line = drawn(bars.single(shown, LOOK, NOW_MS))
    assert line == "███▲ Wed 15:04"
    assert drawn(bars.single(shown, LOOK, None)) == "████"

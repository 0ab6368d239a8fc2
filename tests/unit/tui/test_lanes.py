"""Lanes: sessions on one axis, each kind of work told by its character; levels of zoom."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.tui.memory import NOW_MS, entry_of, observation
from tui.cells import lanes
from tui.cells.fit import width
from tui.cells.glyphs import ASCII, UNICODE
from tui.cells.look import Look
from tui.cells.strip import Fit, shape
from tui.state.scrub import LEVELS_MS, FineTurned, GapsTurned, Laned, Scrub, Zoomed, after, level, zoomed
from worker.contract.lanes import Lane, LaneCell, LaneErrors, Lanes
from worker.contract.search import Bucket

STEP = 900_000
LOOKS = [Look(UNICODE, lambda: NOW_MS, dt.UTC), Look(ASCII, lambda: NOW_MS, dt.UTC)]


def _lane(session: str, *cells: tuple[int, str], work: int = 10) -> Lane:
    held = tuple(LaneCell(number, {name: 1}) for number, name in cells)
    first, last = (NOW_MS + held[end].bucket * STEP for end in (0, -1))
    return Lane(session=session, project="shop", first_epoch_ms=first, last_epoch_ms=last, records=len(held),
                work_tokens=work, cells=held)  # fmt: skip


def _found(*made: Lane, buckets: int = 12) -> Lanes:
    types: dict[int, dict[str, int]] = {}
    for lane in made:
        for cell in lane.cells:
            types.setdefault(cell.bucket, {}).update(cell.types)
    row = (
        Bucket(NOW_MS + n * STEP, sum(types.get(n, {}).values()), types.get(n, {}), NOW_MS + (n + 1) * STEP)
        for n in range(buckets)
    )
    return Lanes(buckets=tuple(row), bucket_ms=STEP, lanes=made, total=len(made))


def _drawn(found: Lanes, room: int, looks: Look = LOOKS[0], *, most: int = 4, here: int = 0) -> list[str]:
    margins = lanes.margins(room)
    assert margins is not None
    shown = shape(found.buckets, STEP, Fit(room - sum(margins), window=True, folded=False))
    assert shown is not None
    entry = entry_of(observation(1, "x", at=NOW_MS + here * STEP, memory_session_id=found.lanes[0].session))
    page = lanes.lines(found, shown, room, looks, most=most, here=entry)
    return ["".join(text for _, text in line) for line in page]


def test_each_kind_of_work_has_its_character() -> None:
    lane = _lane("abcd1234", (0, "prompt"), (1, "discovery"), (2, "decision"), (3, "bugfix"), (5, "session"))
    lines = _drawn(_found(lane, buckets=6), 64)
    assert lines[1].startswith("▌abcd ")
    assert lines[1][10:].startswith("P·░░▓▓██··S")
    assert lines[1].rstrip().endswith("10    5")
    assert lines[-1].startswith("UTC")


def test_uses_of_tools_that_failed_have_a_line_where_there_are_any() -> None:
    calm = _found(_lane("a", (0, "bugfix"), (3, "bugfix")))
    assert not any("errors" in line for line in _drawn(calm, 80))
    (line,) = [
        line for line in _drawn(replace(calm, errors=(LaneErrors(0, 2), LaneErrors(3, 1))), 80) if "errors" in line
    ]
    work = _drawn(calm, 80)[1]
    assert line.count("!") == 2
    assert all(work[at] == "█" for at, char in enumerate(line) if char == "!")


def test_alerts_have_a_line_where_there_are_any() -> None:
    calm, alarmed = (_found(_lane("a", (0, kind), (3, "bugfix"))) for kind in ("bugfix", "security_alert"))
    assert not any("alerts" in line for line in _drawn(calm, 80))
    assert sum("alerts" in line and "!" in line for line in _drawn(alarmed, 80)) == 1


@given(st.lists(st.text(min_size=0, max_size=40), min_size=1, max_size=12), st.sampled_from([48, 62, 64, 80, 118]),
       st.sampled_from(LOOKS), st.integers(1, 8))  # fmt: skip
def test_lanes_fit_whatever_sessions_are_called(names: list[str], room: int, looks: Look, most: int) -> None:
    made = [_lane(name, (number % 10, "bugfix"), (10, "session")) for number, name in enumerate(dict.fromkeys(names))]
    lines = _drawn(_found(*made), room, looks, most=most)
    assert all(width(line) <= room for line in lines)
    assert not any(char < " " for line in lines for char in line)
    assert len(lines) == 2 + min(most, len(made))
    assert ("+" in lines[-1]) is (len(made) > most)


def test_sessions_that_begin_alike_are_told_apart() -> None:
    lines = _drawn(_found(_lane("demo-session-one", (0, "bugfix")), _lane("demo-session-two", (1, "bugfix"))), 80)
    assert "one" in lines[1] and "two" in lines[2]
    assert lanes.margins(47) is None


@pytest.mark.parametrize(
    ("width_ms", "auto_ms", "shown_ms", "finer", "there"),
    [
        (0, 86_400_000, 86_400_000, True, 21_600_000),
        (21_600_000, 86_400_000, 21_600_000, False, 0),
        (300_000, 86_400_000, 300_000, False, 900_000),
        (0, 86_400_000, 86_400_000, False, "this is all of it"),
        (300_000, 86_400_000, 300_000, True, "finer than five minutes it does not get"),
        (0, 2_419_200_000, 2_419_200_000, True, 604_800_000),
    ],
)
def test_levels_of_the_strip(width_ms: int, auto_ms: int, shown_ms: int, finer: bool, there: int | str) -> None:
    scrub = Scrub(width_ms=width_ms, auto_ms=auto_ms)
    wanted = zoomed(scrub, shown_ms, finer=finer, lanes=False)
    assert wanted == (there if isinstance(there, str) else Zoomed(there))


def test_levels_of_the_lanes_and_what_is_turned() -> None:
    scrub = Scrub()
    for expected in LEVELS_MS[2:]:
        fact = zoomed(scrub, 0, finer=False, lanes=True)
        assert fact == Zoomed(expected, lanes=True)
        assert not isinstance(fact, str)
        scrub = after(scrub, fact)
    assert isinstance(zoomed(scrub, 0, finer=False, lanes=True), str)
    assert after(after(scrub, GapsTurned()), GapsTurned()) == scrub
    assert after(scrub, FineTurned()).fine
    late = _found(_lane("a", (0, "bugfix")))
    assert after(scrub, Laned(late)) == scrub  # of a level that was left
    known = after(replace(scrub, lane_ms=STEP), Laned(late))
    assert known.covers(NOW_MS) and not known.covers(NOW_MS - 1) and not scrub.covers(NOW_MS)
    assert [level(width) for width in LEVELS_MS] == ["5 min", "15 min", "1 h", "6 h", "1 d", "7 d"]

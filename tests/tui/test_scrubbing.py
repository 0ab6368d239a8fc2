"""Along time: steps, zoom, spans, the past, lanes, on a fake worker."""

from pathlib import Path

import pytest

from tests.tui.memory import DAY_MS, MINUTE_MS, NOW_MS, many, observation, prompt, summary
from tests.tui.stage import Stage
from tests.tui.test_snapshots import SIZES, check
from tui.cells.glyphs import ASCII
from tui.state import chips
from tui.state.model import View
from worker.contract.events import StreamEvent
from worker.contract.records import Record
from worker.contract.search import Order

HOUR_MS = 60 * MINUTE_MS
FIRST = "11111111-0000"


def days() -> list[Record]:
    """Two sessions a day for eight days, the later one with a summary; ids grow with time."""
    found: list[Record] = []
    for day in range(8):
        for part, hour in enumerate((7, 3)):
            start = NOW_MS - (7 - day) * DAY_MS - hour * HOUR_MS
            session = f"{day}{part}{day}{part}aaaa-0000"
            at = 100 + day * 10 + part * 5
            over = {"memory_session_id": session, "project": ("farm-api", "web")[part]}
            kinds = ("bugfix", "discovery", "decision")
            found += [
                observation(
                    at + n, f"Day {day} part {part} step {n}", at=start + n * 20 * MINUTE_MS, type=kinds[n], **over
                )
                for n in range(3)
            ]
        found.append(summary(day + 1, f"Day {day} is over", at=start + 50 * MINUTE_MS, **over))
    return found


def _title(stage: Stage) -> str:
    return stage.state.entry.title if stage.state.entry is not None else ""


async def _go(stage: Stage, *keys: str) -> str:
    for key in keys:
        await stage.press(key)
        await stage.settled()
    return _title(stage)


async def test_steps_of_a_day_a_week_a_session_and_midnight() -> None:
    async with Stage(days(), size=(80, 24)) as stage:
        assert _title(stage) == "Day 7 is over"
        assert await _go(stage, "d") == "Day 6 is over"
        assert await _go(stage, "d", "d") == "Day 4 is over"
        assert await _go(stage, "D") == "Day 5 part 0 step 0"
        assert await _go(stage, "0") == "Day 5 part 0 step 0"
        assert await _go(stage, "0") == "Day 5 part 0 step 0"
        assert await _go(stage, "L") == "Day 5 part 1 step 0"
        assert await _go(stage, "L") == "Day 6 part 0 step 0"
        assert await _go(stage, "H") == "Day 5 part 1 step 0"
        assert await _go(stage, "l", "H") == "Day 5 part 1 step 0"
        assert await _go(stage, "W") == "Day 7 is over"
        assert await _go(stage, "w") == "Day 4 is over"  # on the Sunday
        assert await _go(stage, "W") == "Day 5 part 0 step 0"  # on the Monday
        assert await _go(stage, "w") == "Day 4 is over"
        assert await _go(stage, "w") == "Day 0 part 0 step 0"
        await _go(stage, "w")
        assert "nothing beyond" in stage.screen[-1]
        await _go(stage, "H")
        assert "no session begins before this" in stage.screen[-1]


async def test_the_same_steps_oldest_first_and_in_the_timeline() -> None:
    async with Stage(days(), size=(80, 24)) as stage:
        for _ in range(2):
            await stage.press("O")
            await stage.settled()
            if stage.state.ask.order is Order.DATE_ASC:
                break
        assert await _go(stage, "G") == "Day 7 is over"
        assert await _go(stage, "d", "D", "d") == "Day 6 is over"
        assert await _go(stage, "H") == "Day 6 part 1 step 0"
        await _go(stage, "i")
        assert stage.state.view is View.TIMELINE
        assert await _go(stage, "d") == "Day 5 is over"
        assert await _go(stage, "D") == "Day 6 part 0 step 0"
        assert await _go(stage, "j", "0") == "Day 6 part 0 step 0"
        assert await _go(stage, "L") == "Day 6 part 1 step 0"
        assert await _go(stage, "H", "H") == "Day 5 part 1 step 0"
        assert await _go(stage, "w") == "Day 4 is over"


async def test_from_the_morning_a_day_back_skips_nothing_of_the_day_before() -> None:
    records = [
        observation(1, "Friday, late", at=NOW_MS - 4 * DAY_MS - 16 * HOUR_MS),
        observation(2, "Tuesday, early", at=NOW_MS - DAY_MS - 8 * HOUR_MS),
        observation(3, "Tuesday, late", at=NOW_MS - 16 * HOUR_MS),
        observation(4, "Wednesday, early", at=NOW_MS - 14 * HOUR_MS),
    ]
    async with Stage(records, size=(80, 24)) as stage:
        assert _title(stage) == "Wednesday, early"
        assert await _go(stage, "d") == "Tuesday, late"
        assert await _go(stage, "d") == "Friday, late"  # nothing was done in between
        assert await _go(stage, "D") == "Tuesday, early"
        assert await _go(stage, "w") == "Friday, late"


async def test_in_an_order_of_worth_time_is_not_gone_along() -> None:
    async with Stage(days(), size=(80, 24)) as stage:
        await stage.press("slash", *"day", "enter")
        await stage.until(lambda: stage.state.strategy == "keyword")
        before = _title(stage)
        assert await _go(stage, "d") == before
        assert "not in order of time" in stage.screen[-1]


async def test_the_strip_stands_where_the_cursor_does() -> None:
    async with Stage(days(), size=(80, 24)) as stage:
        assert "Wed 25 Nov 12:54  B1 D1 S1 ○1" in stage.screen[4]
        assert "▲" in stage.screen[4]
        before = stage.screen[4].index("▲")
        await _go(stage, "d", "d")
        assert "Mon 23 Nov" in stage.screen[4]
        assert stage.screen[4].index("▲") < before


async def test_zoom_about_the_playhead_and_out_again() -> None:
    async with Stage(days(), size=(80, 24)) as stage:
        await _go(stage, "d", "d")
        widths = [stage.state.facets.bucket_ms if stage.state.facets else 0]
        for _ in range(5):
            await _go(stage, "z")
            assert stage.state.facets is not None
            widths.append(stage.state.facets.bucket_ms)
        assert widths == [6 * HOUR_MS, HOUR_MS, 15 * MINUTE_MS, 5 * MINUTE_MS, 5 * MINUTE_MS, 5 * MINUTE_MS]
        assert "finer than five minutes" in stage.screen[-1]
        assert "5 min UTC" in stage.screen[2]
        assert "Mon 23 Nov" in stage.screen[4]
        for _ in range(3):
            await _go(stage, "Z")
        assert (stage.state.scrub.width_ms, stage.state.facets and stage.state.facets.bucket_ms) == (0, widths[0])
        await _go(stage, "Z")
        assert "all of it" in stage.screen[-1]


async def test_the_playhead_keeps_its_cell() -> None:
    async with Stage(many(6000), size=(80, 24)) as stage:
        await _go(stage, "d", "d", "z")
        seen = []
        for _ in range(3):
            seen.append(stage.screen[4].index("▲"))
            await _go(stage, "z")
        assert max(seen) - min(seen) <= 1, seen


async def test_a_zoomed_strip_is_asked_anew_where_the_cursor_leaves_it() -> None:
    async with Stage(many(3000), size=(80, 24)) as stage:
        for _ in range(3):
            await _go(stage, "z")
        assert stage.state.scrub.width_ms == 5 * MINUTE_MS
        await _go(stage, "G")
        assert stage.state.facets is not None and stage.state.entry is not None
        assert stage.state.facets.buckets[0].start_epoch_ms <= stage.state.entry.created_at_epoch
        assert "▲" in stage.screen[4]


async def test_quiet_times_and_finer_bars() -> None:
    async with Stage(days(), size=(80, 24)) as stage:
        await _go(stage, "z")
        assert "┄" in stage.screen[3]
        await _go(stage, "C")
        assert "┄" not in stage.screen[3]
        assert "quiet times are shown" in stage.screen[-1]
        assert max(stage.screen[3]) < "⣀"
        await _go(stage, "C", "B")
        assert any("⠀" <= char <= "⣿" for char in stage.screen[3])


async def test_a_brushed_span_is_one_chip_that_takes_the_place_of_the_last() -> None:
    async with Stage(days(), size=(120, 36)) as stage:
        await stage.press("slash", *"is:observation", "enter")
        await stage.until(lambda: stage.state.answered is not None and stage.state.answered.text == "is:observation")
        await stage.settled()
        await stage.press("v")
        assert "Enter" in stage.screen[-1] or "↵" in stage.screen[-1]
        await _go(stage, "j", "j", "j", "j")
        assert "┘" in stage.text and "▲" in stage.text
        await stage.press("enter")
        await stage.settled()
        assert stage.state.ask.text == "since:2026-11-25T08:44 until:2026-11-25T12:54 is:observation"
        assert (stage.state.rows.total, stage.state.basket.span_from) == (5, None)
        await stage.press("g", "v", "j", "enter")
        await stage.settled()
        assert [chip.field for chip in chips.chips(stage.state.ask.text)] == ["since", "until", "is"]
        assert stage.state.rows.total == 2
        await stage.press("F")  # the last filter
        await stage.press("F")  # and the span, as one
        await stage.settled()
        assert stage.state.ask.text == ""
        assert stage.state.rows.total == 56


async def test_the_past_has_no_future_on_any_screen() -> None:
    async with Stage(days(), size=(120, 36)) as stage:
        await _go(stage, "d", "d", "H")
        here = _title(stage)
        assert here == "Day 5 part 1 step 0"
        await _go(stage, "a")
        assert "AS OF Mon 23 Nov 12:04: nothing later" in stage.text
        assert stage.state.ask.text == "at:2026-11-23T12:04"
        assert _title(stage) == here
        assert stage.state.rows.total == 5 * 7 + 3 + 1
        assert stage.state.facets is not None and stage.state.facets.total == stage.state.rows.total
        assert "a back to now" in stage.screen[-1]
        stage.client.stream.put_nowait(StreamEvent(type="new_observation", observation={}))
        await stage.until(lambda: stage.state.fresh == 1)
        assert "1 new" not in stage.text
        await _go(stage, "i")
        assert stage.state.track is not None
        assert stage.state.track.at_end
        assert stage.state.track.entries[-1].title == here
        assert stage.state.scrub.lanes is not None
        shown = stage.state.scrub.lanes.buckets
        assert shown[-1].end_epoch_ms - 15 * MINUTE_MS <= stage.state.ask.as_of_ms < shown[-1].end_epoch_ms  # type: ignore[operator]
        assert shown[-1].count == 1
        await _go(stage, "l")
        assert _title(stage) == here
        await _go(stage, "a")
        assert stage.state.ask.as_of_ms is None
        assert "AS OF" not in stage.text
        assert _title(stage) == here
        assert stage.state.rows.total == 56


async def test_what_a_key_does_can_be_typed() -> None:
    async with Stage(days(), size=(80, 24)) as stage:
        await stage.press("slash", *"at:2026-11-23T12:04", "enter")
        await stage.until(lambda: stage.state.rows.total == 39)
        assert "AS OF Mon 23 Nov 12:04" in stage.text
        await stage.press("slash", *(["backspace"] * 30), *"at:2d", "enter")
        await stage.until(lambda: "AS OF Mon 23 Nov 15:04" in stage.text)
        assert stage.state.rows.total == 42
        await stage.press("slash", *(["backspace"] * 30), *"at:yesterday", "enter")
        await stage.until(lambda: stage.state.rows.total == 7)
        assert "AS OF" not in stage.text


async def test_the_past_is_restored(tmp_path: Path) -> None:
    kept = tmp_path / "tui.json"
    async with Stage(days(), kept=kept) as stage:
        await _go(stage, "d", "d", "a")
        moment = stage.state.ask.as_of_ms
    async with Stage(days(), kept=kept) as stage:
        assert stage.state.ask.as_of_ms == moment
        assert "AS OF" in stage.text


async def test_lanes_show_who_did_what_when() -> None:
    async with Stage(days(), size=(120, 36)) as stage:
        await _go(stage, "i")
        lanes = [line for line in stage.screen[3:12] if "▌" in line]
        assert len(lanes) == 1 and lanes[0].startswith(" ▌7171") and lanes[0].endswith("3.6k    4")
        assert "█" in lanes[0] and "░" in lanes[0] and "▓" in lanes[0] and "S" in lanes[0]
        assert "15 min" in stage.screen[4]
        assert (
            any(line.startswith(" UTC") and "▲ Wed 25 Nov 12:54" in line for line in stage.screen) or "+" in stage.text
        )
        await _go(stage, "H", "H")
        assert any(line.startswith(" ▌7070") for line in stage.screen)
        assert _title(stage) == "Day 7 part 0 step 0"
        await _go(stage, "Z")
        assert "1 h" in stage.screen[4]
        assert stage.state.scrub.width_ms == 0  # the strip of the list keeps its own
        await _go(stage, "i")
        assert stage.state.view is View.LIST
        assert "UTC" in stage.screen[4]


@pytest.mark.parametrize(("size", "lanes"), [((80, 24), 4), ((50, 20), 3), ((40, 20), 0), ((80, 16), 0)])
async def test_fewer_lanes_on_smaller_screens_and_none_on_the_smallest(size: tuple[int, int], lanes: int) -> None:
    async with Stage(days(), size=size) as stage:
        await _go(stage, "i", "Z", "Z")
        shown = [line for line in stage.screen if any(mark in line for mark in ("0 ·", "█")) and "tok" not in line]
        named = [line for line in stage.screen if line[2:6].isdigit() and line[2:4] == line[4:6]]
        assert len(named) == lanes, shown
        assert (stage.state.scrub.lane_ms, stage.state.scrub.width_ms) == ((6 if lanes else 0.25) * HOUR_MS, 0)
        await _go(stage, "z")
        assert bool(stage.state.scrub.width_ms) is not bool(lanes)  # without lanes it is the strip that is zoomed


async def test_prompts_marks_and_alerts_have_their_place() -> None:
    records: list[Record] = [
        prompt(1, "Why does it fail?", at=NOW_MS - 2 * HOUR_MS, memory_session_id=FIRST),
        observation(5, "A leak", at=NOW_MS - HOUR_MS, type="security_alert", memory_session_id=FIRST),
        observation(6, "修复身份验证缓存失效 \x1b[31m", at=NOW_MS, memory_session_id="\x1b]0;x\x07修复"),
    ]
    async with Stage(records, size=(80, 24)) as stage:
        await _go(stage, "space", "i")
        assert any(line.startswith("  alerts") and "!" in line for line in stage.screen)
        assert any(line.startswith("  marks") and "*" in line for line in stage.screen)
        assert any("修复" in line and "█" in line for line in stage.screen)
        assert any(line.startswith("  1111") and " P" in line for line in stage.screen)
        assert "\x1b" not in stage.text and "\x07" not in stage.text


@pytest.mark.parametrize("count", [1, 2])
async def test_one_record_and_one_instant(count: int) -> None:
    async with Stage([observation(n, "Alone", at=NOW_MS) for n in range(count)], size=(80, 24)) as stage:
        assert "▲ Wed 25 Nov 15:04" in stage.text
        for key in ("d", "D", "w", "W", "0", "H", "L", "z", "Z", "C", "B", "i", "z", "Z", "d", "i", "v", "enter", "a"):
            await _go(stage, key)
            assert stage.state.entry is not None
        assert stage.state.rows.total == count


async def test_an_empty_memory_says_why_nothing_moves() -> None:
    async with Stage([], size=(80, 24)) as stage:
        for key in ("d", "w", "0", "H", "a"):
            await _go(stage, key)
            assert "no record here" in stage.screen[-1]
        await _go(stage, "z")
        assert "nothing to zoom into" in stage.screen[-1]
        await _go(stage, "v", "enter", "i", "C", "B")


async def test_a_hundred_thousand_records_are_asked_for_in_few_calls() -> None:
    async with Stage(many(100_000), size=(80, 24)) as stage:
        stage.memory.asked.clear()
        await _go(stage, "w")
        assert _title(stage).startswith("Finding number 96215 ")  # the last of Sunday
        assert len([path for path, _ in stage.memory.asked if path == "/api/search"]) <= 4
        assert not [path for path, _ in stage.memory.asked if path == "/api/facets"]
        await _go(stage, "i")
        assert len([path for path, _ in stage.memory.asked if path == "/api/lanes"]) == 1


@pytest.mark.parametrize("size", SIZES)
async def test_how_it_looks(size: tuple[int, int]) -> None:
    async with Stage(days(), size=size) as stage:
        await _go(stage, "d", "d", "z", "z")
        await check("strip-zoomed", stage)
        await _go(stage, "H", "v", "l", "l", "l")
        await check("strip-brush", stage)
        await _go(stage, "escape", "a")
        await check("as-of", stage)
        await _go(stage, "i")
        await check("lanes", stage)


@pytest.mark.parametrize("size", SIZES)
async def test_how_it_looks_in_ascii(size: tuple[int, int]) -> None:
    async with Stage(days(), size=size, glyphs=ASCII) as stage:
        await _go(stage, "d", "z")
        await check("strip-ascii", stage)
        await _go(stage, "i")
        await check("lanes-ascii", stage)


async def test_without_colours_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with Stage(days(), size=(80, 24)) as stage:
        await _go(stage, "d", "d", "z", "z", "i", "v", "l")
        await check("lanes-no-colour", stage)


async def test_ascii_draws_with_ascii_alone() -> None:
    async with Stage(days(), size=(80, 24), glyphs=ASCII) as stage:
        await _go(stage, "z")
        assert "^" in stage.screen[4] and stage.text.isascii()
        await _go(stage, "i")
        assert stage.text.isascii()
        await _go(stage, "v", "h", "h")
        assert stage.text.isascii()


async def test_costs_are_those_of_the_past_too() -> None:
    async with Stage(days(), size=(80, 24)) as stage:
        await _go(stage, "d", "d", "a", "dollar_sign")
        moment = stage.state.ask.as_of_ms
        assert "AS OF" in stage.text
        asked = [params for path, params in stage.memory.asked if path == "/api/costs"]
        assert [int(params["dateEnd"]) for params in asked] == [moment]

"""Choosing filters by keys, which is the same as typing them."""

import pytest

from tests.tui.memory import observation
from tests.tui.stage import Stage
from tests.tui.test_snapshots import SIZES, check
from worker.contract.errors import MemError


async def _open(stage: Stage) -> None:
    await stage.press("f")
    await stage.until(lambda: stage.state.choosing.offer is not None and "Type" in stage.text)
    await stage.settled()


async def test_f_offers_filters_with_counts_and_space_turns_one_on_and_off() -> None:
    async with Stage() as stage:
        await _open(stage)
        assert "[ ] B bugfix" in stage.text
        first = next(line for line in stage.screen if "▌" in line)
        name, count = first.split()[4], first.split()[5]
        await stage.press("space")
        await stage.settled()
        assert f"type:{name}" in stage.screen[0]
        assert f"{count} records" in stage.screen[0]
        assert "[x]" in next(line for line in stage.screen if "▌" in line)
        assert "[ ] F feature" in stage.text, "the others of its group can still be chosen"
        await stage.press("q")
        assert stage.app.workspace.search.box.value == f"type:{name}"
        await stage.press("F")
        await stage.settled()
        assert stage.app.workspace.search.box.value == ""
        assert "123 records" in stage.text
        await stage.press("F")
        assert "no filter in the query" in stage.screen[-1]


async def test_filters_of_two_groups_and_a_date_hold_together() -> None:
    async with Stage(size=(80, 50)) as stage:
        await stage.press("slash", *"type:bugfix", "tab")
        await stage.settled()
        await _open(stage)
        while "yesterday" not in next(line for line in stage.screen if "▌" in line):
            await stage.press("j")
        before = stage.state.rows.total
        await stage.press("enter")
        await stage.settled()
        assert stage.state.ask.text == "at:yesterday type:bugfix"
        assert stage.state.rows.total < before
        assert "[x]" in next(line for line in stage.screen if "▌" in line)


async def test_what_cannot_be_read_as_a_filter_is_said_while_it_is_typed() -> None:
    async with Stage(size=(100, 30)) as stage:
        await stage.press("slash", *"at:thursd")
        await stage.until(lambda: "at: no date yet: 14:30, 3d, monday" in stage.text)
        await stage.press("a", "y")
        await stage.until(lambda: stage.state.ask.text == "at:thursday" and not stage.state.waiting)
        assert "no date" not in stage.text
        await stage.press("escape", *"prj:web")
        await stage.until(lambda: "prj: is text, no filter; is it project:?" in stage.text)


@pytest.mark.parametrize(("columns", "way_out"), [(63, True), (50, True), (40, False)])
async def test_in_a_narrow_pane_it_is_said_below_while_it_is_typed(columns: int, way_out: bool) -> None:
    note = "at: no date yet: 14:30, 3d, monday"
    async with Stage(size=(columns, 20)) as stage:
        await stage.press("slash", *"at:thursd")
        await stage.until(lambda: stage.screen[-1].strip().startswith(note[: columns - 6]))
        assert stage.screen[-1].endswith("Esc clear") is way_out
        assert note not in stage.screen[1]
        await stage.press("a", "y")
        await stage.until(lambda: stage.state.ask.text == "at:thursday" and not stage.state.waiting)
        await stage.until(lambda: "to the hits" in stage.screen[-1])
        await stage.press("escape", *"prj:a")
        await stage.until(lambda: "prj: is text, no filter" in stage.screen[-1])
        await stage.press("tab")
        await stage.until(lambda: "keys" in stage.screen[-1])


async def test_where_nothing_is_found_it_is_said_in_a_narrow_pane_too_that_a_word_is_no_filter() -> None:
    async with Stage(size=(50, 20)) as stage:
        await stage.press("slash", *"prj:zebra")
        await stage.until(lambda: "No hits" in stage.text)
        await stage.settled()
        assert any(line.strip() == "prj: is text, no filter; is it project:?" for line in stage.screen)


async def test_what_is_typed_is_a_chip_that_can_be_taken_out() -> None:
    async with Stage() as stage:
        await stage.press("slash", *"concept:gotcha race", "enter")
        await stage.settled()
        assert stage.state.rows.total == 1
        await stage.press("F")
        await stage.settled()
        assert stage.app.workspace.search.box.value == "race"
        assert stage.state.rows.total == 2


async def test_no_counts_are_said_and_what_is_on_can_still_be_taken_off() -> None:
    async with Stage() as stage:
        await stage.press("slash", *"type:bugfix", "enter")
        await stage.settled()
        stage.client.failure = MemError("no time")
        await stage.press("f")
        await stage.until(lambda: "No counts: no time" in stage.text)
        assert "[x] B bugfix" in stage.text


async def test_names_in_filters_steer_nothing() -> None:
    records = [observation(n, "x", project="[red]\x1b[2Jshop, two", type="odd [/") for n in range(3)]
    async with Stage([*records, observation(9, "y", project='a"b')]) as stage:
        await _open(stage)
        assert "odd [/" in stage.text
        assert "shop, two" not in stage.text, "a comma cannot be said in a filter"


@pytest.mark.parametrize("size", SIZES)
async def test_snapshot(size: tuple[int, int]) -> None:
    async with Stage(size=size) as stage:
        await stage.press("slash", *"concept:gotcha", "enter")
        await stage.settled()
        await _open(stage)
        await check("filters", stage)

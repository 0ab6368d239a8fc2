"""Everything by name."""

import pytest

from tests.tui.memory import observation
from tests.tui.stage import Stage
from tests.tui.test_snapshots import SIZES, check
from tui.deeds.commanding import of_place
from tui.keymap import places
from tui.state.model import ViewState
from tui.state.palette import Item, matching
from tui.state.reasons import why_not


async def _open(stage: Stage) -> None:
    await stage.press("colon")
    await stage.until(lambda: "do it" in stage.screen[-1])
    await stage.settled()


async def test_a_command_is_found_and_done_as_by_its_key() -> None:
    async with Stage() as stage:
        await _open(stage)
        await stage.press(*"timel")
        assert stage.screen[2].startswith("▌ timeline")
        await stage.press("enter")
        await stage.until(lambda: "timeline around" in stage.text)
        await stage.settled()
        await _open(stage)
        await stage.press(*"search box", "enter")
        await stage.until(lambda: stage.app.workspace.search.box.has_focus)


@pytest.mark.parametrize("place", [value for value in vars(places).values() if isinstance(value, str)])
def test_no_two_deeds_of_a_place_are_called_the_same(place: str) -> None:
    names = [item.label for item in of_place(place, ViewState())]
    assert [name for name in names if names.count(name) > 1] == []


@pytest.mark.parametrize("size", [(80, 24), (50, 20)])
async def test_steps_in_time_are_told_apart_each_with_its_key(size: tuple[int, int]) -> None:
    async with Stage(size=size) as stage:
        await _open(stage)
        await stage.press(*"day")
        await stage.settled()
        found = [line.strip("▌ ").split() for line in stage.screen[2:]]
        steps = {" ".join(line[:2]): line[-1] for line in found if line[:1] == ["day"]}
        assert steps == {"day before": "d", "day after": "D"}


async def test_a_project_and_a_theme_are_gone_to_by_name() -> None:
    async with Stage() as stage:
        await _open(stage)
        await stage.press(*"mizu")
        assert "project mizu-docs" in stage.text
        await stage.press("enter")
        await stage.settled()
        assert stage.state.ask.project == "mizu-docs"
        await _open(stage)
        await stage.press(*"theme nord", "enter")
        await stage.pilot.pause()
        assert stage.app.theme == "nord"


async def test_what_cannot_be_done_says_why_and_stays() -> None:
    async with Stage() as stage:
        await _open(stage)
        await stage.press(*"demo memory")
        assert "your memory is not empty" in stage.text
        await stage.press("enter")
        assert stage.screen[-1].strip() == "demo: your memory is not empty"
        await stage.press("down", "up", "escape")
        await stage.until(lambda: "quit" in stage.screen[-1])


async def test_nothing_is_called_so() -> None:
    async with Stage() as stage:
        await _open(stage)
        await stage.press(*"zzz", "enter", "down")
        assert "nothing is called so" in stage.text
        await stage.press("tab")
        await stage.until(lambda: "quit" in stage.screen[-1])


async def test_commands_of_a_record_are_done_there() -> None:
    async with Stage() as stage:
        await stage.press("enter")
        await stage.settled()
        await _open(stage)
        await stage.press(*"mark the", "enter")
        await stage.until(lambda: [entry.id for entry in stage.state.basket.entries] == [4821])


async def test_names_of_projects_steer_nothing() -> None:
    async with Stage([observation(1, "x", project="[red]\x1b[2J[/")]) as stage:
        await _open(stage)
        await stage.press(*"red")
        assert "project [red][/" in stage.text


def test_labels_come_before_help_and_what_can_be_done_before_what_cannot() -> None:
    items = [Item("key", "a", "mark"), Item("key", "b", "copy", "copy what is marked"),
             Item("key", "c", "market", reason="closed"), Item("key", "d", "re-mark")]  # fmt: skip
    assert [item.name for item in matching(items, "mark")] == ["a", "d", "b", "c"]
    assert matching(items, "mark nothing") == []


def test_reasons() -> None:
    assert why_not(ViewState(), "open") == "no record here"
    assert why_not(ViewState(), "guide") == ""


@pytest.mark.parametrize("size", SIZES)
async def test_snapshot(size: tuple[int, int]) -> None:
    async with Stage(size=size) as stage:
        await _open(stage)
        await check("palette", stage)

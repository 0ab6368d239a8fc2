"""Every action of the table, in every place it is for; and keys that come faster than the screen."""

import pytest
from textual import events

from tests.tui.memory import observation
from tests.tui.stage import Stage
from tui import messages
from tui.cells import page
from tui.cells.look import Look
from tui.keymap import places, table
from tui.screens.guide import GuideScreen
from tui.screens.palette import PaletteScreen
from tui.screens.record import RecordScreen
from tui.screens.settings import SettingsScreen
from tui.screens.workspace import Workspace
from tui.state.model import View
from worker.contract import calls
from worker.contract.records import Record
from worker.contract.search import Entry


async def _to(stage: Stage, place: str) -> None:
    """The focus in a place, whatever is open."""
    while not isinstance(stage.app.screen, Workspace):
        await stage.press(
            "escape" if isinstance(stage.app.screen, PaletteScreen | GuideScreen | SettingsScreen) else "q"
        )
        await stage.pilot.pause()
    workspace = stage.app.workspace
    workspace.set_focus(workspace.search.box if place == places.BOX else workspace.hits)
    if stage.state.view is View.TIMELINE:
        await stage.press("i")
        await stage.settled()
    match place:
        case places.PREVIEW:
            workspace.set_focus(workspace.preview)
        case places.RECORD:
            await stage.press("enter")
        case places.GUIDE:
            await stage.press("question_mark", "enter")
    await stage.settled()


@pytest.mark.parametrize("place", [places.BOX, places.LIST, places.PREVIEW, places.RECORD, places.GUIDE])
async def test_every_key_does_something_or_says_why(place: str) -> None:
    async with Stage() as stage:
        for action in table.at(place):
            for key in action.keys[:1] if action.name != "quit" else ():
                await _to(stage, place)
                await stage.press(key)
                await stage.settled()
                assert stage.app.is_running, (action.name, key)
                assert stage.app.faults == [], (action.name, key)
                assert "means nothing here" not in stage.text, (action.name, key)


async def test_keys_typed_ahead_go_where_they_are_meant() -> None:
    """A slow line delivers a burst: what is typed after `/` is text, also when the list has not seen `/` yet."""
    async with Stage() as stage:
        for key, character in (("slash", "/"), *((letter, letter) for letter in "hills")):
            stage.app.post_message(events.Key(key, character))
        await stage.settled()
        assert stage.app.workspace.search.box.value == "hills"
        assert stage.state.ask.project is None


@pytest.mark.parametrize(
    ("text", "asked_again"), [("parser is:nonsense", True), ("parser is:prompt", False), ("pars", False)]
)
async def test_a_filter_that_cannot_be_read_is_told_to_the_worker_once_the_box_is_left(
    text: str, asked_again: bool
) -> None:
    async with Stage([observation(n, "the parser is nonsense in a prompt") for n in range(1, 9)]) as stage:
        await stage.press("slash")
        stage.app.workspace.search.box.value = text
        await stage.settled()
        stage.client.memory.asked.clear()
        stage.app.workspace.set_focus(stage.app.workspace.search.box)
        for _ in range(2):
            stage.app.post_message(messages.Wanted("leave_box", places.BOX))
            await stage.settled()
        asked = [params for path, params in stage.memory.asked if path == calls.SEARCH]
        assert [params["query"] for params in asked] == [text] * asked_again
        assert not any("typing" in params for params in asked)


async def test_no_letter_leaves_the_box() -> None:
    async with Stage() as stage:
        await stage.press("slash", *"qjkgGdrtsiThlo", "space", "question_mark", "slash", "full_stop")
        await stage.settled()
        assert stage.app.workspace.search.box.value == "qjkgGdrtsiThlo ?/."


async def test_what_is_open_is_not_opened_again() -> None:
    """Whatever these keys are on the screens they open: there is one of each."""
    async with Stage() as stage:
        for keys, kind in ((["question_mark"] * 4, GuideScreen), (["enter"] * 3, RecordScreen)):
            for key in keys:
                stage.app.post_message(events.Key(key, None))
            await stage.until(lambda kind=kind: isinstance(stage.app.screen, kind))  # type: ignore[misc]
            await stage.settled()
            assert sum(isinstance(screen, kind) for screen in stage.app.screen_stack) == 1
            await stage.press("escape")
            await stage.settled()
            assert isinstance(stage.app.screen, Workspace)


@pytest.mark.parametrize("ahead", ["enter question_mark", "question_mark enter", "enter q enter", "question_mark q"])
async def test_screens_opened_and_closed_ahead_are_drawn_in_full(ahead: str) -> None:
    records = [observation(1, "one", narrative="word " * 60)]
    async with Stage(records) as stage:
        for key in ahead.split():
            stage.app.post_message(events.Key(key, None))
        await stage.settled()
        assert stage.app.is_running
        while not isinstance(stage.app.screen, Workspace | RecordScreen):
            await stage.press("escape")
            await stage.still()
        if isinstance(stage.app.screen, RecordScreen):
            await stage.until(lambda: any(len(line) > 70 for line in stage.screen), within_s=20)


async def test_a_record_is_laid_out_for_the_width_it_gets_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms: list[int] = []
    lines = page.lines

    def seen(record: Record, entry: Entry | None, room: int, look: Look, *, brief: bool) -> list[page.Line]:
        rooms.append(room)
        return lines(record, entry, room, look, brief=brief)

    monkeypatch.setattr(page, "lines", seen)
    async with Stage([observation(1, "one", narrative="word " * 600)]) as stage:
        rooms.clear()
        stage.app.post_message(events.Key("enter", None))
        stage.app.post_message(events.Key("question_mark", None))
        await stage.settled()
        await stage.press("escape")
        await stage.settled()
        assert isinstance(stage.app.screen, RecordScreen)
        assert set(rooms) == {75}
        assert "word word" in stage.text

"""Every action of the table, in every place it is for; and keys that come faster than the screen."""

import pytest
from textual import events

from tests.tui.stage import Stage
from tui import keymap
from tui.screens.workspace import Workspace
from tui.state.model import View


async def _to(stage: Stage, place: str) -> None:
    """The focus in a place, whatever is open."""
    while not isinstance(stage.app.screen, Workspace):
        await stage.press("q")
        await stage.pilot.pause()
    workspace = stage.app.workspace
    workspace.set_focus(workspace.search.box if place == keymap.BOX else workspace.hits)
    if stage.state.view is View.TIMELINE:
        await stage.press("i")
        await stage.settled()
    match place:
        case keymap.PREVIEW:
            workspace.set_focus(workspace.preview)
        case keymap.RECORD:
            await stage.press("enter")
        case keymap.GUIDE:
            await stage.press("question_mark")
    await stage.settled()


@pytest.mark.parametrize("place", [keymap.BOX, keymap.LIST, keymap.PREVIEW, keymap.RECORD, keymap.GUIDE])
async def test_every_key_does_something_or_says_why(place: str) -> None:
    async with Stage() as stage:
        for action in keymap.at(place):
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


async def test_no_letter_leaves_the_box() -> None:
    async with Stage() as stage:
        await stage.press("slash", *"qjkgGdrtsiThlo", "space", "question_mark", "slash", "full_stop")
        await stage.settled()
        assert stage.app.workspace.search.box.value == "qjkgGdrtsiThlo ?/."

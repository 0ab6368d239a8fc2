"""Keys that come in one piece do what they do one by one: the letters of a command are no deeds of the list below."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual import events
from textual.message import Message

from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import Memory, many
from tests.tui.stage import Stage
from tests.tui.terminal import Terminal
from tests.tui.test_terminal import _environ
from tui.keymap import places
from tui.keymap.chosen import Chosen
from tui.keymap.table import KEYMAP
from tui.screens.workspace import Workspace
from tui.widgets import turns

_NAMES = {":": "colon", "/": "slash", "?": "question_mark", "!": "exclamation_mark", "\r": "enter", "\x1b": "escape"}
_OPENING = sorted(
    {action.keys[0] for action in KEYMAP if places.LIST in action.places and action.keys} - {"q", "ctrl+q", "ctrl+z"}
)


def _keys(typed: str) -> list[events.Key]:
    return [events.Key(_NAMES.get(each, each), each) for each in typed]


async def _burst(stage: Stage, *keys: events.Key | events.Paste) -> None:
    """All of them are there before the first is read."""
    for key in keys:
        stage.app.post_message(key)
    await stage.pilot.pause()
    await stage.until(lambda: stage.app.turns.over)
    await stage.settled()


def _place(stage: Stage) -> tuple[object, ...]:
    focused = stage.app.focused
    return (
        [type(screen) for screen in stage.app.screen_stack],
        getattr(focused, "id", None),
        getattr(focused, "value", None),
    )


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with Stage() as stage:
        yield stage


@pytest.mark.parametrize("key", _OPENING)
async def test_what_follows_a_key_is_for_what_it_opened(key: str) -> None:
    """Each key of the list, the palette's, a letter: where that leads to, one by one, and in one piece."""
    ends = []
    for in_one_piece in (False, True):
        typed = [events.Key(key, key if len(key) == 1 else None), *_keys(":z")]
        async with Stage() as stage:
            await stage.press("j", "m", "j")
            for piece in [typed] if in_one_piece else [[each] for each in typed]:
                await _burst(stage, *piece)
            ends.append((*_place(stage), stage.state.basket))
    assert ends[0] == ends[1]


async def test_a_command_is_typed_and_done_in_one_piece(stage: Stage) -> None:
    before = stage.state
    await _burst(stage, *_keys(":cost\r"))
    assert type(stage.app.screen).__name__ == "CostScreen"
    await _burst(stage, *_keys("q!\x1b?find\x1b\x1b:health\r"))
    assert type(stage.app.screen).__name__ == "HealthScreen"
    await _burst(stage, *_keys("\x1b/scrub"))
    assert isinstance(stage.app.screen, Workspace)
    assert stage.app.workspace.search.box.value == "scrub"
    assert stage.state.basket == before.basket


async def test_a_command_does_what_it_does_before_the_next_key(stage: Stage) -> None:
    """What the palette is asked to do waits for the screen below; what is typed after it, too."""
    await _burst(stage, *_keys(":costs\r:z"))
    assert [type(screen).__name__ for screen in stage.app.screen_stack][1:] == ["CostScreen", "PaletteScreen"]


async def test_what_is_pasted_keeps_its_place(stage: Stage) -> None:
    await _burst(stage, *_keys("/a"), events.Paste("bc"), *_keys("d"))
    assert stage.app.workspace.search.box.value == "abcd"


async def test_what_is_pasted_is_for_what_a_key_opened(stage: Stage) -> None:
    await _burst(stage, *_keys(":"), events.Paste("cos"), *_keys("t\r"))
    assert type(stage.app.screen).__name__ == "CostScreen"


async def test_a_long_text_that_comes_as_keys_is_whole(stage: Stage) -> None:
    text = "0123456789" * 40
    await _burst(stage, *_keys("/" + text))
    assert stage.app.workspace.search.box.value == text


async def test_keys_of_ones_own_are_those_of_the_place_they_come_to() -> None:
    """In the list `x` opens the palette, where it is a letter."""
    async with Stage(keys=Chosen(keys={"palette": ("x",)})) as stage:
        await _burst(stage, *_keys("xx"))
        assert _place(stage)[1:] == ("command", "x")


async def test_a_widget_that_ends_holds_up_nobody(stage: Stage) -> None:
    """Screens are closed as fast as they are opened."""
    await _burst(stage, *_keys("!\x1b" * 12 + ":z"))
    assert _place(stage)[1:] == ("command", "z")


async def test_a_key_that_comes_while_another_is_called_stands_behind_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three in the box the last comes right when the second is told that it is its turn."""
    await _burst(stage, *_keys("/a"))
    post, second, third = stage.app.post_message, *_keys("bc")

    def crowded(message: Message) -> bool:
        return (message is not second or post(third)) and post(message)

    post(events.Key("left", None))
    post(second)
    monkeypatch.setattr(stage.app, "post_message", crowded)
    await stage.until(lambda: stage.app.turns.over and len(stage.app.workspace.search.box.value) == 3)
    assert stage.app.workspace.search.box.value == "bca"


async def test_a_key_that_fell_to_nobody_holds_up_the_next_for_a_while_only(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list takes the first and never says so."""
    monkeypatch.setattr(turns, "_LOST_S", 0.05)
    hits, steps = stage.app.workspace.hits, stage.app.turns._step
    call_later = hits.call_later
    monkeypatch.setattr(hits, "call_later", lambda call, *told: call == steps or call_later(call, *told))
    await _burst(stage, *_keys("!:z"))
    assert _place(stage)[1:] == ("command", "z")


def test_a_line_that_stood_still(tmp_path: Path) -> None:
    """The app is stopped while keys are typed, as by a stalled connection: it reads them in one piece."""
    with (
        FakeWorker(Memory(many(50), data_dir=str(tmp_path))) as worker,
        Terminal(["-m", "tui"], _environ(str(tmp_path), worker.port)) as terminal,
    ):
        terminal.until(lambda text: "Finding number" in text)
        terminal.settled()
        terminal.process.send_signal(signal.SIGSTOP)
        for key in "j:costs\r?":
            terminal.send(key)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.until(lambda text: "Type what you want to do" in text and "into this, or its records" in text)
        terminal.send("\x1b")
        terminal.until(lambda text: "spent" in text and "Type what" not in text)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [("/ab\x1b\x1bjj:costs\r", "spent"), ("?\x1b:costs\r", "spent"), ("f\x1b:costs\r\x1b/ab\x1bxyz", "❯ xyz")],
)
def test_an_escape_amid_what_is_typed(tmp_path: Path, typed: str, shown: str) -> None:
    """All of it is one piece, as tmux makes it of what follows an Escape within half a second."""
    with (
        FakeWorker(Memory(many(50), data_dir=str(tmp_path))) as worker,
        Terminal(["-m", "tui"], _environ(str(tmp_path), worker.port)) as terminal,
    ):
        terminal.until(lambda text: "Finding number" in text)
        terminal.settled()
        terminal.send(typed)
        terminal.until(lambda text: shown in text)

"""Keys of a person's own in the app: they work, the old ones do not, and what is shown is what works. And the help."""

from pathlib import Path

import pytest
from textual import events

from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import Memory, many
from tests.tui.stage import Stage
from tests.tui.terminal import Terminal
from tests.tui.test_terminal import _environ
from tui.keymap.chosen import chosen
from tui.keymap.table import named
from tui.screens.guide import GuideScreen
from tui.screens.record import RecordScreen

SCORE = named("score").first


async def test_they_work_and_the_old_ones_say_so() -> None:
    async with Stage(keys=chosen({"down": ["ctrl+j", "e"], "mark": "x"})) as stage:
        await stage.press("e", "ctrl+j")
        assert stage.state.cursor == 2
        await stage.press("j")
        assert stage.state.cursor == 2
        assert "means nothing here" in stage.text
        await stage.press("x")
        assert len(stage.state.basket.entries) == 1
        await stage.press("space", "down")
        assert (len(stage.state.basket.entries), stage.state.cursor) == (1, 2)
        await stage.press("k")
        assert stage.state.cursor == 1


async def test_letters_are_typed_in_the_box_all_the_same() -> None:
    async with Stage(keys=chosen({"down": "e", "search": "x"})) as stage:
        await stage.press("x", *"refresh")
        await stage.settled()
        assert stage.app.workspace.search.box.value == "refresh"
        await stage.press("enter")
        assert stage.app.place == "list"


async def test_a_key_typed_ahead_of_a_busy_screen_is_turned_too() -> None:
    async with Stage(keys=chosen({"search": "x"})) as stage:
        for key in ("x", *"hills"):
            stage.app.post_message(events.Key(key, key))
        await stage.settled()
        assert stage.app.workspace.search.box.value == "hills"


async def test_two_actions_that_change_places() -> None:
    async with Stage(size=(120, 36), keys=chosen({"open": SCORE, "score": "Enter"})) as stage:
        await stage.press(SCORE)
        assert isinstance(stage.app.screen, RecordScreen)


async def test_footer_palette_and_help_show_them() -> None:
    async with Stage(size=(120, 60), keys=chosen({"search": "ctrl+s", "mark": "x"})) as stage:
        assert "Ctrl+S search" in stage.screen[-1]
        assert "/ search" not in stage.screen[-1]
        await stage.press("colon", *"mark or unmark")
        await stage.press("escape", "colon", *"for the basket")
        assert any("mark" in line and line.endswith("x") for line in stage.screen)
        await stage.press("escape", "question_mark")
        assert any(line.strip().startswith("Ctrl+S ") for line in stage.screen)


async def test_what_could_not_be_had_is_said_and_listed() -> None:
    async with Stage(size=(120, 36), keys=chosen({"donw": "x", "set": "emacs"})) as stage:
        assert "keymap.toml: there is no set 'emacs'" in stage.screen[-1]
        assert "1 more; ? lists them" in stage.screen[-1]
        await stage.press("question_mark")
        assert any("Wrong in keymap.toml" in line for line in stage.screen)
        assert any("there is no action 'donw'" in line for line in stage.screen)


async def test_the_help_is_searched_by_typing() -> None:
    async with Stage() as stage:
        await stage.press("question_mark", "slash", *"copy ids")
        await stage.settled()
        lines = [line for line in stage.screen[2:-1] if line.strip()]
        assert "Mark and copy" in lines[0]
        assert lines[1].split()[0] == "y" and len(lines) <= 3
        await stage.press("enter")
        assert "Mark and copy" in stage.text  # the lines stay, and keys work on them
        await stage.press("slash", *" nosuchthing")
        assert "no key does that" in stage.text
        await stage.press("escape")
        assert "no key does that" not in stage.text
        assert isinstance(stage.app.screen, GuideScreen)
        await stage.press("q")
        assert not isinstance(stage.app.screen, GuideScreen)


@pytest.mark.parametrize("text", [b'set = "vim"\n', b"set =\n", b"\x00\xff"])
def test_a_file_beside_the_memory_is_read_and_never_in_the_way(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "keymap.toml").write_bytes(text)
    with (
        FakeWorker(Memory(many(100), data_dir=str(tmp_path))) as worker,
        Terminal(["-m", "tui"], _environ(str(tmp_path), worker.port), size=(120, 36)) as terminal,
    ):
        terminal.until(lambda screen: "About this: Finding number 100" in screen)
        if text.startswith(b'set = "vim"'):
            terminal.send("\x06")  # Ctrl+F
            terminal.until(lambda screen: "About this: Finding number 100" not in screen and "▌ " in screen)
            assert "keymap.toml" not in terminal.text
        else:
            terminal.until(lambda screen: "keymap.toml: it " in screen)
        terminal.send("q")
        assert terminal.process.wait(10) == 0


async def test_what_is_said_names_the_keys_in_force() -> None:
    async with Stage(keys=chosen({"search": "x", "guide": "e", "mark": "u", "quit": "Q"})) as stage:
        for key, said in (
            ("X", "x searches, e shows all keys"), ("right_curly_bracket", "that key means nothing here"),
            ("n", "that key means nothing here"), ("escape", "Q quits"),
        ):  # fmt: skip
            await stage.press(key)
            await stage.settled()
            assert said in stage.screen[-1], key

"""Keys of a person's own in the app: they work, the old ones do not, and what is shown is what works. And the help."""

import ast
from pathlib import Path

import pytest
from textual import events

from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import Memory, many
from tests.tui.stage import Stage
from tests.tui.terminal import ROOT, Terminal
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
        await stage.press("question_mark", *"copy ids")
        await stage.settled()
        lines = [line for line in stage.screen[2:-1] if line.strip()]
        assert "Mark and copy" in lines[0]
        assert lines[1].split()[0] == "y" and len(lines) <= 3
        await stage.press("enter")
        assert "Mark and copy" in stage.text and "q close" in stage.screen[-1]  # the lines stay, and keys work on them
        await stage.press("slash", *" nosuchthing")
        assert "no key does that" in stage.text
        await stage.press("ctrl+u")
        assert "no key does that" not in stage.text
        assert isinstance(stage.app.screen, GuideScreen)
        await stage.press("tab")
        await stage.until(lambda: not isinstance(stage.app.screen, GuideScreen))


@pytest.mark.parametrize(
    ("way", "group"),
    [
        ((), "Find"), (("i",), "Go along time"), (("enter",), "Read"), (("b",), "Mark and copy"),
        (("dollar_sign",), "Costs"), (("S",), "Sessions"), (("p",), "Next start"), (("A",), "Corpora"),
    ],
)  # fmt: skip
async def test_the_help_begins_with_where_it_was_asked_for(way: tuple[str, ...], group: str) -> None:
    async with Stage(size=(80, 24)) as stage:
        for key in (*way, "question_mark"):
            await stage.press(key)
            await stage.settled()
        await stage.still()
        assert next(line for line in stage.screen[2:] if line.strip()).strip().rstrip("▃▁▂▄▅▆▇ ") == group
        await stage.press(*"basket: copy a ready")
        await stage.still()
        assert "get_observations" in stage.screen[4]
        await stage.press("ctrl+u")
        await stage.still()
        assert next(line for line in stage.screen[2:] if line.strip()).strip().rstrip("▃▁▂▄▅▆▇ ") == group
        await stage.press("down", "down")
        await stage.still()
        assert group not in stage.screen[3]


async def test_the_help_tells_what_the_search_box_takes() -> None:
    async with Stage() as stage:
        await stage.press("question_mark", *"search box at:")
        await stage.settled()
        lines = [line.strip() for line in stage.screen[2:-1] if line.strip()]
        assert lines[0] == "In the search box"
        assert lines[1].startswith("at:thursday ") and len(lines) <= 3


async def test_the_help_names_a_shared_place_once_a_line_and_not_below_its_own_heading() -> None:
    async with Stage(size=(120, 36)) as stage:
        await stage.press("question_mark", *"smaller one larger budget")
        await stage.settled()
        assert stage.text.count("in the basket:") == 1 and "a larger budget; a smaller one" in stage.text
        await stage.press("ctrl+u", *"always give")
        await stage.settled()
        assert "Next start" in stage.text and "in the next start:" not in stage.text
        assert "or no longer; never give this record" in stage.text


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
        assert terminal.left() == 0


async def test_what_is_said_names_the_keys_in_force() -> None:
    async with Stage(keys=chosen({"search": "x", "guide": "e", "mark": "u", "quit": "Q"})) as stage:
        for key, said in (
            ("X", "x searches, e shows all keys"), ("right_curly_bracket", "that key means nothing here"),
            ("n", "that key means nothing here"), ("escape", "Q quits"),
        ):  # fmt: skip
            await stage.press(key)
            await stage.settled()
            assert said in stage.screen[-1], key


OWN = {
    "again": "e", "plan_again": "e", "back": "w", "close": "w", "more_time": "m", "build_corpus": "c", "mark": "e",
    "leave": "ctrl+g", "leave_settings": "ctrl+g", "drop_find": "ctrl+g", "drop_line": "ctrl+g", "clear": "ctrl+g",
    "palette": "W",
}  # fmt: skip


@pytest.mark.parametrize(
    ("way", "said", "not_said"),
    [
        (("S",), ("e  looks again", "w  goes back"), "q  goes back"),
        (("dollar_sign",), ("m  looks at a longer time", "w  goes back"), "]  looks"),
        (("p",), ("W  and its name chooses one",), ":  and"),
        (("A",), ("w  goes back",), "q  goes back"),
        (("b",), ("e marks the record under the cursor",), "Space marks"),
        (("question_mark", *"zzzzz"), ("no key does that", "Ctrl+G close"), "Esc close"),
        (("W", *"zzzzz"), ("nothing is called so; Ctrl+G closes",), "Esc closes"),
    ],
)
async def test_what_an_empty_page_says_names_the_keys_in_force(
    way: tuple[str, ...], said: tuple[str, ...], not_said: str
) -> None:
    async with Stage([], size=(120, 36), keys=chosen(OWN)) as stage:
        await stage.press("enter", *way)
        await stage.settled()
        for line in said:
            assert line in stage.text
        assert not_said not in stage.text


async def test_a_search_without_hits_names_the_key_in_force() -> None:
    async with Stage(size=(120, 36), keys=chosen(OWN)) as stage:
        await stage.press("slash", *"nosuchthing")
        await stage.settled()
        assert "Ctrl+G  empties the search box" in stage.text
        await stage.press("ctrl+g")
        await stage.settled()
        assert stage.app.workspace.search.box.value == ""


def test_the_usual_keys_that_sentences_name_are_those_of_the_tables() -> None:
    named_keys = [
        tuple(part.value for part in call.args if isinstance(part, ast.Constant))[:2]
        for file in (ROOT / "tui").rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("key", "hint")
        if all(isinstance(part, ast.Constant) for part in call.args) and len(call.args) >= 2
    ]
    assert len(named_keys) > 20
    assert [pair for pair in named_keys if named(str(pair[0])).first != pair[1]] == []

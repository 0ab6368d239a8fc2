"""Text that was never meant well, in every place where stored text is shown; and characters that are two cells wide."""

import asyncio

import pytest
from rich.cells import cell_len
from textual import events
from textual.geometry import Offset

from tests.tui.memory import observation, prompt, summary
from tests.tui.stage import Stage
from tui.cells.glyphs import ASCII
from tui.gateway.lists import Lists
from tui.state.facts import Fact
from tui.state.model import Link
from tui.widgets.search_bar import MOST
from worker.contract.errors import MemError, Unavailable
from worker.contract.records import Record
from worker.contract.settings import Settings

NASTY = ["ends in [/", "ends in [b", "[red]not red[/red]", "[@click=app.bell]x[/]", "\\[ [[ ]] [/]", "{curly} $var"]
STEERING = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\u202c\u200b\r\x08"


@pytest.mark.parametrize("text", NASTY)
async def test_brackets_are_shown_as_typed_everywhere(text: str) -> None:
    """R218: list, preview, whole record, header, box, notes, timeline."""
    record = observation(
        1, text, subtitle=text, narrative=text, facts=None, project=text, concepts='["' + text.replace("\\", "") + '"]'
    )
    records: list[Record] = [record, summary(2, text, learned=text, project=text), prompt(3, text, project=text)]
    async with Stage(records, size=(120, 36)) as stage:
        assert stage.text.count(text) >= 3
        await stage.press("enter")
        await stage.until(lambda: text in stage.text)
        await stage.press("q", "s", "s")  # the session, then its project
        await stage.settled()
        assert text[:38] in stage.screen[0]
        await stage.press("i")
        await stage.settled()
        assert text in stage.text
        await stage.press("i", "slash")
        stage.app.workspace.search.box.value = text + " zebra"
        await stage.settled()
        assert f"No hits for {text} zebra" in stage.text
        assert "❯ " + text in stage.screen[2]


@pytest.mark.parametrize("text", NASTY)
async def test_brackets_in_troubles_are_shown_as_typed(text: str) -> None:
    """R218: banner and bottom line."""
    async with Stage(size=(120, 36)) as stage:
        stage.client.failure = MemError(text)
        await stage.press("r")
        await stage.until(lambda: f"Search failed: {text}" in stage.text)
        stage.app.say(text)
        await stage.pilot.pause()
        assert text in stage.screen[-1]


async def test_an_internal_fault_ends_the_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*args: object, **named: object) -> Fact:
        raise ValueError("no such thing")

    async with Stage(size=(120, 36)) as stage:
        monkeypatch.setattr(Lists, "listed", broken)
        await stage.press("slash", "x")
        await stage.until(lambda: not stage.state.waiting)
        assert "Search failed: internal fault: ValueError('no such thing')" in stage.text
        assert "searching…" not in stage.text
        assert len(stage.app.faults) == 1
        stage.app.faults.clear()


async def test_a_failed_start_tells_any_reason() -> None:
    def ensure(settings: Settings) -> None:
        raise Unavailable("no luck [b" + STEERING)

    async with Stage(ensure=ensure, started=False, size=(120, 36)) as stage:
        await stage.until(lambda: stage.state.link is Link.FAILED)
        await stage.until(lambda: "no luck [bevil" in stage.text)
        assert "\x1b" not in stage.text


async def test_nothing_stored_steers_the_terminal() -> None:
    record = observation(
        1, f"a{STEERING}b", subtitle=STEERING, narrative=f"x{STEERING}y\nz", project=f"p{STEERING}",
        facts='["f\\u001b[31m\\u202e"]', files_read='["/etc/\\u001b]0;x\\u0007passwd"]', type=f"kind\n# {STEERING}",
    )  # fmt: skip
    async with Stage([record], size=(120, 36)) as stage:
        assert any("kind #" in line for line in stage.screen), "of a type that has two lines, both are on one"
        for keys in (("enter",), ("q", "i"), ("i", "s")):
            await stage.press(*keys)
            await stage.settled()
            assert not any(char in stage.text for char in "\x1b\x07\x08\r\x9b\u202e\u202c\u200b")
            assert "evil" in stage.text


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (50, 20), (40, 12), (24, 8)])
async def test_columns_stay_aligned_with_wide_characters(size: tuple[int, int]) -> None:
    """R226."""
    titles = [
        "plain",
        "修复身份验证缓存失效",
        "セッションの有効期限を延長",
        "Deploy 👨‍👩‍👧 of 🇩🇪 ❤️ 👍🏽 now",
        "é" * 9,
        "한국어 제목",
    ]
    async with Stage([observation(n, title) for n, title in enumerate(titles, 1)], size=size) as stage:
        width = size[0]
        lines = stage.app.screen._compositor.render_strips()
        assert all(cell_len("".join(segment.text for segment in line)) == width for line in lines)
        if width == 80:
            reads = [line for line in stage.screen if "~" in line and "1.2k" in line and "read" not in line]
            assert len({cell_len(line) for line in reads}) == 1
            assert len(reads) == len(titles)


async def test_the_box_moves_and_deletes_by_character() -> None:
    """R226: keys."""
    async with Stage() as stage:
        box = stage.app.workspace.search.box
        await stage.press("slash")
        box.value = "ab👨\u200d👩\u200d👧こ"
        box.cursor_position = len(box.value)
        await stage.press("left", "backspace")
        assert (box.value, box.cursor_position) == ("abこ", 2)
        await stage.press("left", "delete")
        assert box.value == "aこ"
        await stage.press("end", "backspace", "backspace")
        assert box.value == ""
        box.value = "🇩🇪👍🏽e\u0301"
        await stage.press("home", "right", "right", "right")
        assert box.cursor_at_end
        await stage.press("backspace", "backspace")
        assert box.value == "🇩🇪"


@pytest.mark.parametrize(("cell", "index"), [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (9, 4), (10, 5), (30, 5)])
async def test_a_click_lands_on_the_character_under_it(cell: int, index: int) -> None:
    """R226: either half of a wide character is that character."""
    async with Stage() as stage:
        box = stage.app.workspace.search.box
        box.value = "こんにちは"
        await stage.pilot.pause()
        await stage.pilot.click(box, offset=Offset(cell, 0))
        assert box.cursor_position == index


async def test_a_click_never_lands_inside_a_joined_emoji() -> None:
    """R226."""
    async with Stage() as stage:
        box = stage.app.workspace.search.box
        box.value = "x👨\u200d👩\u200d👧y"
        for cell in range(9):
            await stage.pilot.click(box, offset=Offset(cell, 0))
            assert box.cursor_position in (0, 1, 6, 7)


async def test_a_paste_steers_nothing() -> None:
    async with Stage() as stage:
        box = stage.app.workspace.search.box
        await stage.press("slash")
        box.post_message(events.Paste(f"race{STEERING}[/\nsecond"))
        await stage.settled()
        assert box.value == "raceevil\u200b [/ second"
        assert not any(char in stage.text for char in "\x1b\x07\x08\x9b\u202e")


@pytest.mark.parametrize("keys", ["start", "\u093f\u3053x"])
async def test_a_paste_of_any_size_fills_the_box_and_no_more(keys: str) -> None:
    async with Stage() as stage:
        box = stage.app.workspace.search.box
        await stage.press("slash")
        box.post_message(events.Paste(keys))
        box.post_message(events.Paste("lorem \n" * 100_000))
        await stage.until(lambda: "the search box is full" in stage.screen[-1])
        assert len(box.value) == MOST
        assert box.value.startswith(keys + "lorem")
        box.post_message(events.Paste("more"))
        await stage.press("backspace", "x", "home", "delete")
        await stage.settled()
        assert len(box.value) == MOST - 1
        assert "is full" not in stage.screen[-1]


async def test_typing_east_asian_text_finds_it() -> None:
    async with Stage() as stage:
        await stage.press("slash", *"身份")
        await stage.until(lambda: "1 hit" in stage.text)
        assert "修复身份验证缓存失效" in stage.text


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (50, 20), (40, 12), (24, 8), (10, 4)])
async def test_ascii_mode_draws_nothing_else(size: tuple[int, int]) -> None:
    records = [observation(n, f"plain {n}", type=kind) for n, kind in enumerate(("bugfix", "discovery", "odd"), 1)]
    async with Stage(records, size=size, glyphs=ASCII) as stage:
        for keys in ((), ("i",), ("i", "enter"), ("q", "question_mark")):
            await stage.press(*keys)
            await stage.settled()
            assert stage.text.isascii(), stage.text


async def test_resizing_keeps_the_cursor_in_sight() -> None:
    async with Stage(size=(120, 36)) as stage:
        await stage.press("pagedown")
        await stage.settled()
        entry = stage.state.entry
        assert entry is not None
        for size in ((80, 24), (50, 20), (30, 8), (120, 36)):
            await stage.pilot.resize_terminal(*size)
            await stage.settled()
            await asyncio.sleep(0)
            assert any("▌" in line and entry.title[:12] in line for line in stage.screen), size

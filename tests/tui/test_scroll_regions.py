"""A list that scrolls is moved by the terminal; whatever comes between, no cell is left that should not be there.

Held to what Textual itself would have painted: frame by frame in the process, and on a pseudo-terminal against the
whole screen painted anew, which a terminal asks for by telling its size.
"""

import asyncio
import itertools
import os
import random
import re
import signal
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, cast

import pyte
import pytest
from rich.console import Console, RenderableType
from textual import events
from textual.geometry import Size
from textual.screen import Screen

from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import MINUTE_MS, NOW_MS, Memory, many, observation
from tests.tui.stage import Stage
from tests.tui.terminal import Terminal
from tui.app import MemoryApp
from worker.contract.events import StreamEvent
from worker.contract.records import Record

ROWS = 3_000
LAST = "The newest of them"
TERMS = {
    "xterm-256color": {"COLORTERM": "truecolor"},
    "tmux-256color": {},
    "screen": {"COLORTERM": "truecolor"},
    "linux": {"NO_COLOR": "1"},
}
PAGE_DOWN, PAGE_UP, ESCAPE = "\x1b[6~", "\x1b[5~", "\x1b[27u"
WHEEL_DOWN, WHEEL_UP = "\x1b[<65;10;12M", "\x1b[<64;10;12M"
WALK = (
    "j", "jj", "jjjjj", "j" * 15, "k", "kkk", "k" * 20, WHEEL_DOWN, WHEEL_DOWN * 3, WHEEL_UP, WHEEL_UP * 4, PAGE_DOWN,
    PAGE_DOWN + "kk", PAGE_UP, "G", "g", "jj ", "v" + "jj", ESCAPE,
)  # fmt: skip
BETWEEN = (":", ":de", "?jj", "fjj", "$", "-", "+", "i", "T", "\tjjj", "\r" + "jj", "Y", "b")
"""What lies over the list, or moves it, or says something below it; Escape ends it, or does nothing."""
SIZES = ((80, 24), (120, 36), (64, 20), (50, 16), (80, 24))
RECORD = "/api/observation/"
FRAME = re.compile(rb"\x1b\[\?2026h.*?\x1b\[\?2026l", re.DOTALL)


def records(count: int) -> list[Record]:
    """Many, some of them with characters of two cells, or of marks on letters; and the last."""
    wide = [
        observation(
            number, f"修复身份验证缓存失效 {number} naïve cafe\u0301 🚀", at=NOW_MS - (count - number) * MINUTE_MS
        )
        for number in range(5, count, 7)
    ]
    last = observation(count, LAST, at=NOW_MS)
    others = [record for record in many(count - 1) if isinstance(record.id, int) and record.id % 7 != 5]
    return [*others, *wide, last]


# Frame by frame


class Frame(Protocol):
    """What Textual writes at once."""

    def render_segments(self, console: Console) -> str:
        """As text for a terminal."""
        ...


def shortened(app: MemoryApp, screen: Screen[object], frame: Frame) -> Frame:
    """The frame that is written in its place."""
    return cast(Frame, app._shortened(screen, cast(RenderableType, frame)))


class Compared:
    """Two terminals, one that gets the frames as Textual writes them, the other as we do; after each they are alike."""

    def __init__(self, app: MemoryApp, size: tuple[int, int]) -> None:
        self._app = app
        self._screens = [pyte.Screen(*size), pyte.Screen(*size)]
        self._streams = [pyte.Stream(screen) for screen in self._screens]
        self.lengths: list[tuple[int, int]] = []
        self.scrolls = 0
        self.faults: list[str] = []
        self._comparable = True
        app._display = self._display  # type: ignore[method-assign,assignment]

    def resize(self, columns: int, lines: int) -> None:
        """Another size; what is left of the old screen is not what either has painted."""
        for screen in self._screens:
            screen.resize(lines, columns)
        self._comparable = False

    def _display(self, screen: Screen[object], frame: Frame | None) -> None:
        if frame is None:
            return
        theirs = frame.render_segments(self._app.console)
        ours = shortened(self._app, screen, frame).render_segments(self._app.console)
        for stream, text in zip(self._streams, (theirs, ours), strict=True):
            stream.feed(text)
        self.scrolls += "\x1b[r" in ours
        self.lengths.append((len(theirs.encode()), len(ours.encode())))
        wanted, shown = (cells(each) for each in self._screens)
        self._comparable |= type(frame).__name__ == "LayoutUpdate"
        if self._comparable and wanted != shown:
            differing = [line for line in wanted if wanted[line] != shown[line]]
            self.faults.append(f"lines {differing} after {ours!r}")


def cells(screen: pyte.Screen) -> dict[int, list[object]]:
    """What a person sees of the cells of each line: of a blank, no foreground."""
    return {
        line: [
            cell.bg if cell.data == " " and not (cell.reverse or cell.underscore or cell.strikethrough) else cell
            for cell in (screen.buffer[line][column] for column in range(screen.columns))
        ]
        for line in range(screen.lines)
    }


def come(stage: Stage, number: int) -> None:
    """A record comes into the memory, and the stream tells."""
    stage.memory.add(observation(number, f"Came as number {number}", at=NOW_MS + number))
    stage.client.stream.put_nowait(StreamEvent(type="new_observation", observation={"id": 1}, queueDepth=0))


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=str)
async def test_each_frame_is_what_textual_would_have_painted(size: tuple[int, int]) -> None:
    stage = Stage(records(300), size=size)
    compared = Compared(stage.app, size)
    chance = random.Random(size[0])
    keys = ["j"] * 12 + ["k"] * 5 + ["pagedown", "pageup", "G", "g", "space", "v", "minus", "plus", "i", "escape", "T"]
    over = ["colon", "question_mark", "f", "enter", "b"]
    async with stage:
        for number in range(2):
            await stage.press(*(chance.choice(keys) for _ in range(5)))
            await stage.press(chance.choice(over), "j", "j", "escape")
            come(stage, 9000 + number)
        await stage.press("escape", "escape", "g", "U")
        for number in range(2):
            come(stage, 9100 + number)
            await stage.until(lambda number=number: f"{9100 + number}" in stage.text)  # type: ignore[misc]
        compared.resize(size[0] - 9, size[1] - 4)
        await stage.pilot.resize_terminal(size[0] - 9, size[1] - 4)
        await stage.press(*"jjjjjjjjjkk")
        await stage.settled()
    assert compared.faults == []
    assert compared.scrolls > 0 or size[0] == 120  # there a preview beside the list would have to scroll with it
    assert sum(ours for _, ours in compared.lengths) < 0.8 * sum(theirs for theirs, _ in compared.lengths)


async def test_a_list_beside_a_preview_goes_on_by_half_of_itself_so_that_a_step_stays_cheap() -> None:
    """No terminal scrolls half of its lines, so all rows are painted: once for many steps, not for each."""
    size = (120, 36)
    stage = Stage(prose(300), size=size)
    compared = Compared(stage.app, size)
    async with stage:
        stage.client.gate = asyncio.Event()  # what a preview costs is another matter
        hits = stage.app.workspace.hits
        height = hits.size.height
        for key, steps in (("j", 3 * height // 2), ("up", 3 * height // 2)):
            tops = []
            compared.lengths.clear()
            for _ in range(steps):
                await stage.press(key)
                tops.append(int(hits.scroll_offset.y))
                assert tops[-1] <= stage.state.cursor < tops[-1] + height
            assert {abs(after - before) for before, after in itertools.pairwise(tops)} >= {0, 1 + height // 2}
            assert sum(ours for _, ours in compared.lengths) / steps <= 600
        stage.client.gate.set()
        await stage.press("minus", "minus")  # without a preview the terminal scrolls, row by row
        await stage.until(lambda: hits.size.width == size[0])
        first = int(hits.scroll_offset.y)
        await stage.press(*["j"] * (first + hits.size.height + 2 - stage.state.cursor))
        await stage.settled()
        assert hits.scroll_offset.y == first + 3
    assert compared.faults == []


# On a pseudo-terminal


class Watched(Terminal):
    """A terminal whose cells are looked at."""

    @property
    def cells(self) -> dict[int, list[object]]:
        return cells(self._screen)

    def scribble(self, text: str) -> None:
        """What another program writes here."""
        self._stream.feed(text.encode())

    def painted_anew(self) -> dict[int, list[object]]:
        """The cells after the screen, emptied before, was painted as a whole."""
        self._screen.erase_in_display(2)
        at = len(self.written)
        self.process.send_signal(signal.SIGWINCH)
        last = f"\x1b[{self._screen.lines};1H".encode()
        while last not in self.written[at:]:
            self.until_written(b"H")
        self.settled()
        return self.cells


def environ(home: str, port: int, term: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "TZ": "UTC", "CLAUDE_MEM_DATA_DIR": home,
        "CLAUDE_MEM_WORKER_PORT": str(port), "TERM": term, **TERMS[term],
    }  # fmt: skip


@contextmanager
def running(
    memory: list[Record], *, term: str = "xterm-256color", last: str = LAST, framed: bool = False
) -> Iterator[tuple[Watched, FakeWorker]]:
    """The app before a worker of these records, all at rest."""
    with (
        tempfile.TemporaryDirectory() as home,
        FakeWorker(Memory(memory, data_dir=home)) as worker,
        Watched(["-m", "tui"], environ(home, worker.port, term), beside=worker, framed=framed) as terminal,
    ):
        terminal.until(lambda text: f"About this: {last}" in text)
        terminal.settled()
        yield terminal, worker


@pytest.mark.parametrize("term", TERMS)
def test_nothing_is_left_on_the_screen_that_should_not_be_there(term: str) -> None:
    chance = random.Random(term)
    with running(records(ROWS), term=term) as (terminal, worker):
        for number in range(3):
            for _ in range(6):
                terminal.send(chance.choice(WALK))
                terminal.read(quiet_s=chance.choice((0, 0.01, 0.05)))
            worker.memory.add(observation(ROWS + 1 + number, f"Came {number}", at=NOW_MS + 1 + number))
            terminal.send("r" + chance.choice(WALK) + chance.choice(BETWEEN))
            terminal.settled()
            shown = terminal.cells
            assert shown == terminal.painted_anew()
            terminal.send(ESCAPE)
            terminal.read(quiet_s=0.05)
            terminal.resize(*chance.choice(SIZES))
            terminal.read(quiet_s=chance.choice((0, 0.05)))
            terminal.resize(*chance.choice(SIZES))
        assert b"\x1b[r" in terminal.written


def prose(count: int) -> list[Record]:
    """Many records whose titles fill their lines, no two alike; and the last."""
    chance = random.Random(count)
    words = ["".join(chance.choices("bdfklmnprst", k=3)) + chance.choice(("e", "ing", "o")) for _ in range(400)]
    made: list[Record] = [
        observation(number, " ".join(chance.choices(words, k=9)), at=NOW_MS - (count - number) * MINUTE_MS,
                    discovery_tokens=chance.randrange(20_000))
        for number in range(1, count)
    ]  # fmt: skip
    return [*made, observation(count, LAST, at=NOW_MS)]


def test_a_key_held_down_costs_as_little_where_the_list_scrolls() -> None:
    with running(prose(2_000), framed=True) as (terminal, worker), worker.held(RECORD):
        _held(terminal, "j" * 12)
        _within(_held(terminal, "j" * 24), 600)
        _within(_held(terminal, "k" * 24), 600)
        _within(_held(terminal, WHEEL_DOWN, times=6), 1_200)  # three lines at a time
        _within(_held(terminal, PAGE_DOWN, times=6), 3_500)


def _within(taken: tuple[float, list[int]], most: int) -> None:
    mean, frames = taken
    assert mean <= most, frames
    assert statistics.quantiles(frames, n=10)[-1] <= most, frames


def _held(terminal: Watched, keys: str, *, times: int = 0) -> tuple[float, list[int]]:
    """(bytes a key, bytes of each frame) of keys, each pressed when the one before has been answered."""
    presses = [keys] * times if times else [*keys]
    begun = len(terminal.written)
    for press in presses:
        before = terminal.text
        terminal.send(press)
        terminal.until(lambda text, before=before: text != before)  # type: ignore[misc]
    terminal.settled()
    written = bytes(terminal.written[begun:])
    return len(written) / len(presses), [len(frame) for frame in FRAME.findall(written)]


# Where Textual is not as it was read


class ChopsUpdate:
    """A frame of another Textual under the name we know."""

    def render_segments(self, console: Console) -> str:
        """Whatever that one writes."""
        return "as it is"


async def test_frames_that_are_not_as_they_were_read_are_written_as_they_are() -> None:
    async with Stage(many(30)) as stage:
        app, screen = stage.app, stage.app.screen
        shortened(app, screen, screen._compositor.render_full_update()).render_segments(app.console)
        assert shortened(app, screen, ChopsUpdate()).render_segments(app.console) == "as it is"
        assert not app._frames_as_read


async def test_after_it_was_told_a_size_the_screen_is_painted_as_a_whole() -> None:
    """The same size, too: it comes when the app is brought back to a terminal where something else has been."""
    async with Stage(many(30)) as stage:
        app, kinds = stage.app, []

        def display(screen: Screen[object], frame: Frame | None) -> None:
            if frame is not None:
                written = shortened(app, screen, frame)
                written.render_segments(app.console)
                kinds.append(type(written).__name__)

        app._display = display  # type: ignore[method-assign,assignment]
        app.screen.refresh()
        await stage.until(lambda: "LayoutUpdate" in kinds)
        await stage.press("j")
        await stage.until(lambda: "ChopsUpdate" in kinds)
        await stage.settled()
        kinds.clear()
        size = Size(80, 24)
        app.post_message(events.Resize(size, size))
        await stage.until(lambda: "LayoutUpdate" in kinds)


def test_what_something_else_wrote_on_the_screen_is_gone_after_a_refresh() -> None:
    with running(many(30), last="Finding number 30") as (terminal, _):
        before = terminal.cells
        terminal.scribble("\x1b[7;20Hwall: the machine goes down")
        assert terminal.cells != before
        terminal.send("r")
        terminal.settled()
        assert terminal.cells == before

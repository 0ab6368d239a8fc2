"""The app in a real process on a real pty: what it writes, and what a terminal makes of it."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S
from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import Memory, many
from tests.tui.terminal import ROOT, Terminal

TERMS = [
    {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
    {"TERM": "linux"},
    {"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"},
]
IDLE_S = 3.0
RECORD = "/api/observation/"
"""Where the preview is asked for: held, a step costs what it costs by itself."""
_AHEAD = "jjj"
"""Steps whose previews have been read ahead, and come all the same."""


def _environ(home: str, port: int, **more: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "xterm-256color",
        "CLAUDE_MEM_DATA_DIR": home, "CLAUDE_MEM_WORKER_PORT": str(port), **more,
    }  # fmt: skip


@contextmanager
def running(
    *flags: str, size: tuple[int, int] = (80, 24), rows: int = 10_000, term: dict[str, str] | None = None
) -> Iterator[Terminal]:
    """The app before a worker with so many rows, its first preview shown."""
    with tempfile.TemporaryDirectory() as home, FakeWorker(Memory(many(rows), data_dir=home)) as worker:
        argv = ["-m", "tui", *flags]
        with Terminal(argv, _environ(home, worker.port, **(term or {})), size=size, beside=worker) as terminal:
            terminal.until(lambda text: f"About this: Finding number {rows}" in text or size[0] < 64)
            terminal.until(lambda text: f"Finding number {rows}" in text)
            terminal.settled()
            yield terminal


@pytest.mark.parametrize("term", TERMS, ids=["truecolor", "linux", "no-color"])
def test_readable_silent_and_thrifty(term: dict[str, str]) -> None:
    """R230, and the byte budgets: 0 idle, 600 a step, 3.5 kB a screenful."""
    with running(term=term) as terminal:
        text = terminal.text
        assert "claude-mem  all projects" in text
        assert "10,000 records" in text
        assert "▌ 10000" in text
        _is_legible(terminal)
        assert terminal.during(IDLE_S) == b""

        with terminal.held(RECORD):
            assert terminal.cost(_AHEAD) > 0
            assert terminal.cost("jjjjj") <= 600
        terminal.until(lambda text: "About this: Finding number 9992" in text)
        terminal.settled()

        with terminal.held(RECORD):
            terminal.send("\x1b[6~")
            page = terminal.until(lambda text: "▌  9984" in text) + terminal.settled()
            assert 0 < len(page) <= 3500
        terminal.until(lambda text: "About this: Finding number 9984" in text)

        terminal.send("q")
        assert terminal.left() == 0


def test_hits_and_a_growing_range_are_thrifty_too() -> None:
    with running() as terminal:
        terminal.send("/cache")
        terminal.until(lambda text: "hits · words" in text)
        terminal.send("\r")
        terminal.until(lambda text: "q quit" in text)
        terminal.settled()
        with terminal.held(RECORD):
            assert terminal.cost(_AHEAD) > 0
            assert terminal.cost("jj") <= 600
            terminal.send("v")
            terminal.until(lambda text: "Esc give up" in text)
            assert terminal.cost("j" * 9) <= 600  # the list scrolls with the last of them


def _is_legible(terminal: Terminal) -> None:
    """No text in its own background's colour, and the cursor's line told apart without colour names."""
    for number, line in enumerate(terminal.text.splitlines()):
        if line.strip():
            assert all(fg != bg for fg, bg in terminal.reversed_or_coloured(number)), line


@pytest.mark.parametrize("name", ["screen", "screen-256color"])
def test_no_true_colour_in_screen(name: str) -> None:
    """R230."""
    with running(rows=30, term={"TERM": name, "COLORTERM": "truecolor"}) as terminal:
        terminal.send("j")
        terminal.until(lambda text: "About this: Finding number 29" in text)
        assert b"38;5;" in terminal.written
        assert b"38;2;" not in terminal.written
        _is_legible(terminal)


def test_typing_in_a_terminal() -> None:
    with running(rows=500) as terminal:
        terminal.send("/")
        terminal.send("cache")
        terminal.until(lambda text: "hits · words" in text and "❯ cache" in text)
        terminal.send("\x1b")
        terminal.until(lambda text: "500 records" in text)
        terminal.send("\x1b[B")
        terminal.send("i")
        terminal.until(lambda text: "timeline around" in text)


def test_what_is_typed_in_a_burst_keeps_its_order() -> None:
    """Keys that edit and letters in one piece, as tmux or a slow line hands them on."""
    left, home, end, backspace = "\x1b[D", "\x1b[H", "\x1b[F", "\x7f"
    with running(size=(120, 36), rows=500) as terminal:
        terminal.send("/")
        for number in range(20):
            fixed = "hingxy" + left + backspace + home + "not" + end + backspace
            _type(terminal, f"{backspace * 40}{fixed} {number} here", f"nothing {number} here")


def test_escape_empties_the_box_before_what_is_typed_next() -> None:
    with running(size=(120, 36), rows=500) as terminal:
        terminal.send("/")
        for number in range(5):
            # As the kitty protocol has Esc: another key may follow in the same piece.
            _type(terminal, f"away\x1b[27unow {number}", f"now {number}")
            _type(terminal, "\x1b[27ucleared", "cleared")


def test_back_to_all_records_keeps_the_text_typed_next() -> None:
    with running(size=(120, 36), rows=500) as terminal:
        _type(terminal, "/cache", "cache")
        for text in ("login", "cache") * 3:
            terminal.until(lambda screen: "hits" in screen)
            terminal.send("\r")
            terminal.until(lambda screen: "q quit" in screen)
            _type(terminal, f"\x7f/{text}", text)


def _type(terminal: Terminal, keys: str, text: str) -> None:
    """Send the keys in one piece, and wait until the box holds the text and nothing else."""
    terminal.send(keys)
    terminal.until(lambda screen: f"❯ {text}  " in screen)


def test_a_file_pasted_as_keys_fills_the_box_and_is_over_soon() -> None:
    """What a terminal without bracketed paste makes of a paste: so many keys."""
    with running(size=(120, 36), rows=500) as terminal:
        terminal.send("/")
        terminal.pour("lorem ipsum " * 2_500)
        terminal.until(lambda screen: "the search box is full" in screen, within_s=3 * PATIENCE_S)
        terminal.send("\x1b[27unow")
        terminal.until(lambda screen: "❯ now  " in screen, within_s=3 * PATIENCE_S)


@pytest.mark.parametrize("size", [(200, 60), (80, 24), (50, 20), (40, 12)])
def test_any_size_and_ascii(size: tuple[int, int]) -> None:
    with running("--ascii", "--no-mouse", size=size, rows=200, term={"TERM": "linux"}) as terminal:
        assert terminal.text.isascii()
        assert "q quit" in terminal.text


def test_every_theme_of_textual_will_do() -> None:
    for theme in ("nord", "textual-light", "ansi-dark"):
        with running(rows=50, term={"TEXTUAL_THEME": theme}) as terminal:
            assert "50 records" in terminal.text


def test_quitting_does_not_wait_for_a_worker_that_never_answers(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with Terminal(["-m", "tui"], _environ(str(tmp_path), port)) as terminal:
            terminal.until(lambda text: "starting worker" in text)
            terminal.send("q")
            assert terminal.left(within_s=10) == 0  # the question itself is given up after 15 s


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_that_ends_it_gives_the_terminal_back(number: signal.Signals, code: int) -> None:
    with running(rows=50) as terminal:
        terminal.process.send_signal(number)
        written = terminal.read_to_end()
        assert terminal.process.wait() == code
        for given_back in (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l"):
            assert given_back in written


def test_a_terminal_that_goes_away_ends_it() -> None:
    with running(rows=50) as terminal:
        terminal.hang_up()
        terminal.process.send_signal(signal.SIGHUP)
        terminal.process.wait(PATIENCE_S)


def test_no_terminal_is_refused_in_a_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tui"], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "needs a terminal" in done.stderr


def test_bad_settings_are_a_line_and_nothing_else(tmp_path: Path) -> None:
    environ = _environ(str(tmp_path), 45990) | {"CLAUDE_MEM_WORKER_PORT": "many"}
    with Terminal(["-m", "tui"], environ) as terminal:
        assert terminal.left() == 2
        assert "CLAUDE_MEM_WORKER_PORT must be a whole number" in terminal.text


@pytest.mark.parametrize("on_path", [True, False])
def test_the_first_screen_names_the_command_as_it_can_be_typed(tmp_path: Path, on_path: bool) -> None:
    beside = Path(sys.executable).with_name("claude-mem")
    path = str(beside.parent) if on_path else str(tmp_path)
    typed = "claude-mem" if on_path else str(beside.relative_to(ROOT) if beside.is_relative_to(ROOT) else beside)
    with (
        FakeWorker(Memory([], data_dir=str(tmp_path))) as worker,
        Terminal(["-m", "tui"], _environ(str(tmp_path), worker.port, PATH=path), size=(160, 36)) as terminal,
    ):
        terminal.until(lambda text: f"`{typed} install` has" in text and f"`{typed} import transcripts`" in text)
        terminal.send("q")
        assert terminal.left() == 0


def test_somebody_else_on_the_port_is_a_banner(tmp_path: Path) -> None:
    with (
        FakeWorker(Memory([], data_dir="/elsewhere")) as worker,
        Terminal(["-m", "tui"], _environ(str(tmp_path), worker.port), size=(120, 36)) as terminal,
    ):
        terminal.until(lambda text: "serves /elsewhere" in text and "r does so at once" in text)
        terminal.send("q")
        assert terminal.left() == 0

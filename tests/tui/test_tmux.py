"""The app in a real tmux: started, searched in, scrubbed along time, copied from into tmux's own buffer, left."""

import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S
from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import Memory, many
from tests.tui.terminal import ROOT
from tests.tui.test_terminal import _environ

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux on this machine")


class Tmux:
    """A server of its own with one pane, in which a command runs. name: of its socket."""

    def __init__(self, folder: Path, command: list[str], environ: dict[str, str], size: tuple[int, int]) -> None:
        self._base = ["tmux", "-S", str(folder / "socket"), "-f", "/dev/null"]
        # The server hands its own environment on to the pane, but for the terminal's name.
        self._environ = environ | {"TERM": "xterm-256color"}
        columns, lines = size
        self.run("new-session", "-d", "-x", str(columns), "-y", str(lines), "-c", str(ROOT), *command)

    def run(self, *words: str) -> str:
        """What a command of tmux prints."""
        done = subprocess.run(
            [*self._base, *words], env=self._environ, capture_output=True, encoding="utf-8", timeout=PATIENCE_S
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def keys(self, *names: str) -> None:
        """Press keys, by tmux's names."""
        self.run("send-keys", *names)

    @property
    def text(self) -> str:
        """The pane."""
        return self.run("capture-pane", "-p")

    def until(self, condition: Callable[[str], bool], *, within_s: float = PATIENCE_S) -> str:
        """The pane once it is so."""
        end = time.monotonic() + within_s
        while not condition(text := self.text):
            assert time.monotonic() < end, f"never came:\n{text}"
            time.sleep(0.05)
        return text

    def end(self) -> None:
        """The server and all in it."""
        subprocess.run([*self._base, "kill-server"], env=self._environ, capture_output=True, timeout=PATIENCE_S)


_APP = shlex.join([sys.executable, "-m", "tui"])
_LEFT = f"{_APP}; echo left with $?; read -r nothing"
"""A shell stays behind the app, so that its end can be seen."""


@contextmanager
def tmux(folder: Path, *, size: tuple[int, int], command: tuple[str, ...] = ("sh", "-c", _LEFT)) -> Iterator[Tmux]:
    with FakeWorker(Memory(many(200), data_dir=str(folder))) as worker:
        made = Tmux(folder, [*command], _environ(str(folder), worker.port), size)
        try:
            yield made
        finally:
            made.end()


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (50, 20)])
def test_search_scrub_copy_and_leave(tmp_path: Path, size: tuple[int, int]) -> None:
    with tmux(tmp_path, size=size) as pane:
        pane.until(lambda text: "Finding number 200" in text and "quit" in text)
        pane.run("send-keys", "-l", "/number 15")
        pane.until(lambda text: _under_cursor(text) == 159)
        pane.keys("Enter")
        pane.until(lambda text: "quit" in text)
        pane.keys("i")
        around = re.search(r"timeline around (\d+)", pane.until(lambda text: "timeline around" in text))
        assert around is not None
        middle = int(around[1])
        pane.keys("h")
        pane.until(lambda text: _under_cursor(text) == middle - 1)
        pane.keys("l", "l")
        pane.until(lambda text: _under_cursor(text) == middle + 1)
        pane.keys("y")
        pane.until(lambda text: "copied" in text)
        assert pane.run("show-buffer") == str(middle + 1)
        pane.keys("q")
        pane.until(lambda text: "hit" in text)
        pane.keys("q")
        pane.until(lambda text: "left with 0" in text)


def _under_cursor(text: str) -> int | None:
    """The id in the line with the cursor."""
    found = re.search(r"^▌ +(\d+) ", text, re.MULTILINE)
    return int(found[1]) if found is not None else None


def test_the_size_changes_under_it(tmp_path: Path) -> None:
    with tmux(tmp_path, size=(120, 36)) as pane:
        pane.until(lambda text: "About this: Finding number 200" in text)
        for columns, lines in ((50, 20), (80, 24), (30, 8), (120, 36)):
            pane.run("resize-window", "-x", str(columns), "-y", str(lines))
            pane.until(partial(_is_whole, columns=columns))
        pane.until(lambda text: "About this: Finding number 200" in text)


def test_to_the_shell_and_back(tmp_path: Path) -> None:
    """Who waits for the app, here a shell within the shell, lets go of the terminal with it."""
    with tmux(tmp_path, size=(80, 24), command=("sh", "-i")) as pane:
        pane.run("send-keys", "-l", f"({_APP}; echo left with $?)")
        pane.keys("Enter")
        pane.until(lambda text: _under_cursor(text) == 200)
        pane.keys("j")
        pane.until(lambda text: _under_cursor(text) == 199)
        for columns, lines in ((80, 24), (100, 30)):
            pane.keys("C-z")
            pane.until(lambda text: "Stopped" in text)
            pane.run("send-keys", "-l", "clear; echo $((40 + 2)) between")
            pane.keys("Enter")
            pane.until(lambda text: "42 between" in text)
            pane.run("resize-window", "-x", str(columns), "-y", str(lines))
            pane.run("send-keys", "-l", "fg")
            pane.keys("Enter")
            pane.until(lambda text: _under_cursor(text) == 199)
            back = pane.until(partial(_is_whole, columns=columns))
            assert "between" not in back and "Finding number 200" in back
        pane.keys("j")
        pane.until(lambda text: _under_cursor(text) == 198)
        pane.keys("q")
        pane.until(lambda text: "left with 0" in text and "between" in text)


def test_where_no_shell_could_bring_it_back_it_says_so(tmp_path: Path) -> None:
    with tmux(tmp_path, size=(80, 24)) as pane:
        pane.until(lambda text: "Finding number 200" in text and "quit" in text)
        pane.keys("C-z")
        pane.until(lambda text: "no shell is behind this" in text)
        pane.keys("/")
        pane.until(lambda text: "to the hits" in text)
        pane.keys("C-z")
        pane.until(lambda text: "no shell is behind this" in text)
        pane.run("send-keys", "-l", "number 15")
        pane.until(lambda text: _under_cursor(text) == 159)


def _is_whole(text: str, columns: int) -> bool:
    """Drawn for this width: to its last cells, and not for a wider one, which would break lines."""
    lines = [line for line in text.splitlines() if line.startswith(("▌", " ❯", " claude-mem", " all projects"))]
    return len(lines) == 3 and columns - 4 <= max(map(len, lines)) <= columns

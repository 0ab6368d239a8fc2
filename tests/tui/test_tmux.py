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


@contextmanager
def tmux(folder: Path, *flags: str, size: tuple[int, int]) -> Iterator[Tmux]:
    with FakeWorker(Memory(many(200), data_dir=str(folder))) as worker:
        environ = _environ(str(folder), worker.port)
        # A shell stays behind the app, so that its end can be seen.
        app = shlex.join([sys.executable, "-m", "tui", *flags])
        made = Tmux(folder, ["sh", "-c", f"{app}; echo left with $?; read -r nothing"], environ, size)
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


def _is_whole(text: str, columns: int) -> bool:
    """Drawn for this width: to its last cells, and not for a wider one, which would break lines."""
    lines = [line for line in text.splitlines() if line.startswith(("▌", " ❯", " claude-mem", " all projects"))]
    return len(lines) == 3 and columns - 4 <= max(map(len, lines)) <= columns

"""`claude-mem pick` in a shell's `$( )`: on a real terminal, with its output in a pipe."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.parts.test_cli import SCRIPT
from tests.processes import PATIENCE_S
from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import Memory, many
from tests.tui.terminal import Terminal
from tests.tui.test_terminal import _environ

_SHELL = """
import os, subprocess, sys
os.open(os.ttyname(0), os.O_RDWR)  # the terminal becomes this session's own, as a login shell's is
print("before")
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True)
print(f"picked {done.stdout!r} code {done.returncode}")
"""


@contextmanager
def picking(*words: str, size: tuple[int, int] = (80, 24), term: str = "xterm-256color") -> Iterator[Terminal]:
    with tempfile.TemporaryDirectory() as home, FakeWorker(Memory(many(300), data_dir=home)) as worker:
        environ = _environ(home, worker.port) | {"TERM": term}
        with Terminal(["-c", _SHELL, SCRIPT, "pick", *words], environ, size=size) as terminal:
            terminal.until(lambda text: "Finding number" in text and "Esc leave" in text)
            yield terminal


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (50, 20)])
def test_typed_marked_and_chosen(size: tuple[int, int]) -> None:
    with picking(size=size) as terminal:
        assert "before" in terminal.text  # under the prompt, not in place of it
        terminal.until(lambda text: max(map(len, text.splitlines())) > size[0] - 12)  # as wide as the terminal is
        terminal.send("number 29")
        terminal.until(lambda text: "hits" in text)
        terminal.send("\x1b[B\t\t")
        terminal.until(lambda text: "choose 2 marked" in text)
        terminal.send("\r")
        terminal.until(lambda text: "' code " in text)
        said = terminal.text.split("picked ")[1].rstrip()
        assert said.endswith("' code 0")
        chosen = said.removesuffix("' code 0").removeprefix("'").replace("\n", "").split("\\n")
        assert len(chosen) == 3 and chosen.pop() == ""
        assert len(set(chosen)) == 2 and all(key.isdigit() for key in chosen)
        # Nothing of it is left on the screen.
        assert "Esc leave" not in terminal.text and "Finding" not in terminal.text


def test_enter_alone_chooses_the_one_under_the_cursor() -> None:
    with picking("number 300") as terminal:
        terminal.until(lambda text: "1 hit" in text)
        terminal.send("\r")
        terminal.until(lambda text: "picked '300\\n' code 0" in text)


@pytest.mark.parametrize("keys", ["\x1b[27u", "\x03", "\x11"])
def test_left_without(keys: str) -> None:
    with picking() as terminal:
        terminal.send("q")  # is typed
        terminal.until(lambda text: "❯ q" in text)
        terminal.send(keys)
        terminal.until(lambda text: "picked '' code 130" in text)


@pytest.mark.parametrize("term", ["linux", "screen", "tmux-256color"])
def test_other_terminals(term: str) -> None:
    with picking("--ascii", term=term) as terminal:
        assert terminal.text.isascii()
        terminal.send("\r")
        terminal.until(lambda text: "picked '300\\n' code 0" in text)


def test_without_a_terminal_it_is_a_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [SCRIPT, "pick"], env=_environ(str(tmp_path), 41397), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        start_new_session=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "needs a terminal" in line


def test_nothing_heavy_before_it_is_needed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, tui.picking; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not {"textual", "rich", "httpx", "asyncio"} & set(done.stdout.split())

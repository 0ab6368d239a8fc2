"""R228: a copy arrives, or says where the text is. A real tmux, real programs, a real pty."""

import asyncio
import base64
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S, wait_for
from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import Memory, many
from tests.tui.terminal import ROOT
from tests.tui.test_terminal import _environ, running
from tui.clipboard import MOST_BYTES, Clipboard, wrapped

BIG = "a detail of a long record, of 64 characters in each of its lines\n" * 1540
"""100 kB."""
needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "xterm-256color"}


@pytest.fixture
def tmux(environ: dict[str, str]) -> Iterator[str]:
    """The name of a tmux server of our own with one session."""
    # The path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="desk-", dir="/tmp") as folder:
        os_environ = environ | {"TMUX_TMPDIR": folder}
        name = "desk-test"
        subprocess.run(["tmux", "-L", name, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30"],
                       env=os_environ, check=True)  # fmt: skip
        socket = next(Path(folder).rglob(name))
        yield str(socket)
        subprocess.run(["tmux", "-S", str(socket), "kill-server"], check=False)


def _tmux(socket: str, *command: str) -> str:
    done = subprocess.run(
        ["tmux", "-S", socket, *command], capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    return done.stdout


def _program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def _only(folder: Path) -> dict[str, str]:
    return {"PATH": f"{folder}:/usr/bin:/bin"}


@needs_tmux
async def test_100_kb_go_into_the_buffer_of_a_real_tmux(environ: dict[str, str], tmux: str) -> None:
    written: list[str] = []
    clipboard = Clipboard(environ | {"TMUX": f"{tmux},1,0"}, written.append)
    copied = await clipboard.copy(BIG)
    assert (copied.way, written) == ("tmux", [])
    assert "tmux buffer" in copied.said and "~/.local/state/claude-mem/clip.txt" in copied.said
    assert _tmux(tmux, "show-buffer") == BIG


async def test_a_tmux_that_is_gone_gets_a_wrapped_sequence_instead(environ: dict[str, str]) -> None:
    written: list[str] = []
    away = environ | {"TMUX": "/nowhere/at/all,1,0", "SSH_TTY": "/dev/pts/3"}
    copied = await Clipboard(away, written.append).copy("身份 4821")
    assert copied.way == "terminal"
    encoded = base64.b64encode("身份 4821".encode()).decode()
    assert written == [f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\x07\x1b\\"]


async def test_over_ssh_the_terminal_is_asked_and_no_tool_of_the_far_machine(
    environ: dict[str, str], tmp_path: Path
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    _program(tools, "pbcopy", 'cat > "$HOME/pasted"')
    written: list[str] = []
    far = Clipboard(environ | _only(tools) | {"SSH_CONNECTION": "1 2 3 4"}, written.append, which=_in(tools))
    copied = await far.copy("4821")
    assert (copied.way, written) == ("terminal", ["\x1b]52;c;NDgyMQ==\x07"])
    assert not (tmp_path / "pasted").exists()
    near = await Clipboard(environ | _only(tools), written.append, which=_in(tools)).copy(BIG)
    assert near.way == "tool" and near.said.startswith("with pbcopy")
    assert (tmp_path / "pasted").read_text() == BIG


def _in(folder: Path) -> Callable[[str], str | None]:
    return lambda name: shutil.which(name, path=str(folder))


@pytest.mark.parametrize("script", ["exit 1", "exec sleep 60"])
async def test_a_tool_that_fails_or_hangs_is_passed_over(
    environ: dict[str, str], tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.clipboard._PATIENCE_S", 0.2)
    tools = tmp_path / "bin"
    tools.mkdir()
    _program(tools, "wl-copy", script)
    _program(tools, "xclip", 'cat > "$HOME/pasted"')
    both = environ | _only(tools) | {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}
    async with asyncio.timeout(PATIENCE_S / 2):
        copied = await Clipboard(both, lambda sequence: None, which=_in(tools)).copy("text")
    assert copied.said.startswith("with xclip")
    assert (tmp_path / "pasted").read_text() == "text"


async def test_what_is_too_large_for_a_sequence_is_in_a_file_and_it_says_so(
    environ: dict[str, str], tmp_path: Path
) -> None:
    written: list[str] = []
    clipboard = Clipboard(environ | {"SSH_TTY": "x"}, written.append, which=lambda name: None)
    copied = await clipboard.copy(BIG)
    assert (copied.way, copied.said, written) == ("file", "only to ~/.local/state/claude-mem/clip.txt", [])
    kept = tmp_path / ".local/state/claude-mem/clip.txt"
    assert kept.read_text() == BIG
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert [path.name for path in kept.parent.iterdir()] == ["clip.txt"]
    assert (await clipboard.copy("x" * (MOST_BYTES // 4 * 3))).way == "terminal"
    assert (await clipboard.copy("x" * (MOST_BYTES // 4 * 3 + 3))).way == "file"


async def test_a_console_has_no_clipboard_and_a_full_disk_no_file(environ: dict[str, str], tmp_path: Path) -> None:
    console = environ | {"TERM": "linux", "XDG_STATE_HOME": str(tmp_path / "state")}
    assert (await Clipboard(console, _never, which=lambda name: None).copy("x")).way == "file"
    (tmp_path / "closed").write_text("a file where a folder should be")
    shut = console | {"XDG_STATE_HOME": str(tmp_path / "closed")}
    copied = await Clipboard(shut, _never, which=lambda name: None).copy("x")
    assert copied.way == "nowhere"
    assert "cannot be written" in copied.said


def _never(sequence: str) -> None:
    raise AssertionError(sequence)


def test_gnu_screen_gets_pieces_it_does_not_drop() -> None:
    whole = wrapped("A" * 5000, {"STY": "1.pts"})
    pieces = whole.split("\x1b\\")[:-1]
    assert all(piece.startswith("\x1bP") and len(piece) <= 768 for piece in pieces)
    assert "".join(piece[2:] for piece in pieces) == wrapped("A" * 5000, {})


def test_y_in_a_terminal_sends_the_ids() -> None:
    with running(rows=50) as terminal:
        terminal.send("y")
        written = terminal.until_written(b"\x1b]52;c;")
        while b"\x07" not in (encoded := written.partition(b"\x1b]52;c;")[2]):
            written += terminal.until_written(b"\x07")
        encoded = encoded.partition(b"\x07")[0]
        assert base64.b64decode(encoded) == b"50"
        terminal.until(lambda text: "1 id copied by the terminal (OSC 52)" in text)


@needs_tmux
def test_in_a_real_tmux_marks_are_copied_into_its_buffer(environ: dict[str, str], tmux: str) -> None:
    """Start, search, mark, copy, quit, in a pane."""
    with tempfile.TemporaryDirectory() as home, FakeWorker(Memory(many(50), data_dir=home)) as worker:
        shown = " ".join(f"{name}={value}" for name, value in _environ(home, worker.port).items() if name != "TERM")
        command = f"cd {ROOT} && env {shown} TERM=tmux-256color {sys.executable} -m tui; tmux wait-for -S gone"
        _tmux(tmux, "respawn-pane", "-k", f"sh -c '{command}'")
        _until(tmux, "Finding number 50")
        _tmux(tmux, "send-keys", "/", "parser")
        _until(tmux, "hits · words")
        _tmux(tmux, "send-keys", "Enter")
        _until(tmux, "quit")
        _tmux(tmux, "send-keys", "Space", "j", "Space", "y")
        _until(tmux, "2 ids copied to the tmux buffer")
        assert _tmux(tmux, "show-buffer") == "48 40"
        _tmux(tmux, "send-keys", "Y")
        _until(tmux, "2 records copied to the tmux buffer")
        assert _tmux(tmux, "show-buffer").startswith("## #48 Finding number 48 about the parser\nbugfix, farm-api")
        _tmux(tmux, "send-keys", "q")
        _tmux(tmux, "wait-for", "gone")


def _until(tmux: str, text: str) -> None:
    wait_for(lambda: text in _tmux(tmux, "capture-pane", "-p"))


async def test_a_command_of_ones_own_gets_the_text_and_nobody_else_does(
    environ: dict[str, str], tmp_path: Path
) -> None:
    written: list[str] = []
    target = tmp_path / "a copy.txt"
    command = f"tee '{target}'"
    copied = await Clipboard(environ | {"TMUX": "/nowhere,1,0"}, written.append, command=command).copy("id 7\n")
    assert (copied.way, copied.said, written) == ("command", "with tee", [])
    assert target.read_text() == "id 7\n"
    for wrong in ("no-such-program-here", "tee 'never closed", "false"):
        failed = await Clipboard(environ, written.append, command=wrong).copy("id 7")
        assert failed.way == "file" and wrong in failed.said

"""Copies a text to wherever it can be pasted from, and says which way it went.

The first that works: tmux's buffer; over ssh, or where there is no tool for it, the terminal itself by OSC 52 (wrapped
for tmux and screen, if it is small enough for one); a tool of this machine. A file holds the text in any case, since
of the terminal's sequence nobody can tell whether it was heeded.
"""

import asyncio
import base64
import contextlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 74_000
"""Of base64 in one sequence: several terminals drop longer ones."""
_PATIENCE_S = 3.0
_TOOLS = (
    ("", ("pbcopy",)),
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("WSL_DISTRO_NAME", ("clip.exe",)),
)
"""(variable that has to be set, command)."""


@dataclass(frozen=True, slots=True)
class Copied:
    """way: command, tmux, terminal, tool, file or nowhere. said: the same in words, after `copied`."""

    way: str
    said: str


class Clipboard:
    """write: hands a sequence to the terminal. environ: of the app. which: finds a program.

    command: the person's own, which gets the text on its standard input.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        write: Callable[[str], None],
        *,
        which: Callable[[str], str | None] = shutil.which,
        command: str = "",
    ) -> None:
        self._environ = environ
        self._write = write
        self._which = which
        self._command = command

    @property
    def file(self) -> Path:
        """Where the last copy is."""
        home = Path(self._environ.get("HOME") or "~").expanduser()
        state = self._environ.get("XDG_STATE_HOME") or str(home / ".local" / "state")
        return Path(state) / "claude-mem" / "clip.txt"

    async def copy(self, text: str) -> Copied:
        """Copy, and tell how."""
        saved = await asyncio.to_thread(_save, self.file, text)
        kept = f"; also in {self._shown}" if saved else ""
        if self._command:
            # The way that was asked for is the only one: what it leads to may not be meant to be elsewhere too.
            done = await self._by_command(text)
            return done if done is not None else Copied("file", f"only to {self._shown}: {self._command!r} failed")
        if self._environ.get("TMUX") and await self._into_tmux(text):
            return Copied("tmux", f"to the tmux buffer (prefix ] pastes){kept}")
        if not self._remote and (tool := await self._by_tool(text)):
            return Copied("tool", f"with {tool}{kept}")
        if self._by_terminal(text):
            return Copied("terminal", f"by the terminal (OSC 52), if it allows that{kept}")
        if saved:
            return Copied("file", f"only to {self._shown}")
        return Copied("nowhere", f"nowhere: no clipboard here, and {self._shown} cannot be written")

    @property
    def _remote(self) -> bool:
        return bool(self._environ.get("SSH_CONNECTION") or self._environ.get("SSH_TTY"))

    @property
    def _shown(self) -> str:
        home = self._environ.get("HOME", "")
        path = str(self.file)
        return "~" + path[len(home) :] if home and path.startswith(f"{home}/") else path

    async def _into_tmux(self, text: str) -> bool:
        tmux = self._which("tmux")
        if tmux is None:
            return False
        # -w hands it on to the outer terminal; tmux before 3.2 does not know it.
        return await self._run((tmux, "load-buffer", "-w", "-"), text) or await self._run(
            (tmux, "load-buffer", "-"), text
        )

    async def _by_command(self, text: str) -> Copied | None:
        try:
            words = shlex.split(self._command)
        except ValueError:
            return None  # a quote that is never closed
        return Copied("command", f"with {words[0]}") if words and await self._run(tuple(words), text) else None

    async def _by_tool(self, text: str) -> str | None:
        for variable, (name, *flags) in _TOOLS:
            if variable and not self._environ.get(variable):
                continue
            program = self._which(name)
            if program is not None and await self._run((program, *flags), text):
                return name
        return None

    def _by_terminal(self, text: str) -> bool:
        if self._environ.get("TERM") in ("linux", "dumb"):
            return False
        encoded = base64.b64encode(text.encode("utf-8", "replace"))
        if len(encoded) > MOST_BYTES:
            return False
        self._write(wrapped(encoded.decode(), self._environ))
        return True

    async def _run(self, command: tuple[str, ...], text: str) -> bool:
        nothing = asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.PIPE, stdout=nothing, stderr=nothing, env=dict(self._environ)
            )
        except OSError:
            return False
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await process.communicate(text.encode("utf-8", "replace"))
        except (TimeoutError, OSError):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            return False
        return process.returncode == 0


def wrapped(encoded: str, environ: Mapping[str, str]) -> str:
    """OSC 52 with this base64, as what lies between us and the terminal hands it on."""
    sequence = f"\x1b]52;c;{encoded}\x07"
    if environ.get("TMUX"):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if environ.get("STY"):
        # GNU screen drops strings of more than 768 bytes.
        pieces = [sequence[at : at + 700] for at in range(0, len(sequence), 700)]
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    return sequence


def _save(file: Path, text: str) -> bool:
    """Write the file anew, readable by its owner alone; whether that worked."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".clip-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as stream:
                stream.write(text)
            Path(name).replace(file)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError:
        return False
    return True

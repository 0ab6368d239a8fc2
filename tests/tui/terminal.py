"""The app in a real pseudo-terminal: keys in, bytes out, and the screen a terminal makes of them."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import pyte

ROOT = Path(__file__).parents[2]
_PRIVATE = re.compile(rb"\x1b\[[<>=][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*\$p")
"""Questions about the keyboard that pyte would print."""


class Terminal:
    """A program on a pty of ``size`` (columns, lines). Use as a context manager."""

    def __init__(self, argv: list[str], environ: Mapping[str, str], *, size: tuple[int, int] = (80, 24)) -> None:
        columns, lines = size
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self.fd, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, *argv], stdin=child, stdout=child, stderr=child, cwd=ROOT, env=dict(environ),
            start_new_session=True, close_fds=True,
        )  # fmt: skip
        os.close(child)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.fd >= 0:
            os.close(self.fd)

    def send(self, keys: str) -> None:
        """Type."""
        os.write(self.fd, keys.encode())

    def pour(self, keys: str) -> None:
        """Type more than the line holds: what the program writes meanwhile is read, so that neither waits for ever."""
        rest = keys.encode()
        os.set_blocking(self.fd, False)
        while rest:
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(self.fd, rest[:4096]) :]
            self.read(quiet_s=0.001)
        os.set_blocking(self.fd, True)

    def read(self, *, quiet_s: float) -> bytes:
        """What is written until there is silence for so long."""
        out = b""
        while select.select([self.fd], [], [], quiet_s)[0]:
            try:
                chunk = os.read(self.fd, 65536)
            except OSError:
                break
            if not chunk:
                break
            out += chunk
            self._stream.feed(_PRIVATE.sub(b"", chunk))
        return out

    def until(self, condition: Callable[[str], bool], *, within_s: float = 15.0) -> None:
        """Wait until the screen is so."""
        end = time.monotonic() + within_s
        while not condition(self.text):
            assert time.monotonic() < end, f"never came:\n{self.text}"
            self.read(quiet_s=0.02)

    def read_to_end(self, *, within_s: float = 10.0) -> bytes:
        """What is written until the program is gone."""
        out = b""
        end = time.monotonic() + within_s
        while self.process.poll() is None:
            assert time.monotonic() < end, "it is still there"
            out += self.read(quiet_s=0.02)
        return out + self.read(quiet_s=0.02)

    def resize(self, columns: int, lines: int) -> None:
        """Another size, told as a terminal tells it."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._screen.resize(lines, columns)
        # The pty is nobody's controlling terminal, so the kernel tells no one.
        self.process.send_signal(signal.SIGWINCH)

    def hang_up(self) -> None:
        """The terminal is no more."""
        os.close(self.fd)
        self.fd = -1

    @property
    def text(self) -> str:
        """The screen."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def reversed_or_coloured(self, line: int) -> set[tuple[str, str]]:
        """(foreground, background) pairs of what stands in a line, the end of a scroll bar left out."""
        stands = [cell for cell in self._screen.buffer[line].values() if cell.data.strip(" ▁▂▃▄▅▆▇")]
        return {(cell.fg, cell.bg) if not cell.reverse else (cell.bg, cell.fg) for cell in stands}

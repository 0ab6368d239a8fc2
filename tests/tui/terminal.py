"""The app in a real pseudo-terminal: keys in, bytes out, and the screen a terminal makes of them.

A program that is kept from running is silent too. So nothing here takes silence for having done: what a key leads to
is waited for on the screen (``until``), and the end of all work is read from the kernel (``settled``).
"""

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
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import pyte

from tests.processes import PATIENCE_S
from tests.tui.at_rest import Ran, has_children, ran, threads_of

ROOT = Path(__file__).parents[2]
REST_S = 0.25
"""Longer than any pause after which the app goes on by itself and paints."""
_ASKED, _FRAME_BEGIN, _FRAME_END = b"\x1b[?2026$p", b"\x1b[?2026h", b"\x1b[?2026l"
_PRIVATE = re.compile(rb"\x1b\[[<>=][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*\$p")
"""Questions about the keyboard that pyte would print."""
_BEGUN = re.compile(rb"\x1b(?:\[[<>=?0-9;$]*)?\Z")
"""The beginning of a sequence whose end is still to be read."""


class Beside(Protocol):
    """Who answers the program in this process."""

    def ran(self) -> Ran | None:
        """What its threads have run by now; None while one of them runs, or wants to."""
        ...

    def held(self, path: str) -> AbstractContextManager[None]:
        """What is asked of addresses that begin so waits for the end of the block."""
        ...


class Terminal:
    """A program on a pty of ``size`` (columns, lines). Use as a context manager. beside: who answers it.

    framed: it says that it shows a frame only when it is whole, so the program marks where each begins and ends.
    written: all that has been written.
    """

    def __init__(
        self, argv: list[str], environ: Mapping[str, str], *, size: tuple[int, int] = (80, 24),
        beside: Beside | None = None, framed: bool = False,
    ) -> None:  # fmt: skip
        columns, lines = size
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self._begun = b""
        self._beside = beside
        self._framed = framed
        self.written = bytearray()
        self.fd, self._child = pty.openpty()
        child = self._child
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, *argv], stdin=child, stdout=child, stderr=child, cwd=ROOT, env=dict(environ),
            start_new_session=True, close_fds=True,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.hang_up()

    def send(self, keys: str) -> None:
        """Type. When it returns the program has been woken, so that it is not ``settled`` before it has read."""
        os.write(self.fd, keys.encode())
        select.select([self._child], [], [], 0)  # looking for it there has the kernel hand it on at once

    def pour(self, keys: str) -> None:
        """Type more than the line holds: what the program writes meanwhile is read, so that neither waits for ever."""
        rest = keys.encode()
        os.set_blocking(self.fd, False)
        while rest:
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(self.fd, rest[:4096]) :]
            self.read(quiet_s=0.001)
        os.set_blocking(self.fd, True)

    def _next(self, within_s: float) -> bytes:
        """What is written next; nothing if that takes longer, or the program is gone."""
        if not select.select([self.fd], [], [], within_s)[0]:
            return b""
        try:
            chunk = os.read(self.fd, 65536)
        except OSError:
            chunk = b""
        if not chunk:
            time.sleep(min(within_s, 0.01))  # it is gone: what is read from now on comes at once
        if self._framed and _ASKED in chunk:
            self.send("\x1b[?2026;2$y")
        self.written += chunk
        whole = self._begun + chunk
        begun = _BEGUN.search(whole)
        self._begun = begun[0] if begun else b""
        self._stream.feed(_PRIVATE.sub(b"", whole[: len(whole) - len(self._begun)]))
        return chunk

    def read(self, *, quiet_s: float) -> bytes:
        """What is written until there is silence for so long: which may be in the middle of it. See ``settled``."""
        out = b""
        while chunk := self._next(quiet_s):
            out += chunk
        return out

    def during(self, for_s: float) -> bytes:
        """What is written meanwhile."""
        out = b""
        end = time.monotonic() + for_s
        while (left := end - time.monotonic()) > 0:
            out += self._next(left)
        return out

    def until(self, condition: Callable[[str], bool], *, within_s: float = PATIENCE_S) -> bytes:
        """Wait until the screen is so; what has been written by then."""
        out = b""
        end = time.monotonic() + within_s
        while not condition(self.text):
            assert time.monotonic() < end, f"never came:\n{self.text}"
            out += self.read(quiet_s=0.01)
            out += self._next(0.05)
        return out

    def until_written(self, mark: bytes) -> bytes:
        """Wait for these bytes; what has been written with them."""
        out = b""
        end = time.monotonic() + PATIENCE_S
        while mark not in out:
            assert time.monotonic() < end, f"never came: {mark!r}\n{self.text}"
            out += self._next(0.05)
        return out

    def settled(self) -> bytes:
        """Wait until nobody has anything left to do; what has been written by then.

        The program and who answers it sleep and have not run for a while: not even to find that there was nothing to
        do, so no pause of theirs is shorter. What they write later, they write unasked.
        """
        out = b""
        end = time.monotonic() + PATIENCE_S
        while True:
            before = self._ran()
            more = self._next(REST_S)
            out += more
            if not more and before is not None and before == self._ran():
                return out
            assert time.monotonic() < end, f"never at rest:\n{self.text}"

    def _ran(self) -> tuple[set[int], Ran, Ran] | None:
        """The program's threads and what has been run by now, by it and beside it; None while somebody runs.

        Of the program's threads only the first counts: the one that reads keys looks up ten times a second, and
        whatever a thread finds it hands on to the first.
        """
        pid = self.process.pid
        threads = threads_of(pid)
        beside = self._beside.ran() if self._beside is not None else {}
        if beside is None or ran(pid, threads) is None or has_children(pid):
            return None
        first = ran(pid, (pid,))
        return None if first is None else (threads, first, beside)

    def held(self, path: str) -> AbstractContextManager[None]:
        """What is asked of addresses that begin so is answered after the block."""
        return self._beside.held(path) if self._beside is not None else contextlib.nullcontext()

    def cost(self, keys: str) -> float:
        """Bytes that each of these keys costs, on average. Each changes the screen, and nothing else does meanwhile."""
        self.settled()
        written = 0
        for key in keys:
            before = self.text
            self.send(key)
            written += len(self.until(lambda text, before=before: text != before))  # type: ignore[misc]
        return (written + len(self.settled())) / len(keys)

    def frame(self, key: str) -> bytes:
        """What is painted first after a key, once all before it is settled. Only of a ``framed`` terminal."""
        self.settled()
        self.send(key)
        return self.until_written(_FRAME_END).partition(_FRAME_BEGIN)[2].partition(_FRAME_END)[0]

    def left(self, *, within_s: float = PATIENCE_S) -> int:
        """Wait until the program is gone, reading what it still writes; its exit code."""
        self.read_to_end(within_s=within_s)
        return self.process.wait()

    def read_to_end(self, *, within_s: float = PATIENCE_S) -> bytes:
        """What is written until the program is gone."""
        out = b""
        end = time.monotonic() + within_s
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it is still there:\n{self.text}"
            out += self._next(0.02)
        while chunk := self._next(0.02):
            out += chunk
        return out

    def resize(self, columns: int, lines: int) -> None:
        """Another size, told as a terminal tells it."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._screen.resize(lines, columns)
        # The pty is nobody's controlling terminal, so the kernel tells no one.
        self.process.send_signal(signal.SIGWINCH)

    def hang_up(self) -> None:
        """The terminal is no more."""
        for fd in (self.fd, self._child):
            if fd >= 0:
                os.close(fd)
        self.fd = self._child = -1

    @property
    def text(self) -> str:
        """The screen."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def reversed_or_coloured(self, line: int) -> set[tuple[str, str]]:
        """(foreground, background) pairs of what stands in a line, the end of a scroll bar left out."""
        stands = [cell for cell in self._screen.buffer[line].values() if cell.data.strip(" ▁▂▃▄▅▆▇")]
        return {(cell.fg, cell.bg) if not cell.reverse else (cell.bg, cell.fg) for cell in stands}

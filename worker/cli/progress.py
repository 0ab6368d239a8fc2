"""How far a long command has come, on standard error: a bar in a terminal, a line for each tenth elsewhere.

Drawn only when there is something new to say.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

_BAR_CELLS = 24
_TENTHS = 10


class Progress:
    """Tell it where things stand with ``at``; ``end`` takes the bar away.

    verb: what is done. total: in the unit of ``at``'s ``done``.
    """

    def __init__(
        self,
        verb: str,
        total: int,
        *,
        stream: TextIO | None = None,
        terminal: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._verb, self._total, self._clock = verb, max(1, total), clock
        self._stream = sys.stderr if stream is None else stream
        dumb = os.environ.get("TERM", "") == "dumb"
        self._bar = (self._stream.isatty() and not dumb) if terminal is None else terminal
        self._began = clock()
        self._told = 0
        self._drawn = False

    def at(self, done: int, rows: int) -> None:
        """So much of the total is done, and so many rows."""
        part = min(1.0, done / self._total)
        if self._bar:
            cells = round(part * _BAR_CELLS)
            text = f"[{'#' * cells}{'.' * (_BAR_CELLS - cells)}] {self._words(part, rows)}"
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r{text[:width]:<{min(width, 78)}}")
            self._stream.flush()
            self._drawn = True
        elif int(part * _TENTHS) > self._told:
            self._told = int(part * _TENTHS)
            self._stream.write(f"claude-mem: {self._words(part, rows)}\n")
            self._stream.flush()

    def end(self) -> None:
        """Leave a clean line."""
        if self._drawn:
            self._stream.write(f"\r{' ' * min(shutil.get_terminal_size().columns - 1, 100)}\r")
            self._stream.flush()
            self._drawn = False

    def _words(self, part: float, rows: int) -> str:
        took = max(1e-6, self._clock() - self._began)
        left = took * (1 - part) / part if part else 0.0
        ahead = "" if part >= 1 else f", {int(left) // 60}:{int(left) % 60:02d} left"
        return f"{self._verb} {part:4.0%}  {rows:,} rows, {rows / took:,.0f} rows/s{ahead}"

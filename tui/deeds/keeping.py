"""Keeps the state for the next start, on every change and not at the end: a line may drop at any time."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from tui import kept
from tui.deeds.desk import Desk
from tui.state.model import ViewState
from tui.state.saved import Saved, of

PAUSE_S = 0.5
"""Changes come in bursts: a cursor that runs is written once it rests."""


class Keeping:
    """Writes what is worth keeping. file: None keeps nothing. theme: the one shown now."""

    def __init__(self, desk: Desk, file: Path | None, theme: Callable[[], str]) -> None:
        self._desk = desk
        self._file = file
        self._theme = theme
        self._last: Saved | None = None
        self._waiting: Saved | None = None

    def changed(self, state: ViewState) -> None:
        """Keep this state, after a pause."""
        if self._file is None:
            return
        saved = of(state, self._theme())
        if saved == (self._waiting or self._last):
            return
        first = self._waiting is None
        self._waiting = saved
        if first:
            self._desk.later(PAUSE_S, self._write_later)

    def close(self) -> None:
        """Write at once what still waits."""
        if self._waiting is not None and self._file is not None:
            kept.store(self._file, self._waiting)

    def _write_later(self) -> None:
        if self._waiting is not None:
            self._desk.background("keep", self._on_thread, self._waiting)

    async def _on_thread(self, saved: Saved) -> None:
        self._last, self._waiting = saved, None
        if self._file is not None:
            await asyncio.to_thread(kept.store, self._file, saved)

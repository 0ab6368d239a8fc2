"""An app that writes to the terminal only what differs there, and has it scroll by itself: see ``tui.cells.shown``.

Textual paints lines anew from end to end, and a widget that scrolls as a whole: 3 kB for one key on a slow line. Here
each frame is compared with what the terminal shows, just before it is written, and written shorter.

This is the only module that knows how Textual writes frames, as read from 8.2.8: ``App._display(screen, renderable)``
writes what ``renderable.render_segments(console)`` gives in one piece, within a synchronised update, and then puts the
cursor in its place. A ``LayoutUpdate`` has the strips of all lines of the screen; it is written as it is, and what the
terminal shows is known from then on. A ``ChopsUpdate`` has spans of lines, and the strips they are cut from. Wherever
it is not so, Textual's own frames are written unchanged.
"""

import inspect
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import Protocol, cast

from rich.console import COLOR_SYSTEMS, Console, RenderableType
from textual.app import App
from textual.driver import Driver
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip

from tui.cells import shown
from tui.cells.shown import Cell, Piece, Shown
from tui.widgets.escape import hears_escape

_SURE_S = 0.1
"""So long after its size was told, the terminal has been painted anew, or it is done now."""


class _Frame(Protocol):
    render_segments: Callable[[Console], str]


class _Whole(_Frame, Protocol):
    """A ``LayoutUpdate``."""

    strips: Sequence[Iterable[Strip]]
    region: Region


class _Part(_Frame, Protocol):
    """A ``ChopsUpdate``. spans: (line, start, stop). chops: by line, column to strip. chop_ends: where they end."""

    spans: Sequence[tuple[int, int, int]]
    chops: Sequence[Mapping[int, Strip | None]]
    chop_ends: Sequence[Sequence[int]]


class ThriftyApp(App[None]):
    """An app of short frames, unless it is inline."""

    def __init__(self, *, css_path: list[str | PurePath] | None = None) -> None:
        super().__init__(css_path=css_path)
        self._base_frame: _Whole | None = None  # the last one that was written, while it still tells what is shown
        self._on_terminal: Shown | None = None  # the same, with all that came after it
        display = getattr(App, "_display", None)
        self._frames_as_read = display is not None and [*inspect.signature(display).parameters][1:] == [
            "screen",
            "renderable",
        ]
        if self._frames_as_read:
            self._display = self._display_thriftily  # type: ignore[method-assign]

    def get_driver_class(self) -> type[Driver]:
        """The terminal's."""
        return hears_escape(super().get_driver_class())

    def on_resize(self) -> None:
        """What a terminal shows after that is its own affair; Textual paints nothing if the size is the old one.

        It is told when the app comes back to the terminal, too.
        """
        if self._base_frame is not None:
            self._base_frame = self._on_terminal = None
            self.set_timer(_SURE_S, self._make_sure)

    def step_aside(self) -> str:
        """Give the terminal back to the shell until it calls the app again; why not, where that cannot be."""
        if sys.platform == "win32" or self._driver is None or not self._driver.can_suspend:
            return "the app cannot be suspended here"
        if os.getpgrp() == os.getsid(0):
            return "no shell is behind this that could call the app back"
        with self.suspend():
            # Who waits for the app lets go of the terminal with it, as on a Ctrl+Z of the terminal's own; but not
            # before it has been given back.
            own = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
            os.kill(0, signal.SIGTSTP)
            signal.signal(signal.SIGTSTP, own)
            os.kill(os.getpid(), signal.SIGSTOP)
        self._base_frame = self._on_terminal = None
        return ""

    def _make_sure(self) -> None:
        if self._frames_as_read and self._base_frame is None:
            self.screen.refresh()

    def _display_thriftily(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        if self._frames_as_read and renderable is not None and not self.is_headless and not self.is_inline:
            try:
                renderable = self._shortened(screen, renderable)
            except (AttributeError, TypeError) as error:
                self._give_up(error)
        super()._display(screen, renderable)

    def _shortened(self, screen: Screen[object], renderable: RenderableType) -> RenderableType:
        frame, known = cast(_Frame, renderable), self._base_frame
        match type(renderable).__name__:
            case "LayoutUpdate":
                frame.render_segments = partial(self._write_whole, cast(_Whole, renderable), frame.render_segments)
            case "ChopsUpdate" if known is not None and known.region == screen.outer_size.region:
                frame.render_segments = partial(self._write_part, cast(_Part, renderable), frame.render_segments)
            case _:
                self._base_frame = self._on_terminal = None
        return renderable

    def _write_whole(self, frame: _Whole, written: Callable[[Console], str], console: Console) -> str:
        self._base_frame, self._on_terminal = frame, None
        return written(console)

    def _write_part(self, frame: _Part, written: Callable[[Console], str], console: Console) -> str:
        try:
            if self._on_terminal is None and self._base_frame is not None:
                self._on_terminal = _after(self._base_frame, console)
            if self._on_terminal is not None:
                return self._on_terminal.turn([*_pieces(frame, console)])
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            self._give_up(error)
        return written(console)

    def _give_up(self, error: Exception) -> None:
        """From now on Textual's frames are written as they are."""
        self.log.warning(f"frames are not as they were read: {error!r}")
        self._frames_as_read = False
        self._base_frame = self._on_terminal = None


def _after(frame: _Whole, console: Console) -> Shown:
    """What is shown after a whole frame.

    Its strips were written one behind the other: those after a text of uncertain width may stand elsewhere.
    """
    if frame.region.offset != (0, 0) or len(frame.strips) != frame.region.height:
        raise ValueError(frame.region)
    pieces: list[Piece] = []
    for line, strips in enumerate(frame.strips):
        start, steady = 0, True
        for strip in strips:
            cells, known = _cells(strip, strip.cell_length, console)
            pieces.append(Piece(line, start, cells, known and steady))
            start += len(cells)
            steady = steady and not shown.is_sealed(cells)
    after = Shown(*frame.region.size)
    after.note(pieces)
    return after


def _pieces(frame: _Part, console: Console) -> Iterator[Piece]:
    """What Textual would write: of each strip that a span touches, all from its start to the span's end."""
    parts: dict[tuple[int, int], tuple[int, int, Strip]] = {}
    for line, first, last in frame.spans:
        for (start, strip), stop in zip(frame.chops[line].items(), frame.chop_ends[line], strict=True):
            if strip is not None and start < last and stop > first:
                until, _, _ = parts.get((line, start), (0, stop, strip))
                parts[line, start] = max(until, min(stop, last)), stop, strip
    for (line, start), (until, stop, strip) in parts.items():
        if strip.cell_length != stop - start:
            yield Piece(line, start, shown.sealed(strip.render(console), until - start), known=False)
            continue
        cells, known = _cells(strip if until == stop else strip.crop(0, until - start), until - start, console)
        yield Piece(line, start, cells, known)


def _cells(strip: Strip, room: int, console: Console) -> tuple[list[Cell], bool]:
    """The cells of a strip, and whether they are known to look so once they are written."""
    colours = COLOR_SYSTEMS[console.color_system or "truecolor"]
    cells: list[Cell] = []
    for text, style, control in strip:
        if control or (style is not None and style.link):
            return shown.sealed(strip.render(console), room), False
        if not shown.steady(text):
            return shown.sealed(strip.render(console), room), True
        drawn = shown.PLAIN if style is None else shown.pen(Strip.render_ansi(style, colours))
        cells += shown.cells(text, drawn)
    return (cells, True) if len(cells) == room else (shown.sealed(strip.render(console), room), False)

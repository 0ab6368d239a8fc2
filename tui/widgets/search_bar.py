"""The search box, with what was found at its right."""

from collections.abc import Callable
from typing import ClassVar

from rich.highlighter import Highlighter
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Input
from textual.widgets.input import Selection

from tui import messages
from tui.cells import words
from tui.cells.clean import graphemes, typed
from tui.cells.glyphs import Glyphs
from tui.keymap import places
from tui.state.chips import spans
from tui.state.model import ViewState
from tui.widgets.paint import Acts, Line, bindings, components

MOST = 1_000
"""Characters the box holds: far more than anyone types. A terminal without bracketed paste hands a file on as keys."""


class _Chips(Highlighter):
    """Filters in the line look like chips. style: asked for with each paint, since themes change."""

    def __init__(self, style: Callable[[], Style]) -> None:
        self._style = style

    def highlight(self, text: Text) -> None:
        """Give the filters their style."""
        for start, end in spans(text.plain):
            text.stylize(self._style(), start, end)


class SearchBox(Input, Acts):
    """An input that moves and deletes by what a person calls a character: a joined emoji is one."""

    PLACE = places.BOX
    BINDINGS: ClassVar[list[BindingType]] = bindings(places.BOX)
    COMPONENT_CLASSES: ClassVar[set[str]] = {"search-box--chip"}

    def on_mount(self) -> None:
        """Paint filters as chips."""
        self.highlighter = _Chips(lambda: self.get_component_rich_style("search-box--chip", partial=True))

    def validate_value(self, value: str) -> str:
        """A paste may hold anything, and any amount of it."""
        return typed(value[:MOST])

    def validate_selection(self, selection: Selection) -> Selection:
        """Never inside a character, wherever the mouse clicked."""
        start, end = super().validate_selection(selection)
        return Selection(self._snapped(start), self._snapped(end))

    def on_paste(self, event: events.Paste) -> None:
        """As much of a paste as there is room for, its lines as one."""
        event.prevent_default()
        event.stop()
        start, end = sorted(self.selection)
        room = MOST - len(self.value) + end - start
        self.replace(typed(event.text[:MOST])[:room], start, end)

    def restricted(self) -> None:
        """No bell for each of 100,000 keys: that the box is full was said when it became so."""

    def do_clear(self) -> None:
        """Empty the box; an empty one is left."""
        if self.value:
            self.value = ""
        else:
            self.post_message(messages.Wanted("clear", self.PLACE))

    def action_cursor_left(self, select: bool = False) -> None:
        """One character to the left."""
        start, end = self.selection
        if not select and start != end:
            self.cursor_position = min(start, end)
            return
        there = self._before(end)
        self.selection = Selection(start if select else there, there)

    def action_cursor_right(self, select: bool = False) -> None:
        """One character to the right."""
        start, end = self.selection
        if not select and start != end:
            self.cursor_position = max(start, end)
            return
        there = self._after(end)
        self.selection = Selection(start if select else there, there)

    def action_delete_left(self) -> None:
        """Delete the character before the cursor."""
        if self.selection.is_empty:
            self.delete(self._before(self.cursor_position), self.cursor_position)
        else:
            self.delete_selection()

    def action_delete_right(self) -> None:
        """Delete the character after the cursor."""
        if self.selection.is_empty:
            self.delete(self.cursor_position, self._after(self.cursor_position))
        else:
            self.delete_selection()

    def _snapped(self, index: int) -> int:
        if self.value.isascii():
            return index
        return next((start for start, end in graphemes(self.value) if start < index < end), index)

    def _before(self, index: int) -> int:
        return next((start for start, end in graphemes(self.value) if start < index <= end), 0)

    def _after(self, index: int) -> int:
        return next((end for start, end in graphemes(self.value) if start <= index < end), len(self.value))


class Found(Line):
    """How much was found, how, and how fast."""

    PREFIX = "found"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("found", "degraded", "failed")


class SearchBar(Horizontal):
    """A sign, the box (of which sort: ``box``), and what was found."""

    def __init__(
        self,
        glyphs: Glyphs,
        text: str = "",
        *,
        box: type[SearchBox] = SearchBox,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._sign = Sign()
        self._found = Found()
        self._state = ViewState()
        self._text = text
        self.box = box(placeholder="Search memory", compact=True, select_on_focus=False, id="box", max_length=MOST)
        self.box.cursor_blink = False

    def compose(self) -> ComposeResult:
        """Sign, box, found."""
        yield self._sign
        yield self.box
        yield self._found

    def on_mount(self) -> None:
        """Draw the sign, and put in what is searched for from the beginning."""
        self.box.value = self._text
        self._sign.draw([[("text", self._glyphs.prompt)]])

    def on_input_changed(self, event: Input.Changed) -> None:
        """Another text: want it searched for."""
        event.stop()
        self.post_message(messages.Typed(event.value, full=len(event.value) >= MOST))

    def show(self, state: ViewState) -> None:
        """Show what was found. The box keeps what was typed, whatever the state says."""
        self._state = state
        self._update()

    def on_resize(self) -> None:
        """Another width."""
        self._update()

    def _update(self) -> None:
        state = self._state
        text = words.found(state, self._glyphs, brief=self.size.width < words.ROOMY, roomy=self.size.width >= 100)
        role = "failed" if state.failed else "degraded" if state.degraded else "text"
        pieces = [(role, text)]
        self._found.styles.width = sum(len(piece) for _, piece in pieces)
        self._found.draw([pieces])


class Sign(Line):
    """The sign before the box."""

    PREFIX = "sign"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("sign")

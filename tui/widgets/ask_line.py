"""A line for a question or a name, at the bottom of the corpora; there while something is typed."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from tui import messages
from tui.cells import corpora
from tui.cells.look import Look
from tui.keymap import places
from tui.state.model import ViewState
from tui.widgets.paint import Line, bindings, components
from tui.widgets.search_bar import SearchBox, Sign


class AskBox(SearchBox):
    """A search box whose Enter and Escape are the corpora's."""

    PLACE = places.ASK_BOX
    BINDINGS: ClassVar[list[BindingType]] = bindings(places.ASK_BOX)

    def do_clear(self) -> None:
        """Escape leaves the line, whatever is in it."""
        self.post_message(messages.Wanted("drop_line", self.PLACE))


class AskLabel(Line):
    """What is typed, and what for."""

    PREFIX = "ask-label"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("ask-label", "over")


class AskLine(Vertical):
    """What for, a sign, the box."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._look = look
        self._state = ViewState()
        self._label = AskLabel()
        self._sign = Sign()
        self.box = AskBox(compact=True, select_on_focus=False, id="ask")
        self.box.cursor_blink = False
        self.display = False

    def compose(self) -> ComposeResult:
        """From the top down."""
        yield self._label
        with Horizontal():
            yield self._sign
            yield self.box

    def on_mount(self) -> None:
        """Draw the sign."""
        self._sign.draw([[("text", self._look.glyphs.prompt)]])

    def show(self, state: ViewState) -> None:
        """Show what is typed for."""
        self._state = state
        self._update()

    def on_resize(self) -> None:
        """Another width."""
        self._update()

    def _update(self) -> None:
        if not self.size.width or self._state.corpora.writing is None:
            return
        lines = corpora.asked_for(self._state, self.size.width, self._look)
        self._label.styles.height = len(lines)
        self._label.draw(lines)

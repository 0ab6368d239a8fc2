"""Everything that can be done, found by typing."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from tui.cells import commands
from tui.cells.look import Look
from tui.keymap import places
from tui.screens.drawn import DrawnScreen
from tui.state.model import ViewState
from tui.state.palette import Item, matching
from tui.widgets.palette_box import PaletteBox
from tui.widgets.sheet import ChoiceSheet, Lines
from tui.widgets.status_line import StatusLine


class CommandSheet(ChoiceSheet, can_focus=False):
    """The commands that answer to what was typed."""

    PLACE = places.PALETTE
    BINDINGS: ClassVar[list[BindingType]] = []
    found: Sequence[Item] = ()

    def lines(self, room: int) -> Lines:
        """The page in this width."""
        return commands.lines(self.found, room, self.looks)

    def places(self) -> Sequence[int]:
        """Every line, unless there is but the note that there is none."""
        return range(len(self.found))


class PaletteScreen(DrawnScreen):
    """items: what there is to be done, from where the palette was opened."""

    def __init__(self, look: Look, state: ViewState, items: Sequence[Item]) -> None:
        super().__init__(state)
        self._items = [*items]
        self.box = PaletteBox(placeholder="Type what you want to do", compact=True, select_on_focus=False, id="command")
        self.box.cursor_blink = False
        self.page = CommandSheet(look, state, id="commands")
        self.page.found = matching(items, "")
        self.status = StatusLine(look.glyphs)

    @property
    def chosen(self) -> Item | None:
        """The command under the cursor."""
        return self.page.found[self.page.at] if self.page.at < len(self.page.found) else None

    def compose(self) -> ComposeResult:
        """Box, commands and keys."""
        yield self.box
        yield self.page
        yield self.status

    def offer(self, items: Sequence[Item]) -> None:
        """More that can be done."""
        self._items += items
        self._find()

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        self.page.show(self.state)
        self.status.show(self.state, places.PALETTE)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Another text: other commands, the first of them at hand."""
        event.stop()
        self.page.at = 0
        self._find()

    def _find(self) -> None:
        self.page.found = matching(self._items, self.box.value)
        self.page.lay_out()

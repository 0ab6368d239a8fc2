"""Screens that show a state: any, and one of a single sheet."""

from textual.app import ComposeResult
from textual.screen import Screen

from tui.state.model import ViewState
from tui.widgets.sheet import Sheet
from tui.widgets.status_line import StatusLine


class DrawnScreen(Screen[None]):
    """Draws the latest state as soon as there is something to draw on; each screen says how in ``draw``."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-stacked"), (110, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-short"), (30, "-tall")]

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self.state = state

    def on_mount(self) -> None:
        """Show what is known already."""
        self.draw()

    def show(self, state: ViewState) -> None:
        """Show this state."""
        self.state = state
        if self.is_mounted:
            self.draw()

    def draw(self) -> None:
        """Bring the widgets in line with the state."""


class SheetScreen(DrawnScreen):
    """A sheet and the keys that work on it; subclasses say which."""

    def __init__(self, page: Sheet) -> None:
        super().__init__(page.state)
        self.page = page
        self.status = StatusLine(page.looks.glyphs)

    def compose(self) -> ComposeResult:
        """Page and keys."""
        yield self.page
        yield self.status

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        self.page.show(self.state)
        self.status.show(self.state, self.page.PLACE)

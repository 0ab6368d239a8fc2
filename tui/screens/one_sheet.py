"""A screen of a single sheet."""

from textual.app import ComposeResult

from tui.screens.drawn import DrawnScreen
from tui.widgets.sheet import Sheet
from tui.widgets.status_line import StatusLine


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

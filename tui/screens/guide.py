"""The keys."""

from textual.app import ComposeResult

from tui.cells.glyphs import Glyphs
from tui.keymap import places
from tui.screens.drawn import DrawnScreen
from tui.state.model import ViewState
from tui.widgets.guide_page import GuidePage
from tui.widgets.status_line import StatusLine


class GuideScreen(DrawnScreen):
    """Every key once, and what the marks mean."""

    def __init__(self, glyphs: Glyphs, state: ViewState) -> None:
        super().__init__(state)
        self.page = GuidePage(glyphs, id="guide")
        self.status = StatusLine(glyphs)

    def compose(self) -> ComposeResult:
        """Page and keys."""
        yield self.page
        yield self.status

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        state = self.state
        self.status.show(state, places.GUIDE)

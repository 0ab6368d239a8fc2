"""The keys."""

from textual.app import ComposeResult
from textual.screen import Screen

from tui import keymap
from tui.cells.glyphs import Glyphs
from tui.state.model import ViewState
from tui.widgets.guide_page import GuidePage
from tui.widgets.status_line import StatusLine


class GuideScreen(Screen[None]):
    """Every key once, and what the marks mean."""

    def __init__(self, glyphs: Glyphs, state: ViewState) -> None:
        super().__init__()
        self._state = state
        self.page = GuidePage(glyphs, id="guide")
        self.status = StatusLine(glyphs)

    def compose(self) -> ComposeResult:
        """Page and keys."""
        yield self.page
        yield self.status

    def on_mount(self) -> None:
        """Show the keys of this screen."""
        self._draw()

    def show(self, state: ViewState) -> None:
        """Show this state's words."""
        self._state = state
        if self.is_mounted:
            self._draw()

    def _draw(self) -> None:
        state = self._state
        self.status.show(state, keymap.GUIDE)

"""One record on the whole screen."""

from textual.app import ComposeResult
from textual.screen import Screen

from tui import keymap
from tui.cells.look import Look
from tui.state.model import ViewState
from tui.widgets.banner import Banner
from tui.widgets.record_view import FullRecord
from tui.widgets.status_line import StatusLine


class RecordScreen(Screen[None]):
    """The record of the state, nothing cut."""

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__()
        self._state = state
        self.record = FullRecord(look, id="record")
        self.banner = Banner()
        self.status = StatusLine(look.glyphs)

    def compose(self) -> ComposeResult:
        """Record and keys."""
        yield self.record
        yield self.banner
        yield self.status

    def on_mount(self) -> None:
        """Show what is known already."""
        self._draw()

    def show(self, state: ViewState) -> None:
        """Show this state's record."""
        self._state = state
        if self.is_mounted:
            self._draw()

    def _draw(self) -> None:
        state = self._state
        self.record.show(state)
        self.banner.show(state)
        self.status.show(state, keymap.RECORD)

"""One record on the whole screen."""

from textual.app import ComposeResult

from tui.cells.look import Look
from tui.keymap import places
from tui.screens.drawn import DrawnScreen
from tui.state.model import ViewState
from tui.widgets.banner import Banner
from tui.widgets.record_view import FullRecord
from tui.widgets.status_line import StatusLine


class RecordScreen(DrawnScreen):
    """The record of the state."""

    WHOLE_RECORD = True

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(state)
        self.record = FullRecord(look, id="record")
        self.banner = Banner(look, listed=False)
        self.status = StatusLine(look.glyphs)

    def compose(self) -> ComposeResult:
        """Record and keys."""
        yield self.record
        yield self.banner
        yield self.status

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        state = self.state
        self.record.show(state)
        self.banner.show(state)
        self.status.show(state, places.RECORD)

"""The score sheet of one hit."""

from textual.app import ComposeResult

from tui import keymap
from tui.cells import score
from tui.cells.look import Look
from tui.screens.drawn import DrawnScreen
from tui.state.model import ViewState
from tui.widgets.paint import bindings
from tui.widgets.sheet import Lines, Sheet
from tui.widgets.status_line import StatusLine


class ScoreSheet(Sheet):
    """Ranks, score and what was degraded, with what each means."""

    PLACE = keymap.SHEET
    BINDINGS = bindings(keymap.SHEET)

    def lines(self, room: int) -> Lines:
        """The page in this width."""
        return score.lines(self.state, room, self.looks)


class ScoreScreen(DrawnScreen):
    """Why the record under the cursor stands where it stands."""

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(state)
        self.page = ScoreSheet(look, state, id="score")
        self.status = StatusLine(look.glyphs)

    def compose(self) -> ComposeResult:
        """Page and keys."""
        yield self.page
        yield self.status

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        self.page.show(self.state)
        self.status.show(self.state, keymap.SHEET)

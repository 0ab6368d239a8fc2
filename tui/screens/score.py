"""The score sheet of one hit."""

from tui.cells import score
from tui.cells.look import Look
from tui.keymap import places
from tui.screens.one_sheet import SheetScreen
from tui.state.model import ViewState
from tui.widgets.paint import bindings
from tui.widgets.sheet import Lines, Sheet


class ScoreSheet(Sheet):
    """Ranks, score and what was degraded, with what each means."""

    PLACE = places.SHEET
    BINDINGS = bindings(places.SHEET)

    def lines(self, room: int) -> Lines:
        """The page in this width."""
        return score.lines(self.state, room, self.looks)


class ScoreScreen(SheetScreen):
    """Why the record under the cursor stands where it stands."""

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(ScoreSheet(look, state, id="score"))

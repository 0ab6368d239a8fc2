"""How everything is, and what to do about what is wrong."""

from collections.abc import Iterable

from textual.widget import Widget

from tui.cells import health as cells
from tui.cells.look import Look
from tui.keymap import places
from tui.screens.survey import SurveyScreen
from tui.state import health
from tui.state.model import Link, ViewState
from tui.widgets.paint import bindings
from tui.widgets.sheet import Lines, Sheet


class HealthSheet(Sheet):
    """A line for each part, the projects, the log's end."""

    PLACE = places.HEALTH
    BINDINGS = bindings(places.HEALTH)

    def lines(self, room: int) -> Lines:
        """The page in this width."""
        return cells.lines(self.state, room, self.looks, live=self.state.link is Link.LIVE)


class HealthScreen(SurveyScreen):
    """One page."""

    PLACE = places.HEALTH
    OVER = health.Ended()
    AGAIN = health.Again()

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(look, state)
        self.page = HealthSheet(look, state, id="health")

    def pages(self) -> Iterable[Widget]:
        """The page."""
        return (self.page,)

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        super().draw()
        self.page.show(self.state)

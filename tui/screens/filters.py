"""The filters of the list: types, projects, concepts, dates, each with what it leaves."""

from collections.abc import Sequence

from textual.app import ComposeResult

from tui.cells import choices
from tui.cells.look import Look
from tui.keymap import places
from tui.screens.drawn import DrawnScreen
from tui.state.chips import Chip
from tui.state.model import ViewState
from tui.widgets.banner import Banner
from tui.widgets.paint import bindings
from tui.widgets.query_line import QueryLine
from tui.widgets.sheet import ChoiceSheet, Lines
from tui.widgets.status_line import StatusLine


class FilterSheet(ChoiceSheet):
    """Filters under headings; the cursor stays on its filter when counts change."""

    PLACE = places.FILTERS
    BINDINGS = bindings(places.FILTERS)
    _picks: tuple[tuple[int, Chip], ...] = ()
    _counted = False

    @property
    def chip(self) -> Chip | None:
        """The filter under the cursor."""
        return self._picks[self.at][1] if self.at < len(self._picks) else None

    def lines(self, room: int) -> Lines:
        """The page in this width."""
        here = self.chip if self._counted else None  # at first, the top: there was little to choose from
        self._counted = self.state.choosing.offer is not None
        page, picks = choices.lines(self.state, room, self.looks.glyphs)
        self._picks = tuple(picks)
        self.at = next((at for at, (_, chip) in enumerate(picks) if chip == here), self.at if here else 0)
        return page

    def places(self) -> Sequence[int]:
        """The lines of filters."""
        return [line for line, _ in self._picks]


class FilterScreen(DrawnScreen):
    """The query as it is now, how much it finds, and what could be added to it."""

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(state)
        self.query_line = QueryLine(look.glyphs)
        self.banner = Banner(look, listed=False)
        self.page = FilterSheet(look, state, id="filters")
        self.status = StatusLine(look.glyphs)

    def compose(self) -> ComposeResult:
        """Query, page and keys."""
        yield self.query_line
        yield self.banner
        yield self.page
        yield self.status

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        self.query_line.show(self.state)
        self.banner.show(self.state)
        self.page.show(self.state)
        self.status.show(self.state, places.FILTERS)

"""The basket: what is marked, what it costs, and what can be done with it."""

from collections.abc import Sequence

from tui.cells import meter
from tui.cells.look import Look
from tui.keymap import places
from tui.screens.one_sheet import SheetScreen
from tui.state.model import ViewState
from tui.widgets.paint import bindings
from tui.widgets.sheet import ChoiceSheet, Lines
from worker.contract.search import Entry


class BasketSheet(ChoiceSheet):
    """Figures, then the records."""

    PLACE = places.BASKET
    BINDINGS = bindings(places.BASKET)
    _lines_of: Sequence[int] = ()

    @property
    def entry(self) -> Entry | None:
        """The record under the cursor."""
        entries = self.state.basket.entries
        return entries[self.at] if self.at < len(entries) else None

    def lines(self, room: int) -> Lines:
        """The page in this width."""
        page, self._lines_of = meter.lines(self.state.basket, room, self.looks)
        return page

    def places(self) -> Sequence[int]:
        """The lines of records."""
        return self._lines_of


class BasketScreen(SheetScreen):
    """What is marked."""

    page: BasketSheet

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(BasketSheet(look, state, id="basket"))

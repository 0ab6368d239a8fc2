"""Filters, by keys: each is a piece of the query line."""

from collections.abc import Mapping

from tui.deeds.desk import Desk
from tui.deeds.table import Deed
from tui.screens.filters import FilterScreen
from tui.state import chips, facts, spans
from tui.state.filters import ChoosingBegun


class Filtering:
    """Puts filters into the line and takes them out."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {"filters": self.filters, "take": self.take, "unfilter": self.unfilter}

    def filters(self) -> None:
        """The screen to choose on."""
        if self._desk.state.empty_memory:
            self._desk.say("there is nothing to filter yet")
        elif not isinstance(self._desk.screen, FilterScreen):
            self._desk.put_up(FilterScreen(self._desk.look, self._desk.state))
            self._desk.tell(ChoosingBegun(True))

    def take(self) -> None:
        """The filter under the cursor, on or off."""
        screen = self._desk.screen
        if isinstance(screen, FilterScreen) and (chip := screen.page.chip) is not None:
            self.retype(chips.toggled(self._desk.state.ask.text, chip))

    def unfilter(self) -> None:
        """The last filter out."""
        text = chips.shortened(self._desk.state.ask.text)
        if text == self._desk.state.ask.text:
            self._desk.say("there is no filter in the query; {filters} shows which there are")
        else:
            self.retype(text)

    def retype(self, text: str) -> None:
        """Another text in the box, by a key: the same as typing it."""
        self._desk.workspace.search.box.value = text
        look = self._desk.look
        self._desk.tell(facts.Typed(text, final=True, as_of_ms=spans.as_of(text, look.now_ms(), look.zone)))

"""Between list and timeline."""

from collections.abc import Mapping

from tui.deeds.asking import Asking
from tui.deeds.desk import Desk
from tui.deeds.table import Deed
from tui.state import facts
from tui.state.model import View
from tui.state.needs import need_track


class Travelling:
    """The cursor stays on its record."""

    def __init__(self, desk: Desk, asking: Asking) -> None:
        self._desk = desk
        self._asking = asking

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {"swap": self.swap}

    def swap(self) -> None:
        """The other view."""
        state = self._desk.state
        if state.view is View.TIMELINE:
            self._desk.background("track", self._leave)
        elif state.entry is None:
            self._desk.say("no record here to show the timeline around")
        else:
            key = state.entry.key
            self._asking.track(need_track(key, key, state.ask))

    async def _leave(self) -> None:
        state, entry = self._desk.state, self._desk.state.entry
        if entry is None:
            self._desk.tell(facts.ListChosen(None, None))
            return
        row = state.rows.find(entry.key)
        row = row if row is not None else await self._asking.gateway.lists.row_of(state.ask, entry)
        self._desk.tell(facts.ListChosen(row, entry))
        if row is None:
            self._desk.say(f"{entry.key} is not among the hits; the cursor is where it was")

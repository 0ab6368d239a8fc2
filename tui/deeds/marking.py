"""The basket, and copies of what is in it."""

from collections.abc import Mapping

from tui.deeds.copying import Copying
from tui.deeds.desk import Desk
from tui.deeds.table import Deed
from tui.screens.basket import BasketScreen
from tui.screens.record import RecordScreen
from tui.state.basket import Marked
from worker.contract.search import Entry


class Marking:
    """Shows the basket; hands what is chosen to ``copying``."""

    def __init__(self, desk: Desk, copying: Copying) -> None:
        self._desk = desk
        self._copying = copying

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {
            "basket": self.basket, "drop": self.drop, "call": self.call, "copy_ids": self.copy_ids,
            "copy_text": self.copy_text,
        }  # fmt: skip

    def basket(self) -> None:
        """What is marked."""
        if not isinstance(self._desk.screen, BasketScreen):
            self._desk.put_up(BasketScreen(self._desk.look, self._desk.state))

    def drop(self) -> None:
        """This one out."""
        screen = self._desk.screen
        if isinstance(screen, BasketScreen) and (entry := screen.page.entry) is not None:
            self._desk.tell(Marked(entry))

    def call(self) -> None:
        """A ready call."""
        if self._desk.state.basket.entries:
            self._copying.call(self._desk.state.basket.entries)
        else:
            self._desk.say("the basket is empty")

    def copy_ids(self) -> None:
        """Keys."""
        if chosen := self._chosen():
            self._copying.ids(chosen)
        else:
            self._desk.say("nothing to copy here")

    def copy_text(self) -> None:
        """Texts."""
        if chosen := self._chosen():
            self._copying.text(chosen)
        else:
            self._desk.say("nothing to copy here")

    def _chosen(self) -> tuple[Entry, ...]:
        """What a copy is of: the record on the whole screen, else all that is marked, else the one at the cursor."""
        state, screen = self._desk.state, self._desk.screen
        here = (state.subject,) if state.subject is not None else ()
        if isinstance(screen, RecordScreen):
            return here
        return state.basket.entries or (() if isinstance(screen, BasketScreen) else here)

"""What the palette offers: the keys of a place, projects, themes."""

from collections.abc import Callable, Iterable, Sequence

from tui import keymap
from tui.deeds.asking import Asking
from tui.deeds.desk import Desk
from tui.state.model import ViewState
from tui.state.palette import Item, places
from tui.state.reasons import why_not

_NOT_LISTED = {"down", "up", "page_down", "page_up", "top", "bottom", "palette", "leave_box", "clear", "jump"}
"""Moves are not looked for by name."""


def of_place(place: str, state: ViewState) -> list[Item]:
    """What the keys of a place do."""
    return [
        Item("key", action.name, action.label, action.help, action.shown, why_not(state, action.name))
        for action in keymap.at(place)
        if action.name not in _NOT_LISTED
    ]


def themes(names: Iterable[str], here: str) -> list[Item]:
    """The themes; the one that is shown says so."""
    return [Item("theme", name, name, "colours", reason="shown now" if name == here else "") for name in sorted(names)]


class Commanding:
    """Reads the projects for a palette that is open. offer: adds to it."""

    def __init__(self, desk: Desk, asking: Asking) -> None:
        self._desk = desk
        self._asking = asking

    def projects(self, offer: Callable[[Sequence[Item]], None]) -> None:
        """Read them."""
        self._desk.background("projects", self._read, offer)

    async def _read(self, offer: Callable[[Sequence[Item]], None]) -> None:
        names = await self._asking.gateway.projects()
        if names:
            offer(places(names, self._desk.state.ask.project))

"""In the costs: another time, into a part, out of it, to its records."""

from collections.abc import Mapping

from tui.deeds.desk import Desk
from tui.deeds.surveying import Surveying
from tui.deeds.table import Deed
from tui.screens.costs import CostScreen
from tui.state.costs import WINDOWS, Part, Windowed, Zoomed, found_by


class Costing:
    """Zooms; what cannot be zoomed into is looked up in the workspace."""

    def __init__(self, desk: Desk, surveying: Surveying) -> None:
        self._desk = desk
        self._surveying = surveying

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {
            "zoom_in": self.zoom_in, "zoom_out": self.zoom_out, "less_time": self.less_time,
            "more_time": self.more_time, "close": self.close,
        }  # fmt: skip

    def zoom_in(self) -> None:
        """Into a project or a session; a type's records are found in the workspace."""
        screen, costing = self._desk.screen, self._desk.state.costs
        if not isinstance(screen, CostScreen):
            return
        chosen = screen.page.chosen
        if chosen is None or not costing.fits:
            self._desk.say("nothing to zoom into here")
        elif chosen.part is not None:
            self._desk.tell(Zoomed(chosen.part))
        elif (found := found_by(costing, chosen)) is not None:
            self._surveying.seek(*found)
        else:
            self._desk.say(f"a query line cannot say {chosen.type!r}; it holds a comma or a quote")

    def zoom_out(self) -> None:
        """To the part around this one."""
        part = self._desk.state.costs.part
        if part == Part():
            self._desk.say("this is all of it; {close} closes it")
        else:
            self._desk.tell(Zoomed(part.out))

    def close(self) -> None:
        """One step out; the screen is closed where it was opened."""
        if self._desk.state.costs.deep:
            self.zoom_out()
        else:
            self._surveying.close()

    def less_time(self) -> None:
        """A shorter window."""
        self._window(-1)

    def more_time(self) -> None:
        """A longer window."""
        self._window(1)

    def _window(self, by: int) -> None:
        window = self._desk.state.costs.window
        if window is WINDOWS[0 if by < 0 else -1]:
            self._desk.say("7 days is the least" if by < 0 else "this is all there is")
        else:
            self._desk.tell(Windowed(by))

"""From screen to screen, and out."""

from collections.abc import Mapping

from tui.deeds.asking import Asking
from tui.deeds.desk import Desk
from tui.deeds.scrubbing import Scrubbing
from tui.deeds.table import Deed
from tui.deeds.travelling import Travelling
from tui.screens.filters import FilterScreen
from tui.screens.guide import GuideScreen
from tui.screens.record import RecordScreen
from tui.screens.score import ScoreScreen
from tui.screens.survey import SurveyScreen
from tui.screens.workspace import Workspace
from tui.state import reading
from tui.state.basket import SpanBegun
from tui.state.filters import ChoosingBegun
from tui.state.model import View
from tui.state.needs import NeedRecord
from tui.state.sought import WentBack


class Going:
    """Opens what a record has to show, closes what is on top."""

    def __init__(self, desk: Desk, asking: Asking, travelling: Travelling, scrubbing: Scrubbing) -> None:
        self._desk = desk
        self._asking = asking
        self._travelling = travelling
        self._scrubbing = scrubbing

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {
            "unknown": self.unknown, "open": self.open, "score": self.score,
            "guide": self.guide, "back": self.back, "undo": self.undo, "quit": self.quit,
            "suspend": self.suspend,
        }  # fmt: skip

    def unknown(self) -> None:
        """A key without a meaning."""
        self._desk.say("that key means nothing here; {search} searches, {guide} shows all keys")

    def open(self) -> None:
        """The record on the whole screen; while a range is begun, only the time it spans."""
        if not isinstance(self._desk.screen, Workspace):
            return  # it is open
        if self._desk.state.span:
            self._scrubbing.brush()
            return
        entry = self._desk.state.entry
        if entry is None:
            self._desk.say("nothing to open here")
            return
        if self._desk.state.shown_key != entry.key:
            self._asking.open_now(NeedRecord(entry, ()))
        self._desk.put_up(RecordScreen(self._desk.look, self._desk.state))
        self._desk.tell(reading.Begun())

    def score(self) -> None:
        """Why a hit is here."""
        if self._desk.state.entry is None:
            self._desk.say("no record here to show the score of")
        elif not isinstance(self._desk.screen, ScoreScreen):
            self._desk.put_up(ScoreScreen(self._desk.look, self._desk.state))

    def guide(self) -> None:
        """All keys."""
        if not isinstance(self._desk.screen, GuideScreen):
            self._desk.put_up(GuideScreen(self._desk.look.glyphs, self._desk.state, self._desk.place))

    def back(self) -> None:
        """To the list, or to the screen below."""
        if isinstance(self._desk.screen, Workspace):
            self._desk.workspace.set_focus(self._desk.workspace.hits)
        else:
            self._close()

    def undo(self) -> None:
        """What was begun is given up, the last of it first."""
        if self._desk.state.basket.span_from is not None:
            self._desk.tell(SpanBegun(None))
        elif self._desk.state.view is View.TIMELINE:
            self._travelling.swap()
        elif self._desk.workspace.search.box.value:
            self._desk.workspace.search.box.value = ""
        else:
            self._desk.say("{quit} quits")

    def quit(self) -> None:
        """One step out."""
        if self._desk.state.view is View.TIMELINE:
            self._travelling.swap()
        elif (left := self._desk.state.way_back) is not None:
            self._desk.workspace.search.box.value = left.ask.text
            self._desk.tell(WentBack())
        else:
            self._desk.leave()

    def suspend(self) -> None:
        """To the shell that the app was started from, until it is called back."""
        if reason := self._desk.step_aside():
            self._desk.say(reason)

    def _close(self) -> None:
        if isinstance(self._desk.screen, FilterScreen):
            self._desk.tell(ChoosingBegun(False))
        elif isinstance(self._desk.screen, RecordScreen):
            self._desk.tell(reading.Ended())
        elif isinstance(self._desk.screen, SurveyScreen):
            self._desk.tell(self._desk.screen.OVER)
        self._desk.take_down()

"""Along time: steps of a session, a day, a week; zoom; a span; the past."""

import datetime as dt
from collections.abc import Callable, Mapping

from tui.deeds.asking import Asking
from tui.deeds.desk import Desk
from tui.deeds.filtering import Filtering
from tui.deeds.table import Deed
from tui.state import facts, instants, scrub, spans
from tui.state.basket import SpanBegun
from tui.state.model import View, ViewState
from tui.state.needs import need_track
from worker.contract.errors import MemError

_NOT_IN_TIME = "the list is not in order of time; {order} sorts it, {swap} opens the timeline"


class Scrubbing:
    """Moves the cursor to moments; what is on the strip is but drawn from where the cursor is."""

    def __init__(self, desk: Desk, asking: Asking, filtering: Filtering) -> None:
        self._desk = desk
        self._asking = asking
        self._filtering = filtering

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {
            "day_back": lambda: self._out_of(instants.day, later=False),
            "day_on": lambda: self._out_of(instants.day, later=True),
            "week_back": lambda: self._out_of(instants.week, later=False),
            "week_on": lambda: self._out_of(instants.week, later=True),
            "midnight": self.midnight,
            "session_back": lambda: self._by_session(later=False),
            "session_on": lambda: self._by_session(later=True),
            "finer": lambda: self._zoom(finer=True), "coarser": lambda: self._zoom(finer=False),
            "gaps": self.gaps, "braille": self.braille, "as_of": self.as_of,
        }  # fmt: skip

    def brush(self) -> None:
        """Only the time from where the range began to here."""
        state = self._desk.state
        begun = state.at(state.span[0]), state.at(state.span[-1])
        times = [entry.created_at_epoch for entry in begun if entry is not None]
        self._desk.tell(SpanBegun(None))
        if len(times) == 2:
            zone = self._desk.look.zone
            self._filtering.retype(spans.brushed(state.ask.text, min(times), max(times), zone))

    def as_of(self) -> None:
        """The memory as it was at the cursor, or as it is now again."""
        state = self._desk.state
        if state.ask.as_of_ms is not None:
            self._filtering.retype(spans.present(state.ask.text))
        elif state.entry is None:
            self._desk.say("no record here to look back from")
        else:
            moment = state.entry.created_at_epoch
            self._filtering.retype(spans.past(state.ask.text, moment, self._desk.look.zone))

    def gaps(self) -> None:
        """Stretches without a record, out or in."""
        self._desk.tell(scrub.GapsTurned())
        self._desk.say("quiet times are left out" if self._desk.state.scrub.folded else "quiet times are shown")

    def braille(self) -> None:
        """One bucket in a cell, or two."""
        self._desk.tell(scrub.FineTurned())

    def midnight(self) -> None:
        """To where the day of the cursor begins."""
        self._step(lambda epoch_ms: instants.day(epoch_ms, 0, self._desk.look.zone), later=True, stay=True)

    def _out_of(self, begin: Callable[[int, int, dt.tzinfo | None], int], *, later: bool) -> None:
        """To the last record before the day or week of the cursor, or the first one after it."""
        zone = self._desk.look.zone
        if later:
            self._step(lambda epoch_ms: begin(epoch_ms, 1, zone), later=True)
        else:
            self._step(lambda epoch_ms: begin(epoch_ms, 0, zone) - 1, later=False)

    def _step(self, there: Callable[[int], int], *, later: bool, stay: bool = False) -> None:
        """To the first record at or after a moment, or the last one at or before it. there: from the cursor's."""
        state = self._desk.state
        if state.entry is None:
            self._desk.say("no record here to go on from")
        elif not in_time(state):
            self._desk.say(_NOT_IN_TIME)
        else:
            self._desk.background("step", self._land, there(state.entry.created_at_epoch), later, stay)

    def _by_session(self, *, later: bool) -> None:
        state = self._desk.state
        if state.entry is None:
            self._desk.say("no record here to go on from")
        elif not in_time(state):
            self._desk.say(_NOT_IN_TIME)
        else:
            self._desk.background("step", self._to_session, state.entry.created_at_epoch, later)

    async def _to_session(self, epoch_ms: int, later: bool) -> None:
        try:
            begin = await self._asking.gateway.times.session_begin(self._desk.state.ask, epoch_ms, later=later)
        except MemError as error:
            self._desk.say(error.message)
            return
        if begin is None:
            self._desk.say("no session begins after this" if later else "no session begins before this")
            return
        # Of a session whose beginning is filtered out, what is left of it is gone to.
        await self._land(begin, True, False, later)

    async def _land(self, moment_ms: int, later: bool, stay: bool, way: bool | None = None) -> None:
        state, entry = self._desk.state, self._desk.state.entry
        if entry is None:
            return
        if state.view is View.TIMELINE and state.track is not None:
            need = need_track(state.track.anchor, entry.key, state.ask)
            fact = await self._asking.gateway.records.tracked_at(need, moment_ms, later=later)
            self._desk.tell(fact)
        else:
            row = await self._asking.gateway.lists.row_at(state.ask, moment_ms, later=later)
            if row is None:
                return
            row = max(0, min(row, state.rows.total - 1))
            onward = (later if way is None else way) is not state.ask.newest_first
            if row == self._desk.state.cursor and not stay:
                row = max(0, min(row + (1 if onward else -1), state.rows.total - 1))
            self._desk.tell(facts.Moved(to=row))
        if not stay and self._desk.state.here == state.here and self._desk.state.entry == entry:
            self._desk.say("there is nothing beyond this one")

    def _zoom(self, *, finer: bool) -> None:
        state = self._desk.state
        lanes = self._desk.workspace.laned
        if state.facets is None or not state.facets.buckets:
            self._desk.say("there is nothing to zoom into")
            return
        fact = scrub.zoomed(state.scrub, state.facets.bucket_ms, finer=finer, lanes=lanes)
        if isinstance(fact, str):
            self._desk.say(fact)
        else:
            self._desk.tell(fact)


def in_time(state: ViewState) -> bool:
    """Whether the cursor goes along time."""
    return state.view is View.TIMELINE or state.ask.newest_first or state.ask.oldest_first

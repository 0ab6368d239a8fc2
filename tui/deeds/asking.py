"""Questions to the worker: what the state needs → calls → facts."""

import asyncio

from msgspec.structs import replace

from tui.deeds.desk import Desk
from tui.gateway.front import Gateway
from tui.state import facts
from tui.state.facts import Fact
from tui.state.model import ViewState
from tui.state.needs import (
    NeedLanes,
    NeedList,
    NeedOffer,
    NeedPages,
    NeedRecord,
    NeedRelated,
    NeedStrip,
    NeedTrack,
    missing_pages,
    needs,
)
from worker.contract.search import Strip

PAUSE_S = 0.07
"""Typing, and a moving cursor, rest this long before the worker is asked."""
_SLOW_S = 0.3


class Asking:
    """Asks for what a change of the state needs. gateway: replaced when another memory is opened."""

    def __init__(self, desk: Desk, gateway: Gateway) -> None:
        self._desk = desk
        self.gateway = gateway

    def changed(self, before: ViewState, state: ViewState) -> None:
        """Ask for what the state needs now and did not before."""
        if not self.gateway.ready:
            return
        for need in needs(before, state):
            match need:
                case NeedList():
                    self._desk.background("list", self._list, need)
                case NeedPages():
                    if not self._desk.busy("pages"):
                        self._desk.background("pages", self._pages)
                case NeedRecord():
                    self._desk.background("preview", self._preview, need)
                case NeedTrack():
                    self.track(need)
                case NeedRelated():
                    self._desk.background("related", self._related, need)
                case NeedOffer():
                    self._desk.background("offer", self._offer, need)
                case NeedStrip():
                    self._desk.background("strip", self._strip, need)
                case NeedLanes():
                    self._desk.background("lanes", self._lanes, need)

    def open_now(self, need: NeedRecord) -> None:
        """Read a record without waiting for the cursor to rest."""
        self._desk.background("preview", self._open, need)

    def track(self, need: NeedTrack) -> None:
        """Read the timeline around a record."""
        self._desk.background("track", self._track, need)

    def refill(self) -> None:
        """Read what was in the basket when the app was last open."""
        if self._desk.state.basket.awaited:
            self._desk.background("refill", self._refill)

    async def _refill(self) -> None:
        fact = await self.gateway.records.refilled(self._desk.state.basket.awaited)
        if fact is not None:
            self._desk.tell(fact)

    def count(self) -> None:
        """Read how much there is."""
        self._desk.background("count", self._count)

    async def _list(self, need: NeedList) -> None:
        """The answer; where meaning has a say, that by words first. A newer question ends all of it."""
        if need.typed:
            await asyncio.sleep(PAUSE_S)
        fact = await self._listed(need, words_only=need.words_first)
        self._desk.tell(fact)
        if not isinstance(fact, facts.Listed):
            return
        async with asyncio.TaskGroup() as both:
            both.create_task(self._facets(need))
            if need.words_first:
                both.create_task(self._merge(need))

    async def _listed(self, need: NeedList, *, words_only: bool) -> Fact:
        stop = self._desk.later(_SLOW_S, lambda: self._desk.tell(facts.StillWaiting(need.seq)))
        try:
            return await self.gateway.lists.listed(need, words_only=words_only)
        finally:
            stop()

    async def _merge(self, need: NeedList) -> None:
        state = self._desk.state
        kept = replace(need, focus=state.entry, near=state.cursor)
        self._desk.tell(await self.gateway.lists.listed(kept))

    async def _facets(self, need: NeedList) -> None:
        state = self._desk.state
        width_ms, entry = state.scrub.width_ms, state.entry
        middle_ms = entry.created_at_epoch if width_ms and entry is not None else None
        await self._ask_strip(NeedStrip(need.seq, need.ask, width_ms if middle_ms is not None else 0, middle_ms))

    async def _strip(self, need: NeedStrip) -> None:
        await asyncio.sleep(PAUSE_S)
        await self._ask_strip(need)

    async def _ask_strip(self, need: NeedStrip) -> None:
        # More than there are cells: the worker rounds the width of a bucket up, to days, weeks or months.
        buckets = max(40, min(2 * self._desk.columns, 240))
        strip = None
        if need.middle_ms is not None:
            half = buckets * need.width_ms  # quiet times are folded: more than there are cells fits
            strip = Strip(
                bucket_ms=need.width_ms, start_epoch_ms=need.middle_ms - half, end_epoch_ms=need.middle_ms + half
            )
        faceted = await self.gateway.lists.faceted(need.seq, need.ask, buckets, strip)
        if faceted is not None:
            self._desk.tell(faceted)

    async def _lanes(self, need: NeedLanes) -> None:
        await asyncio.sleep(PAUSE_S)
        self._desk.tell(await self.gateway.times.lanes(need.ask, need.width_ms, need.middle_ms))

    async def _pages(self) -> None:
        """What is missing on the screen, as long as something is; a fast scroll is followed, not caught up with."""
        while missing := missing_pages(self._desk.state):
            state = self._desk.state
            start = state.rows.begun(missing[0])
            fact = await self.gateway.lists.paged(
                state.seq, state.ask, missing[0], words_only=state.merging, start=start
            )
            self._desk.tell(fact)
            if isinstance(fact, facts.ListFailed):
                return

    async def _preview(self, need: NeedRecord) -> None:
        """The record under the cursor once it rests, then its neighbours; another cursor ends it."""
        await asyncio.sleep(PAUSE_S)
        await self._open(need)
        for key in need.neighbours:
            await self.gateway.records.opened(key)

    async def _open(self, need: NeedRecord) -> None:
        self._desk.tell(await self.gateway.records.opened(need.entry.key, need.entry))

    async def _track(self, need: NeedTrack) -> None:
        self._desk.tell(await self.gateway.records.tracked(need))

    async def _related(self, need: NeedRelated) -> None:
        record = self._desk.state.shown
        if record is not None and self._desk.state.shown_key == need.entry.key:
            self._desk.tell(await self.gateway.records.related(need.entry, record))

    async def _offer(self, need: NeedOffer) -> None:
        self._desk.tell(await self.gateway.lists.offered(need.ask))

    async def _count(self) -> None:
        self._desk.tell(await self.gateway.memory.counted())

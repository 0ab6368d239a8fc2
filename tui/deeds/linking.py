"""The worker: found, heard, asked again, exchanged for that of another memory."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Set

from tui.deeds.asking import Asking
from tui.deeds.desk import Desk
from tui.deeds.table import Deed
from tui.gateway.front import Gateway
from tui.state import changes, facts, session_tree
from tui.state.facts import Fact
from tui.state.model import PAGE, Link, View, ViewState
from tui.state.needs import NeedRecord
from worker.contract.errors import MemError
from worker.contract.records import RecordKey
from worker.contract.settings import Settings

FLUSH_S = 0.25
"""News that comes together is passed on together, after this long."""
AGAIN_S, AGAIN_MOST_S = 3.0, 30.0
"""What was asked while the index by meaning was being opened or filled is asked again after this long, then after twice
as long, and so on up to the most."""
MOST_EDITS = 40
"""If more of what is shown was edited than this, all of it is asked for again."""
STARTS_REST = 6
"""Where nobody answers, a worker is started again after so many times the pauses of one who only calls again: some
seconds at first, up to a minute."""
REST_S = 1.0
"""It is passed on no more often than this, however fast it comes: a badge that is repainted costs a line of bytes."""


class Linking:
    """One worker at a time. open_gateway: makes the gateway of a memory."""

    def __init__(
        self, desk: Desk, asking: Asking, settings: Settings, open_gateway: Callable[[Settings], Gateway]
    ) -> None:
        self._desk = desk
        self._asking = asking
        self._settings = settings
        self._open_gateway = open_gateway
        self._news = 0
        self._queued: int | None = None
        self._deleted: set[RecordKey] = set()
        self._told: Set[RecordKey] = frozenset()
        self._changed: set[RecordKey] = set()
        self._flush_waits = False
        self._again_s = AGAIN_S
        self._again_waits = False

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {"refresh": self.refresh, "demo": self.demo}

    def link_up(self) -> None:
        """Look for the worker, and listen to it from then on."""
        self._desk.background("link", self._link)

    async def _link(self) -> None:
        gateway, awaited = self._asking.gateway, self._desk.state.awaited
        self._desk.tell(facts.Starting())
        fact = await gateway.start()
        attempt = 0
        while isinstance(fact, facts.Failed):
            # What is in the way may go by itself: a tunnel comes up, another program lets go of the port.
            self._desk.tell(fact)
            await asyncio.sleep(self._pause_s(attempt))
            attempt += 1
            fact = await gateway.start()
        if isinstance(fact, facts.Connected) and awaited is not None:
            self._desk.tell(await gateway.records.found(awaited))
        self._desk.tell(fact)
        self._asking.refill()
        self._desk.tell(await gateway.memory.counted())
        async with asyncio.TaskGroup() as both:
            both.create_task(self._hear(gateway.follow()))
            both.create_task(self._hear(gateway.felt()))
            if isinstance(fact, facts.Connected) and fact.file_only:
                both.create_task(self._look_for_worker())

    async def _look_for_worker(self) -> None:
        """While only the file is read."""
        attempt = 0
        while True:
            await asyncio.sleep(self._pause_s(attempt))
            attempt += 1
            if await self._asking.gateway.has_worker():
                self.link_up()
                return

    def _pause_s(self, attempt: int) -> float:
        """A try here starts a process, so that it has longer pauses than one that only calls."""
        return self._asking.gateway.pause_s(attempt) * (1 if self._settings.remote else STARTS_REST)

    async def _hear(self, coming: AsyncIterator[Fact]) -> None:
        async for fact in coming:
            self._heard(fact)

    def _heard(self, fact: Fact) -> None:
        match fact:
            case facts.News(count, queued):
                self._news += count
                self._queued = queued if queued is not None else self._queued
            case changes.Deleted(keys):
                self._deleted |= keys
            case changes.Changed(keys):
                self._changed |= keys
            case session_tree.Renamed() if self._desk.state.live.paused:
                self._desk.tell(changes.Changed(frozenset()))
                return
            case _:
                missed = isinstance(fact, facts.Resync)
                missed = missed or (isinstance(fact, facts.StreamOpen) and self._desk.state.link is Link.LOST)
                self._desk.tell(fact)
                if missed:
                    self._desk.background("recheck", self._recheck)
                return
        if not self._flush_waits:
            self._wait_for_more()

    def _wait_for_more(self) -> None:
        self._flush_waits = True
        self._desk.later(FLUSH_S, self._pass_news_on)

    def _pass_news_on(self) -> None:
        state = self._desk.state
        if state.follows and self._desk.busy("list"):
            self._desk.later(FLUSH_S, self._pass_news_on)  # however late the worker is, its answer is not cut off
            return
        self._desk.later(REST_S, self._rested)
        news, self._news = self._news, 0
        first = state.empty_memory and news > 0 and not state.live.paused
        queued, self._queued = self._queued, None
        self._pass_changes_on()
        self._desk.tell(facts.News(news, queued))
        if first:
            self.refresh()
        elif self._desk.state.follows and self._desk.state.fresh:
            self._desk.tell(facts.Refreshed(top=True))

    def _pass_changes_on(self) -> None:
        heard, self._deleted = frozenset(self._deleted), set()
        deleted, self._told = heard | self._told, frozenset()
        if deleted:
            in_pages = self._desk.state.rows.total > PAGE
            self._desk.tell(changes.Deleted(deleted))
            if heard and in_pages:
                # Nobody knows which of the pages came from before and which from after it, nor what is in none of them.
                self._desk.tell(facts.Resync())
            if self._desk.state.waiting or self._desk.state.merging or self._desk.busy("track"):
                self._told = deleted  # an answer that is on its way may be from before
            if not self._desk.state.live.paused:
                self._asking.count()
        if not self._changed or self._desk.busy("edits"):
            return
        changed, self._changed = frozenset(self._changed), set()
        edited = changed & changes.shown(self._desk.state)
        self._desk.tell(changes.Changed(changed))
        if self._desk.state.live.paused:
            return
        if len(edited) > MOST_EDITS:
            self._desk.tell(facts.Resync())
            self._desk.background("recheck", self._recheck)
        else:
            self._desk.background("edits", self._edits, edited)

    async def _edits(self, keys: Set[RecordKey]) -> None:
        """Read anew what was edited, each in its place."""
        try:
            self._renew(changes.Edited(await self._asking.gateway.records.entries(tuple(keys))))
        except MemError:
            return  # what breaks the line has all read anew once it is mended

    def _renew(self, fact: changes.Edited) -> None:
        self._desk.tell(fact)
        subject = self._desk.state.subject
        if subject is not None and any(entry.key == subject.key for entry in fact.entries):
            self._asking.open_now(NeedRecord(subject, ()))

    async def _recheck(self) -> None:
        """What was put aside and what is around a record are in no answer to a question; something of it may have been
        missed."""
        track = self._desk.state.track
        aside = self._desk.state.basket.entries + (track.entries if track is not None else ())
        try:
            entries = await self._asking.gateway.records.entries([*{entry.key: None for entry in aside}])
        except MemError:
            return
        there = {entry.key for entry in entries}
        self._desk.tell(changes.Deleted(frozenset(entry.key for entry in aside if entry.key not in there)))
        self._renew(changes.Edited(entries))

    def changed(self, before: ViewState, state: ViewState) -> None:
        """What came while a record was read, or while all was paused, comes in after that."""
        if state.follows and not before.follows and state.fresh and not self._flush_waits:
            self._wait_for_more()
        if before.live.paused and not state.live.paused and (state.empty_memory or before.live.gone):
            self._asking.count()
        if before.live.missed and not state.live.missed:
            self._desk.background("recheck", self._recheck)
        if before.ask != state.ask:
            self._again_s = AGAIN_S
        if not self._again_waits and _is_half_answered(state):
            self._again_waits = True
            self._desk.later(self._again_s, self._ask_again)
            self._again_s = min(2 * self._again_s, AGAIN_MOST_S)

    def _ask_again(self) -> None:
        self._again_waits = False
        if _is_half_answered(self._desk.state):
            self._asking.gateway.records.forget()
            self._desk.tell(facts.Refreshed())

    def _rested(self) -> None:
        self._flush_waits = False
        state = self._desk.state
        waits = self._news or self._deleted or self._told or self._changed
        if waits or self._queued is not None or (state.follows and state.fresh):
            self._wait_for_more()

    def refresh(self) -> None:
        """Read all anew; where there is no worker, look for one."""
        link = self._desk.state.link
        if link in (Link.FAILED, Link.LOST) or (self._desk.state.file_only and link is Link.LIVE):
            self._asking.gateway.records.forget()
            self.link_up()
            return
        if link is Link.STARTING:
            self._desk.say("the worker is being started; one moment")
            return
        self._asking.gateway.records.forget()
        self._desk.tell(facts.Refreshed())
        self._asking.count()

    def demo(self) -> None:
        """The demo memory while there is none of one's own, or nobody to ask for it, and back."""
        if self._settings.remote:
            self._desk.say("no demo memory here: the worker is elsewhere")
        elif self._settings.demo:
            self._desk.say("started with --demo; start without it for your own memory")
        elif self._desk.state.demo:
            self._desk.background("switch", self._switch, self._settings)
        elif self._desk.state.empty_memory or self._desk.state.link is Link.FAILED:
            self._desk.background("switch", self._switch, self._settings.for_demo())
        else:
            self._desk.say("your memory is not empty; `claude-mem tui --demo` opens the demo beside it")

    async def _switch(self, settings: Settings) -> None:
        self._desk.stop("link", "list", "pages", "preview", "track", "count", "edits", "recheck")
        self._deleted.clear()
        self._told = frozenset()
        self._changed.clear()
        await self._asking.gateway.close()
        self._asking.gateway = self._open_gateway(settings)
        self._desk.tell(facts.Switched(str(settings.database), settings.demo))
        self._desk.workspace.search.box.value = ""
        self._desk.workspace.hits.focus()
        self.link_up()


def _is_half_answered(state: ViewState) -> bool:
    """Whether meaning had no say in the list on the screen, and will have one."""
    settled = not state.waiting and not state.merging and state.link is Link.LIVE and not state.live.paused
    return settled and state.degraded == "index_starting" and state.view is View.LIST

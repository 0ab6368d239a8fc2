"""The screens of the memory as a whole: opened, asked for anew, closed; and the questions they have."""

import asyncio
from collections.abc import Mapping

from tui.deeds.asking import Asking
from tui.deeds.desk import Desk
from tui.deeds.linking import Linking
from tui.deeds.table import Deed
from tui.screens.corpora import CorpusScreen
from tui.screens.costs import CostScreen
from tui.screens.health import HealthScreen
from tui.screens.next_start import NextStartScreen
from tui.screens.sessions import SessionScreen
from tui.screens.survey import SurveyScreen
from tui.screens.workspace import Workspace
from tui.state import corpora, costs, health, next_start, scopes, session_tree
from tui.state.costs import Window
from tui.state.facts import Fact
from tui.state.model import Link, ViewState
from tui.state.sought import Sought
from worker.contract.query import parse
from worker.contract.search import Entry


class Surveying:
    """One of these screens at a time, on top of the workspace. A question is put when its number changes."""

    def __init__(self, desk: Desk, asking: Asking, linking: Linking) -> None:
        self._desk = desk
        self._asking = asking
        self._linking = linking

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {
            "costs": self.costs, "sessions": self.sessions, "next_start": self.next_start, "health": self.health,
            "corpora": self.corpora,
            "again": self.again, "plan_again": self.again,
        }  # fmt: skip

    def costs(self) -> None:
        """What memory costs, of the workspace's project."""
        self._open(CostScreen)

    def sessions(self) -> None:
        """The tree; the workspace's project is open in it."""
        self._open(SessionScreen)

    def next_start(self) -> None:
        """What the next session of the project gets: that of the workspace, of its record, of where the app began."""
        self._open(NextStartScreen)

    def health(self) -> None:
        """How everything is."""
        self._open(HealthScreen)

    def corpora(self) -> None:
        """Chosen records that can be asked."""
        self._open(CorpusScreen)

    def again(self) -> None:
        """All anew; where there is no worker, look for one."""
        screen = self._desk.screen
        if self._desk.state.link in (Link.FAILED, Link.LOST):
            self._linking.link_up()
        elif isinstance(screen, SurveyScreen):
            self._desk.tell(screen.AGAIN)

    def close(self) -> None:
        """Back to the workspace."""
        while isinstance(screen := self._desk.screen, SurveyScreen):
            self._desk.take_down()
            self._desk.tell(screen.OVER)

    def seek(self, text: str, project: str | None, entry: Entry | None = None) -> None:
        """To records in the workspace."""
        self.close()
        if isinstance(self._desk.screen, Workspace):
            self._desk.screen.search.box.value = text
            self._desk.screen.hits.focus()
        self._desk.tell(Sought(text, project, entry))

    def _open(self, kind: type[SurveyScreen]) -> None:
        if isinstance(self._desk.screen, kind):
            return
        self.close()
        screen = kind(self._desk.look, self._desk.state)
        self._desk.put_up(screen)
        self._desk.tell(_begun(screen, self._desk.state))

    # Questions

    def changed(self, before: ViewState, state: ViewState) -> None:
        """Ask for what the state needs now and did not before; once more, when a worker is there (again)."""
        screen = self._desk.screen
        if scopes.here(state.ask) != scopes.here(before.ask) and isinstance(screen, SurveyScreen):
            self._desk.tell(_begun(screen, state))  # chosen by name, while this screen is open
            return
        if not self._asking.gateway.ready:
            return
        old = (state.cuts, state.doubts) != (before.cuts, before.doubts)
        if old and isinstance(screen, CostScreen | NextStartScreen):
            self._desk.tell(screen.AGAIN)  # what was deleted or edited may be in its sums, or its rows
            return
        linked = state.seq != before.seq and before.link is not Link.LIVE
        if linked and (again := self._failed(state)) is not None:
            self._desk.tell(again)
            return
        if state.costs.waiting and (linked or state.costs.seq != before.costs.seq):
            self._desk.background("costs", self._costs)
        if state.health.waiting and (linked or state.health.seq != before.health.seq):
            self._desk.background("health", self._health)
        if state.next_start.waiting and (linked or state.next_start.seq != before.next_start.seq):
            self._desk.background("next_start", self._plan)
        if state.sessions.waiting and (linked or state.sessions.seq != before.sessions.seq):
            self._desk.background("sessions", self._projects)
        elif state.sessions.open and state.sessions is not before.sessions:
            self._fill()

    def _fill(self) -> None:
        if next(session_tree.missing(self._desk.state.sessions), None) and not self._desk.busy("sessions"):
            self._desk.background("sessions", self._pages)
        if next(session_tree.old_held(self._desk.state.sessions), None) and not self._desk.busy("held"):
            self._desk.background("held", self._held)

    def _failed(self, state: ViewState) -> Fact | None:
        """What to ask once more of an open screen that was not answered."""
        screen = self._desk.screen
        failed = state.costs.failed or state.health.failed or state.next_start.failed or state.sessions.failed
        failed = failed or state.corpora.failed
        return screen.AGAIN if isinstance(screen, SurveyScreen) and failed else None

    async def _costs(self) -> None:
        costing, as_of_ms = self._desk.state.costs, self._desk.state.ask.as_of_ms
        self._desk.tell(await self._asking.gateway.surveys.costs(costing, self._since(costing.window), as_of_ms))

    def _since(self, window: Window) -> int | None:
        """As the query line reads it, so that the figures are those of the records found by it."""
        if window is Window.ALL:
            return None
        look = self._desk.look
        return parse(f"since:{window}", now_epoch_ms=look.now_ms(), zone=look.zone).since_epoch_ms

    async def _health(self) -> None:
        seq, surveys = self._desk.state.health.seq, self._asking.gateway.surveys
        self._desk.tell(await surveys.overview(seq, self._desk.look.now_ms))
        self._desk.tell(await surveys.log(seq))

    async def _plan(self) -> None:
        start = self._desk.state.next_start
        if start.project is not None:
            self._desk.tell(await self._asking.gateway.surveys.plan(start.seq, start.project))

    async def _projects(self) -> None:
        self._desk.tell(await self._asking.gateway.surveys.projects(self._desk.state.sessions.seq))
        await self._pages()

    async def _pages(self) -> None:
        """What is missing on the screen, as long as something is; a fast scroll is followed, not caught up with."""
        while (want := next(session_tree.missing(self._desk.state.sessions), None)) is not None:
            seq, (project, number) = self._desk.state.sessions.seq, want
            as_of_ms = self._desk.state.ask.as_of_ms
            self._desk.tell(await self._asking.gateway.surveys.sessions(seq, project, number, as_of_ms))
            await asyncio.sleep(0)

    async def _held(self) -> None:
        """What open sessions hold by now, one after the other; who is not answered stays with what was told."""
        while (want := next(session_tree.old_held(self._desk.state.sessions), None)) is not None:
            fact, _ = await self._asking.gateway.surveys.session(*want, self._desk.state.ask.as_of_ms)
            if not isinstance(fact, session_tree.RecordsRead):
                return
            self._desk.tell(fact)
            await asyncio.sleep(0)


def _begun(screen: SurveyScreen, state: ViewState) -> Fact:
    """What a screen begins with: the project of the workspace, for the next start one even where that shows all."""
    match screen:
        case CostScreen():
            return costs.Begun(state.ask.project, state.ask.session)
        case SessionScreen():
            return session_tree.Begun(scopes.single(state.ask.project))
        case NextStartScreen():
            here = state.entry.project if state.entry is not None else None
            return next_start.Begun(scopes.single(state.ask.project) or here or state.home)
        case CorpusScreen():
            return corpora.Begun()
        case _:
            return health.Begun()

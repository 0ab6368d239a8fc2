"""In the corpora: built, read by a model, asked, deleted. What takes long goes on whatever is done meanwhile."""

import asyncio
import itertools
from collections.abc import Mapping

from tui.deeds.asking import PAUSE_S, Asking
from tui.deeds.desk import Desk
from tui.deeds.table import Deed
from tui.keymap.chosen import first
from tui.keymap.table import named
from tui.screens.corpora import CorpusScreen
from tui.screens.record import RecordScreen
from tui.state import corpora, reading, scopes
from tui.state.corpora import DeedEnded, Doing
from tui.state.model import Link, ViewState
from tui.state.reasons import why_not
from worker.contract.corpus import CorpusOrder, checked_name
from worker.contract.errors import Invalid, MemError
from worker.contract.records import RecordKey

_DONE = {
    corpora.Deed.BUILD: "is built", corpora.Deed.ASK: "has answered", corpora.Deed.PRIME: "is primed",
    corpora.Deed.REBUILD: "is rebuilt", corpora.Deed.DELETE: "is deleted",
}  # fmt: skip
_NOT_DONE = {
    corpora.Deed.BUILD: "was not built", corpora.Deed.ASK: "did not answer", corpora.Deed.PRIME: "was not primed",
    corpora.Deed.REBUILD: "was not rebuilt", corpora.Deed.DELETE: "was not deleted",
}  # fmt: skip


class Consulting:
    """One deed to a corpus at a time, of several corpora side by side."""

    def __init__(self, desk: Desk, asking: Asking) -> None:
        self._desk = desk
        self._asking = asking
        self._jobs = itertools.count(1)

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {
            "ask_corpus": lambda: self._write("ask_corpus", corpora.Deed.ASK),
            "build_corpus": lambda: self._write("build_corpus", corpora.Deed.BUILD),
            "prime_corpus": self.prime, "rebuild_corpus": self.rebuild, "delete_corpus": self.delete,
            "read_corpus": self.read, "cited": self.cited, "send_line": self.send, "drop_line": self.drop,
            "to_corpora": self.to_corpora,
        }  # fmt: skip

    def changed(self, before: ViewState, state: ViewState) -> None:
        """Ask for what the screen needs now and did not before."""
        if not self._asking.gateway.ready:
            return
        old, new = before.corpora, state.corpora
        linked = state.seq != before.seq and before.link is not Link.LIVE
        if new.waiting and (linked or new.seq != old.seq):
            self._desk.background("corpora", self._list)
        if new.open and new.chosen is not None and (new.at != old.at or new.lines is not old.lines):
            self._desk.background("corpus", self._show)
        outcome = new.outcome
        if new.open and outcome is not None and outcome.fresh and self._is_seen():
            self._desk.tell(corpora.OutcomeRead(new.at or ""))

    def _is_seen(self) -> bool:
        """Whether what came of a deed is before somebody's eyes."""
        screen = self._desk.screen
        return isinstance(screen, CorpusScreen) and screen.page.region.height > 0

    async def _list(self) -> None:
        self._desk.tell(await self._asking.gateway.corpora.listed(self._desk.state.corpora.seq))

    async def _show(self) -> None:
        await asyncio.sleep(PAUSE_S)
        name = self._desk.state.corpora.at
        if name is not None and (fact := await self._asking.gateway.corpora.shown(name)) is not None:
            self._desk.tell(fact)

    # Deeds

    def _write(self, action: str, deed: corpora.Deed) -> None:
        if not self._refused(action) and isinstance(self._desk.screen, CorpusScreen):
            self._desk.screen.write(deed)

    def send(self) -> None:
        """What was typed: a question, or a name."""
        screen = self._desk.screen
        if not isinstance(screen, CorpusScreen) or not screen.ask.display:
            return
        text = screen.ask.box.value.strip()
        building = self._desk.state.corpora.writing is corpora.Deed.BUILD
        if self._build(text) if building else self._ask(text):
            screen.written()
            self._desk.tell(corpora.Writing(None))

    def drop(self) -> None:
        """Nothing after all."""
        if isinstance(self._desk.screen, CorpusScreen):
            self._desk.screen.written()
            self._desk.tell(corpora.Writing(None))

    def _ask(self, question: str) -> bool:
        if not question:
            return self._not_so(f"type a question; {self._desk.look.key('drop_line', 'Esc')} leaves the line")
        if not self._refused("ask_corpus"):
            self._begin(corpora.Deed.ASK, question)
        return True

    def _build(self, name: str) -> bool:
        known = self._desk.state.corpora
        if not name:
            return self._not_so(f"type a name for it; {self._desk.look.key('drop_line', 'Esc')} leaves the line")
        try:
            checked_name(name)
        except Invalid as error:
            return self._not_so(error.message)
        if name in known.doing:
            return self._not_so(f"{name} is busy; what it does comes to an end first")
        if known.line(name) is not None and known.sure != (corpora.Deed.BUILD, name):
            again = self._desk.look.key("send_line", "Enter")
            self._not_so(f"there is a {name} already; {again} once more puts this one in its place")
            self._desk.tell(corpora.Doubted(corpora.Deed.BUILD, name))
            return False
        doing = Doing(next(self._jobs), corpora.Deed.BUILD)
        ask = self._desk.state.ask
        order = CorpusOrder(name=name, query=scopes.line(ask) or None, project=ask.project)
        self._desk.tell(corpora.DeedBegun(name, doing))
        self._desk.background(f"corpus {name}", self._built, doing.job, order)
        return True

    def _not_so(self, reason: str) -> bool:
        self._desk.tell(corpora.Writing(self._desk.state.corpora.writing, reason))
        return False

    def prime(self) -> None:
        """Have a model read it."""
        if not self._refused("prime_corpus"):
            self._begin(corpora.Deed.PRIME)

    def rebuild(self) -> None:
        """Fill it anew."""
        if not self._refused("rebuild_corpus"):
            self._begin(corpora.Deed.REBUILD)

    def delete(self) -> None:
        """Take it away, when that is asked for twice."""
        known = self._desk.state.corpora
        if self._refused("delete_corpus") or known.at is None:
            return
        if known.sure == (corpora.Deed.DELETE, known.at):
            self._begin(corpora.Deed.DELETE)
            return
        self._desk.tell(corpora.Doubted(corpora.Deed.DELETE, known.at))
        key = first(named("delete_corpus"), self._desk.state.keys)
        self._desk.say(f"{key} once more deletes {known.at}; its records stay in memory")

    def read(self) -> None:
        """Why there is nothing to read; where there is, the list itself goes there."""
        if not self._refused("read_corpus") and isinstance(self._desk.screen, CorpusScreen):
            self._desk.screen.read()

    def to_corpora(self) -> None:
        """Back to the list."""
        if isinstance(self._desk.screen, CorpusScreen):
            self._desk.screen.leave_page()

    def cited(self) -> None:
        """The record that the line cites, on the whole screen."""
        screen = self._desk.screen
        if not isinstance(screen, CorpusScreen):
            return
        key = screen.page.cited
        if key is None:
            self._desk.say("no record is cited in this line; {next_cited} goes to one")
        else:
            self._desk.background("cited", self._open, key)

    def _refused(self, action: str) -> bool:
        reason = why_not(self._desk.state, action)
        if reason:
            self._desk.say(reason)
        return bool(reason)

    def _begin(self, deed: corpora.Deed, text: str = "") -> None:
        known = self._desk.state.corpora
        if known.at is None or known.chosen is None:
            return
        doing = Doing(next(self._jobs), deed, text)
        anew = known.chosen.session_id is not None
        self._desk.tell(corpora.DeedBegun(known.at, doing))
        self._desk.background(f"corpus {known.at}", self._done, known.at, doing, anew=anew)

    async def _built(self, job: int, order: CorpusOrder) -> None:
        self._over(await self._asking.gateway.corpora.built(job, order))

    async def _done(self, name: str, doing: Doing, *, anew: bool) -> None:
        self._over(await self._asking.gateway.corpora.done(name, doing, anew=anew))

    def _over(self, ended: DeedEnded) -> None:
        desk, outcome = self._desk, ended.outcome
        known = desk.state.corpora.doing.get(ended.name)
        if known is None or known.job != ended.job:
            return  # of another memory
        desk.tell(ended)
        what = _NOT_DONE if outcome.failed else _DONE
        said = f"{ended.name} {what[outcome.deed]}"
        if outcome.failed or outcome.said:
            said += f": {outcome.failed or outcome.said}"
        if not isinstance(desk.screen, CorpusScreen):
            said += f"; {first(named('corpora'), desk.state.keys)} shows it"
        desk.say(said)
        if desk.state.corpora.open and (outcome.failed or outcome.deed in (corpora.Deed.ASK, corpora.Deed.PRIME)):
            desk.tell(corpora.Again())

    async def _open(self, key: RecordKey) -> None:
        try:
            entries = await self._asking.gateway.records.entries((key,))
        except MemError as error:
            self._desk.say(error.message)
            return
        if not entries:
            self._desk.say(f"#{key} is gone; it was deleted meanwhile")
        elif isinstance(self._desk.screen, CorpusScreen):
            self._desk.put_up(RecordScreen(self._desk.look, self._desk.state))
            self._desk.tell(reading.Opened(entries[0]))

"""Corpora: the list of them, one in full with what it answered, and a line to ask it."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.containers import Container
from textual.widget import Widget

from tui import messages
from tui.cells import corpora as cells
from tui.cells.look import Look
from tui.keymap import places
from tui.screens.survey import SurveyScreen
from tui.state import corpora
from tui.state.corpora import Deed
from tui.state.model import ViewState
from tui.state.reasons import why_not
from tui.widgets.ask_line import AskLine
from tui.widgets.paint import Line, bindings, components
from tui.widgets.sheet import ChoiceSheet, Lines
from worker.contract.records import RecordKey, RecordKind


class CorporaHead(Line):
    """How many there are, and what is going on."""

    PREFIX = "corpora-head"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("corpora-head", "heading", "quiet", "bar")


class _Sheet(ChoiceSheet):
    """Keys that lead to another pane or to the line do so before the next key is handed on."""

    def do_ask_corpus(self) -> None:
        """Type a question."""
        self._write("ask_corpus", Deed.ASK)

    def do_build_corpus(self) -> None:
        """Type the name of a new one."""
        self._write("build_corpus", Deed.BUILD)

    def _write(self, action: str, deed: Deed) -> None:
        screen = self.screen
        if why_not(self.state, action) or not isinstance(screen, CorpusScreen):
            self.post_message(messages.Wanted(action, self.PLACE))
        else:
            screen.write(deed)


class CorpusSheet(_Sheet):
    """A line for each corpus; the cursor stays on its corpus."""

    PLACE = places.CORPORA
    BINDINGS = bindings(places.CORPORA)
    _lines_of: Sequence[int] = ()

    def lines(self, room: int) -> Lines:
        """The list in this width."""
        made, self._lines_of = cells.rows(self.state, room, self.looks)
        names = self.state.corpora.names
        if self.state.corpora.at in names:
            self.at = names.index(self.state.corpora.at)
        return made

    def places(self) -> Sequence[int]:
        """The lines of corpora."""
        return self._lines_of

    def do_read_corpus(self) -> None:
        """To what is told of this one."""
        if isinstance(self.screen, CorpusScreen) and not why_not(self.state, "read_corpus"):
            self.screen.read()
        else:
            self.post_message(messages.Wanted("read_corpus", self.PLACE))

    def _go(self, there: int) -> None:
        super()._go(there)
        names = self.state.corpora.names
        if self.at < len(names) and names[self.at] != self.state.corpora.at:
            self.post_message(messages.Known(corpora.Chosen(names[self.at])))


class CorpusPage(_Sheet):
    """What is told of one, and its answer; the cursor goes from line to line."""

    PLACE = places.CORPUS
    BINDINGS = bindings(places.CORPUS)
    _cites: cells.Cites = {}
    _name: str | None = None

    def lines(self, room: int) -> Lines:
        """The page in this width; of another corpus, from its top. The cursor stays on its citation."""
        rank = list(self._cites).index(self.at) if self.at in self._cites else None
        made, self._cites = cells.page(self.state, room, self.looks)
        if rank is not None and rank < len(self._cites):
            self.at = list(self._cites)[rank]
        if self.state.corpora.at != self._name:
            self._name, self.at = self.state.corpora.at, 0
        return made

    def places(self) -> Sequence[int]:
        """Every line, while it is read."""
        return range(len(self._lines)) if self.has_focus else ()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor is here now, on the first record that is cited; no cursor where no key goes."""
        super().watch_has_focus(has_focus)
        if has_focus:
            self.at = next(iter(self._cites), 0)
        self.lay_out()

    @property
    def cited(self) -> RecordKey | None:
        """The record that the line under the cursor cites."""
        found = self._cites.get(self.at, ())
        return RecordKey(RecordKind.OBSERVATION, found[0]) if found else None

    def do_next_cited(self) -> None:
        """On to the next record that is cited."""
        self._to_cited(next((at for at in self._cites if at > self.at), None))

    def do_last_cited(self) -> None:
        """Back to the one before."""
        self._to_cited(next((at for at in reversed(self._cites) if at < self.at), None))

    def do_to_corpora(self) -> None:
        """Back to the list."""
        if isinstance(self.screen, CorpusScreen):
            self.screen.leave_page()

    def _to_cited(self, there: int | None) -> None:
        if there is None:
            said = "no other record is cited that way" if self._cites else "no record is cited here"
            self.post_message(messages.Told(said))
        else:
            self._go(there)


class CorpusScreen(SurveyScreen):
    """List and page side by side, or one above the other; on small screens the page takes the list's place."""

    PLACE = places.CORPORA
    OVER = corpora.Ended()
    AGAIN = corpora.Again()

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(look, state)
        self.head = CorporaHead()
        self.list = CorpusSheet(look, state, id="corpora")
        self.page = CorpusPage(look, state, id="corpus")
        self.ask = AskLine(look)
        self._from: Widget = self.list

    def above(self) -> Iterable[Widget]:
        """The head."""
        return (self.head,)

    def pages(self) -> Iterable[Widget]:
        """List, page, line."""
        return (Container(self.list, self.page, id="body"), self.ask)

    def on_mount(self) -> None:
        """The keys are the list's at first."""
        super().on_mount()
        self.set_focus(self.list)

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        self.banner.show(self.state)
        self.head.draw([cells.title(self.state, self.size.width, self.look)])
        self.set_class(not self.state.corpora.names, "-noted")
        self.list.show(self.state)
        self.page.show(self.state)
        self.ask.show(self.state)
        self._draw_place()

    def on_resize(self) -> None:
        """Another width."""
        self.head.draw([cells.title(self.state, self.size.width, self.look)])

    def on_descendant_focus(self) -> None:
        """Other keys."""
        self._draw_place()

    def read(self) -> None:
        """To the page."""
        self.add_class("-reading")
        self.set_focus(self.page)

    def leave_page(self) -> None:
        """Back to the list."""
        self.remove_class("-reading")
        self.set_focus(self.list)

    def write(self, deed: Deed) -> None:
        """Type a line for a deed."""
        self._from = self.page if self.page.has_focus else self.list
        self.ask.display = True
        self.ask.box.value = ""
        self.set_focus(self.ask.box)
        self.post_message(messages.Known(corpora.Writing(deed)))

    def written(self) -> None:
        """The line is over."""
        self.ask.display = False
        self.set_focus(self._from)

    def _draw_place(self) -> None:
        self.status.show(self.state, str(getattr(self.focused, "PLACE", self.PLACE)))

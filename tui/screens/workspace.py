"""The workspace: search box, the set over time, list or timeline, preview."""

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.widget import Widget

from tui import keymap
from tui.cells import row
from tui.cells.look import Look
from tui.state.model import View, ViewState
from tui.widgets.banner import Banner
from tui.widgets.empty_note import EmptyNote
from tui.widgets.header_line import HeaderLine
from tui.widgets.histogram import Histogram
from tui.widgets.list_head import ListHead
from tui.widgets.record_view import RecordView
from tui.widgets.result_list import ResultList
from tui.widgets.search_bar import SearchBar
from tui.widgets.status_line import StatusLine


class Workspace(Screen[None]):
    """Widgets that show the state; by width and height some of them give way."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-stacked"), (110, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-short"), (30, "-tall")]
    AUTO_FOCUS = "#hits"

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__()
        self._state = state
        glyphs = look.glyphs
        self.header = HeaderLine(glyphs)
        self.search = SearchBar(glyphs)
        self.histogram = Histogram(look)
        self.banner = Banner()
        self.head = ListHead()
        self.hits = ResultList(look, state, id="hits")
        self.note = EmptyNote(glyphs)
        self.preview = RecordView(look, id="preview")
        self.status = StatusLine(glyphs)

    def compose(self) -> ComposeResult:
        """From the top down."""
        yield self.header
        yield self.search
        yield self.histogram
        yield self.banner
        with Container(id="body"):
            with Vertical(id="rows"):
                yield self.head
                yield self.hits
                yield self.note
            yield self.preview
        yield self.status

    def on_mount(self) -> None:
        """Show what is known already."""
        self._draw()

    def show(self, state: ViewState) -> None:
        """Show this state."""
        self._state = state
        if self.is_mounted:
            self._draw()

    def _draw(self) -> None:
        state = self._state
        self.header.show(state)
        self.search.show(state)
        self.histogram.show(state)
        self.banner.show(state)
        self.note.show(state)
        self.set_class(self.note.needed, "-noted")
        self.hits.show(state)
        self._show_head()
        self.preview.show(state)
        self.status.show(state, self.place)

    def on_resize(self) -> None:
        """Other columns."""
        self.call_after_refresh(self._show_head)

    def on_descendant_focus(self) -> None:
        """Other keys."""
        self.status.show(self._state, self.place)

    @property
    def place(self) -> str:
        """Where in the keymap the focus is."""
        place = getattr(self.focused, "PLACE", keymap.LIST)
        return str(place)

    def go(self, step: int) -> None:
        """The focus on the next pane, or the one before."""
        panes: list[Widget] = [self.search.box, self.hits]
        if self.preview.region.height:
            panes.append(self.preview)
        here = panes.index(self.focused) if self.focused in panes else 1
        panes[(here + step) % len(panes)].focus()

    def _show_head(self) -> None:
        timeline = self._state.view is View.TIMELINE
        self.head.draw([row.head(self.hits.columns(), order="time" if timeline else "when")])

"""The workspace: search box, the set over time, list or timeline, preview."""

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widget import Widget

from tui.cells import row, words
from tui.cells.look import Look
from tui.keymap import places
from tui.screens.drawn import DrawnScreen
from tui.state.model import SPLITS, View, ViewState
from tui.widgets.banner import Banner
from tui.widgets.empty_note import EmptyNote
from tui.widgets.header_line import HeaderLine
from tui.widgets.histogram import Histogram
from tui.widgets.lane_view import LaneView
from tui.widgets.list_head import ListHead
from tui.widgets.record_view import RecordView
from tui.widgets.result_list import ResultList
from tui.widgets.search_bar import SearchBar
from tui.widgets.status_line import StatusLine


class Workspace(DrawnScreen):
    """Widgets that show the state; by width and height some of them give way."""

    AT_FIRST = True
    AUTO_FOCUS = "#hits"

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(state)
        glyphs = look.glyphs
        self._dot = glyphs.dot
        self.header = HeaderLine(glyphs)
        self.search = SearchBar(glyphs, state.ask.text)
        self.histogram = Histogram(look)
        self.lanes = LaneView(look)
        self.banner = Banner(look)
        self.head = ListHead()
        self.hits = ResultList(look, state, id="hits")
        self.note = EmptyNote(glyphs)
        self.preview = RecordView(look, id="preview")
        self.status = StatusLine(glyphs)
        # Known before anything is mounted: each class more that comes after that styles all once more, in 15 ms.
        self.update_classes(self._frame(noted=bool(words.note(state, glyphs))), update=False)

    def compose(self) -> ComposeResult:
        """From the top down."""
        yield self.header
        yield self.search
        yield self.banner
        yield self.histogram
        yield self.lanes
        with Container(id="body"):
            with Vertical(id="rows"):
                yield self.head
                yield self.hits
                yield self.note
            yield self.preview
        yield self.status

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        state = self.state
        self.header.show(state)
        self.search.show(state)
        self._draw_strip()
        self._draw_place()
        self.update_classes(self._frame(noted=self.note.needed), animate=False)
        self.hits.show(state)
        self._show_head()
        self.preview.show(state)

    def _frame(self, *, noted: bool) -> dict[str, bool]:
        """What the state has to do with who gets how much room."""
        return {"-noted": noted} | {f"-split{split}": self.state.split == split for split in SPLITS}

    def _draw_strip(self) -> None:
        """The set over time, or in the timeline the sessions side by side, where there is room for them."""
        self.lanes.show(self.state)
        self.update_classes({"-laned": self.laned}, animate=False)
        if not self.laned:
            self.histogram.show(self.state)

    @property
    def laned(self) -> bool:
        """Whether it is sessions side by side that stand above the list."""
        return self.lanes.needed(self.size.width, self.size.height)

    def _draw_place(self) -> None:
        """What depends on where the focus is."""
        typing = self.place == places.BOX
        self.banner.show(self.state, typing=typing)
        self.note.show(self.state, typing=typing)
        self.status.show(self.state, self.place)

    def on_resize(self) -> None:
        """Other columns."""
        self._draw_strip()
        self.call_after_refresh(self._show_head)

    def on_viewed(self) -> None:
        """Another day at the top of the timeline."""
        self._show_head()

    def on_descendant_focus(self) -> None:
        """Other keys."""
        self._draw_place()

    @property
    def place(self) -> str:
        """Where in the keymap the focus is."""
        place = getattr(self.focused, "PLACE", places.LIST)
        return str(place)

    @property
    def panes(self) -> list[Widget]:
        """Who can have the focus, from the top down."""
        shown = [self.preview] if self.preview.region.height else []
        return [self.search.box, self.hits, *shown]

    def _show_head(self) -> None:
        timeline = self.state.view is View.TIMELINE
        title = self.hits.day if timeline else f"title {self._dot} {words.order(self.state)}"
        self.head.draw([row.head(self.hits.columns(), order="time" if timeline else "when", title=title)])

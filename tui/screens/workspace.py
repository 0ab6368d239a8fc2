"""The workspace: search box, the set over time, list or timeline, preview."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.widget import Widget

from tui import messages
from tui.cells import row, words
from tui.cells.look import Look
from tui.keymap import places, table
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
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(action.keys), f"at_once('{action.name}')", action.label, id=f"workspace.{action.name}",
                show=False, priority=True)
        for action in table.at_once()
    ]  # fmt: skip

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

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that work in one pane are left to the others."""
        return action != "at_once" or self.place in table.named(str(parameters[0])).places

    def action_at_once(self, name: str) -> None:
        """Move the focus, or empty the box, before the next key."""
        self.post_message(messages.Wanted("hush", self.place))
        match name:
            case "search":
                self.set_focus(self.search.box)
            case "leave_box" if self.state.rows.total or self.state.waiting:
                self.set_focus(self.hits)
                self.post_message(messages.Typed(self.search.box.value, left=True))
            case "leave_box":
                self.post_message(messages.Wanted(name, self.place))
            case "undo" if self.state.view is View.LIST and self.state.basket.span_from is None:
                self.search.box.call_later(self.search.box.undo)  # after the keys it got, before those it will get
            case "undo":
                self.post_message(messages.Wanted(name, self.place))
            case "pane":
                self._go(1)
            case "pane_back":
                self._go(-1)

    def _go(self, step: int) -> None:
        panes: list[Widget] = [self.search.box, self.hits]
        if self.preview.region.height:
            panes.append(self.preview)
        here = panes.index(self.focused) if self.focused in panes else 1
        self.set_focus(panes[(here + step) % len(panes)])

    def _show_head(self) -> None:
        timeline = self.state.view is View.TIMELINE
        title = self.hits.day if timeline else f"title {self._dot} {words.order(self.state)}"
        self.head.draw([row.head(self.hits.columns(), order="time" if timeline else "when", title=title)])

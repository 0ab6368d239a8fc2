"""Projects, sessions and records as rows that open: any number of them, painted line by line."""

from typing import ClassVar

from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from tui import messages
from tui.cells import session_row, sight
from tui.cells.glyphs import Glyphs
from tui.cells.look import Look
from tui.cells.marks import ROLES
from tui.keymap import places
from tui.state.model import ViewState
from tui.state.session_tree import EntryNode, Seen, SessionNode, Stepped, Tree
from tui.widgets.paint import Acts, Line, Painter, Piece, bindings, components
from tui.widgets.paper import Paper

_REST_S = 0.07
"""The preview follows a cursor that has rested for so long."""


class SessionTree(ScrollView, Acts, Painter, can_focus=True):
    """Rows of the state; keys ask for moves, the state says where the cursor is."""

    PLACE = places.SESSIONS
    PREFIX = "session-tree"
    BINDINGS = bindings(places.SESSIONS)
    COMPONENT_CLASSES: ClassVar[set[str]] = components(
        "session-tree", "cursor", "mark", *(role for role in session_row.ROLES if role != "text"), *ROLES
    )

    def __init__(self, look: Look, state: ViewState, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._look = look
        self._tree = state.sessions
        self._cuts = state.cuts

    def show(self, state: ViewState) -> None:
        """Show this state, painting only what it changed."""
        before, self._tree = self._tree, state.sessions
        cut, self._cuts = self._cuts != state.cuts, state.cuts
        if before is self._tree:
            return
        if _same_rows(before, self._tree):
            if before.cursor != self._tree.cursor:
                self._repaint(before.cursor)
                self._repaint(self._tree.cursor)
                moved, height = self._tree.cursor - before.cursor, self.size.height
                beside = self.region.width < self.screen.size.width
                self._keep_in_sight(ahead=sight.ahead(moved, height=height, beside=beside))
            return
        self.virtual_size = Size(self.size.width, self._tree.total)
        self.refresh()
        if cut:
            self._stay(self._tree.cursor - before.cursor)
        self._keep_in_sight()
        self.call_after_refresh(self._tell_seen)

    def render_line(self, y: int) -> Strip:
        """One line on the screen."""
        number = y + int(self.scroll_offset.y)
        room = self.scrollable_content_region.width
        node = self._tree.at(number) if number < self._tree.total else None
        if node is None:
            return self.paint((), room)
        here = number == self._tree.cursor
        under = self.get_component_rich_style("session-tree--cursor", partial=True) if here else None
        return self.paint(session_row.row(self._tree, node, room, self._look, here=here), room, under)

    def do_down(self) -> None:
        """One down."""
        self.post_message(messages.Known(Stepped(by=1)))

    def do_up(self) -> None:
        """One up."""
        self.post_message(messages.Known(Stepped(by=-1)))

    def do_page_down(self) -> None:
        """A screenful down."""
        self.post_message(messages.Known(Stepped(by=max(self.size.height - 1, 1))))

    def do_page_up(self) -> None:
        """A screenful up."""
        self.post_message(messages.Known(Stepped(by=-max(self.size.height - 1, 1))))

    def do_top(self) -> None:
        """To the first row."""
        self.post_message(messages.Known(Stepped(to=0)))

    def do_bottom(self) -> None:
        """To the last row."""
        self.post_message(messages.Known(Stepped(to=-1)))

    def on_click(self, event: events.Click) -> None:
        """The clicked row; twice opens or shuts it."""
        number = event.y + int(self.scroll_offset.y)
        if number < self._tree.total:
            self.post_message(messages.Known(Stepped(to=number)))
            if event.chain == 2:
                self.post_message(messages.Wanted("unfold", self.PLACE))

    def on_resize(self) -> None:
        """Other rows are on the screen."""
        self.virtual_size = Size(self.size.width, self._tree.total)
        self._keep_in_sight()
        self.call_after_refresh(self._tell_seen)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Other rows are on the screen."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self._tell_seen()

    def notify_style_update(self) -> None:
        """Colours changed: paint anew."""
        super().notify_style_update()
        self.refresh()

    def _repaint(self, row: int) -> None:
        self.refresh(Region(0, row - int(self.scroll_offset.y), self.scrollable_content_region.width, 1))

    def _keep_in_sight(self, *, ahead: int = 0) -> None:
        was, height, count = int(self.scroll_offset.y), self.size.height, self._tree.total
        top = sight.top(self._tree.cursor, was=was, height=height, count=count, ahead=ahead)
        if top != was:
            self.scroll_to(y=top, animate=False, force=True, immediate=True)

    def _stay(self, moved: int) -> None:
        """Records went: the row of the cursor stays where it was on the screen, as far as that goes."""
        was = int(self.scroll_offset.y)
        top = max(0, min(was + moved, self._tree.total - self.size.height))
        if top != was:
            self.scroll_to(y=top, animate=False, force=True, immediate=True)

    def _tell_seen(self) -> None:
        first = int(self.scroll_offset.y)
        if (first, first + self.size.height) != self._tree.viewed:
            self.post_message(messages.Known(Seen(first, first + self.size.height)))


class TreeHead(Line):
    """What the columns of the tree are."""

    PREFIX = "tree-head"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("tree-head", "heading", "head")

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._glyphs = glyphs
        self._tree = Tree()

    def show(self, state: ViewState) -> None:
        """Show this state's projects."""
        self._tree = state.sessions
        self._update()

    def on_resize(self) -> None:
        """Other columns."""
        self._update()

    def _update(self) -> None:
        if self.size.width:
            self.draw([session_row.head(self._tree, self.size.width, self._glyphs)])


class SessionView(Paper, can_focus=False):
    """What the row under the cursor is, in full."""

    PLACE = places.SESSIONS
    PREFIX = "session-view"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("session-view", "heading", "group", "quiet", *ROLES)

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._look = look
        self._tree = Tree()
        self._of: object = None
        self._waits: Timer | None = None

    def show(self, state: ViewState) -> None:
        """Show what the cursor is on, once it rests: a cursor that runs costs two lines a step."""
        before, self._tree = self._tree, state.sessions
        if self._waits is not None:
            self._waits.stop()
            self._waits = None
        if before.cursor == self._tree.cursor:
            self._lay_out()
        else:
            self._waits = self.set_timer(_REST_S, self._lay_out)

    def on_resize(self) -> None:
        """Lines break elsewhere."""
        self._lay_out()

    def _lay_out(self) -> None:
        if not self.size.width:
            return
        node = self._tree.node
        lines: list[list[Piece]] = session_row.preview(node, self.room, self._look)
        if lines == self._lines:
            return
        self.write(lines)
        of = node.session.id if isinstance(node, EntryNode) else node.index if isinstance(node, SessionNode) else None
        if of != self._of:
            self._of = of
            self.scroll_to(y=0, animate=False, force=True, immediate=True)


def _same_rows(before: Tree, tree: Tree) -> bool:
    return before.projects is tree.projects and before.branches is tree.branches

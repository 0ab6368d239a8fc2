"""A page of lines made from the state: figures, and things to choose from."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.geometry import Region
from textual.strip import Strip

from tui import messages
from tui.cells.look import Look
from tui.cells.marks import ROLES
from tui.state.model import ViewState
from tui.widgets.paint import Piece, components
from tui.widgets.paper import Paper

Lines = list[list[Piece]]
READABLE = 100
"""Cells of a line at most, however wide the screen."""


class Sheet(Paper):
    """What ``lines`` makes of the state. PLACE and BINDINGS come with each kind of sheet."""

    PREFIX = "sheet"
    COMPONENT_CLASSES: ClassVar[set[str]] = components(
        "sheet", "heading", "group", "figure", "bar", "over", "chosen", "match", "quiet", "cursor", *ROLES
    )

    def __init__(self, look: Look, state: ViewState, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.looks = look
        self.state = state

    def lines(self, room: int) -> Lines:
        """The page in this width."""
        raise NotImplementedError

    def show(self, state: ViewState) -> None:
        """Show this state."""
        self.state = state
        self.lay_out()

    def on_resize(self) -> None:
        """Lines break elsewhere."""
        self.lay_out()

    def lay_out(self) -> None:
        """Write the page, once there is a width."""
        if not self.size.width:
            return
        lines = self.lines(min(self.room, READABLE))
        if lines != self._lines:
            self.write(lines)


class ChoiceSheet(Sheet):
    """A sheet with a cursor on some of its lines."""

    def __init__(self, look: Look, state: ViewState, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(look, state, id=id)
        self.at = 0
        self._places: Sequence[int] = ()

    def places(self) -> Sequence[int]:
        """The lines that can be chosen, from the top; told after ``lines``."""
        raise NotImplementedError

    def lay_out(self) -> None:
        """Write the page; the cursor stays within what can be chosen."""
        super().lay_out()
        before, self._places = self._places, self.places()
        self.at = max(0, min(self.at, len(self._places) - 1))
        if before != self._places:
            self.refresh()
        self._keep_in_sight()

    def render_line(self, y: int) -> Strip:
        """One line on the screen, the cursor's in its colours."""
        line = y + self.scroll_offset.y
        room = self.scrollable_content_region.width
        pieces = self._lines[line] if line < len(self._lines) else []
        if not self._places or line != self._places[self.at]:
            return self.paint(pieces, room)
        under = self.get_component_rich_style("sheet--cursor", partial=True)
        glyph = self.looks.glyphs.cursor
        role, text = pieces[0] if pieces else ("text", " ")
        return self.paint([("chosen", glyph), (role, text[1:]), *pieces[1:]], room, under)

    def do_down(self) -> None:
        """The next choice."""
        self._go(self.at + 1)

    def do_up(self) -> None:
        """The one before."""
        self._go(self.at - 1)

    def do_page_down(self) -> None:
        """A screenful of choices on."""
        self._go(self.at + max(self.size.height - 2, 1))

    def do_page_up(self) -> None:
        """A screenful of choices back."""
        self._go(self.at - max(self.size.height - 2, 1))

    def do_top(self) -> None:
        """The first choice."""
        self._go(0)

    def do_bottom(self) -> None:
        """The last choice."""
        self._go(len(self._places) - 1)

    def on_click(self, event: events.Click) -> None:
        """The clicked choice; twice takes it."""
        line = event.y + int(self.scroll_offset.y) - self.styles.padding.top
        if line in self._places:
            self._go(list(self._places).index(line))
            if event.chain == 2:
                self.post_message(messages.Wanted("take", self.PLACE))

    def _go(self, there: int) -> None:
        there = max(0, min(there, len(self._places) - 1))
        if there == self.at or not self._places:
            return
        before, self.at = self.at, there
        for at in (before, there):  # two lines: on a slow line bytes are what is felt
            top = self._places[at] - int(self.scroll_offset.y)
            self.refresh(Region(0, top, self.scrollable_content_region.width, 1))
        self._keep_in_sight()

    def _keep_in_sight(self) -> None:
        if not self._places:
            return
        line, height, top = self._places[self.at], max(self.size.height, 1), int(self.scroll_offset.y)
        if line < top + 1:
            top = max(line - 2, 0)
        elif line >= top + height:
            top = line - height + 1
        top = max(0, min(top, len(self._lines) - height))
        if top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False, force=True, immediate=True)

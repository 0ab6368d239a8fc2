"""Lines on a page that scrolls: what the record and the help are written on."""

from typing import ClassVar

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.widgets.paint import Acts, Painter, Piece


class Paper(ScrollView, Acts, Painter, can_focus=True):
    """Any number of lines; keys scroll. KEPT: cells for the scroll bar, and for a blank before it."""

    KEPT: ClassVar[int] = 2

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._lines: list[list[Piece]] = []

    def write(self, lines: list[list[Piece]]) -> None:
        """Show these lines."""
        self._lines = lines
        self.virtual_size = Size(0, len(lines))
        self.refresh()

    @property
    def room(self) -> int:
        """Cells of a line. Some are kept for the scroll bar, there or not: lines must not break anew when it comes.

        The size is with the scroll bar's cells, whether it is there or not.
        """
        return max(self.size.width - self.KEPT, 8)

    def render_line(self, y: int) -> Strip:
        """One line on the screen."""
        line = y + self.scroll_offset.y
        return self.paint(self._lines[line] if line < len(self._lines) else (), self.scrollable_content_region.width)

    def do_down(self) -> None:
        """One line on."""
        self._scroll(1)

    def do_up(self) -> None:
        """One line back."""
        self._scroll(-1)

    def do_page_down(self) -> None:
        """A screenful on."""
        self._scroll(max(self.size.height - 1, 1))

    def do_page_up(self) -> None:
        """A screenful back."""
        self._scroll(-max(self.size.height - 1, 1))

    def do_top(self) -> None:
        """To the beginning."""
        self._scroll(-len(self._lines))

    def do_bottom(self) -> None:
        """To the end."""
        self._scroll(len(self._lines))

    def notify_style_update(self) -> None:
        """Colours changed: paint anew."""
        super().notify_style_update()
        self.refresh()

    def _scroll(self, by: int) -> None:
        most = max(len(self._lines) - self.size.height, 0)
        there = max(0, min(self.scroll_offset.y + by, most))
        self.scroll_to(y=there, animate=False, force=True, immediate=True)

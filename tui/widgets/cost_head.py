"""Above the list of costs: what is looked at, the flame, the figures."""

from typing import ClassVar

from textual.geometry import Region

from tui.cells import costs
from tui.cells.look import Look
from tui.state.costs import Costing, Slice
from tui.widgets.paint import Line, Piece, components

_LOW, _LOWEST = 18, 12
"""Rows of a screen below which the figures, then the flame, leave the room to the list."""


class CostHead(Line):
    """A part that is chosen in the list is marked in the flame; only lines that differ are painted anew."""

    PREFIX = "cost-head"
    COMPONENT_CLASSES: ClassVar[set[str]] = components(
        "cost-head", "heading", "chosen", "flame", "figure", "bar", "quiet"
    )

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._look = look
        self._costing = Costing()
        self._chosen: Slice | None = None

    def show(self, costing: Costing, chosen: Slice | None) -> None:
        """Show these costs."""
        self._costing, self._chosen = costing, chosen
        self._update()

    def on_resize(self) -> None:
        """Another width."""
        self._update()

    def _update(self) -> None:
        room, tall = self.size.width, self.screen.size.height
        if not room:
            return
        lines: list[list[Piece]] = [costs.title(self._costing, room, self._look)]
        if tall >= _LOWEST and (bars := costs.bars(self._costing, room, self._look, self._chosen)):
            lines += [[], *bars] if tall >= _LOW else bars
        if tall >= _LOW and (figures := costs.figures(self._costing, room, self._look)):
            lines += [[], *figures]
        if self.styles.height is None or self.styles.height.value != len(lines):
            self.styles.height = len(lines)
        self._paint_changed(lines)

    def _paint_changed(self, lines: list[list[Piece]]) -> None:
        before, self._lines = self._lines, lines
        if len(before) != len(lines):
            self.refresh()
            return
        for y, (old, new) in enumerate(zip(before, lines, strict=True)):
            if old != new:
                self.refresh(Region(0, y, self.size.width, 1))

"""The filtered set over time, and where in it the cursor stands."""

from typing import ClassVar

from tui.cells import bars
from tui.cells.look import Look
from tui.state.model import ViewState
from tui.widgets.paint import Line, Piece, components


class Histogram(Line):
    """Bars, and the axis under them. The mark follows the preview, so that moving costs no bytes."""

    PREFIX = "histogram"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("histogram", "bar", "mark", "axis", "here", "quiet")

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._look = look
        self._state = ViewState()

    def show(self, state: ViewState) -> None:
        """Show this state's set."""
        self._state = state
        self._update()

    def on_resize(self) -> None:
        """Other cells."""
        self._update()

    def _update(self) -> None:
        facets, room = self._state.facets, self.size.width
        shape = bars.strip(facets, room) if facets is not None else None
        if shape is None:
            self.draw([])
            return
        record = self._state.shown
        here_ms = record.created_at_epoch if record is not None else None
        here = shape.cell(here_ms) if here_ms is not None else None
        tall = max(1, self.size.height - 1)
        lines: list[list[Piece]] = []
        for text in bars.rows(shape, self._look.glyphs.bars, tall):
            if here is None:
                lines.append([("bar", text)])
            else:
                lines.append([("bar", text[:here]), ("mark", text[here]), ("bar", text[here + 1 :])])
        self.draw([*lines, bars.axis(shape, room, self._look, here_ms)])

"""The sessions around the cursor, side by side."""

from typing import ClassVar

from tui.cells import lanes
from tui.cells.look import Look
from tui.cells.marks import ROLES
from tui.cells.strip import Fit, Shape, shape
from tui.state.model import View
from tui.widgets.histogram import brushed, rested
from tui.widgets.paint import StateLine, components


class LaneView(StateLine):
    """Lanes above the timeline, as many as the height allows; without room for any it is not needed."""

    PREFIX = "lane-view"
    KINDS = "bar"
    COMPONENT_CLASSES: ClassVar[set[str]] = components(
        "lane-view", "name", "axis", "thread", "figures", "here", "mark", "error", "brush", *ROLES, kinds="bar"
    )

    def __init__(self, looks: Look, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._look = looks
        self._shape: tuple[tuple[object, ...], Shape | None] = ((), None)
        self._keep: int | None = None

    def needed(self, columns: int, height: int) -> bool:
        """Whether there is something to show in a screen of this size, and room for it."""
        found = self._state.scrub.lanes
        shown = self._state.view is View.TIMELINE and found is not None and bool(found.lanes)
        return shown and _most(columns, height) > 0

    def _update(self) -> None:
        state, screen = self._state, self.app.size
        room = self.size.width or screen.width - 2
        found, margins = state.scrub.lanes, lanes.margins(room)
        if not self.needed(screen.width, screen.height) or found is None or margins is None:
            self.draw([])
            return
        entry = rested(state)
        here_ms = entry.created_at_epoch if entry is not None else None
        shown = self._shaped(room - sum(margins), here_ms)
        if shown is None:
            self.draw([])
            return
        self._keep = shown.cell(here_ms) if here_ms is not None else None
        lines = lanes.lines(
            found, shown, room, self._look, most=_most(screen.width, screen.height), here=entry,
            brush_ms=brushed(state), marks_ms=[entry.created_at_epoch for entry in state.basket.entries],
        )  # fmt: skip
        if self.styles.height is None or self.styles.height.value != len(lines):
            self.styles.height = len(lines)
        self.draw(lines)

    def _shaped(self, room: int, here_ms: int | None) -> Shape | None:
        found, scrub = self._state.scrub.lanes, self._state.scrub
        if found is None:
            return None
        known, shown = self._shape
        made_of = (id(found), room, scrub.folded)
        outside = shown is not None and here_ms is not None and shown.slot(here_ms) is None
        if known == made_of and not outside:
            return shown
        keep = self._keep if known != made_of else None
        fit = Fit(room, folded=scrub.folded, gap=self._look.glyphs.gap, window=True, keep=keep)
        shown = shape(found.buckets, found.bucket_ms, fit, here_ms)
        self._shape = (made_of, shown)
        return shown


def _most(columns: int, height: int) -> int:
    """Lanes on a screen of this size."""
    if height < 18 or lanes.margins(columns - 2) is None:
        return 0
    if columns < 64:
        return 3
    return 4 if height < 30 else 8

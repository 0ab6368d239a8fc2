"""The filtered set over time, and where in it the cursor stands."""

from typing import ClassVar

from tui.cells import bars, look
from tui.cells.look import Look
from tui.cells.marks import ROLES
from tui.cells.strip import Fit, Shape, shape
from tui.state.model import ViewState
from tui.state.scrub import level
from tui.widgets.paint import Piece, StateLine, components
from worker.contract.search import Entry


class Histogram(StateLine):
    """Bars with the days above them and the playhead below; in one line, just bars.

    The playhead follows the cursor with the preview, once it rests, so that a step costs no bytes here.
    """

    PREFIX = "histogram"
    KINDS = "bar"
    COMPONENT_CLASSES: ClassVar[set[str]] = components(
        "histogram", "bar", "fold", "axis", "here", "mark", "brush", *ROLES, kinds="bar"
    )

    def __init__(self, looks: Look, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._look = looks
        self._shape: tuple[tuple[object, ...], Shape | None] = ((), None)
        self._keep: int | None = None

    def _update(self) -> None:
        state, room, tall = self._state, self.size.width, self.size.height
        entry = rested(state)
        here_ms = entry.created_at_epoch if entry is not None else None
        shown = self._shaped(room if tall > 1 else bars.single_room(room), here_ms)
        if shown is None:
            self.draw([])
            return
        self._keep = shown.cell(here_ms) if here_ms is not None else None
        if tall == 1:
            self.draw([bars.single(shown, self._look, here_ms, fine=state.scrub.fine)])
            return
        note = f"{level(shown.bucket_ms)} {look.zone_name(self._look, shown.slots[-1].start_ms)}"
        lines: list[list[Piece]] = [bars.labels(shown, room, self._look, note)] if tall > 2 else []
        lines += bars.bars(shown, self._look, max(1, tall - 2), fine=state.scrub.fine)
        lines.append(
            bars.below(
                shown,
                room,
                self._look,
                here_ms=here_ms,
                brush_ms=brushed(state),
                marks_ms=[marked.created_at_epoch for marked in state.basket.entries],
            )  # fmt: skip
        )
        self.draw(lines)

    def _shaped(self, room: int, here_ms: int | None) -> Shape | None:
        """The strip, laid out anew only when it is another one, or the cursor leaves it: it does not slide along."""
        facets, scrub = self._state.facets, self._state.scrub
        if facets is None:
            return None
        known, shown = self._shape
        # By identity: comparing hundreds of buckets with each key would be felt.
        made_of = (id(facets), room, scrub.folded, scrub.fine, bool(scrub.width_ms))
        outside = shown is not None and here_ms is not None and shown.slot(here_ms) is None
        if known == made_of and not (outside and scrub.width_ms):
            return shown
        keep = self._keep if known != made_of else None
        fit = Fit(
            room, per=1 + scrub.fine, folded=scrub.folded, gap=self._look.glyphs.gap, window=bool(scrub.width_ms),
            keep=keep,
        )  # fmt: skip
        shown = shape(facets.buckets, facets.bucket_ms, fit, here_ms)
        self._shape = (made_of, shown)
        return shown


def rested(state: ViewState) -> Entry | None:
    """The entry on which the cursor last came to rest."""
    return state.shown_entry if state.shown_entry is not None and state.entry is not None else state.entry


def brushed(state: ViewState) -> tuple[int, int] | None:
    """The moments from where a range was begun to where the cursor rests; None where there is none."""
    begun = state.find(state.basket.span_from) if state.basket.span_from is not None else None
    first, last = state.at(begun) if begun is not None else None, rested(state)
    return (first.created_at_epoch, last.created_at_epoch) if first is not None and last is not None else None

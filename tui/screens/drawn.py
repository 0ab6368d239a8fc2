"""Screens that show a state."""

from collections.abc import Sequence
from typing import ClassVar

from textual.screen import Screen

from tui import styles
from tui.state.model import ViewState


class DrawnScreen(Screen[None]):
    """Draws the latest state as soon as there is something to draw on; each screen says how in ``draw``.

    AT_FIRST: it is the one that is painted first, with the sheets there are by then. WHOLE_RECORD: it shows one record
    and no list.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-stacked"), (110, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-short"), (30, "-tall")]
    AT_FIRST: ClassVar[bool] = False
    WHOLE_RECORD: ClassVar[bool] = False

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self.state = state
        if not self.AT_FIRST:
            self.css_path = styles.later()

    def on_mount(self) -> None:
        """Show what is known already, as large as it will be: a class more later on would style all once more."""
        for size, steps in zip(self.app.size, (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), strict=True):
            self.update_classes(_reached(size, steps), update=False)
        self.draw()

    def show(self, state: ViewState) -> None:
        """Show this state."""
        self.state = state
        if self.is_mounted:
            self.draw()

    def draw(self) -> None:
        """Bring the widgets in line with the state."""


def _reached(size: int, steps: Sequence[tuple[int, str]]) -> dict[str, bool]:
    """Which of the breakpoints holds: the largest that fits."""
    most = max(step for step, _ in steps if step <= size)
    return {name: step == most for step, name in steps}

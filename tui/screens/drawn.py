"""Screens that show a state: any, and one of a single sheet."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import ClassVar

from textual.app import ComposeResult
from textual.screen import Screen

from tui import styles
from tui.state.model import ViewState
from tui.widgets.sheet import Sheet
from tui.widgets.status_line import StatusLine


class DrawnScreen(Screen[None]):
    """Draws the latest state as soon as there is something to draw on; each screen says how in ``draw``."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-stacked"), (110, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-short"), (30, "-tall")]
    CSS_PATH: ClassVar[list[str | PurePath] | None] = [*styles.later()]

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self.state = state

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


class SheetScreen(DrawnScreen):
    """A sheet and the keys that work on it; subclasses say which."""

    def __init__(self, page: Sheet) -> None:
        super().__init__(page.state)
        self.page = page
        self.status = StatusLine(page.looks.glyphs)

    def compose(self) -> ComposeResult:
        """Page and keys."""
        yield self.page
        yield self.status

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        self.page.show(self.state)
        self.status.show(self.state, self.page.PLACE)

"""A screen that shows a state."""

from textual.screen import Screen

from tui.state.model import ViewState


class DrawnScreen(Screen[None]):
    """Draws the latest state as soon as there is something to draw on; each screen says how in ``draw``."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-stacked"), (110, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-short"), (30, "-tall")]

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self.state = state

    def on_mount(self) -> None:
        """Show what is known already."""
        self.draw()

    def show(self, state: ViewState) -> None:
        """Show this state."""
        self.state = state
        if self.is_mounted:
            self.draw()

    def draw(self) -> None:
        """Bring the widgets in line with the state."""

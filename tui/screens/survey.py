"""Screens beside the workspace: what stands above, lasting trouble, a page, its keys."""

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.widget import Widget

from tui.cells.look import Look
from tui.screens.drawn import DrawnScreen
from tui.state.facts import Fact
from tui.state.model import ViewState
from tui.widgets.banner import Banner
from tui.widgets.status_line import StatusLine


class SurveyScreen(DrawnScreen):
    """A page of the memory as a whole. PLACE: of its keys. OVER: told when it is closed. AGAIN: to read it anew.

    PAST: whether it is as of the moment that the workspace looks from.
    """

    PAST: ClassVar[bool] = False
    PLACE: str
    OVER: Fact
    AGAIN: Fact

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(state)
        self.look = look
        self.banner = Banner(look, past=self.PAST, listed=False)
        self.status = StatusLine(look.glyphs)

    def above(self) -> Iterable[Widget]:
        """What stands above the page."""
        return ()

    def pages(self) -> Iterable[Widget]:
        """The page, and what is beside it."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """From the top down."""
        yield from self.above()
        yield self.banner
        yield from self.pages()
        yield self.status

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        self.banner.show(self.state)
        self.status.show(self.state, self.PLACE)

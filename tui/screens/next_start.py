"""What the agent's next session will be given, and why."""

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from tui.cells import next_start as cells
from tui.cells.look import Look
from tui.keymap import places
from tui.screens.survey import SurveyScreen
from tui.state import next_start
from tui.state.model import ViewState
from tui.widgets.paint import bindings
from tui.widgets.plan_head import PlanHead
from tui.widgets.sheet import ChoiceSheet, Lines
from worker.contract.context import ContextRow


class PlanSheet(ChoiceSheet):
    """Rows with their reasons, or the text."""

    PLACE = places.NEXT_START
    BINDINGS = bindings(places.NEXT_START)
    _picks: tuple[tuple[int, ContextRow], ...] = ()

    @property
    def chosen(self) -> ContextRow | None:
        """The row under the cursor."""
        return self._picks[self.at][1] if self.at < len(self._picks) else None

    def lines(self, room: int) -> Lines:
        """The page in this width; the cursor stays on its record."""
        before = self.chosen
        page, picks = cells.lines(self.state, room, self.looks)
        self._picks = tuple(picks)
        if before is not None:
            self.at = next((at for at, (_, row) in enumerate(picks) if row.key == before.key), self.at)
        return page

    def places(self) -> Sequence[int]:
        """The lines of rows."""
        return [line for line, _ in self._picks]

    def do_down(self) -> None:
        """The next row; in the text, a line on."""
        super().do_down() if self._picks else self._scroll(1)

    def do_up(self) -> None:
        """The row before; in the text, a line back."""
        super().do_up() if self._picks else self._scroll(-1)

    def do_page_down(self) -> None:
        """A screenful on."""
        super().do_page_down() if self._picks else self._scroll(max(self.size.height - 1, 1))

    def do_page_up(self) -> None:
        """A screenful back."""
        super().do_page_up() if self._picks else self._scroll(-max(self.size.height - 1, 1))

    def do_top(self) -> None:
        """To the beginning."""
        super().do_top() if self._picks else self._scroll(-len(self._lines))

    def do_bottom(self) -> None:
        """To the end."""
        super().do_bottom() if self._picks else self._scroll(len(self._lines))


class NextStartScreen(SurveyScreen):
    """The budget, and what it is spent on."""

    PLACE = places.NEXT_START
    OVER = next_start.Ended()
    AGAIN = next_start.Again()

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(look, state)
        self.head = PlanHead(look)
        self.page = PlanSheet(look, state, id="plan")

    def above(self) -> Iterable[Widget]:
        """The head."""
        return (self.head,)

    def pages(self) -> Iterable[Widget]:
        """The rows."""
        return (self.page,)

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        super().draw()
        self.head.show(self.state)
        self.page.show(self.state)

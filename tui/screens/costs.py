"""What memory costs and gives back."""

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from tui.cells import costs as cells
from tui.cells.look import Look
from tui.keymap import places
from tui.screens.survey import SurveyScreen
from tui.state import costs
from tui.state.costs import Slice
from tui.state.model import ViewState
from tui.widgets.cost_head import CostHead
from tui.widgets.paint import bindings
from tui.widgets.sheet import ChoiceSheet, Lines


class CostSheet(ChoiceSheet):
    """Projects, sessions, types; the head is told what is chosen."""

    PLACE = places.COSTS
    BINDINGS = bindings(places.COSTS)
    _picks: tuple[tuple[int, Slice], ...] = ()

    def __init__(self, look: Look, state: ViewState, head: CostHead, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(look, state, id=id)
        self._head = head

    @property
    def chosen(self) -> Slice | None:
        """What is under the cursor."""
        return self._picks[self.at][1] if self.at < len(self._picks) else None

    def lines(self, room: int) -> Lines:
        """The page in this width."""
        before = self.chosen
        made = cells.choices(self.state.costs, room, self.looks)
        self._picks = made.picks
        if before is not None and before != self.chosen:
            self.at = next((at for at, (_, pick) in enumerate(made.picks) if pick == before), 0)
        return made.lines

    def places(self) -> Sequence[int]:
        """The lines that can be chosen."""
        return [line for line, _ in self._picks]

    def lay_out(self) -> None:
        """Write the page, and the head with it."""
        super().lay_out()
        self._head.show(self.state.costs, self.chosen)

    def do_group(self) -> None:
        """To the first line of the next group: projects, sessions, types."""
        kinds = [_kind(pick) for _, pick in self._picks]
        here = kinds[self.at] if self.at < len(kinds) else None
        after = next((at for at in range(self.at, len(kinds)) if kinds[at] != here), 0)
        self._go(after)

    def _go(self, there: int) -> None:
        super()._go(there)
        self._head.show(self.state.costs, self.chosen)


def _kind(pick: Slice) -> int:
    return 2 if pick.part is None else 1 if pick.part.session is not None else 0


class CostScreen(SurveyScreen):
    """The flame, the figures, and what they are made of."""

    PLACE = places.COSTS
    OVER = costs.Ended()
    AGAIN = costs.Again()
    PAST = True

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(look, state)
        self.head = CostHead(look)
        self.page = CostSheet(look, state, self.head, id="costs")

    def above(self) -> Iterable[Widget]:
        """The head."""
        return (self.head,)

    def pages(self) -> Iterable[Widget]:
        """The list."""
        return (self.page,)

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        super().draw()
        self.page.show(self.state)

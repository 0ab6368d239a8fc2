"""Above the rows of the next start: whose, against what budget, what changed."""

from typing import ClassVar

from tui.cells import next_start
from tui.cells.look import Look
from tui.widgets.paint import StateLine, components


class PlanHead(StateLine):
    """Three lines, or one while nothing is known."""

    PREFIX = "plan-head"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("plan-head", "heading", "figure", "bar", "over", "quiet")

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._look = look

    def _update(self) -> None:
        if not self.size.width:
            return
        lines = next_start.title(self._state, self.size.width, self._look)
        if self.styles.height is None or self.styles.height.value != len(lines):
            self.styles.height = len(lines)
        self.draw(lines)

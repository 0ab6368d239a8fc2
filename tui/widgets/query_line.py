"""The query as a line to read, where the search box is not on the screen."""

from typing import ClassVar

from tui.cells import words
from tui.cells.clean import one_line
from tui.cells.fit import cut, width
from tui.cells.glyphs import Glyphs
from tui.state.chips import spans
from tui.widgets.paint import Piece, StateLine, between, components


class QueryLine(StateLine):
    """What is asked, its filters as chips, and how much was found."""

    PREFIX = "query-line"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("query-line", "sign", "chip", "quiet")

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._glyphs = glyphs

    def _update(self) -> None:
        state, room = self._state, self.size.width
        right = words.found(state, self._glyphs, brief=True)
        line = cut(one_line(state.ask.text), max(room - width(right) - 4, 8), self._glyphs.ellipsis)
        left: list[Piece] = [("sign", f"{self._glyphs.prompt} ")]
        at = 0
        for start, end in spans(line):
            left += [("text", line[at:start]), ("chip", line[start:end])]
            at = end
        left.append(("text", line[at:]) if line else ("quiet", "everything"))
        self.draw([between(left, [("quiet", right)], room)])

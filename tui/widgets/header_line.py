"""The top line: where we are, what is new, whether we are live."""

from typing import ClassVar

from tui.cells import meter, words
from tui.cells.fit import cut
from tui.cells.glyphs import Glyphs
from tui.widgets.paint import Piece, StateLine, between, components


class HeaderLine(StateLine):
    """Name, scope, badge, link."""

    PREFIX = "header-line"
    COMPONENT_CLASSES: ClassVar[set[str]] = components(
        "header-line", "name", "scope", "kinds", "demo", "new", "live", "away", "lost", "quiet", "basket", "over"
    )

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._glyphs = glyphs

    def _update(self) -> None:
        state, glyphs, room = self._state, self._glyphs, self.size.width
        left: list[Piece] = [("name", "claude-mem")]
        if state.demo:
            left += [("text", " "), ("demo", " DEMO ")]
        if state.guarded:
            left += [("text", " "), ("demo", " READ-ONLY ")]
        left += [("text", "  "), ("scope", cut(words.scope(state), max(room // 3, 12), glyphs.ellipsis))]
        if kinds := words.kinds(state):
            left.append(("kinds", f" {glyphs.dot} {kinds}"))
        right: list[Piece] = meter.badge(state.basket, glyphs, roomy=room >= 70)
        if state.queued and room >= 70:
            right.append(("quiet", f"{state.queued} being understood   "))
        if state.fresh and state.ask.as_of_ms is None:
            right.append(("new", f"{glyphs.new} {state.fresh} new"))
            right.append(("text", "   "))
        right.append(words.link(state, glyphs))
        self.draw([between(left, right, room)])

"""The top line: where we are, what is new, whether we are live."""

from collections.abc import Sequence
from typing import ClassVar

from tui.cells import meter, words
from tui.cells.fit import cut, width
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
        name: list[Piece] = [("name", "claude-mem"), ("text", " ")]
        signs: list[Piece] = []
        if state.demo:
            signs += [("demo", " DEMO "), ("text", " ")]
        if state.guarded:
            signs += [("demo", " READ-ONLY "), ("text", " ")]
        gap: Piece = ("text", " ")
        scope: Piece = ("scope", cut(words.scope(state), max(room // 3, 12), glyphs.ellipsis))
        kinds: list[Piece] = [("kinds", f" {glyphs.dot} {said}")] if (said := words.kinds(state)) else []
        more: list[Piece] = meter.badge(state.basket, glyphs, roomy=room >= 70)
        if state.queued and room >= 70:
            more.append(("quiet", f"{state.queued} being understood   "))
        if state.fresh and state.ask.as_of_ms is None:
            more += [("new", f"{glyphs.new} {state.fresh} new"), ("text", "   ")]
        link, brief = words.link(state, glyphs), words.brief_link(state, glyphs)
        # What goes first where there is not enough room; how we stand with the worker stays.
        for left, right in (
            ([*name, *signs, gap, scope, *kinds], [*more, link]),
            ([*signs, scope, *kinds], [*more, link]),
            ([*signs, scope, *kinds], [*more, brief]),
            ([*signs, scope, *kinds], [brief]),
            ([*signs, scope], [brief]),
        ):
            if _taken(left) + 1 + _taken(right) <= room:
                self.draw([between(left, right, room)])
                return
        least: Piece = (brief[0], brief[1] if room >= 14 else brief[1][:1])
        left_over = max(room - 1 - _taken([least]), 0)
        told = cut(" ".join(text.strip() for _, text in [*signs, scope] if text.strip()), left_over, glyphs.ellipsis)
        self.draw([between([("scope", told)], [least], room)])


def _taken(pieces: Sequence[Piece]) -> int:
    return sum(width(text) for _, text in pieces)

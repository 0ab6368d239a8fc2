"""The keys and the marks, from the keymap and the marks themselves."""

from itertools import zip_longest
from typing import ClassVar

from tui.cells.fit import left, width, wrap
from tui.cells.glyphs import Glyphs
from tui.cells.marks import ROLES, legend
from tui.keymap import guide, places, table
from tui.keymap.action import Action
from tui.widgets.paint import Piece, bindings, components
from tui.widgets.paper import Paper

_KEYS = 25
_LEFT = 76
_TWO_COLUMNS = 108


class GuidePage(Paper):
    """Every action once, in groups, then what the letters in the list mean."""

    PLACE = places.GUIDE
    PREFIX = "guide-page"
    BINDINGS = bindings(places.GUIDE)
    COMPONENT_CLASSES: ClassVar[set[str]] = components("guide-page", "group", "key", "help", *ROLES)

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._glyphs = glyphs

    def on_resize(self) -> None:
        """Lines break elsewhere."""
        room = self.room
        if room >= _TWO_COLUMNS:
            self.write(_beside(self._keys(_LEFT), self._marks(room - _LEFT - 4), _LEFT + 4))
        else:
            self.write([*self._keys(room), *self._marks(room)])

    def _keys(self, room: int) -> list[list[Piece]]:
        lines: list[list[Piece]] = []
        for title, rows in guide.GROUPS:
            lines.append([("group", title)])
            for names in rows:
                lines += self._row([table.named(name) for name in names], room)
            lines.append([])
        return lines

    def _row(self, actions: list[Action], room: int) -> list[list[Piece]]:
        keys = min(_KEYS, room // 2)
        shown = "  ".join(action.shown for action in actions)
        said = "; ".join(action.help for action in actions)
        lines = list(wrap(said, room - keys - 1))
        return [
            [("key", left("  " + shown if number == 0 else "", keys)), ("help", " " + line)]
            for number, line in enumerate(lines)
        ]

    def _marks(self, room: int) -> list[list[Piece]]:
        lines: list[list[Piece]] = [[("group", "Marks in the list")]]
        for mark, meaning in legend(self._glyphs):
            lines.append([("text", "  "), (mark.role, mark.letter), ("help", f"  {meaning.replace('_', ' ')}")])
        anchor, cursor = self._glyphs.anchor, self._glyphs.cursor
        lines += [[("key", f"  {cursor}"), ("help", "  the cursor")]]
        lines += [[("key", f"  {anchor}"), ("help", "  where the timeline was opened")], []]
        lines.append([("group", "Tokens")])
        for said in ("~Read: what the record costs an agent to read", "Work: what it once cost to find out"):
            lines += [[("help", "  " + line)] for line in wrap(said, room - 2)]
        return lines


def _beside(one: list[list[Piece]], other: list[list[Piece]], column: int) -> list[list[Piece]]:
    """Two columns of lines as one."""
    lines: list[list[Piece]] = []
    nothing: list[Piece] = []
    for here, there in zip_longest(one, other, fillvalue=nothing):
        taken = sum(width(text) for _, text in here)
        lines.append([*here, ("text", " " * (column - taken)), *there] if there else list(here))
    return lines

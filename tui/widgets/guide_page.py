"""The keys and the marks, from the keymap and the marks themselves."""

from typing import ClassVar

from tui import keymap
from tui.cells.fit import left, wrap
from tui.cells.glyphs import Glyphs
from tui.cells.marks import ROLES, legend
from tui.widgets.paint import Piece, bindings, components
from tui.widgets.paper import Paper

_KEYS = 22


class GuidePage(Paper):
    """Every action once, in groups, then what the letters in the list mean."""

    PLACE = keymap.GUIDE
    PREFIX = "guide-page"
    BINDINGS = bindings(keymap.GUIDE)
    COMPONENT_CLASSES: ClassVar[set[str]] = components("guide-page", "group", "key", "help", *ROLES)

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._glyphs = glyphs

    def on_resize(self) -> None:
        """Lines break elsewhere."""
        room = self.room
        lines: list[list[Piece]] = []
        for title, names in keymap.GROUPS:
            lines += [[("group", title)], *self._actions(names, room), []]
        lines += [[("group", "Marks in the list")], *self._marks(room), []]
        tokens = "~Read is what a record costs an agent to read, Work what it once cost to find out, in tokens."
        lines += [[("help", line)] for line in wrap(tokens, room)]
        self.write(lines)

    def _actions(self, names: tuple[str, ...], room: int) -> list[list[Piece]]:
        keys = min(_KEYS, room // 2)
        lines: list[list[Piece]] = []
        for name in names:
            action = keymap.named(name)
            for number, line in enumerate(wrap(action.help, room - keys - 2)):
                shown = action.shown if number == 0 else ""
                lines.append([("key", left("  " + shown, keys)), ("help", "  " + line)])
        return lines

    def _marks(self, room: int) -> list[list[Piece]]:
        lines: list[list[Piece]] = [[]]
        taken = 0
        for mark, meaning in legend(self._glyphs):
            text = left(f" {meaning.replace('_', ' ')}", 17)
            if taken + 21 > room:
                lines.append([])
                taken = 0
            lines[-1] += [("text", "  "), (mark.role, mark.letter), ("help", text)]
            taken += 20
        return lines

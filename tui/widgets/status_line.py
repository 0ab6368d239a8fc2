"""The bottom line: the keys that are worth pressing here, or a word about the last one."""

from typing import ClassVar

from tui.cells import words
from tui.cells.clean import one_line
from tui.cells.fit import cut, width
from tui.cells.glyphs import Glyphs
from tui.keymap import footer, places
from tui.keymap.chosen import in_force, keyed
from tui.state.model import ViewState
from tui.widgets.paint import Piece, StateLine, between, components


class StatusLine(StateLine):
    """Keys valid where the focus is."""

    PREFIX = "status-line"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("status-line", "key", "notice", "quiet")

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._glyphs = glyphs
        self._place = places.BOX

    def show(self, state: ViewState, place: str | None = None) -> None:
        """Show the keys of a place in this state."""
        self._state = state
        self._place = place or self._place
        self._update()

    def _update(self) -> None:
        room = self.size.width
        if self._state.notice:
            said = one_line(keyed(self._state.notice, self._state.keys))
            self.draw([[("notice", cut(said, room, self._glyphs.ellipsis))]])
            return
        if self._place == places.BOX and room < words.ROOMY and (notes := words.short_notes(self._state)):
            self._draw_note(notes[0], room)
            return
        pairs = [(self._glyphs.enter if key == "Enter" else key, label) for key, label in self._keys()]
        gap = "   " if _taken(pairs, "   ") <= room else "  "
        kept = 2 if len(pairs) > 1 and pairs[-2][1] == "keys" else 1  # help and the way out are always there
        while len(pairs) > kept and _taken(pairs, gap) > room:
            del pairs[-1 - kept]
        gap = "   " if _taken(pairs, "   ") <= room else gap
        pieces: list[Piece] = []
        for number, (key, label) in enumerate(pairs):
            pieces += [("text", gap if number else ""), ("key", key), ("text", f" {label}")]
        self.draw([pieces])

    def _draw_note(self, note: str, room: int) -> None:
        """What the search bar has no room for, and of the keys the last one, if there is room for it."""
        key, label = self._keys()[-1]
        said = cut(note, room, self._glyphs.ellipsis)
        way_out: list[Piece] = [("text", "  "), ("key", key), ("text", f" {label}")]
        fits = width(said) + sum(width(text) for _, text in way_out) < room
        self.draw([between([("notice", said)], way_out if fits else [], room)])

    def _keys(self) -> list[tuple[str, str]]:
        return in_force(footer.footer(self._place, self._state), self._place, self._state.keys)


def _taken(pairs: list[tuple[str, str]], gap: str) -> int:
    return sum(width(key + label) + 1 for key, label in pairs) + len(gap) * (len(pairs) - 1)

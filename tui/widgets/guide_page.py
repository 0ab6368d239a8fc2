"""The keys and the marks, from the keymap and the marks themselves."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input

from tui import messages
from tui.cells.clean import typed
from tui.cells.fit import left, width, wrap
from tui.cells.glyphs import Glyphs
from tui.cells.marks import ROLES, legend
from tui.keymap import guide, places, table
from tui.keymap.action import Action
from tui.keymap.chosen import shown
from tui.widgets.paint import Acts, Piece, bindings, components
from tui.widgets.paper import Paper

Keys = Mapping[str, tuple[str, ...]]
_KEYS = 25
_LEFT = 76
_TWO_COLUMNS = 108
_FIGURES = (
    (
        "Tokens",
        (
            "~Read: what the record costs an agent to read",
            "Work: what it once cost to find out",
            "W/R: Work for each token to read",
        ),
    ),
    ("Why a hit is here", ("kw1: the first by its words", "v2: the second by its meaning")),
)


class GuidePage(Paper):
    """Every action once, in groups, then what the letters in the list mean. group: shown first, by its title."""

    PLACE = places.GUIDE
    PREFIX = "guide-page"
    BINDINGS = bindings(places.GUIDE)
    COMPONENT_CLASSES: ClassVar[set[str]] = components("guide-page", "group", "key", "help", *ROLES)

    class Find(Message):
        """Only some of the lines are wanted."""

    def __init__(
        self,
        glyphs: Glyphs,
        keys: Keys,
        notes: Sequence[str] = (),
        *,
        group: str = "",
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._own = keys
        self._notes = notes
        self._group = group
        self._words: list[str] = []
        self._begun = False

    def do_find_key(self) -> None:
        """Only the lines with some words."""
        self.post_message(self.Find())

    def find(self, text: str) -> None:
        """Show the lines that have every word of the text, all without one."""
        self._words = text.lower().split()
        self.on_resize()
        self._to_group()

    def on_resize(self) -> None:
        """Lines break elsewhere."""
        self._lay_out()
        if not self._begun and self.size.height:
            self._begun = True
            self._to_group()

    def _to_group(self) -> None:
        """To the group that was asked for, once it is known where that is; to the top of what was found."""
        there = 0 if self._words else next((at for at, line in enumerate(self._lines) if self._is_group(line)), 0)
        self.scroll_to(y=there, animate=False, force=True, immediate=True)

    def _is_group(self, line: list[Piece]) -> bool:
        return line[:1] == [("group", self._group)]

    def _lay_out(self) -> None:
        room = self.room
        if self._words:
            self.write(self._keys(room) or [[("help", "  no key does that; fewer letters find more")]])
        elif room >= _TWO_COLUMNS:
            self.write(_beside(self._keys(_LEFT), self._marks(room - _LEFT - 4), _LEFT + 4))
        else:
            self.write([*self._keys(room), *self._marks(room)])

    def _keys(self, room: int) -> list[list[Piece]]:
        lines = self._wrong(room) if not self._words else []
        for title, rows in guide.GROUPS:
            found = [actions for names in rows if self._fits(actions := [table.named(name) for name in names], title)]
            if found:
                rows_of = (line for actions in found for line in self._row(actions, room, title))
                lines += [[("group", title)], *rows_of, []]
            if title == guide.TYPED_AFTER:
                lines += self._typed(room)
        return lines

    def _typed(self, room: int) -> list[list[Piece]]:
        """What may stand in the search box."""
        found = [
            line
            for text, said in guide.TYPED
            if all(word in f"{guide.TYPED_TITLE} {text} {said}".lower() for word in self._words)
            for line in _line(text, said, room)
        ]
        return [[("group", guide.TYPED_TITLE)], *found, []] if found else []

    def _fits(self, actions: list[Action], title: str) -> bool:
        said = " ".join(f"{shown(action, self._own)} {action.label} {action.help}" for action in actions)
        return all(word in f"{title} {said}".lower() for word in self._words)

    def _wrong(self, room: int) -> list[list[Piece]]:
        """What of a person's own keys could not be had."""
        if not self._notes:
            return []
        wrong = [line for note in self._notes for line in wrap(note, room - 2)]
        return [[("group", "Wrong in keymap.toml")], *([("text", "  " + line)] for line in wrong), []]

    def _row(self, actions: list[Action], room: int, title: str) -> list[list[Piece]]:
        written = "  ".join(shown(action, self._own) or "(none)" for action in actions)
        said = _sentence([action.help for action in actions])
        return _line(written, said.removeprefix(f"in the {title.lower()}: "), room)

    def _marks(self, room: int) -> list[list[Piece]]:
        lines: list[list[Piece]] = [[("group", "Marks in the list")]]
        for mark, meaning in legend(self._glyphs):
            lines.append([("text", "  "), (mark.role, mark.letter), ("help", f"  {meaning.replace('_', ' ')}")])
        anchor, cursor = self._glyphs.anchor, self._glyphs.cursor
        lines += [[("key", f"  {cursor}"), ("help", "  the cursor")]]
        lines += [[("key", f"  {anchor}"), ("help", "  where the timeline was opened")], []]
        for title, told in _FIGURES:
            lines.append([("group", title)])
            lines += [[("help", "  " + line)] for said in told for line in wrap(said, room - 2)]
            lines.append([])
        return lines[:-1]


class GuideBox(Input, Acts):
    """Where words are typed that a line of the help must have."""

    PLACE = places.GUIDE_BOX
    BINDINGS: ClassVar[list[BindingType]] = bindings(places.GUIDE_BOX)

    class Left(Message):
        """To the lines."""

    class Turned(Message):
        """Other lines are to be seen, though the focus stays. deed: of the page."""

        def __init__(self, deed: str) -> None:
            super().__init__()
            self.deed = deed

    def validate_value(self, value: str) -> str:
        """A paste may hold anything."""
        return typed(value[:100])

    def do_found_key(self) -> None:
        """To what was found."""
        self.post_message(self.Left())

    def do_next_key(self) -> None:
        """A line on."""
        self.post_message(self.Turned("down"))

    def do_last_key(self) -> None:
        """A line back."""
        self.post_message(self.Turned("up"))

    def do_page_of_keys(self) -> None:
        """A screenful on."""
        self.post_message(self.Turned("page_down"))

    def do_page_of_keys_before(self) -> None:
        """A screenful back."""
        self.post_message(self.Turned("page_up"))

    def do_drop_find(self) -> None:
        """Close the help."""
        self.post_message(messages.Wanted("back", places.GUIDE))


def _sentence(helps: Sequence[str]) -> str:
    """What keys side by side do; the place that they share is told once."""
    place, colon, _ = helps[0].partition(": ")
    shared = place + colon if colon and place.startswith("in ") else ""
    return "; ".join([helps[0], *(one.removeprefix(shared) for one in helps[1:])])


def _line(pressed: str, said: str, room: int) -> list[list[Piece]]:
    """What is pressed or typed, and what it does, on as many lines as that takes."""
    keys = min(_KEYS, room // 2)
    return [
        [("key", left("  " + pressed if number == 0 else "", keys)), ("help", " " + line)]
        for number, line in enumerate(wrap(said, room - keys - 1))
    ]


def _beside(one: list[list[Piece]], other: list[list[Piece]], column: int) -> list[list[Piece]]:
    """Two columns of lines as one."""
    lines: list[list[Piece]] = []
    nothing: list[Piece] = []
    for here, there in zip_longest(one, other, fillvalue=nothing):
        taken = sum(width(text) for _, text in here)
        lines.append([*here, ("text", " " * (column - taken)), *there] if there else list(here))
    return lines

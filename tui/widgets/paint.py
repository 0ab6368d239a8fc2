"""Pieces of (role, text) painted as strips: what all our widgets draw with.

A role names a component class, so colours are in the sheets alone, and every segment has a style: one without would
crash under NO_COLOR (``textual.filter.Monochrome``).
"""

import string
from collections.abc import Sequence
from functools import cache, cached_property
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingsMap, BindingType
from textual.css.styles import RenderStyles
from textual.dom import DOMNode
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tui import messages
from tui.cells.fit import width
from tui.cells.marks import ROLES
from tui.keymap import places, table
from tui.state.model import ViewState

Piece = tuple[str, str]
"""(role, text)."""


_STEPS = {f"act('{name}')": name for name in ("down", "up", "page_down", "page_up")}


def bindings(place: str) -> list[BindingType]:
    """The keys of the keymap that work in a place; letters that mean nothing there say so."""
    known = {key for action in table.at(place) for key in action.keys}
    unknown = [key for key in string.ascii_letters + string.digits if key not in known]
    lost = Binding(",".join(unknown), "act('unknown')", "", id=f"{place}.unknown", show=False)
    made: list[BindingType] = [] if place in places.BOXES else [lost]
    made += [
        Binding(key, f"act('{action.name}#{key}')", action.label, id=f"{place}.{action.name}.{key}", show=False)
        for action in table.at(place)
        if action.by_key
        for key in action.keys
    ]
    return made + [
        Binding(",".join(action.keys), f"act('{action.name}')", action.label, id=f"{place}.{action.name}", show=False)
        for action in table.at(place)
        if not action.by_key
    ]


class Acts(Widget):
    """A widget with a place in the keymap: what it cannot do itself it asks for."""

    PLACE: ClassVar[str]

    async def on_key(self, event: events.Key) -> None:
        """Do the keys bound here, where Textual would let them go up to the app first, to come back later.

        Letters in a box and steps in a list wait for nobody (see ``tui.widgets.turns``), and stay in their order so.
        """
        for binding in self._bound.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return

    def only_steps(self, key: str) -> bool:
        """Whether the key goes up and down here, and does nothing else."""
        actions = [binding.action for binding in self._bound.key_to_bindings.get(key, ())]
        return bool(actions) and hasattr(self, f"do_{_STEPS.get(actions[0])}")

    @cached_property
    def _bound(self) -> BindingsMap:
        """The keys of this class, before those of the ones it is made from."""
        return BindingsMap([binding for kind in type(self).__mro__ for binding in vars(kind).get("BINDINGS", ())])

    def action_act(self, name: str) -> None:
        """Do an action of the keymap here, or want it from whoever can."""
        own = getattr(self, f"do_{name}", None)
        if own is not None:
            own()
        else:
            self.post_message(messages.Wanted(name, self.PLACE))

    def do_refresh(self) -> None:
        """Paint the screen as a whole, too: something else may have written on it."""
        self.screen.refresh()
        self.post_message(messages.Wanted("refresh", self.PLACE))


class Painter(Widget):
    """A widget that paints pieces. PREFIX: before each role in its component classes; KINDS: before a kind of record.

    The style of a role is looked up when it is first painted. Textual would look all of them up, whenever a widget's
    own style may have changed: before the first paint that is some 250 parts of the screen, twice.
    """

    PREFIX: ClassVar[str]
    KINDS: ClassVar[str] = "kind"

    @classmethod
    @cache
    def _get_component_classes(cls) -> frozenset[str]:
        """None that Textual is to look up by itself."""
        return frozenset()

    def get_component_styles(self, *names: str) -> RenderStyles:
        """The styles of these component classes, one laid over the other. Errors: KeyError for one that is none."""
        for name in names:
            if name not in self._component_styles:
                self._component_styles[name] = self._styles_of(name)
        return super().get_component_styles(*names)

    def notify_style_update(self) -> None:
        """Other rules may hold: paint anew if they change what was painted."""
        super().notify_style_update()
        known = self._component_styles
        if known and any(self._styles_of(name) != styles for name, styles in known.items()):
            self.refresh()
        self._component_styles = {}

    def _styles_of(self, name: str) -> RenderStyles:
        if not any(name in vars(kind).get("COMPONENT_CLASSES", ()) for kind in type(self).__mro__):
            raise KeyError(name)
        part = DOMNode(classes=name)
        part._attach(self)
        self.app.stylesheet.apply(part)
        return part.styles

    def role(self, name: str) -> Style:
        """The style of a role, as the sheets have it."""
        prefix = self.KINDS if name in ROLES else self.PREFIX
        return self.get_component_rich_style(f"{prefix}--{name or 'text'}")

    def paint(self, pieces: Sequence[Piece], room: int, under: Style | None = None) -> Strip:
        """One line of just ``room`` cells. under: laid over every piece (the cursor's colours)."""
        segments: list[Segment] = []
        taken = 0
        for name, text in pieces:
            style = self.role(name)
            if under is not None:
                style += under
            if segments and segments[-1].style == style:
                segments[-1] = Segment(segments[-1].text + text, style)
            else:
                segments.append(Segment(text, style))
            taken += width(text)
        blank = self.role("text") if under is None else self.role("text") + under
        strip = Strip(segments, taken)
        return strip.adjust_cell_length(room, blank) if taken != room else strip


def components(prefix: str, *roles: str, kinds: str = "kind") -> set[str]:
    """Component classes of the roles. kinds: before a kind of record, which has its colour from ``theme.tcss``."""
    return {f"{kinds if name in ROLES else prefix}--{name}" for name in ("text", *roles)}


class Line(Painter):
    """A widget of a few lines that paints anew only when what it shows has changed."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._lines: list[list[Piece]] = []

    def draw(self, lines: list[list[Piece]]) -> None:
        """Show these lines."""
        before, self._lines = self._lines, lines
        if before == lines:
            return
        if len(before) != len(lines):
            self.refresh()
            return
        changed = [
            Region(start, y, stop - start, 1)
            for y, (old, new) in enumerate(zip(before, lines, strict=True))
            if old != new
            for start, stop in [_changed(old, new, self.size.width)]
        ]
        self.refresh(*changed)

    def render_line(self, y: int) -> Strip:
        """One line of the content."""
        return self.paint(self._lines[y] if y < len(self._lines) else (), self.size.width)


class StateLine(Line):
    """A widget of a few lines about the whole state."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._state = ViewState()

    def show(self, state: ViewState) -> None:
        """Show this state."""
        self._state = state
        self._update()

    def on_resize(self) -> None:
        """Other cells."""
        self._update()

    def _update(self) -> None:
        """Draw the state for the cells there are."""
        raise NotImplementedError


def _changed(old: Sequence[Piece], new: Sequence[Piece], room: int) -> tuple[int, int]:
    """The first cell in which lines differ, and that after the last one; of lines with wide characters, all."""
    cells = [[(role, char) for role, text in line for char in text] for line in (old, new)]
    if any(not text.isprintable() or width(text) != len(text) for line in (old, new) for _, text in line):
        return 0, room
    for line in cells:
        line += [("text", " ")] * (room - len(line))
    differing = [at for at, (one, other) in enumerate(zip(*cells, strict=False)) if one != other]
    return (differing[0], differing[-1] + 1) if differing else (0, room)


def between(left: Sequence[Piece], right: Sequence[Piece], room: int) -> list[Piece]:
    """Pieces at both ends of a line. When there is no room for both, the right ones go, from their left."""
    right = list(right)
    taken = sum(width(text) for _, text in left)
    while right and taken + sum(width(text) for _, text in right) + 1 > room:
        right.pop(0)
    gap = room - taken - sum(width(text) for _, text in right)
    return [*left, ("text", " " * max(gap, 0)), *right]

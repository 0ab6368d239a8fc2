"""Intents from the widgets upward: what a person wants, never how it is done."""

from textual.message import Message

from tui.state.facts import Fact


class Wanted(Message):
    """An action of the keymap, asked for in a place."""

    def __init__(self, action: str, place: str) -> None:
        super().__init__()
        self.action = action
        self.place = place


class Told(Message):
    """A word for the bottom line, about what a widget did by itself."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Typed(Message):
    """The search box holds another text. full: and there is no room for more. left: for the hits."""

    def __init__(self, text: str, *, full: bool = False, left: bool = False) -> None:
        super().__init__()
        self.text = text
        self.full = full
        self.left = left


class Moved(Message):
    """The list's cursor is to move by so many entries, or to one (-1: the last)."""

    def __init__(self, by: int = 0, to: int | None = None) -> None:
        super().__init__()
        self.by = by
        self.to = to


class Viewed(Message):
    """These rows of the list are on the screen now."""

    def __init__(self, first: int, last: int) -> None:
        super().__init__()
        self.first = first
        self.last = last


class Known(Message):
    """What a person did in a widget, as the fact that it is."""

    def __init__(self, fact: Fact) -> None:
        super().__init__()
        self.fact = fact

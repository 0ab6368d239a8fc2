"""Escape is Escape, whatever is typed right behind it.

It is one byte, with which the sequences of other keys begin. What else comes within a tenth of a second Textual takes
for a key with Alt, or loses both; and tmux holds an Escape back for half a second, to hand it on together with what is
typed by then. No key here is one with Alt but those that go back, forth or take away a word in a box.

This knows of Textual's parser, as read from 8.2.8, that it has a place where it waits for the rest of a sequence, and
that ``tick`` ends the waiting once its time is over.
"""

import sys
from collections.abc import Iterable

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.message import Message

_ESCAPE = "\x1b"
_GOES_ON = frozenset("[O]P_^\\" + "bf\x7f")
"""What follows Escape in a sequence: its kinds, and a word back, forth, away."""
_BEGINS, _ENDS = "[200~", "[201~"
"""After Escape: a paste, which may hold anything."""


class Keyboard(XTermParser):
    """Bytes → what a person did."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._begun = ""  # what came since the last Escape, as much of it as tells a paste
        self._pasting = False

    def feed(self, data: str) -> Iterable[Message]:
        """Some more bytes; none at the end."""
        if not data:
            yield from super().feed(data)
            return
        for number, part in enumerate(data.split(_ESCAPE)):
            if number:
                self._begun = ""
                yield from super().feed(_ESCAPE)
            if not part:
                continue
            if not self._begun and not self._pasting and part[0] not in _GOES_ON and self._awaiting.timeout is not None:
                self._timeout_time = 0.0
                yield from self.tick()
            self._begun = (self._begun + part[: len(_BEGINS)])[: len(_BEGINS)]
            self._pasting = self._begun == _BEGINS or (self._pasting and self._begun != _ENDS)
            yield from super().feed(part)


def hears_escape(driver: type[Driver]) -> type[Driver]:
    """The same driver, which reads its terminal so."""
    own = vars(sys.modules[driver.__module__])
    if own.get("XTermParser") is XTermParser:
        own["XTermParser"] = Keyboard
    return driver

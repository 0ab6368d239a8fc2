"""Keys one after the other: each goes to whoever has the focus once all that the ones before it ask for is done.

Textual hands a key to the widget that has the focus when it is read, and what that widget wants comes back to the app
as a message. Of keys that come in one piece, as after a line over SSH stood still, the second is handed on before the
first has opened the screen it is meant for: the letters of ``:cost`` would be deeds in the list below.

So a key is followed on its way: to the widget, from there up to the app, and to the widget that has the focus then,
until that stays the same. Each stop is passed twice, since what is wanted at one stands behind what was there already.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial

from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.widget import Widget
from textual.widgets import Input

from tui.widgets.paint import Acts

Typed = events.Key | events.Paste

_LOST_S = 1.0
"""A key on its way for twice as long has fallen to a widget that ended: the next one need not wait for it. Twice, since
after a process was stopped the first of them is over before anything went on."""


class Turns:
    """Who may go on, of the keys that come to an app."""

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._waiting: deque[Typed] = deque()
        self._called: Typed | None = None
        self._way: Iterator[MessagePump] | None = None
        self._focus: object = None
        self._owed = 0

    @property
    def over(self) -> bool:
        """Whether nobody is on the way, and nobody waits."""
        return self._way is None and self._called is None and not self._waiting

    @property
    def target(self) -> Widget:
        """Who gets a key that goes on now."""
        return self._app.focused or self._app.screen

    def has(self, typed: Typed) -> bool:
        """Whether it goes on now; if not it comes again, when it is its turn."""
        if typed is self._called:
            self._called = None
            return True
        if self.over:
            return True
        self._waiting.append(typed)
        if len(self._waiting) == 1:
            self._watch()
        return False

    def gone(self, typed: Typed, target: Widget) -> None:
        """It was handed on: follow it, unless it is of those that leave the focus where it is."""
        if _stays(typed, target):
            self._call()
        else:
            self._follow(target)

    def owe(self) -> None:
        """Something will be done yet before it is the next one's turn."""
        self._owed += 1

    def settle(self) -> None:
        """It is done."""
        self._owed = max(0, self._owed - 1)
        self._follow(self.target)

    def _follow(self, target: Widget) -> None:
        self._focus = self._app.screen, self._app.focused
        self._way = _twice(target.ancestors_with_self)
        if self._waiting:
            self._watch()
        self._step(self._way)

    def _step(self, way: Iterator[MessagePump]) -> None:
        if way is not self._way:
            return
        for stop in way:
            if stop.call_later(self._step, way):
                return
        if (self._app.screen, self._app.focused) != self._focus:
            self._follow(self.target)
        elif not self._owed:
            self._call()

    def _watch(self) -> None:
        """Somebody waits: not for ever."""
        if self._way is not None:
            again = partial(self._app.set_timer, _LOST_S, partial(self._give_up, self._way))
            self._app.set_timer(_LOST_S, again)

    def _give_up(self, way: Iterator[MessagePump]) -> None:
        if way is self._way:
            self._owed = 0
            self._call()

    def _call(self) -> None:
        self._way = None
        if self._waiting and self._called is None:
            self._called = self._waiting.popleft()
            self._app.post_message(self._called)


def _stays(typed: Typed, target: Widget) -> bool:
    """A letter in a box, a step in a list: there are many of them, and they are to keep their pace."""
    if isinstance(typed, events.Paste):
        return isinstance(target, Input)
    if isinstance(target, Input) and typed.is_printable:
        return True
    return isinstance(target, Acts) and target.only_steps(typed.key)


def _twice(stops: Iterable[MessagePump]) -> Iterator[MessagePump]:
    for stop in stops:
        yield stop
        yield stop

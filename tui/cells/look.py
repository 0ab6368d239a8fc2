"""Pure: how things are written in this run: glyphs, clock, time zone, keys. And times, written with them."""

import datetime as dt
from collections.abc import Callable, Mapping

import msgspec

from tui.cells.glyphs import Glyphs
from tui.state.keys import written
from worker.contract.when import at_ms

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_GAP = "  "
"""Between a key and what it does: a text from elsewhere has no two blanks, since ``one_line`` makes them one."""
_DAYS_SHOWN_MS = 3 * 86_400_000
_MONTHS_SHOWN_MS = 250 * 86_400_000
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class Look(msgspec.Struct, frozen=True):
    """now_ms: epoch milliseconds. zone: None is this machine's. keys: action → its keys, where a person chose them."""

    glyphs: Glyphs
    now_ms: Callable[[], int]
    zone: dt.tzinfo | None = None
    keys: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)

    def at(self, epoch_ms: int) -> dt.datetime:
        """The moment in the zone shown."""
        return at_ms(epoch_ms, self.zone)

    def key(self, action: str, usual: str) -> str:
        """The key of an action in force, for a sentence that names it; ``usual`` where nobody chose another."""
        own = self.keys.get(action)
        return usual if own is None else written(own[0]) if own else "(no key)"

    def hint(self, action: str, usual: str, does: str) -> str:
        """`r  asks again`: a line that names a key; ``split`` takes it apart again."""
        return f"{self.key(action, usual)}{_GAP}{does}"


def split(line: str) -> tuple[str, str]:
    """(key, what it does) of a line that names a key; ("", the line) of any other."""
    key, gap, does = line.partition(_GAP)
    return (key, does) if gap else ("", line)


def short(look: Look, epoch_ms: int) -> str:
    """At most six cells: `14:32` today, `Nov 23` this year, `Nov'24` before."""
    moment, now = look.at(epoch_ms), look.at(look.now_ms())
    if moment.date() == now.date():
        return clock(look, epoch_ms)
    month = _MONTHS[moment.month - 1]
    return f"{month} {moment.day:>2}" if moment.year == now.year else f"{month}'{moment.year % 100:02}"


def clock(look: Look, epoch_ms: int) -> str:
    """`14:32`."""
    moment = look.at(epoch_ms)
    return f"{moment.hour:02}:{moment.minute:02}"


def day(look: Look, epoch_ms: int) -> str:
    """`Wed 25 Nov, today`: a day as a heading."""
    ago = (look.at(look.now_ms()).date() - look.at(epoch_ms).date()).days
    name = _date(look, epoch_ms)
    return f"{name}, {('today', 'yesterday')[ago]}" if ago in (0, 1) else name


def full(look: Look, epoch_ms: int) -> str:
    """`Wed 25 Nov 14:32`, with the year where it is another one."""
    return f"{_date(look, epoch_ms)} {clock(look, epoch_ms)}"


def _date(look: Look, epoch_ms: int) -> str:
    moment, now = look.at(epoch_ms), look.at(look.now_ms())
    name = f"{_DAYS[moment.weekday()]} {moment.day} {_MONTHS[moment.month - 1]}"
    return name if moment.year == now.year else f"{name} {moment.year}"


def tick(look: Look, epoch_ms: int, span_ms: int) -> str:
    """A moment on an axis that is ``span_ms`` long: `Wed 14:30`, `25 Nov`, `Nov 2026`."""
    moment = look.at(epoch_ms)
    month = _MONTHS[moment.month - 1]
    if span_ms < _DAYS_SHOWN_MS:
        return f"{_DAYS[moment.weekday()]} {clock(look, epoch_ms)}"
    return f"{moment.day} {month}" if span_ms < _MONTHS_SHOWN_MS else f"{month} {moment.year}"


def month(look: Look, epoch_ms: int) -> str:
    """`Nov`, with the year where it is another one."""
    moment, now = look.at(epoch_ms), look.at(look.now_ms())
    name = _MONTHS[moment.month - 1]
    return name if moment.year == now.year else f"{name} {moment.year}"


def weekday(look: Look, epoch_ms: int) -> str:
    """`Wed 25`."""
    moment = look.at(epoch_ms)
    return f"{_DAYS[moment.weekday()]} {moment.day}"


def day_of_month(look: Look, epoch_ms: int) -> str:
    """`25`."""
    return str(look.at(epoch_ms).day)


def zone_name(look: Look, epoch_ms: int) -> str:
    """`CET`: what clocks at a moment are called."""
    return look.at(epoch_ms).tzname() or ""

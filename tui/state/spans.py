"""Pure: time in the query line: the span brushed on the strip, and the moment from which all is looked at."""

import datetime as dt

from tui.state import chips
from tui.state.chips import Chip
from tui.state.instants import said
from worker.contract.query import parse

_MINUTE_MS = 60_000


def brushed(line: str, first_ms: int, last_ms: int, zone: dt.tzinfo | None = None) -> str:
    """The line with this span, to whole minutes, in place of any it had; the moment it looks from stays."""
    first_ms, last_ms = first_ms - first_ms % _MINUTE_MS, last_ms + -last_ms % _MINUTE_MS
    kept = [chip for chip in chips.chips(line) if chip.field == "at" and _is_moment(chip, zone)]
    span = f"since:{said(first_ms, zone)} until:{said(last_ms, zone)}"
    rest = chips.without(line, "at")
    return " ".join(filter(None, (*map(str, kept), span, rest)))


def past(line: str, moment_ms: int, zone: dt.tzinfo | None = None) -> str:
    """The line as of a moment; a span it had stays."""
    return f"at:{said(moment_ms, zone)} {present(line)}".rstrip()


def present(line: str) -> str:
    """The line without any moment to look from."""
    for chip in chips.chips(line):
        if chip.field == "at":
            line = chips.removed(line, chip)
    return line


def as_of(line: str, now_ms: int, zone: dt.tzinfo | None = None) -> int | None:
    """The moment from which a line looks; None for now."""
    return parse(line, now_epoch_ms=now_ms, zone=zone, typing=True).as_of_epoch_ms


def _is_moment(chip: Chip, zone: dt.tzinfo | None) -> bool:
    return parse(str(chip), now_epoch_ms=0, zone=zone).as_of_epoch_ms is not None

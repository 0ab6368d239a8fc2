"""Pure: what kind of anchor a person means, and the window around it."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from worker.contract.records import RecordKey, parse_key
from worker.contract.search import Entry
from worker.contract.when import parse_range


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time that is no record's."""

    epoch_ms: int


Anchor = RecordKey | Moment


def parse_anchor(text: str, zone: dt.tzinfo | None = None, *, now_epoch_ms: int | None = None) -> Anchor | None:
    """`118`, `#118`, `S14`, `P40`: a record. A date with or without a time: the moment (a day: its beginning).

    None for anything else. Twelve digits and more are milliseconds since 1970, fewer are a record.
    """
    is_number = text.strip().isdecimal() and len(text.strip()) < 12
    moment = None if is_number else parse_range(text, zone, now_epoch_ms=now_epoch_ms)
    if moment is not None:
        return Moment(moment[0])
    return parse_key(text)


@dataclass(frozen=True, slots=True)
class Window:
    """Entries oldest first, and where the anchor stands in them."""

    entries: tuple[Entry, ...]
    anchor_index: int | None


def window(earlier: Sequence[Entry], later: Sequence[Entry], anchor: Anchor, *, depth_after: int) -> Window:
    """The two sides of an anchor as one window.

    earlier: strictly before it; later: at or after it, the anchor's own record first if it is one. For a moment the
    anchor is the first entry at or after it; if there is none, the last one before.
    """
    entries = (*earlier, *later[: depth_after + 1])
    if not entries:
        return Window((), None)
    match anchor:
        case RecordKey():
            at = next((index for index, entry in enumerate(entries) if entry.key == anchor), None)
            return Window(entries, at)
        case Moment():
            return Window(entries, min(len(earlier), len(entries) - 1))
        case _:
            assert_never(anchor)

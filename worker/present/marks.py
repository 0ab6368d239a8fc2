"""Pure: the small things every table shows: icons, days, clock times, safe cells."""

import datetime as dt
import re

from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Entry
from worker.contract.when import at_ms

_ICONS = {
    "bugfix": "●", "feature": "◆", "refactor": "↻", "change": "✓", "discovery": "○", "decision": "⚖",
    "security_alert": "⚠", "security_note": "⚷", "sensitive": "⊘",
}  # fmt: skip
_WORK_ICONS = {
    "bugfix": "⚒", "feature": "⚒", "refactor": "⚒", "change": "⚒", "discovery": "⌕", "decision": "⚖",
    "security_alert": "⚠", "security_note": "⚷", "sensitive": "⊘",
}  # fmt: skip
_KIND_ICONS = {RecordKind.SUMMARY: "🎯", RecordKind.PROMPT: "💬"}
_ACTING = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]"
    "|[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def icon(entry: Entry) -> str:
    """The sign of a record's type, as the original's mode `code` has them; `📝` for a type it does not know."""
    return _KIND_ICONS.get(entry.kind) or type_icon(entry.type)


def type_icon(name: str) -> str:
    """The sign of an observation type."""
    return _ICONS.get(name, "📝")


def type_work_icon(name: str) -> str:
    """The sign of the work that went into an observation of this type."""
    return _WORK_ICONS.get(name, "📝")


def work_icon(entry: Entry) -> str:
    """The sign of the work that went into an observation; `📝` for a type that is not known."""
    return type_work_icon(entry.type)


def label(key: RecordKey) -> str:
    """`#118`, `#S14`, `#P40`."""
    return f"#{key}"


def day(epoch_ms: int, zone: dt.tzinfo | None = None) -> str:
    """`Mar 4, 2026`, always in English, in local time."""
    moment = at_ms(epoch_ms, zone)
    return f"{_MONTHS[moment.month - 1]} {moment.day}, {moment.year}"


def short_day(epoch_ms: int, zone: dt.tzinfo | None = None) -> str:
    """`Mar 4`."""
    return day(epoch_ms, zone).split(",")[0]


def clock(epoch_ms: int, zone: dt.tzinfo | None = None) -> str:
    """`2:15 PM`."""
    moment = at_ms(epoch_ms, zone)
    return f"{moment.hour % 12 or 12}:{moment.minute:02d} {'AM' if moment.hour < 12 else 'PM'}"


def cell(text: str, limit: int = 160) -> str:
    """A text that cannot leave its table cell: ``one_line``, `|` escaped."""
    return one_line(text, limit).replace("\\", "\\\\").replace("|", "\\|")


def one_line(text: str, limit: int = 160) -> str:
    """A text on one line, cut at ``limit`` characters with `…`; it is ``harmless``."""
    line = " ".join(harmless(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def harmless(text: str) -> str:
    """A text in which nothing acts on a terminal that it is printed to, or turns a line around."""
    return _ACTING.sub("", text)

"""Pure: a record on one line, where it is named and not read: before it is deleted, because of a secret perhaps."""

from datetime import tzinfo

from worker.cli.record_text import facts_of, title_of
from worker.contract import when
from worker.contract.masking import masked
from worker.contract.records import Prompt, Record

_TITLE_CHARS = 100


def record_line(record: Record, zone: tzinfo | None = None) -> str:
    """Key, kind, project, time, ``short_title``; nothing in it begins another line. zone: of the time shown."""
    return _joined(*facts_of(record, zone), short_title(record))


def short_title(record: Record) -> str:
    """What a record is called or asks, on one line, cut; secrets in it are masked."""
    return short(record.prompt_text if isinstance(record, Prompt) else title_of(record))


def line_of(key: object, kind: str, project: str, epoch_ms: int, title: str, zone: tzinfo | None = None) -> str:
    """The same of what is no record. title: as ``short`` gives it."""
    moment = when.at_ms(epoch_ms, zone).strftime("%Y-%m-%d %H:%M")
    return _joined(*(fact for fact in (f"#{key}", kind, project, moment) if fact), title)


def short(text: str) -> str:
    """A text on one line, cut; secrets in it are masked."""
    line = " ".join(masked(text).split())
    return line if len(line) <= _TITLE_CHARS else f"{line[: _TITLE_CHARS - 1]}…"


def _joined(*parts: str) -> str:
    return " ".join(" | ".join(parts).split())

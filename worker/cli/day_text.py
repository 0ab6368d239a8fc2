"""Pure: the records of one day and project as Markdown that shows what was stored and does nothing else.

Stored text stands in quotes, so that no heading or fence of it reaches the text around; what a renderer would take for
HTML or load as a picture is written as entities.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import tzinfo
from typing import Any

import msgspec

from worker.cli.printing import plain
from worker.contract import when
from worker.contract.records import items
from worker.contract.transfer import RowKind

_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|(?<=!)\[")
_ORDER = {RowKind.PROMPT: 0, RowKind.OBSERVATION: 1, RowKind.SUMMARY: 2}
_PREFIX = {RowKind.PROMPT: "P", RowKind.OBSERVATION: "", RowKind.SUMMARY: "S"}
_SAID = ("investigated", "learned", "completed", "next_steps", "notes")


class Entry(msgspec.Struct):
    """A record and its kind; ``row`` has the columns of its table."""

    kind: RowKind
    row: dict[str, Any]

    @property
    def epoch(self) -> int:
        """When, in ms; 0 if the row does not say."""
        value = self.row.get("created_at_epoch")
        return int(value) if isinstance(value, int | float) else 0

    @property
    def project(self) -> str:
        """Of the record or of its session; may be empty."""
        return str(self.row.get("project") or "")

    @property
    def place(self) -> tuple[int, int, int]:
        """Where it stands in its day."""
        return self.epoch, _ORDER[self.kind], int(self.row.get("id") or 0)

    def text(self, column: str) -> str:
        """The text of a column, "" for NULL."""
        value = self.row.get(column)
        return "" if value is None else str(value)


def day_text(project: str, day: str, entries: Iterable[Entry], zone: tzinfo | None = None) -> str:
    """The file of a day. zone: of the times shown."""
    blocks = [f"# {_line(project) or '(no project)'}, {day}", *(_record(entry, zone) for entry in entries)]
    return "\n\n".join(blocks) + "\n"


def _record(entry: Entry, zone: tzinfo | None) -> str:
    match entry.kind:
        case RowKind.OBSERVATION:
            head, parts = _observation(entry)
        case RowKind.SUMMARY:
            head, parts = _summary(entry)
        case _:
            head, parts = f"prompt {entry.text('prompt_number')}".strip(), [_quote(entry.text("prompt_text"))]
    time = when.at_ms(entry.epoch, zone).strftime("%H:%M")
    title = f"## {time} {head} (#{_PREFIX[entry.kind]}{entry.text('id')})"
    return "\n\n".join([title, *(part for part in parts if part)])


def _observation(entry: Entry) -> tuple[str, Sequence[str]]:
    lists = (("Concepts", "concepts"), ("Files read", "files_read"), ("Files modified", "files_modified"))
    return f"{_line(entry.text('type'))}: {_line(entry.text('title')) or 'Untitled'}", [
        _quote(entry.text("subtitle")),
        _quote(entry.text("narrative")),
        _quote(entry.text("text")),
        "\n".join(f"- {_line(fact)}" for fact in items(entry.text("facts"))),
        "\n".join(filter(None, (_listed(label, entry.text(column)) for label, column in lists))),
    ]


def _summary(entry: Entry) -> tuple[str, Sequence[str]]:
    lists = (("Files read", "files_read"), ("Files edited", "files_edited"))
    said = [(name.replace("_", " ").capitalize(), _quote(entry.text(name))) for name in _SAID]
    return f"session: {_line(entry.text('request')) or 'Session summary'}", [
        *(f"**{label}**\n\n{text}" for label, text in said if text),
        "\n".join(filter(None, (_listed(label, entry.text(column)) for label, column in lists))),
    ]


def _listed(label: str, column: str) -> str:
    found = items(column)
    return f"- {label}: {', '.join(map(_line, found))}" if found else ""


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in _safe(text).strip().splitlines())


def _line(text: str) -> str:
    return " ".join(_safe(text).split())


def _safe(text: str) -> str:
    return _MARKUP.sub(lambda found: "&lt;" if found[0] == "<" else "&#91;", plain(text))

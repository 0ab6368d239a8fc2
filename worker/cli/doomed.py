"""What can be deleted by a key: records, and two sorts of row that are none and hold texts all the same.

`T9` is what an agent did with a tool, `C3` what the row of a session (a conversation) itself says: its first prompt and
its title. `S` is of session summaries, which are records.
"""

import enum
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from worker.cli import keys
from worker.cli.record_line import line_of, record_line, short, short_title
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.curation import Deleted
from worker.contract.quick import QuickClient
from worker.contract.records import RecordKey, RecordKind
from worker.contract.tool_uses import ToolUse
from worker.contract.transfer import ExportQuery, RowKind

FORMS = f"{keys.FORMS}, T9, C3"


class RowSort(enum.StrEnum):
    """What is no record."""

    TOOL_USE = "tool_use"
    SESSION = "session"


_LETTERS = {RowSort.TOOL_USE: "T", RowSort.SESSION: "C"}
_RECORDS = {"": RecordKind.OBSERVATION, "S": RecordKind.SUMMARY, "P": RecordKind.PROMPT}
_TYPED = re.compile(r"([SPTCsptc]?)(-?[0-9]{1,18})")


class RowKey(NamedTuple):
    """A row that is no record: `T9` is a tool use, `C3` a session's own row."""

    kind: RowSort
    id: int

    def __str__(self) -> str:
        return f"{_LETTERS[self.kind]}{self.id}"


Key = RecordKey | RowKey


@dataclass(frozen=True, slots=True)
class Doomed:
    """What would go. line, title: for a person, secrets in them masked."""

    line: str
    title: str
    project: str | None
    created_at_epoch: int


def parse(text: str) -> Key | None:
    """The key that a person typed, or None. Ids below 1 count (`-5`, `S0`): programs do give them."""
    typed = _TYPED.fullmatch(text.strip().removeprefix("#").strip())
    if typed is None:
        return None
    letter, number = typed[1].upper(), int(typed[2])
    rows = (RowKey(sort, number) for sort in RowSort if _LETTERS[sort] == letter)
    return next(rows, None) or RecordKey(_RECORDS[letter], number)


def found(worker: QuickClient, asked: Iterable[Key]) -> dict[Key, Doomed]:
    """What is there of it, in the order of the keys. Errors: as ``QuickClient.send``."""
    there = ((key, _found(worker, key)) for key in asked)
    return {key: doomed for key, doomed in there if doomed is not None}


def delete(key: Key) -> Call[Deleted]:
    """Take it away for good."""
    if isinstance(key, RecordKey):
        return calls.delete(key)
    match key.kind:
        case RowSort.TOOL_USE:
            return calls.delete_tool_use(key.id)
        case RowSort.SESSION:
            return calls.delete_session_texts(key.id)


def counted(asked: Sequence[Key]) -> str:
    """`this record`, `2 records and 1 tool use`, `the own texts of 1 session, whose records stay`."""
    rows = [key.kind for key in asked if isinstance(key, RowKey)]
    records, uses, sessions = len(asked) - len(rows), rows.count(RowSort.TOOL_USE), rows.count(RowSort.SESSION)
    if not rows:
        return "this record" if records == 1 else f"these {records:,} records"
    parts = [_many(records, "record"), _many(uses, "tool use")]
    if sessions:
        whose = "whose" if sessions == 1 else "all of whose"
        parts.append(f"the own texts of {_many(sessions, 'session')}, {whose} records stay,")
    *first, last = [part for part in parts if part]
    return f"{', '.join(first)} and {last}" if first else last


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count > 1 else ''}" if count else ""


def _found(worker: QuickClient, key: Key) -> Doomed | None:
    if isinstance(key, RecordKey):
        record = keys.records_of(worker, [key]).get(key)
        if record is None:
            return None
        return Doomed(record_line(record), short_title(record), record.project, record.created_at_epoch)
    match key.kind:
        case RowSort.TOOL_USE:
            uses = worker.send(calls.tool_use_rows((key.id,)))  # the agent's own id may be that number, too
            return next((_of_use(key, use) for use in uses if use.id == key.id), None)
        case RowSort.SESSION:
            page = worker.send(calls.export(ExportQuery(kind=RowKind.SESSION, after=key.id - 1, limit=1)))
            rows = (msgspec.json.decode(raw, type=dict[str, Any]) for raw in page.rows)
            return next((_of_session(key, row) for row in rows if row.get("id") == key.id), None)


def _of_use(key: RowKey, use: ToolUse) -> Doomed:
    title = short(f"{use.tool_name} {use.tool_input or ''}")
    line = line_of(key, "tool use", use.project, use.created_at_epoch, title)
    return Doomed(line, title, use.project, use.created_at_epoch)


def _of_session(key: RowKey, row: dict[str, Any]) -> Doomed:
    texts = [text for text in (row.get("custom_title"), row.get("user_prompt")) if isinstance(text, str) and text]
    title = short(" / ".join(texts)) or "no texts of its own"
    project, began = str(row.get("project") or ""), int(row.get("started_at_epoch") or 0)
    return Doomed(line_of(key, "own texts", project, began, title), title, project, began)

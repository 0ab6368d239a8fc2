"""Pure: a timeline as text: what was asked, learned and concluded around a moment."""

import datetime as dt
from collections.abc import Iterator
from itertools import groupby

from worker.contract.records import RecordKind, parse_key
from worker.contract.search import Entry, Timeline
from worker.contract.tokens import shown_tokens
from worker.present import marks

_HEAD = ("| ID | Time | T | Title | Tokens |", "|----|------|---|-------|--------|")
_ANCHOR = " <- **ANCHOR**"
_PROMPT_CHARS = 100


def timeline_table(timeline: Timeline, zone: dt.tzinfo | None = None) -> str:
    """The entries by day, oldest first; the anchor is marked if it is a record."""
    if not timeline.entries:
        return (
            f"No context found around anchor ({timeline.depth_before} records before, "
            f"{timeline.depth_after} records after)"
        )
    return "\n".join([*_header(timeline), *_days(timeline, zone)]).rstrip() + "\n"


def _header(timeline: Timeline) -> Iterator[str]:
    anchor = _anchor(timeline)
    if timeline.query:
        yield f'# Timeline for query: "{marks.cell(timeline.query)}"'
        if anchor is not None:
            word = "Observation" if anchor.kind is RecordKind.OBSERVATION else anchor.kind.value.capitalize()
            yield f"**Anchor:** {word} {marks.label(anchor.key)} - {marks.cell(anchor.title)}"
    else:
        yield f"# Timeline around anchor: {marks.cell(timeline.anchor)}"
    yield (
        f"**Window:** {timeline.depth_before} records before -> {timeline.depth_after} records after "
        f"| **Items:** {len(timeline.entries)}"
    )
    yield ""


def _anchor(timeline: Timeline) -> Entry | None:
    """The anchor's entry if the anchor is a record and not a moment."""
    if timeline.anchor_index is None:
        return None
    entry = timeline.entries[timeline.anchor_index]
    return entry if parse_key(timeline.anchor) == entry.key else None


def _days(timeline: Timeline, zone: dt.tzinfo | None) -> Iterator[str]:
    anchor = _anchor(timeline)
    for day, entries in groupby(timeline.entries, key=lambda entry: marks.day(entry.created_at_epoch, zone)):
        yield from (f"### {day}", "")
        for is_table, group in groupby(entries, key=lambda entry: entry.kind is RecordKind.OBSERVATION):
            if is_table:
                yield from _table(list(group), anchor, zone)
            else:
                for entry in group:
                    yield from _line(entry, _ANCHOR if entry is anchor else "", zone)


def _table(entries: list[Entry], anchor: Entry | None, zone: dt.tzinfo | None) -> Iterator[str]:
    yield from _HEAD
    before = ""
    for entry in entries:
        time = marks.clock(entry.created_at_epoch, zone)
        shown = '"' if time == before else time
        before = time
        mark = _ANCHOR if entry is anchor else ""
        yield (
            f"| {marks.label(entry.key)} | {shown} | {marks.icon(entry)} | {marks.cell(entry.title)}{mark} "
            f"| {shown_tokens(entry.read_tokens)} |"
        )
    yield ""


def _line(entry: Entry, mark: str, zone: dt.tzinfo | None) -> Iterator[str]:
    when = f"({marks.short_day(entry.created_at_epoch, zone)}, {marks.clock(entry.created_at_epoch, zone)})"
    if entry.kind is RecordKind.PROMPT:
        yield f"**💬 User Prompt #{entry.prompt_number or '?'}** {when}{mark}"
        yield f"> {marks.cell(entry.title, _PROMPT_CHARS)}"
    else:
        yield f"**🎯 {marks.label(entry.key)}** {marks.cell(entry.title)} {when}{mark}"
    yield ""

"""Pure: the session-start context for a person at a terminal: ANSI colours, more room, the figures explained.

Source of the form: contract/context.md, section 4.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from worker.contract.records import Observation, RecordKey, Summary, items, key_of
from worker.present import choosing, context_block, marks
from worker.present.choosing import Choice, Part
from worker.present.context_block import Block, Frame

_RESET, _BOLD, _DIM = "\x1b[0m", "\x1b[1m", "\x1b[2m"
_CYAN, _YELLOW, _GREEN, _BLUE, _MAGENTA = "\x1b[36m", "\x1b[33m", "\x1b[32m", "\x1b[34m", "\x1b[35m"
_RULE = "─" * 60
_FIELD_COLOURS = {"Investigated": _BLUE, "Learned": _YELLOW, "Completed": _GREEN, "Next Steps": _MAGENTA}
_TITLE_CHARS = 100
_MOST_TOLD_CHARS = 400


def coloured(choice: Choice, frame: Frame, block: Block) -> str:
    """What the block holds."""
    return "\n".join(_lines(choice, frame, block)).rstrip() + "\n"


def _lines(choice: Choice, frame: Frame, block: Block) -> Iterator[str]:
    keys = {part: {step.key for step in block.taken if step.part is part} for part in Part}
    shown = [offer.record for offer in choice.offers if offer.key in keys[Part.ROW]]
    told = [summary for summary in choice.sessions if key_of(summary) in keys[Part.SESSION]]
    project = marks.one_line(frame.projects[-1], 80)
    yield ""
    yield f"{_BOLD}{_CYAN}[{project}] recent context, {context_block.moment(frame)}{_RESET}"
    yield f"{_DIM}{_RULE}{_RESET}"
    if not choice.steps:
        yield f"{_DIM}No previous sessions found for this project yet.{_RESET}"
        if frame.viewer and frame.settings.welcome and not (choice.offers or choice.sessions):
            yield f"{_DIM}Memory is on. Look at it with claude-mem tui, or at {frame.viewer}{_RESET}"
        return
    yield f"{_DIM}Legend: 🎯 session | " + " | ".join(context_block.legend()) + _RESET
    yield ""
    yield from _economics(shown, frame, block)
    for day, group in groupby(_entries(shown, told, choice), key=lambda entry: marks.day(entry[0], frame.zone)):
        yield f"{_BOLD}{_CYAN}{day}{_RESET}"
        yield ""
        yield from _day(list(group), keys[Part.FULL] | keys[Part.TOLD], frame)
        yield ""
    for summary in choice.sessions:
        if key_of(summary) in keys[Part.LAST_SUMMARY]:
            for name, text in choosing.said(summary):
                yield f"{_FIELD_COLOURS[name]}{name}:{_RESET} {marks.harmless(text).strip()}"
                yield ""
    if keys[Part.LAST_MESSAGE]:
        yield f"{_BOLD}Previously{_RESET}"
        yield f"{_DIM}{marks.harmless(frame.last_said).strip()}{_RESET}"
        yield ""
    left = len({step.key for step in choice.steps} - {step.key for step in block.taken})
    if left:
        yield f"{_DIM}{left} more did not fit into {frame.settings.budget:,} tokens.{_RESET}"


def _entries(
    shown: Sequence[Observation], told: Sequence[Summary], choice: Choice
) -> list[tuple[int, Observation | Summary]]:
    entries: list[tuple[int, Observation | Summary]] = [(record.created_at_epoch, record) for record in shown]
    entries += [(choice.began[summary.id], summary) for summary in told]
    return sorted(entries, key=lambda entry: (entry[0], entry[1].id))


def _day(entries: Sequence[tuple[int, Observation | Summary]], full: set[RecordKey], frame: Frame) -> Iterator[str]:
    file, before = "", ""
    for epoch_ms, record in entries:
        time = marks.clock(epoch_ms, frame.zone)
        if isinstance(record, Summary):
            request = marks.one_line(record.request or "Session started", _TITLE_CHARS)
            day = marks.short_day(epoch_ms, frame.zone)
            yield f"{_YELLOW}#S{record.id}{_RESET} {request} {_DIM}({day}, {time}){_RESET}"
            for name, text in choosing.told(record) if key_of(record) in full else ():
                said = marks.one_line(text, _MOST_TOLD_CHARS)
                yield f"       {_FIELD_COLOURS[name]}{name}:{_RESET} {_DIM}{said}{_RESET}"
            file, before = "", ""
            continue
        touched = next(iter((*items(record.files_modified), *items(record.files_read))), "General")
        if touched != file:
            yield f"{_DIM}{marks.one_line(touched, _TITLE_CHARS)}{_RESET}"
            file, before = touched, ""
        shown = " " * len(time) if time == before else time
        before = time
        yield _row(record, shown, frame)
        if key_of(record) in full:
            for text in choosing.detail(record, frame.settings.full_field):
                for line in marks.harmless(text).strip().splitlines():
                    yield f"       {_DIM}{line.rstrip()}{_RESET}"


def _row(record: Observation, time: str, frame: Frame) -> str:
    title = marks.one_line(record.title or "Untitled", _TITLE_CHARS)
    line = f"  {_DIM}#{record.id}{_RESET}  {time}  {marks.type_icon(record.type)}  {title}"
    if frame.settings.show_read:
        line += f" {_DIM}(~{(frame.read or {}).get(record.id, 0)}t){_RESET}"
    if frame.settings.show_work and record.discovery_tokens:
        line += f" {_DIM}({marks.type_work_icon(record.type)} {record.discovery_tokens:,} t){_RESET}"
    return line


def _economics(shown: Sequence[Observation], frame: Frame, block: Block) -> Iterator[str]:
    if not shown or not frame.settings.tells_costs:
        return
    read, work = context_block.read_and_work(shown, frame)
    yield f"{_BOLD}{_CYAN}Context Economics{_RESET}"
    yield f"{_DIM}  Given now: {block.tokens:,} tokens; in full: {len(shown)} observations, {read:,} tokens{_RESET}"
    yield f"{_DIM}  Work investment: {work:,} tokens spent on research, building, and decisions{_RESET}"
    if work > read and (frame.settings.show_savings or frame.settings.show_percent):
        parts = []
        if frame.settings.show_savings:
            parts.append(f"{work - read:,} tokens")
        if frame.settings.show_percent:
            parts.append(f"{context_block.percent(read, work)}% reduction from reuse")
        yield f"{_GREEN}  Your savings: {', '.join(parts)}{_RESET}"
    yield ""

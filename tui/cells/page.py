"""Pure: a record in full, as lines of pieces in a given width."""

from collections.abc import Iterator

from tui.cells import fit
from tui.cells.clean import one_line, safe
from tui.cells.look import Look, full, short
from tui.cells.marks import mark, worth
from tui.state.reading import JUMPS, Reading
from worker.contract.records import Observation, Prompt, Record, Summary, items, key_of
from worker.contract.search import Entry
from worker.contract.tokens import estimate_tokens

Piece = tuple[str, str]
Line = list[Piece]
ROLES = ("heading", "meta", "worth", "subtitle", "label", "bullet", "chip", "trouble", "hint")
READABLE = 88
"""No line of prose is longer, however wide the screen: longer ones are hard to follow."""
_MOST_KIND = 60
BRIEF = 6_000
"""Characters of each field in the preview; Enter shows more."""
FULL = 64_000
"""Characters of each field on the whole screen: a thousand lines. What is longer is a log, and has to be laid out in
one go; `claude-mem show` has all of it."""
_HEADING = 2_000
"""Characters of a title."""


def lines(record: Record, entry: Entry | None, room: int, lk: Look, *, brief: bool) -> list[Line]:
    """The record, laid out. entry: what the list knows of it (its costs). brief: as a preview."""
    room = min(room, READABLE)
    body = _body(record, lk, brief)
    return [*_top(record, entry, room, lk), *(line for block in body for line in _block(block, room, lk))]


def related(reading: Reading, room: int, lk: Look) -> list[Line]:
    """What is related to the record, each with the digit that jumps to it."""
    room = min(room, READABLE)
    groups = (
        ("Asked for in", (reading.prompt,) if reading.prompt is not None else ()),
        ("Same session", reading.session),
        ("Same files", reading.files),
    )
    out: list[Line] = []
    number = 0
    for label, entries in groups:
        shown = entries[: JUMPS - number]
        if shown:
            out += [[], [("label", label)]]
        for entry in shown:
            number += 1
            sign = mark(entry.type, lk.glyphs)
            after = f" {short(lk, entry.created_at_epoch)}"
            lead = f"{number}  {fit.right(str(entry.key), 6)} "
            title = fit.left(one_line(entry.title), max(room - fit.width(lead + after) - 2, 4), lk.glyphs.ellipsis)
            out.append([("chip", lead), (sign.role, f"{sign.letter} "), ("text", title), ("meta", after)])
    return out


def trouble(text: str, room: int) -> list[Line]:
    """Why there is no record to show."""
    return [[("trouble", line)] for line in fit.wrap(one_line(text), min(room, READABLE))]


def _top(record: Record, entry: Entry | None, room: int, lk: Look) -> list[Line]:
    kind, title = _kind(record), _title(record)
    sign = mark(kind, lk.glyphs)
    first: list[Line] = []
    for number, text in enumerate(fit.wrap(title, room - 2)):
        lead: Piece = (sign.role, sign.letter + " ") if number == 0 else ("text", "  ")
        first.append([lead, ("heading", text)])
    dot = f" {lk.glyphs.dot} "
    parts = [
        f"#{key_of(record)}",
        kind.replace("_", " "),
        full(lk, record.created_at_epoch),
        one_line(record.project or ""),
    ]
    session = record.content_session_id if isinstance(record, Prompt) else record.memory_session_id
    parts.append(f"session {one_line(session)[:8]}" if session else "")
    parts.append(f"prompt {record.prompt_number}" if record.prompt_number and not isinstance(record, Prompt) else "")
    meta: list[Line] = [
        [("meta", text)] for text in _joined([part for part in parts if part], dot, room, lk.glyphs.ellipsis)
    ]
    cost = fit.first([_worth(record, entry, lk, brief=brief) for brief in (False, True)], room, lk.glyphs.ellipsis)
    gap = room - sum(fit.width(text) for _, text in first[-1]) - fit.width(cost)
    if len(first) == 1 and gap >= 3:
        first[0] += [("text", " " * gap), ("worth", cost)]
        return [*first, *meta]
    return [*first, *meta, [("worth", cost)]]


def _joined(parts: list[str], dot: str, room: int, ellipsis: str) -> Iterator[str]:
    """The parts on as few lines as they need, broken between them."""
    line = ""
    for part in parts:
        if line and fit.width(line + dot + part) > room:
            yield fit.cut(line, room, ellipsis)
            line = ""
        line = line + dot + part if line else part
    yield fit.cut(line, room, ellipsis)


def _worth(record: Record, entry: Entry | None, lk: Look, *, brief: bool) -> str:
    if entry is not None:
        return worth(entry.read_tokens, entry.discovery_tokens, lk.glyphs, brief=brief)
    read = sum(estimate_tokens(text) for text in _texts(record))
    return worth(read, 0 if isinstance(record, Prompt) else record.discovery_tokens or 0, lk.glyphs, brief=brief)


def _texts(record: Record) -> list[str]:
    match record:
        case Observation():
            columns = (record.title, record.subtitle, record.narrative, record.facts)
        case Summary():
            columns = (record.request, record.investigated, record.learned, record.completed, record.next_steps)[:4]
        case Prompt():
            columns = (record.prompt_text, None, None, None)
    return [text for text in columns if text]


def _kind(record: Record) -> str:
    match record:
        case Observation():
            return one_line(record.type[:_MOST_KIND])
        case Summary():
            return "session"
        case Prompt():
            return "prompt"


def _title(record: Record) -> str:
    match record:
        case Observation():
            return one_line((record.title or record.subtitle or record.narrative or "untitled")[:_HEADING])
        case Summary():
            return one_line((record.request or "session summary")[:_HEADING])
        case Prompt():
            return f"prompt {record.prompt_number}"


Block = tuple[str, str, str | tuple[str, ...]]
"""(form, label, text or items)."""


def _body(record: Record, lk: Look, brief: bool) -> Iterator[Block]:
    match record:
        case Observation():
            blocks: list[Block] = [
                ("subtitle", "", record.subtitle or ""),
                ("prose", "", record.narrative or record.text or ""),
                ("items", "Facts", items(record.facts)),
                ("chips", "Concepts", items(record.concepts)),
                ("files", "Changed", items(record.files_modified)),
                ("files", "Read", items(record.files_read)),
            ]
        case Summary():
            blocks = [
                ("prose", "Investigated", record.investigated or ""),
                ("prose", "Learned", record.learned or ""),
                ("prose", "Completed", record.completed or ""),
                ("prose", "Next steps", record.next_steps or ""),
                ("prose", "Notes", record.notes or ""),
                ("files", "Changed", items(record.files_edited)),
                ("files", "Read", items(record.files_read)),
            ]
        case Prompt():
            blocks = [("prose", "", record.prompt_text)]
    for form, label, content in blocks:
        if not content:
            continue
        shown, left_out = _bounded(content, BRIEF if brief else FULL)
        if left_out and isinstance(shown, str):
            shown = shown.rstrip() + lk.glyphs.ellipsis
        yield form, label, shown
        if left_out and brief:
            yield "hint", "", f"{lk.key('open', 'Enter')} opens the rest"
        elif left_out:
            yield "hint", "", f"{left_out:,} more characters; `claude-mem show {key_of(record)}` prints all"


def _bounded(content: str | tuple[str, ...], most: int) -> tuple[str | tuple[str, ...], int]:
    """The first ``most`` characters of a field, and how many are left out."""
    if isinstance(content, str):
        return content[:most], max(len(content) - most, 0)
    shown: list[str] = []
    room = most
    for item in content:
        if room <= 0:
            break
        shown.append(item[:room])
        room -= len(item) + 1  # a line each, empty ones too
    return tuple(shown), sum(map(len, content)) - sum(map(len, shown))


def _block(block: Block, room: int, lk: Look) -> Iterator[Line]:
    form, label, content = block
    yield []
    if label:
        yield [("label", label)]
    if isinstance(content, str):
        role = form if form in ("subtitle", "hint") else "text"
        for text in fit.wrap(safe(content).strip("\n"), room):
            yield [(role, text)]
        return
    if form == "chips":
        for text in _joined([one_line(item) for item in content], f" {lk.glyphs.dot} ", room, lk.glyphs.ellipsis):
            yield [("chip", text)]
        return
    for item in content:
        for number, text in enumerate(fit.wrap(one_line(item), room - 2)):
            yield [
                ("bullet", f"{lk.glyphs.bullet} " if number == 0 else "  "),
                ("chip" if form == "files" else "text", text),
            ]

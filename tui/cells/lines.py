"""Pure: lists, records and how we stand, as lines to be read out: one line an item, no signs that have to be seen."""

import re
from collections.abc import Iterator, Sequence

from tui.cells import words
from tui.cells.clean import one_line, safe
from tui.cells.glyphs import ASCII
from tui.cells.look import Look, full
from tui.cells.marks import grouped
from tui.cells.plain import whole
from tui.state.basket import Basket
from tui.state.model import Link, ViewState
from worker.contract.records import Record
from worker.contract.search import Entry

HELP = (
    "Type words to search for them. Filters such as type:bugfix since:7d project:NAME work too.",
    "n: more of the list.",
    "A number, such as 3: the whole record.",
    "t 3: what came before and after it.",
    "m 3: mark it, or unmark it. b: what is marked, and its cost in tokens.",
    "s 3: only its project. s: all projects.",
    "a: all records, newest first. r: read anew.",
    "c: what memory costs. l: the latest sessions. p: what the next session is given. w: how everything is.",
    "k: the corpora. k 2: the second of them. k 2 why is it so?: ask it that.",
    "/n: search for a single letter or a number, here for n.",
    "h: this help. q: quit.",
)
_LABEL = re.compile(r"\*\*(.+)\*\*")


def greeting(state: ViewState) -> list[str]:
    """Where we are, how much there is, and how to go on."""
    said = [f"claude-mem, plain. {state.place}{', demo memory' if state.demo else ''}."]
    if state.counts is not None:
        held = state.counts
        said.append(
            f"{grouped(held.observations)} observations, {grouped(held.summaries)} sessions, "
            f"{grouped(held.prompts)} prompts."
        )
    if state.file_only:
        said += [words.banner(state)[0], "The memory is only read from its file; start anew for the worker."]
    if state.guarded:
        said.append("Started with --read-only.")
    return [*said, "Type words to search, h for help, q to quit."]


def trouble(state: ViewState) -> list[str]:
    """Why there is nobody to ask."""
    return [f"The worker does not answer: {one_line(state.trouble)}"]


def headline(state: ViewState, look: Look) -> list[str]:
    """How much was found, how, and what is to be known about it."""
    if not state.rows.total:
        return [text for role, text in words.note(state, ASCII) if text and role != "key"] or ["Nothing here."]
    found = words.found(state, ASCII, roomy=False).replace(f" {ASCII.dot} ", ", ")
    long = [one_line(note) for note in state.notes if one_line(note) not in found]
    return [f"{found}, {words.scope(state)}.", *long]


def rows(found: Sequence[Entry], first: int, basket: Basket, look: Look, here: Entry | None = None) -> Iterator[str]:
    """`3. bugfix 4821, Wed 25 Nov 14:32, farm-api, 812 tokens: title`. here: the one that was asked for."""
    for number, entry in enumerate(found, first):
        place = f", {one_line(entry.project)}" if entry.project else ""
        signs = ("marked, " if basket.has(entry.key) else "") + (
            "this one, " if here is not None and here.key == entry.key else ""
        )
        when, kind = full(look, entry.created_at_epoch), one_line(entry.type).replace("_", " ")
        cost = f"{grouped(entry.read_tokens)} tokens"
        yield f"{number}. {signs}{kind} {entry.key}, {when}{place}, {cost}: {one_line(entry.title)}"


def record(read: Record) -> list[str]:
    """All of a record."""
    return [_LABEL.sub(r"\1:", line) if _LABEL.fullmatch(line) else line for line in _lines(read)]


def _lines(read: Record) -> list[str]:
    first, *rest = safe(whole(read)).split("\n")
    return [first.removeprefix("## "), *rest]


def basket(marks: Basket) -> list[str]:
    """What is marked, and what it costs."""
    if not marks.entries:
        return ["Nothing is marked; m 3 marks the third."]
    left = marks.budget_tokens - marks.read_tokens
    room = f"{grouped(left)} left" if left >= 0 else f"{grouped(-left)} too many"
    return [
        *(f"{entry.key}: {one_line(entry.title)}, {grouped(entry.read_tokens)} tokens" for entry in marks.entries),
        f"{len(marks.entries)} marked, {grouped(marks.read_tokens)} tokens to read, "
        f"budget {grouped(marks.budget_tokens)}, {room}.",
    ]


def meanwhile(before: tuple[Link, int], state: ViewState) -> list[str]:
    """What happened since ``before`` (link, new records) that is worth a word."""
    link, fresh = before
    said = []
    if state.link is Link.LOST and link is not Link.LOST:
        said.append(f"Connection lost: {one_line(state.trouble)}. Trying again by itself.")
    if state.link is Link.LIVE and link is Link.LOST:
        said.append("Connected again.")
    if state.fresh > fresh:
        said.append(f"{state.fresh} new since this list was read; r reads it anew.")
    return said

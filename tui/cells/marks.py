"""Pure: what a record is and what it costs, in one cell or a few."""

import msgspec

from tui.cells.glyphs import Glyphs
from worker.contract.tokens import shown_tokens


class Mark(msgspec.Struct, frozen=True):
    """letter: one cell. role: names its colour."""

    letter: str
    role: str


_MARKS = {
    "bugfix": Mark("B", "bugfix"),
    "feature": Mark("F", "feature"),
    "refactor": Mark("R", "refactor"),
    "change": Mark("C", "change"),
    "decision": Mark("D", "decision"),
    "security_alert": Mark("!", "security"),
    "security_note": Mark("!", "security"),
    "session": Mark("S", "session"),
    "prompt": Mark("P", "prompt"),
}
ROLES = (*sorted({mark.role for mark in _MARKS.values()}), "discovery", "other")


def mark(kind: str, glyphs: Glyphs) -> Mark:
    """The mark of an observation type, a session or a prompt."""
    if kind == "discovery":
        return Mark(glyphs.discovery, "discovery")
    return _MARKS.get(kind) or Mark(glyphs.dot, "other")


def legend(glyphs: Glyphs) -> list[tuple[Mark, str]]:
    """Each mark once with what it means."""
    known = [(sign, name) for name, sign in _MARKS.items() if name != "security_note"]
    return [*known, (mark("discovery", glyphs), "discovery"), (mark("", glyphs), "any other")]


def compact(count: int) -> str:
    """At most five cells: `812`, `9.4k`, `120k`, `3.1M`."""
    if count < 1000:
        return str(count)
    for size, unit in ((1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")):
        value = count / size
        if value < 9.95:
            return f"{value:.1f}{unit}"
        if value < 999.5:
            return f"{value:.0f}{unit}"
    return "lots"


def read_badge(tokens: int) -> str:
    """What it costs to read: `~812`, `~9.4k`."""
    return shown_tokens(tokens) if tokens < 1000 else f"~{compact(tokens)}"


def work_badge(tokens: int) -> str:
    """What it once cost to find out: `9.4k`, `-` where that is not known."""
    return compact(tokens) if tokens > 0 else "-"


def ratio_badge(read_tokens: int, work_tokens: int, glyphs: Glyphs) -> str:
    """Work for each token of reading, at most four cells: `8.4×`, `84×`, `2k×`, `-` where the work is not known."""
    if work_tokens <= 0:
        return "-"
    ratio = work_tokens / max(read_tokens, 1)
    if ratio < 9.95:
        return f"{ratio:.1f}{glyphs.times}"
    if ratio < 999.5:
        return f"{ratio:.0f}{glyphs.times}"
    return f"{ratio / 1000:.0f}k{glyphs.times}" if ratio < 99_500 else "lots"


def grouped(count: int) -> str:
    """`12,480`."""
    return f"{count:,}"


def worth(read_tokens: int, work_tokens: int, glyphs: Glyphs, *, brief: bool = False) -> str:
    """`read ~812 · found for 9.4k (12× less to read)`: the reason to remember at all. brief: `(12×)`."""
    text = f"read {read_badge(read_tokens)}"
    if work_tokens <= 0:
        return text
    ratio = work_tokens / max(read_tokens, 1)
    less = "" if brief else " less to read"
    times = f" ({ratio:.0f}{glyphs.times}{less})" if ratio >= 2 else ""
    return f"{text} {glyphs.dot} found for {compact(work_tokens)}{times}"

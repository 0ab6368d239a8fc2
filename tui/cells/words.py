"""Pure: the sentences of the frame: what was found, why nothing was, how we stand with the worker."""

from tui.cells.clean import one_line
from tui.cells.glyphs import Glyphs
from tui.cells.marks import grouped
from tui.state.model import Link, View, ViewState
from worker.contract.records import RecordKind

_DEGRADED = {
    "no_fulltext": "slow search: no full text index",
    "index_starting": "keyword only: index starting",
    "index_failed": "keyword only: index failed",
}
_KINDS = {
    RecordKind.OBSERVATION: "observations",
    RecordKind.SUMMARY: "sessions",
    RecordKind.PROMPT: "prompts",
}


def scope(state: ViewState) -> str:
    """`all projects`, or the project."""
    return one_line(state.ask.project) if state.ask.project is not None else "all projects"


def kinds(state: ViewState) -> str:
    """`observations`; nothing for all kinds."""
    return ", ".join(_KINDS[kind] for kind in state.ask.kinds)


def found(state: ViewState, glyphs: Glyphs) -> str:
    """`38 hits · keyword · 14 ms`."""
    if state.slow or (state.waiting and state.answered is None and state.link is Link.LIVE):
        return f"searching{glyphs.ellipsis}"
    if state.answered is None or state.empty_memory:
        return ""
    if state.view is View.TIMELINE and state.track is not None:
        return f"timeline around {state.track.anchor} {glyphs.dot} oldest first"
    count = state.rows.total
    if state.answered.bare:
        parts = [f"{grouped(count)} {'record' if count == 1 else 'records'}", "newest first"]
    else:
        parts = [f"{grouped(count)} {'hit' if count == 1 else 'hits'}", state.strategy]
    parts.append(f"{state.took_ms:.0f} ms")
    return f" {glyphs.dot} ".join(parts)


def degraded(state: ViewState) -> str:
    """Why the answer is less than it could be; nothing if it is not."""
    return _DEGRADED.get(state.degraded, state.degraded)


def link(state: ViewState, glyphs: Glyphs) -> tuple[str, str]:
    """(role, text): how we stand with the worker."""
    match state.link:
        case Link.STARTING:
            return "away", f"{glyphs.away} starting worker{glyphs.ellipsis}"
        case Link.LIVE:
            return "live", f"{glyphs.live} live"
        case Link.LOST:
            return "lost", f"{glyphs.away} reconnecting{glyphs.ellipsis}"
        case Link.FAILED:
            return "lost", f"{glyphs.away} no worker"


def banner(state: ViewState) -> str:
    """What lasts and stands in the way; nothing if all is well."""
    match state.link:
        case Link.FAILED:
            return f"The worker does not answer: {one_line(state.trouble)}. Press r to try again."
        case Link.LOST:
            return f"Connection lost ({one_line(state.trouble)}). Trying again by itself; r starts the worker anew."
    return f"Search failed: {one_line(state.failed)}. Press r to try again." if state.failed else ""


Note = list[tuple[str, str]]
"""Lines of (role, text)."""


def note(state: ViewState, glyphs: Glyphs) -> Note:
    """What stands in place of an empty list: why it is empty, and the key that helps."""
    if state.empty_memory:
        return _first_run(state)
    if state.answered is None:
        return _before(state, glyphs)
    if state.rows.total or state.waiting:
        return []
    lines: Note = []
    asked = state.answered
    lines.append(("strong", f"No hits for {one_line(asked.text)}" if not asked.bare else "Nothing here"))
    narrowed = [f"project {one_line(asked.project)}"] if asked.project is not None else []
    narrowed += [f"only {kinds(state)}"] if asked.kinds else []
    if narrowed:
        lines += [("text", ""), ("text", "Searched in: " + ", ".join(narrowed))]
    lines.append(("text", ""))
    if not asked.bare:
        lines.append(("key", "Esc in the search box empties it"))
    if asked.project is not None:
        lines.append(("key", "s searches all projects"))
    if asked.kinds:
        lines.append(("key", "t searches all kinds"))
    return lines


def _before(state: ViewState, glyphs: Glyphs) -> Note:
    if state.link is Link.STARTING:
        return [
            ("strong", f"Starting the worker{glyphs.ellipsis}"),
            ("text", ""),
            ("text", "You can type already; it is searched for as soon as the worker answers."),
        ]
    if state.link in (Link.FAILED, Link.LOST) or state.failed:
        return [("strong", "Nothing to show yet"), ("text", ""), ("key", "r tries again"), ("key", "? shows all keys")]
    return []


def _first_run(state: ViewState) -> Note:
    if state.demo:
        return [("strong", "The demo memory is still being written"), ("text", ""), ("key", "r looks again")]
    return [
        ("strong", "No memory yet"),
        ("path", one_line(state.place)),
        ("text", ""),
        ("text", "claude-mem remembers what your coding agents learn while they work,"),
        ("text", "and gives it back to them, and to you, when it matters again."),
        ("text", ""),
        ("key", "d opens a demo memory to look around in"),
        ("key", "r looks again, once an agent has worked"),
    ]

"""Pure: the sentences of the frame: what was found, why nothing was, how we stand with the worker."""

from tui.cells.clean import one_line
from tui.cells.glyphs import Glyphs
from tui.cells.marks import grouped
from tui.state import chips, scopes
from tui.state.keys import written
from tui.state.model import Link, View, ViewState
from worker.contract.records import RecordKind
from worker.contract.search import Order

_DEGRADED = {
    "no_fulltext": "no text index",
    "index_starting": "words only, index starting",
    "index_failed": "words only, index failed",
    "index_slow": "words only, index slow",
}
"""Said in place of the strategy, since it is about the answer that stands there."""
_STRATEGIES = {"keyword": "words", "hybrid": "words + meaning", "semantic": "meaning"}
_ORDERS = {
    Order.RELEVANCE: ("newest first", "best first"),
    Order.DATE_DESC: ("newest first", "newest first"),
    Order.DATE_ASC: ("oldest first", "oldest first"),
    Order.READ_DESC: ("most to read first", "most to read first"),
    Order.READ_ASC: ("least to read first", "least to read first"),
    Order.WORK_DESC: ("most work first", "most work first"),
    Order.WORK_ASC: ("least work first", "least work first"),
    Order.RATIO_DESC: ("best ratio first", "best ratio first"),
    Order.RATIO_ASC: ("worst ratio first", "worst ratio first"),
}
"""Without words, with words."""
ROOMY = 64
"""Cells of a line from which on the search bar tells more than how much was found."""
_SHORT_NOTE = 44
"""Characters that a note may have to stand beside the search box: a span of time with its zone has."""
_KINDS = {
    RecordKind.OBSERVATION: "observations",
    RecordKind.SUMMARY: "sessions",
    RecordKind.PROMPT: "prompts",
}


def scope(state: ViewState) -> str:
    """`all projects`, the project with or without its worktrees, or the session."""
    return one_line(scopes.told(scopes.here(state.ask)))


def kinds(state: ViewState) -> str:
    """`observations`; nothing for all kinds."""
    return ", ".join(_KINDS[kind] for kind in state.ask.kinds)


def found(state: ViewState, glyphs: Glyphs, *, brief: bool = False, roomy: bool = True) -> str:
    """`38 hits · keyword · 14 ms`. brief: only how many, and what is wrong with them; the notes are told elsewhere.

    A short note on how the question was understood stands there too, where it is not ``roomy`` in place of the rest.
    """
    if state.slow or (state.waiting and state.answered is None and state.link is Link.LIVE):
        return f"searching{glyphs.ellipsis}"
    if state.answered is None or state.empty_memory:
        return ""
    dot = f" {glyphs.dot} "
    if state.view is View.TIMELINE and state.track is not None:
        around = f"timeline around {state.track.anchor}"
        return around if brief else f"{around}{dot}oldest first"
    count = state.rows.total
    words = not state.answered.bare
    noun = ("hit" if words else "record") + ("" if count == 1 else "s")
    less = _less(state)
    how = less or (strategy(state, glyphs) if words else order(state))
    if brief:
        return dot.join([f"{grouped(count)} {noun}", *([less.rpartition(", ")[2]] if less else [])])
    said = short_notes(state)
    rest = [how, f"{state.took_ms:.0f} ms"] if roomy or not said else []
    return dot.join([f"{grouped(count)} {noun}", *said, *rest])


def short_notes(state: ViewState) -> list[str]:
    """How the question was understood, as far as it is said in few words."""
    return [one_line(note) for note in state.notes if len(note) <= _SHORT_NOTE] if state.answered is not None else []


def _less(state: ViewState) -> str:
    """Why the answer is less than it could be; empty when it is not."""
    if state.degraded == "index_starting" and state.strategy in ("hybrid", "semantic"):
        # What has vectors already did have its say.
        return f"{_STRATEGIES[state.strategy]}, index filling"
    return _DEGRADED.get(state.degraded, one_line(state.degraded))


def strategy(state: ViewState, glyphs: Glyphs) -> str:
    """By what the hits on the screen were found: `words…` while those by meaning are on their way."""
    if state.merging:
        return "words" + glyphs.ellipsis
    return _STRATEGIES.get(state.strategy, one_line(state.strategy))


def order(state: ViewState) -> str:
    """`newest first`: the order of what is shown."""
    asked = state.answered or state.ask
    return _ORDERS[asked.order][not asked.bare]


def link(state: ViewState, glyphs: Glyphs) -> tuple[str, str]:
    """(role, text): how we stand with the worker."""
    match state.link:
        case Link.STARTING if state.remote:
            return "away", f"{glyphs.away} connecting{glyphs.ellipsis}"
        case Link.LIVE if state.file_only:
            return "lost", f"{glyphs.away} file only"
        case Link.STARTING:
            return "away", f"{glyphs.away} starting worker{glyphs.ellipsis}"
        case Link.LIVE if state.live.paused:
            return "away", f"{glyphs.away} paused"
        case Link.LIVE if state.live.on:
            return "live", f"{glyphs.live} following"
        case Link.LIVE:
            return "live", f"{glyphs.live} live"
        case Link.LOST if state.silent:
            return "lost", f"{glyphs.away} no answer"
        case Link.LOST:
            return "lost", f"{glyphs.away} reconnecting{glyphs.ellipsis}"
        case Link.FAILED:
            return "lost", f"{glyphs.away} no worker"


def brief_link(state: ViewState, glyphs: Glyphs) -> tuple[str, str]:
    """The same in a sign and a word, for a head without room."""
    role, text = link(state, glyphs)
    sign = glyphs.live if role == "live" else glyphs.away
    match state.link:
        case Link.STARTING:
            return role, f"{sign} wait"
        case Link.LOST | Link.FAILED:
            return role, f"{sign} lost"
        case Link.LIVE if state.file_only:
            return role, f"{sign} file"
    return role, text


def banner(state: ViewState, *, typing: bool = False) -> tuple[str, str]:
    """What lasts and stands in the way, and the way out; nothing if all is well.

    typing: letters go to the search box.
    """
    again = key_of(state, "refresh", "r")
    key = f"Tab, then {again}," if typing else again
    by_itself = f"Trying again by itself; {key} does so at once."
    match state.link:
        case Link.LOST if state.silent:
            return "The worker takes questions and does not answer.", f"It is waited for; {key} looks for it anew."
        case Link.FAILED if state.remote:
            return _sentence(state.trouble), by_itself
        case Link.LOST if state.remote:
            return f"Connection lost ({one_line(state.trouble)}).", by_itself
        case Link.FAILED:
            return f"The worker does not answer: {_sentence(state.trouble)}", by_itself
        case Link.LOST:
            lost = f"Connection lost ({one_line(state.trouble)})."
            return lost, f"Trying again by itself; {key} starts the worker anew."
    if state.file_only and not state.failed:
        return f"No worker: {_sentence(state.file_only)}", f"The memory is only read from its file. {by_itself}"
    if state.failed and state.misread:
        return _sentence(state.failed), ""
    if state.failed:
        return f"Search failed: {_sentence(state.failed)}", f"{key} tries again."
    # A long note would take the search box its place.
    return " ".join(_sentence(note) for note in state.notes if len(note) > _SHORT_NOTE), ""


def as_of(state: ViewState, moment: str, *, listed: bool = True) -> str:
    """That it is the past that is looked at. listed: in the list, where a key leads back."""
    key = key_of(state, "as_of", "a")
    if not listed:
        return f"AS OF {moment}: nothing later counts. In the list {key} returns to now."
    return f"AS OF {moment}: nothing later is shown or counted. {key} returns to now."


def shows_now(moment: str) -> str:
    """That this is not of the past that the list is looked at from."""
    return f"This shows how things are now, though the list is as of {moment}."


def key_of(state: ViewState, action: str, usual: str) -> str:
    """The key of an action in force; ``usual`` where nobody chose another."""
    own = state.keys.get(action)
    return written(own[0]) if own else usual


def _sentence(text: str) -> str:
    """The text, with a full stop unless it ends one way or another."""
    line = one_line(text)
    return line if line.endswith((".", "!", "?")) else f"{line}."


Note = list[tuple[str, str]]
"""Lines of (role, text); in those of role ``key`` two blanks end the keys."""


def note(state: ViewState, glyphs: Glyphs, *, typing: bool = False) -> Note:
    """What stands in place of an empty list: why it is empty, and the key that helps.

    typing: letters go to the search box, so that a key is first of all Tab.
    """
    tab = "Tab " if typing else ""
    if state.empty_memory:
        return _first_run(state, tab)
    if state.answered is None:
        return _before(state, glyphs, tab)
    if state.rows.total or state.waiting:
        return []
    asked = state.answered
    everywhere = asked.project is None and not asked.session
    asked_of = one_line(scopes.told(scopes.here(asked)))
    narrowed = [] if everywhere else [asked_of if asked.session else f"project {asked_of}"]
    narrowed += [f"only {kinds(state)}"] if asked.kinds else []
    lines: Note = [("strong", f"No hits for {one_line(asked.text)}" if not asked.bare else "Nothing here")]
    lines += [("text", _sentence(note)) for note in state.notes if not note.startswith(("since ", "until "))]
    lines += [("text", "Searched in: " + ", ".join(narrowed))] if narrowed else []
    lines.append(("text", ""))
    lines += [("key", f"{key_of(state, 'clear', 'Esc')}  empties the search box")] if not asked.bare else []
    if (last := chips.last(asked.text)) is not None:
        # A filter that nothing passes, such as a mistyped type, looks like words that stand nowhere.
        lines.append(("key", f"{tab}{key_of(state, 'unfilter', 'F')}  takes out {one_line(str(last))}"))
    wider = one_line(scopes.told(scopes.following(state)))
    lines += [] if everywhere else [("key", f"{tab}{key_of(state, 'scope', 's')}  searches {wider}")]
    lines += [("key", f"{tab}{key_of(state, 'kinds', 't')}  goes on to the next kind of record")] if asked.kinds else []
    return lines


def _before(state: ViewState, glyphs: Glyphs, tab: str) -> Note:
    if state.link is Link.STARTING and state.remote:
        return [("strong", f"Looking for the worker{glyphs.ellipsis}"), ("path", one_line(state.place))]
    if state.link is Link.STARTING:
        return [
            ("strong", f"Starting the worker{glyphs.ellipsis}"),
            ("text", "You can type already; it is searched for as soon as the worker answers."),
        ]
    if state.link in (Link.FAILED, Link.LOST) or state.failed:
        keys: Note = [
            ("key", f"{tab}{key_of(state, 'refresh', 'r')}  tries again"),
            ("key", f"{tab}{key_of(state, 'guide', '?')}  shows all keys"),
        ]
        if state.link is Link.FAILED and not (state.remote or state.demo):
            keys.insert(1, ("key", f"{tab}{key_of(state, 'demo', 'M')}  opens a demo memory"))
        return [("strong", "Nothing to show yet"), ("text", ""), *keys]
    return []


def _first_run(state: ViewState, tab: str) -> Note:
    if state.demo:
        return [
            ("strong", "The demo memory is still being written"),
            ("text", ""),
            ("key", f"{tab}{key_of(state, 'refresh', 'r')}  looks again"),
        ]
    return [
        ("strong", "No memory yet"),
        ("path", one_line(state.place)),
        ("text", ""),
        ("text", "claude-mem remembers what your coding agents learn while they work,"),
        ("text", "and gives it back to them, and to you, when it matters again."),
        ("text", ""),
        # What an agent elsewhere calls is set up there.
        *(
            []
            if state.remote
            else [
                ("text", f"`{state.program} install` has Claude Code fill it from now on, and"),
                ("text", f"`{state.program} import transcripts` brings in its past sessions."),
                ("text", ""),
            ]
        ),
        # A demo is made by a worker on this machine: elsewhere there is none to be had.
        *(
            []
            if state.remote
            else [("key", f"{tab}{key_of(state, 'demo', 'M')}  opens a demo memory to look around in")]
        ),
        ("key", f"{tab}{key_of(state, 'refresh', 'r')}  looks again, once an agent has worked"),
    ]

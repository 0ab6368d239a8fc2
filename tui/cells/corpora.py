"""Pure: corpora as lines: the list of them, one in full, what it answered."""

import datetime as dt
import re
from collections.abc import Iterator

from tui.cells import fit, look
from tui.cells.clean import one_line, safe
from tui.cells.look import Look
from tui.cells.marks import grouped, read_badge
from tui.cells.sizes import ago
from tui.state import scopes
from tui.state.corpora import Corpora, Deed, Doing, Outcome
from tui.state.model import Link, ViewState
from worker.contract.corpus import CorpusFilter, CorpusInfo, CorpusLine

Piece = tuple[str, str]
Line = list[Piece]
Cites = dict[int, tuple[int, ...]]
"""Line → the records that are cited in it."""
READABLE = 88
_FIGURES, _STATE = 7, 10
_WIDEST_NAME = 36
_DOING = {
    Deed.BUILD: "building", Deed.ASK: "asking", Deed.PRIME: "priming", Deed.REBUILD: "building",
    Deed.DELETE: "deleting",
}  # fmt: skip
_ID = re.compile(r"#(\d{1,18})\b")


def title(state: ViewState, room: int, lk: Look) -> Line:
    """How many there are."""
    corpora, ellipsis = state.corpora, lk.glyphs.ellipsis
    first: Line = [("heading", " CORPORA  ")]
    if corpora.lines is not None:
        count = len(corpora.lines)
        said = f"{count} corpus" if count == 1 else f"{count} corpora"
        first.append(("quiet", f"{said}, chosen records that can be asked" if room >= 64 else said))
    busy = len(corpora.doing)
    tail = f"{busy} at work{ellipsis}" if busy else f"asking{ellipsis}" if corpora.waiting else ""
    taken = sum(fit.width(text) for _, text in first)
    if tail and taken + fit.width(tail) + 2 <= room:
        first += [("text", " " * (room - taken - fit.width(tail) - 1)), ("bar" if busy else "quiet", tail)]
    return first


def rows(state: ViewState, room: int, lk: Look) -> tuple[list[Line], list[int]]:
    """The list, and which of its lines stand for corpora, in the order of ``names``."""
    corpora = state.corpora
    names = corpora.names
    if corpora.lines is None or not names:
        return [line for text in _nothing(state, lk) for line in _told(text, room)], []
    name = max(min(room - 2 * _FIGURES - _STATE - 12, _WIDEST_NAME), 8)
    head = f"{fit.right('records', _FIGURES)} {fit.right('tokens', _FIGURES)}  {fit.left('state', _STATE)}"
    page: list[Line] = [[("group", f" {fit.left('name', name)}"), ("quiet", f" {head} {fit.right('built', 6)}")]]
    page += [_row(corpora, one, name, lk) for one in names]
    if corpora.failed:
        page += [
            [],
            *_wrapped("over", f"Not told now: {one_line(corpora.failed)}. {lk.key('again', 'r')} asks again.", room),
        ]
    return page, [at + 1 for at in range(len(names))]


def _row(corpora: Corpora, name: str, room: int, lk: Look) -> Line:
    line, glyphs = corpora.line(name), lk.glyphs
    label = fit.left(one_line(name), room, glyphs.ellipsis)
    figures = fit.left("", 2 * _FIGURES + 1) if line is None else (
        f"{fit.right(grouped(line.stats.observation_count), _FIGURES)} "
        f"{fit.right(read_badge(line.stats.token_estimate), _FIGURES)}"
    )  # fmt: skip
    built = look.short(lk, when) if line is not None and (when := moment(line.updated_at)) else ""
    role, state = _state(corpora, name, line, glyphs.ellipsis)
    return [
        ("text", f" {label}"), ("figure", f" {figures}"), (role, f"  {fit.left(state, _STATE)}"),
        ("quiet", f" {fit.right(built, 6)}"),
    ]  # fmt: skip


def _state(corpora: Corpora, name: str, line: CorpusLine | None, ellipsis: str) -> tuple[str, str]:
    outcome = corpora.outcomes.get(name)
    if (doing := corpora.doing.get(name)) is not None:
        return "bar", f"{_DOING[doing.deed]}{ellipsis}"
    if outcome is not None and outcome.failed and (outcome.fresh or line is None):
        return "over", "failed"
    if outcome is not None and outcome.answer is not None and outcome.fresh:
        return "chosen", "answered"
    if line is not None and line.stale:
        return "match", "stale"
    return ("text", "primed") if line is not None and line.session_id else ("quiet", "not primed")


def page(state: ViewState, room: int, lk: Look) -> tuple[list[Line], Cites]:
    """What is told of the corpus under the cursor: the question and its answer first."""
    corpora, room = state.corpora, min(room, READABLE)
    name = corpora.at
    if name is None:
        return [], {}
    out: list[Line] = [[("heading", f" {fit.cut(one_line(name), room - 2, lk.glyphs.ellipsis)}")]]
    cites: Cites = {}
    doing, outcome = corpora.doing.get(name), corpora.outcome
    if doing is not None:
        out += [[], *_doing(doing, room, lk)]
    elif outcome is not None:
        out.append([])
        out += _outcome(outcome, room, cites, len(out))
    if (line := corpora.chosen) is not None:
        out += [[], *_about(line, corpora.shown.get(name), room, lk)]
    return out, cites


def _doing(doing: Doing, room: int, lk: Look) -> Iterator[Line]:
    if doing.text:
        yield from _labelled("asked", safe(doing.text), room)
        yield []
    slow = "a model may take minutes; " if doing.deed in (Deed.ASK, Deed.PRIME) else ""
    said = f"{_DOING[doing.deed]}{lk.glyphs.ellipsis} {slow}what comes of it is shown here, even if you leave meanwhile"
    yield from _wrapped("bar", said, room)


def _outcome(outcome: Outcome, room: int, cites: Cites, start: int) -> list[Line]:
    out: list[Line] = []
    if outcome.text:
        out += _labelled("asked", safe(outcome.text), room)
    if outcome.failed:
        return [*out, *_failed(outcome, room)]
    if outcome.answer is None:
        return [*out, *_wrapped("text", outcome.said, room)]
    answer = outcome.answer
    if answer.model:  # where there is none, the answer itself says so
        out += _wrapped("quiet", f"answered by {one_line(answer.model)}", room)
    out.append([])
    known = frozenset(answer.cited)
    for text in safe(answer.answer).strip().split("\n"):
        hung = "  " if _ID.match(text) else ""  # what is cited stands out before what is told of it
        for number, piece in enumerate(fit.wrap(text, room - 2 - len(hung))):
            part = f"{hung}{piece}" if number else piece
            found = tuple(int(number) for number in _ID.findall(part) if int(number) in known)
            if found:
                cites[start + len(out)] = found
            out.append(_marked(part, known))
    notes = [note for note in answer.notes if answer.model or "no model" not in note]
    for note in notes:
        out += [[], *_wrapped("match", one_line(note), room)]
    return out


def _failed(outcome: Outcome, room: int) -> Iterator[Line]:
    verb = {Deed.ASK: "Not answered", Deed.PRIME: "Not primed", Deed.DELETE: "Not deleted"}.get(
        outcome.deed, "Not built"
    )
    yield from _wrapped("over", f"{verb}: {safe(outcome.failed)}", room)
    if "no session" in outcome.failed:
        yield from _told("P  has a model read it; then it can be asked", room)


def _marked(text: str, known: frozenset[int]) -> Line:
    """A line of an answer, its citations told from the rest."""
    pieces: Line = [("text", " ")]
    at = 0
    for match in _ID.finditer(text):
        if int(match[1]) in known:
            pieces += [("text", text[at : match.start()]), ("chosen", match[0])]
            at = match.end()
    return [*pieces, ("text", text[at:])]


def _about(line: CorpusLine, info: CorpusInfo | None, room: int, lk: Look) -> Iterator[Line]:
    stats = line.stats
    count = stats.observation_count
    held = f"{grouped(count)} record{'' if count == 1 else 's'}, {read_badge(stats.token_estimate)} tokens"
    first, last = moment(stats.date_range.earliest), moment(stats.date_range.latest)
    if count and first and last:
        held += f", {_day(lk, first)} to {_day(lk, last)}"
    yield from _labelled("holds", held, room)
    if stats.type_breakdown:
        ordered = sorted(stats.type_breakdown.items(), key=lambda item: (-item[1], item[0]))
        kinds = ", ".join(f"{grouped(number)} {one_line(kind).replace('_', ' ')}" for kind, number in ordered)
        yield from _labelled("types", kinds, room)
    if info is not None:
        yield from _labelled("search", _filter(info.filter, lk), room)
    if line.description:
        yield from _labelled("about", safe(line.description), room)
    if when := moment(line.updated_at):
        yield from _labelled("built", f"{look.full(lk, when)}, {ago(lk.now_ms(), when)}", room)
    if line.session_id:
        yield from _labelled("primed", "a model has read it", room)
    else:
        said = f"no; {lk.key('prime_corpus', 'P')} has a model read it, which the provider local does without"
        yield from _labelled("primed", said, room)
    if line.stale:
        were = "1 of its records was" if line.missing == 1 else f"{grouped(line.missing)} of its records were"
        said = f"{were} deleted since it was built and left out; {lk.key('rebuild_corpus', 'B')} rebuilds it"
        yield from _labelled("stale", said, room, "match")


def _day(lk: Look, when_ms: int) -> str:
    today = lk.at(when_ms).date() == lk.at(lk.now_ms()).date()
    return "today" if today else " ".join(look.short(lk, when_ms).split())


def _filter(asked: CorpusFilter, lk: Look) -> str:
    """What it was built from, as a person types it."""
    parts = [one_line(asked.query)] if asked.query else []
    parts += [f"in {one_line(asked.project)}"] if asked.project else ["in all projects"]
    of = (("type", asked.types), ("concept", asked.concepts), ("file", asked.files))
    parts += [f"{name}:{one_line(value)}" for name, values in of for value in values]
    parts += [
        f"{name}:{one_line(value)}" for name, value in (("since", asked.date_start), ("until", asked.date_end)) if value
    ]
    parts += [f"at most {grouped(asked.limit)}"] if asked.limit else []
    return f" {lk.glyphs.dot} ".join(parts)


def asked_for(state: ViewState, room: int, lk: Look) -> list[Line]:
    """Above the line that is typed: what for."""
    corpora, ask = state.corpora, state.ask
    if corpora.writing is Deed.ASK:
        said = f"A question to {one_line(corpora.at or '')}:"
    else:
        text = one_line(ask.text)
        what = f"what {text} finds" if text else "the newest records"
        where = f"in {one_line(scopes.told(scopes.here(ask)))}"
        said = f"A corpus of {what} {where}, observations only. Its name:"
    lines: list[Line] = [[("text", f" {part}")] for part in fit.wrap(said, room - 2)][:2]
    return [*lines, *_wrapped("over", one_line(corpora.refused), room)][:5] if corpora.refused else lines


def _nothing(state: ViewState, lk: Look) -> list[str]:
    corpora = state.corpora
    if corpora.failed:
        return [f"The corpora cannot be told now: {one_line(corpora.failed)}", "", lk.hint("again", "r", "asks again")]
    if corpora.lines is None:
        if state.link in (Link.FAILED, Link.LOST):
            return ["There is no worker to ask.", "", lk.hint("again", "r", "tries again")]
        return [f"asking the worker{lk.glyphs.ellipsis}"]
    if state.empty_memory:
        return [
            "Nothing is remembered yet, so there is nothing to build a corpus of.",
            "",
            lk.hint("back", "q", "goes back"),
        ]
    return [
        "No corpus yet. A corpus is a set of records, chosen by a search, that can be asked a question as a whole.",
        "",
        lk.hint("build_corpus", "b", "builds one of what the workspace shows now"),
        lk.hint("back", "q", "goes back, to search for something else first"),
    ]


def _labelled(label: str, text: str, room: int, role: str = "text") -> Iterator[Line]:
    lead = 8
    for number, part in enumerate(fit.wrap(text, max(room - lead - 2, 8))):
        yield [("quiet", f" {fit.left(label if not number else '', lead)}"), (role, part)]


def _wrapped(role: str, text: str, room: int) -> Iterator[Line]:
    for part in fit.wrap(text, max(room - 2, 8)):
        yield [(role, f" {part}")]


def _told(text: str, room: int) -> Iterator[Line]:
    key, does = look.split(text)
    if key:
        wide = fit.width(key)
        for number, part in enumerate(fit.wrap(does, max(room - 5 - wide, 8))):
            yield [("text", "  "), ("chosen", key if not number else " " * wide), ("text", f"  {part}")]
        return
    for part in fit.wrap(text, max(room - 3, 8)) if text else [""]:
        yield [("text", f"  {part}")]


def moment(iso: str) -> int | None:
    """Of a file from elsewhere it may be anything."""
    try:
        return round(dt.datetime.fromisoformat(iso).timestamp() * 1000) if iso else None
    except (ValueError, OverflowError):
        return None

"""Pure: why a record stands where it stands, as lines: its place for each engine, the score, what was degraded."""

from collections.abc import Iterator

from tui.cells import fit
from tui.cells.clean import one_line
from tui.cells.look import Look
from tui.cells.marks import mark, ratio_badge, read_badge, work_badge
from tui.cells.words import order
from tui.state.model import ViewState
from worker.contract.search import Hit

Line = list[tuple[str, str]]
ROLES = ("heading", "group", "figure", "match", "quiet")
_NAME = 10
_FIGURE = 10
_STRATEGIES = {
    "keyword": "by words alone, the best hit first",
    "hybrid": "by words and by meaning; a record's score is what its places in both lists are worth together",
    "semantic": "by meaning alone",
}
_DEGRADED = {
    "no_fulltext": "this SQLite has no word index: plain text is looked for, slower, without word stems",
    "index_starting": "the index by meaning is being opened or filled; what only meaning would find is missing",
    "index_failed": "the index by meaning cannot be used now; what only meaning would find is missing",
    "index_slow": "the index by meaning took too long this time; what only meaning would find is missing",
}


def lines(state: ViewState, room: int, look: Look) -> list[Line]:
    """The sheet of the record under the cursor."""
    entry = state.entry
    if entry is None:
        return [[("quiet", "no record here")]]
    sign = mark(entry.type, look.glyphs)
    title = fit.cut(f"#{entry.key}  {one_line(entry.title)}", room - 2, look.glyphs.ellipsis)
    out: list[Line] = [[(sign.role, f"{sign.letter} "), ("heading", title)], []]
    asked = state.answered
    ranked = asked is not None and asked.by_worth and isinstance(entry, Hit)
    if ranked and isinstance(entry, Hit):
        out += _found(entry, state, room, look)
    else:
        out += _said("quiet", f"Nothing here is ranked: the order is {order(state)}. Type words to search for.", room)
    out += [[], [("group", "Tokens")]]
    out += _row("read", read_badge(entry.read_tokens), "what it costs an agent to read all of it", room)
    out += _row("work", work_badge(entry.discovery_tokens), "what it once cost to find out", room)
    worth = ratio_badge(entry.read_tokens, entry.discovery_tokens, look.glyphs)
    return [*out, *_row("ratio", worth, "work for each token that reading costs", room)]


def _found(hit: Hit, state: ViewState, room: int, look: Look) -> list[Line]:
    out: list[Line] = [[("group", "Why it is here")]]
    out += _row("words", _place(hit.keyword_rank), _heard(hit.keyword_rank, "words typed"), room)
    meant = "not asked yet" if state.merging else _heard(hit.vector_rank, "meaning of the question")
    out += _row("meaning", _place(hit.vector_rank), meant, room)
    out += _row("score", f"{hit.score:.4f}", "larger is better; only comparable within this answer", room)
    row = state.rows.find(hit.key)
    if row is not None:
        out += _row("place", f"{row + 1:,}", f"of {state.rows.total:,} in this list", room)
    strategy = "by words; hits by meaning are on their way" if state.merging else _STRATEGIES.get(state.strategy, "")
    out += [[], [("group", "This answer")], *_said("figure", strategy or one_line(state.strategy), room)]
    if state.degraded:
        out += _said("match", _DEGRADED.get(state.degraded, one_line(state.degraded)), room)
    out += _said("quiet", f"answered in {state.took_ms:.0f} ms", room)
    if hit.snippet.text.strip():
        out += [[], [("group", "What was found")], *_snippet(hit, room, look.glyphs.ellipsis)]
    return out


def _place(rank: int | None) -> str:
    return f"place {rank}" if rank is not None else "-"


def _heard(rank: int | None, what: str) -> str:
    if rank is None:
        return f"not among the best by the {what}"
    return f"in the list of the best by the {what}"


def _row(name: str, figure: str, meaning: str, room: int) -> Iterator[Line]:
    indent = 2 + _NAME + _FIGURE
    for number, text in enumerate(fit.wrap(meaning, max(room - indent, 12))):
        lead = fit.left(f"  {name}", 2 + _NAME) if number == 0 else " " * (2 + _NAME)
        value = fit.left(figure, _FIGURE) if number == 0 else " " * _FIGURE
        yield [("text", lead), ("figure", value), ("quiet", text)]


def _said(role: str, text: str, room: int) -> Iterator[Line]:
    for line in fit.wrap(text, room - 2):
        yield [("text", "  "), (role, line)]


def _snippet(hit: Hit, room: int, ellipsis: str) -> Iterator[Line]:
    """The piece of the record that answers, each match between marks of its own role."""
    pieces: Line = []
    at = 0
    for start, end in hit.snippet.matches:
        pieces += [("quiet", one_line(hit.snippet.text[at:start])), ("match", one_line(hit.snippet.text[start:end]))]
        at = end
    pieces.append(("quiet", one_line(hit.snippet.text[at:])))
    line: Line = [("text", "  ")]
    taken = 2
    for role, text in pieces:
        for word in text.split():
            cells = fit.width(word) + 1
            if taken + cells > room and taken > 2:
                yield line
                line, taken = [("text", "  ")], 2
            line.append((role, f"{fit.cut(word, room - 3, ellipsis)} "))
            taken += cells
    yield line

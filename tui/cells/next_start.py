"""Pure: what the next session is given, row by row with its tokens and the reason; or the text itself."""

from collections.abc import Iterator

from tui.cells import fit, look
from tui.cells.clean import one_line, safe
from tui.cells.look import Look
from tui.cells.marks import grouped, mark, read_badge
from tui.cells.meter import bar
from tui.state.model import Link, ViewState
from tui.state.next_start import Preparing
from worker.contract.context import ContextPlan, ContextRow

Piece = tuple[str, str]
Line = list[Piece]
_TOKENS = 6
_DENSITY = {"full": "full", "row": "row", "summary": "sum."}
_SIGNS = {"new": "+", "gone": "-", "same": " "}


def title(state: ViewState, room: int, lk: Look) -> list[Line]:
    """Whose session, against what budget, and what changed."""
    start, glyphs = state.next_start, lk.glyphs
    name = one_line(start.project) if start.project is not None else "no project"
    waiting = f"asking{glyphs.ellipsis}" if start.waiting else ""
    first: Line = [("heading", " NEXT SESSION START  "), ("text", fit.cut(name, max(room - 22, 4), glyphs.ellipsis))]
    taken = sum(fit.width(text) for _, text in first)
    if waiting and taken + fit.width(waiting) + 2 <= room:
        first += [("text", " " * (room - taken - fit.width(waiting) - 1)), ("quiet", waiting)]
    plan = start.plan
    if plan is None or start.silent:
        return [first]
    return [first, _budget(plan, room, lk), _changes(start, plan, room, lk)]


def _budget(plan: ContextPlan, room: int, lk: Look) -> Line:
    limit = plan.budget_tokens
    if not limit:
        return [("text", " "), ("figure", grouped(plan.used_tokens)), ("quiet", " tokens, without a limit")]
    over = plan.used_tokens > limit
    figure, role = grouped(plan.used_tokens), "over" if over else "bar"
    left = f"  {grouped(plan.used_tokens - limit)} too many" if over else f"  {grouped(limit - plan.used_tokens)} left"
    longest = max(min(room - 40, 24), 6)
    # With less room first the word goes, then the bar, then what is left over.
    said, cells, rest = next(
        ways
        for ways in (
            (f" of {grouped(limit)} tokens  ", longest, left),
            (f" of {grouped(limit)}  ", longest, left),
            (f" of {grouped(limit)} tokens", 0, left),
            (f" of {grouped(limit)}", 0, ""),
        )
        if 1 + len(figure) + len(ways[0]) + ways[1] + len(ways[2]) <= room or not ways[2]
    )
    drawn: Line = [(role, bar(plan.used_tokens, limit, cells, lk.glyphs))] if cells else []
    return [("text", " "), ("over" if over else "figure", figure), ("quiet", said), *drawn, ("quiet", rest)]


def _changes(start: Preparing, plan: ContextPlan, room: int, lk: Look) -> Line:
    kept = sum(row.kept for row in plan.rows)
    said = f" {kept} given, {len(plan.rows) - kept + plan.left_out} not"
    if not plan.compared:
        told = ["no session was given anything yet", "no session before it"]
    elif plan.changed_new or plan.changed_gone:
        signs = f"+{plan.changed_new} -{plan.changed_gone}"
        told = [f"since the last session {signs}", f"since the last {signs}", signs]
    else:
        told = ["the same as the last session", "the same as last"]
    shown = " (only changes shown)" if start.changed else ""
    ways = [f"{said}; {each}{shown}" for each in told]
    ways += [f"{said}{shown}", said] if not shown else [f"{said}; {told[-1]} (changes)", f"{said} (changes)"]
    return [("quiet", fit.first(ways, room, lk.glyphs.ellipsis))]


def lines(state: ViewState, room: int, lk: Look) -> tuple[list[Line], list[tuple[int, ContextRow]]]:
    """The page, and which of its lines stand for which row."""
    start = state.next_start
    said = _nothing(state, lk)
    if said:
        return [line for text in said for line in _told(text, room)], []
    assert start.plan is not None
    if start.raw:
        return [
            [("text", f" {text}")] for line in safe(start.plan.text).split("\n") for text in fit.wrap(line, room - 2)
        ], []
    out: list[Line] = []
    picks: list[tuple[int, ContextRow]] = []
    kept_before: bool | None = None
    longest = max((fit.width(one_line(row.reason)) for row in start.rows), default=0)
    beside = min(longest, room // 3, 40) if room >= 76 else 0
    keys = min(max((fit.width(one_line(row.key)) for row in start.rows), default=0), 6)
    for row in start.rows:
        if row.kept is not kept_before:
            if out:
                out.append([])
            name = "  Given, in this order" if row.kept else "  Not given"
            out.append([("group", fit.left(name, max(room - 2, 4)))])
            kept_before = row.kept
        picks.append((len(out), row))
        out += _row(row, room, lk, keys=keys, beside=beside)
    if start.plan.left_out and not start.changed:
        more = f"  {grouped(start.plan.left_out)} more were thought of and not given"
        out += [[], [("quiet", fit.cut(more, room, lk.glyphs.ellipsis))]]
    return out, picks


def _row(row: ContextRow, room: int, lk: Look, *, keys: int, beside: int) -> list[Line]:
    """One line where there is room for the reason too, else two. keys, beside: cells of the keys and the reasons."""
    glyphs = lk.glyphs
    known = mark(row.type, glyphs)
    key = fit.right(one_line(row.key), keys, glyphs.ellipsis) + " " if room >= 44 else ""
    sign = "P" if row.pinned else "M" if row.muted else " "
    density = fit.left(_DENSITY[row.density], 5) if room >= 64 else ""
    reason = one_line(row.reason)
    free = max(room - 6 - len(key) - len(density) - _TOKENS - 1 - (beside + 2 if beside else 0), 6)
    strong = "text" if row.kept else "quiet"
    signs = "match" if row.change == "gone" else "chosen" if row.change == "new" or sign != " " else "quiet"
    line: Line = [
        (signs, f" {_SIGNS[row.change]}{sign} "), ("quiet", key), (known.role, f"{known.letter} "),
        (strong, fit.left(one_line(row.title) or "untitled", free, glyphs.ellipsis)),
        ("figure", fit.right(read_badge(row.read_tokens), _TOKENS) + " "), ("quiet", density),
    ]  # fmt: skip
    if beside:
        return [[*line, ("quiet", f" {fit.cut(reason, beside, glyphs.ellipsis)}")]]
    if not reason:
        return [line]
    indent = 5 + len(key)
    return [line, [("quiet", fit.cut(f"{' ' * indent}{reason}", room, glyphs.ellipsis))]]


def _nothing(state: ViewState, lk: Look) -> list[str]:
    start = state.next_start
    if start.project is None:
        return [
            "It is not clear whose session: no project is chosen.",
            "",
            lk.hint("palette", ":", "and its name chooses one"),
        ]
    if start.silent:
        return [
            "This worker does not tell yet what it will give.",
            "",
            "The next session is given what the worker chooses; a newer worker shows it here, row by row.",
            "",
            lk.hint("plan_again", "R", "asks again"),
        ]
    if start.failed and start.plan is None:
        return [
            f"What it is given cannot be told now: {one_line(start.failed)}",
            "",
            lk.hint("plan_again", "R", "asks again"),
        ]
    if start.plan is None:
        if state.link in (Link.FAILED, Link.LOST):
            return ["There is no worker to ask.", "", lk.hint("plan_again", "R", "tries again")]
        return [f"asking the worker{lk.glyphs.ellipsis}"]
    if start.raw:
        return (
            []
            if start.plan.text.strip()
            else ["The text is empty: the session is given nothing.", "", lk.hint("raw", "r", "shows the rows")]
        )
    if start.rows:
        return []
    if start.changed and start.plan.rows:
        known = start.plan.compared
        told = "Nothing differs from the last session." if known else "There is no last session to compare with."
        return [told, "", lk.hint("changes", "D", "shows everything")]
    return [
        f"Nothing is remembered of {one_line(start.project)} yet, so its next session is given nothing.",
        "",
        lk.hint("back", "q", "goes back"),
    ]


def _told(text: str, room: int) -> Iterator[Line]:
    key, does = look.split(text)
    if key:
        wide = fit.width(key)
        for number, part in enumerate(fit.wrap(does, room - 4 - wide)):
            yield [("text", "  "), ("chosen", key if not number else " " * wide), ("text", f"  {part}")]
        return
    for part in fit.wrap(text, room - 2) if text else [""]:
        yield [("text", f"  {part}")]

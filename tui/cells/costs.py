"""Pure: what memory costs, as a flame of three lines, figures, and a list to choose from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tui.cells import fit, flame, look
from tui.cells.clean import one_line
from tui.cells.flame import Share
from tui.cells.look import Look
from tui.cells.marks import compact, grouped, mark, ratio_badge, read_badge, work_badge
from tui.cells.sizes import percent
from tui.state.costs import WINDOWS, Costing, Part, Slice, Window
from worker.contract.costs import Costs, SessionCost, Spent

Piece = tuple[str, str]
Line = list[Piece]
_MOST = 20
"""Projects in the list; the rest is summed up in a line."""
_SAID = {Window.WEEK: "the last 7 days", Window.MONTH: "the last 30 days"}
_DAY_MS = 86_400_000
_LABEL = 10


@dataclass(frozen=True, slots=True)
class Choices:
    """The list: its lines, and which of them stand for what."""

    lines: list[Line]
    picks: tuple[tuple[int, Slice], ...]


def title(costing: Costing, room: int, lk: Look) -> Line:
    """`COST  [7d] 30d  all · farm-api              work 412k`."""
    line: Line = [("heading", " COST  ")]
    for window in WINDOWS:
        on = window is costing.window
        line.append(("chosen" if on else "quiet", f"[{window}]" if on else f" {window} "))
    where = _where(costing.part)
    taken = sum(fit.width(text) for _, text in line)
    line.append(("text", fit.cut(f"  {where}", max(room - taken, 0), lk.glyphs.ellipsis)))
    state = f"counting{lk.glyphs.ellipsis}" if costing.waiting else ""
    taken = sum(fit.width(text) for _, text in line)
    if state and taken + len(state) + 3 <= room:
        line += [("text", " " * (room - taken - len(state) - 1)), ("quiet", state)]
    return line


def _where(part: Part) -> str:
    if part.session is not None:
        place = f"{one_line(part.project)}, " if part.project else ""
        return f"{place}session {_session_name(part.session)}"
    return f"project {one_line(part.project)}" if part.project is not None else "all projects"


def bars(costing: Costing, room: int, lk: Look, chosen: Slice | None) -> list[Line]:
    """Projects, below each its sessions, below all of them the types."""
    costs = costing.answer
    if costs is None or not costing.fits or not costs.total.records:
        return []
    of, whole = _measure(costs.total)
    part = costing.part
    projects = [Share(one_line(line.value), percent(of(line.spent), whole), of(line.spent)) for line in costs.projects]
    if part.project is None:
        top = flame.spans(projects, room)
    else:
        projects = [Share(one_line(part.project), "100%", whole)]
        top = flame.spans(projects, room)
    sessions = [
        Share(_session_name(line), compact(of(line.spent)), of(line.spent)) for line in costs.sessions
    ]  # fmt: skip
    middle: list[flame.Span] = []
    if part.session is not None:
        sessions = [Share(_session_name(part.session), compact(whole), whole)]
        middle = flame.spans(sessions, room)
    elif part.project is not None:
        middle = _sessions(costs, sessions, range(len(sessions)), whole, 0, room, costs.session_count)
    else:
        for span in top:
            if span.index is not None:
                name = costs.projects[span.index].value
                own = [index for index, line in enumerate(costs.sessions) if line.project == name]
                middle += _sessions(costs, sessions, own, projects[span.index].value, span.start, span.cells, None)
    types = [Share(one_line(line.value), percent(of(line.spent), whole), of(line.spent)) for line in costs.types]
    bottom = flame.spans(types, room)
    at = _at(costs, chosen)
    glyphs = lk.glyphs
    return [
        flame.line(top, projects, room, glyphs, at[0]),
        flame.line(middle, sessions, room, glyphs, at[1]),
        flame.line(bottom, types, room, glyphs, at[2]),
    ]


def _sessions(
    costs: Costs, shares: Sequence[Share], own: Sequence[int], whole: int, start: int, room: int, count: int | None
) -> list[flame.Span]:
    """The sessions of one project in its cells. count: how many there are, None where that is not told."""
    mine = [shares[index] for index in own]
    rest = max(whole - sum(share.value for share in mine), 0)
    more = max((count or 0) - len(mine), 0)
    made = flame.spans(mine, room, start=start, more=more if rest else 0, rest=rest)
    return [
        flame.Span(span.start, span.cells, own[span.index] if span.index is not None else None, span.count)
        for span in made
    ]


def _at(costs: Costs, chosen: Slice | None) -> tuple[int | None, int | None, int | None]:
    """Which share of each line the cursor is on."""
    if chosen is None:
        return None, None, None
    if chosen.part is None:
        return None, None, next((at for at, line in enumerate(costs.types) if line.value == chosen.type), None)
    if (session := chosen.part.session) is not None:
        return None, next((at for at, line in enumerate(costs.sessions) if line.session == session.session), None), None
    return next((at for at, line in enumerate(costs.projects) if line.value == chosen.part.project), None), None, None


def figures(costing: Costing, room: int, lk: Look) -> list[Line]:
    """What was spent, what it gave back, what it never did, and what is spent in a day."""
    costs = costing.answer
    if costs is None or not costing.fits or not costs.total.records:
        return []
    total, glyphs = costs.total, lk.glyphs
    out = [_figure("spent", compact(total.work_tokens), _spent(costs, lk), room, lk)]
    if not total.work_tokens:
        told = ("what the work cost, nobody told", "the work is not known")
        out = [_figure("to read", compact(total.read_tokens), told, room, lk)]
    out.append(_figure("read back", compact(total.read_back_tokens), _back(costs, lk), room, lk))
    out.append(_never(costs, room, lk))
    burn = _burn(costs, room, lk)
    return [*out, burn] if burn else [*out, [("quiet", fit.cut("  no days to compare", room, glyphs.ellipsis))]]


def _never(costs: Costs, room: int, lk: Look) -> Line:
    """What never came back: what to stop recording. While nothing was counted yet, that says nothing."""
    total = costs.total
    if costs.counting_since_epoch_ms is None:
        unknown = ("which records never come back is known once some did", "known once some came back", "not known yet")
        return _figure("never", "-", unknown, room, lk)
    of, work = f"of {_records(total.records)}", f"{compact(total.never_work_tokens)} of work"
    share = f" ({percent(total.never_work_tokens, total.work_tokens)})" if total.work_tokens else ""
    told = (f"{of} never came back: {work}{share}", f"{of}: {work}{share}", f"{of}: {work}", of)
    return _figure("never", grouped(total.never), told, room, lk)


def _spent(costs: Costs, lk: Look) -> Sequence[str]:
    total = costs.total
    sessions = f"{grouped(costs.session_count)} session{'' if costs.session_count == 1 else 's'}"
    saved = f"{read_badge(total.read_tokens)} to read"
    ratio = f" ({ratio_badge(total.read_tokens, total.work_tokens, lk.glyphs)})" if total.work_tokens else ""
    records = f"in {_records(total.records)}"
    both = f"{records}, {sessions}"
    return (f"tokens {both}; {saved}{ratio}", f"tokens {both}", both, records)


def _back(costs: Costs, lk: Look) -> Sequence[str]:
    total = costs.total
    if costs.counting_since_epoch_ms is None:
        return ("nothing yet; it is counted from the first time on", "nothing yet")
    since = f"since {look.short(lk, costs.counting_since_epoch_ms).strip()}"
    if not total.read_back:
        return (f"no record was read in full {since}", f"no record {since}", "no record")
    saved = f"saved {compact(max(costs.back_saved_tokens, 0))}"
    ratio = ratio_badge(total.read_back_tokens, total.read_back_tokens + costs.back_saved_tokens, lk.glyphs)
    times = f" ({ratio})" if costs.back_saved_tokens > 0 else ""
    records = _records(total.read_back)
    return (f"{records} {since}: {saved}{times}", f"{records}: {saved}{times}", f"{records}: {saved}", records)


def _records(count: int) -> str:
    return f"{grouped(count)} record{'' if count == 1 else 's'}"


def _figure(name: str, value: str, told: Sequence[str], room: int, lk: Look) -> Line:
    """told: what the figure is of, in ever fewer words."""
    lead = fit.left(f"  {name}", 2 + _LABEL)
    figure = fit.right(value, 6)
    said = fit.first(told, max(room - len(lead) - len(figure) - 2, 0), lk.glyphs.ellipsis)
    return [("text", lead), ("figure", figure), ("quiet", f"  {said}" if said else "")]


def _burn(costs: Costs, room: int, lk: Look) -> Line:
    """`per day  ▁▁▂▇  5.2k on average, most on Wed 25 Nov: 30k`: days without records are there too."""
    measured = [(line.start_epoch_ms, _measure(costs.total)[0](line.spent)) for line in costs.days]
    days = [(start, value) for start, value in measured if start is not None]
    if not days:
        return []
    newest, oldest = max(start for start, _ in days), min(start for start, _ in days)
    count = round((newest - oldest) / _DAY_MS) + 1
    cells = max(min(count, room - 2 - _LABEL - 40, 60), min(count, 7))
    heights = [0] * cells
    for start, value in days:
        at = cells - 1 - round((newest - start) / _DAY_MS)
        if 0 <= at < cells:
            heights[at] += value
    most = max(heights) or 1
    bars = lk.glyphs.bars
    drawn = "".join(
        " " if value <= 0 else bars[min(max(round(value / most * len(bars)), 1), len(bars)) - 1] for value in heights
    )  # fmt: skip
    top_start, top = max(days, key=lambda day: day[1])
    mean = sum(value for _, value in days) // count
    average, dearest = f"{compact(mean)} a day", compact(top)
    when = look.tick(lk, top_start + _DAY_MS // 2, 30 * _DAY_MS)
    told = (f"{average}, most on {when}: {dearest}", f"{average}, most {dearest}", average) if count > 1 else (average,)
    lead = fit.left("  a day", 2 + _LABEL)
    said = fit.first(told, max(room - len(lead) - cells - 2, 0), lk.glyphs.ellipsis)
    return [("text", lead), ("bar", drawn), ("quiet", f"  {said}")]


def choices(costing: Costing, room: int, lk: Look) -> Choices:
    """Projects, sessions, types: the dearest first; or why there are none, and which key helps."""
    said = _nothing(costing, lk)
    if said:
        return Choices([[("text", "")], *(_told(text, room) for line in said for text in _wrapped(line, room))], ())
    costs = costing.answer
    assert costs is not None
    table = _Table(*_measure(costs.total), costs.counting_since_epoch_ms is not None, room, lk)
    out: list[Line] = []
    picks: list[tuple[int, Slice]] = []

    def group(name: str, count: int) -> None:
        if out:
            out.append([])
        out.append(_head(f"{name} {grouped(count)}" if count > 1 else name, room))

    part = costing.part
    if part.project is None and costs.projects:
        group("Projects", len(costs.projects))
        for line in costs.projects[:_MOST]:
            picks.append((len(out), Slice(Part(line.value))))
            out.append(_row(one_line(line.value) or "(no project)", line.spent, table))
        rest = costs.projects[_MOST:]
        if rest:
            more = f"  {len(rest)} more, cheaper ones; open one by {lk.key('palette', ':')} and its name"
            out.append([("quiet", fit.cut(more, room, lk.glyphs.ellipsis))])
    if part.session is None and costs.sessions:
        group("Sessions", costs.session_count)
        for session in costs.sessions:
            picks.append((len(out), Slice(Part(part.project or session.project or None, session))))
            out.append(_row(_session_name(session), session.spent, table))
        if costs.session_count > len(costs.sessions):
            more = f"  {costs.session_count - len(costs.sessions)} more, cheaper ones"
            out.append([("quiet", fit.cut(more, room, lk.glyphs.ellipsis))])
    group("Types", len(costs.types))
    for line in costs.types:
        picks.append((len(out), Slice(type=line.value)))
        out.append(_row(one_line(line.value), line.spent, table, mark_of=line.value))
    return Choices(out, tuple(picks))


def _nothing(costing: Costing, lk: Look) -> list[str]:
    if costing.failed:
        return ["What it costs cannot be told now:", one_line(costing.failed), "", lk.hint("again", "r", "asks again")]
    if costing.answer is None or not costing.fits:
        return [f"counting{lk.glyphs.ellipsis}"] if costing.waiting else [lk.hint("again", "r", "asks the worker")]
    if costing.answer.total.records:
        return []
    of = "" if costing.part == Part() else f" of {_where(costing.part)}"
    when = "" if costing.window is Window.ALL else f" in {_SAID[costing.window]}"
    lines = [f"No records{of}{when}.", ""]
    lines += [lk.hint("more_time", "]", "looks at a longer time")] if costing.window is not Window.ALL else []
    lines += [lk.hint("zoom_out", "u", "looks at all projects")] if costing.part != Part() else []
    return [*lines, lk.hint("close", "q", "goes back")]


def _wrapped(text: str, room: int) -> list[str]:
    return list(fit.wrap(text, room - 2)) if text else [""]


def _told(text: str, room: int) -> Line:
    key, does = look.split(text)
    return [("text", "  "), ("chosen", key), ("text", f"  {does}")] if key else [("text", f"  {text}")]


_SHARE, _WORK, _READ, _RATIO, _NEVER = 5, 6, 6, 5, 7


def _columns(room: int) -> tuple[int, int, int, int, int, int]:
    """Cells of name, share, work, read, ratio, never; 0 for what is left out."""
    read = _READ if room >= 56 else 0
    ratio = _RATIO if room >= 56 else 0
    never = _NEVER if room >= 70 else 0
    fixed = (
        4 + _SHARE + _WORK + 1 + (read + 1 if read else 0) + (ratio + 1 if ratio else 0) + (never + 1 if never else 0)
    )
    return max(min(room - fixed, 56), 8), _SHARE, _WORK, read, ratio, never


def _head(name: str, room: int) -> Line:
    wide, share, work, read, ratio, never = _columns(room)
    text = fit.right("share", share) + " " + fit.right("work", work)
    text += " " + fit.right("~read", read) if read else ""
    text += " " + fit.right("W/R", ratio) if ratio else ""
    text += " " + fit.right("never", never) if never else ""
    return [("group", fit.left(f"  {name}", wide + 4)), ("quiet", text)]


@dataclass(frozen=True, slots=True)
class _Table:
    """of, whole: what a share is of. counted: whether it is known what never came back."""

    of: Callable[[Spent], int]
    whole: int
    counted: bool
    room: int
    look: Look


def _row(name: str, spent: Spent, table: _Table, *, mark_of: str | None = None) -> Line:
    wide, share, work, read, ratio, never = _columns(table.room)
    glyphs = table.look.glyphs
    sign = mark(mark_of, glyphs) if mark_of is not None else None
    text = (
        fit.right(percent(table.of(spent), table.whole), share) + " " + fit.right(work_badge(spent.work_tokens), work)
    )
    text += " " + fit.right(read_badge(spent.read_tokens), read) if read else ""
    text += " " + fit.right(ratio_badge(spent.read_tokens, spent.work_tokens, glyphs), ratio) if ratio else ""
    unread = percent(spent.never, spent.records) if table.counted else "-"
    text += " " + fit.right(unread, never) if never else ""
    lead: Line = [("text", "  "), (sign.role, f"{sign.letter} ")] if sign is not None else [("text", "  ")]
    room_left = wide if sign is not None else wide + 2
    return [*lead, ("text", fit.left(name, room_left, glyphs.ellipsis)), ("quiet", text)]


def _measure(total: Spent) -> tuple[Callable[[Spent], int], int]:
    """What the width of a part stands for, and all of it: work; where no work is known, what it takes to read."""
    if total.work_tokens:
        return _work, total.work_tokens
    return _read, total.read_tokens


def _work(spent: Spent) -> int:
    return spent.work_tokens


def _read(spent: Spent) -> int:
    return spent.read_tokens


def _session_name(session: SessionCost) -> str:
    """Short: its title where it has one, else the beginning of its id."""
    return one_line(session.title) or one_line(session.session)[:8]

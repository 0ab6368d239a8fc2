"""Pure: a figure against its limit, as a bar; and the basket as lines."""

from tui.cells import fit
from tui.cells.clean import one_line
from tui.cells.glyphs import Glyphs
from tui.cells.look import Look
from tui.cells.marks import compact, grouped, mark, ratio_badge, read_badge, work_badge
from tui.state.basket import Basket
from worker.contract.search import Entry

Piece = tuple[str, str]
Line = list[Piece]
_NAME, _FIGURE, _BAR = 9, 9, 20


def bar(value: int, limit: int, cells: int, glyphs: Glyphs) -> str:
    """`▓▓▓░░░░`: anything but nothing shows at least one cell, anything short of the limit leaves one."""
    full = round(value / limit * cells) if limit > 0 else cells
    if value > 0:
        full = max(full, 1)
    if value < limit:
        full = min(full, cells - 1)
    full = max(0, min(full, cells))
    return glyphs.spent * full + glyphs.unspent * (cells - full)


def badge(basket: Basket, glyphs: Glyphs, *, roomy: bool) -> list[Piece]:
    """The basket in the head line: `basket 2  1.0k/8.0k ▓▓░░░░`; nothing while it is empty."""
    if not basket.entries:
        return []
    role = "over" if basket.read_tokens > basket.budget_tokens else "basket"
    figures = f"{compact(basket.read_tokens)}/{compact(basket.budget_tokens)}"
    said = f"basket {len(basket.entries)}{f' {glyphs.dot} {figures} ' if roomy else ''}"
    shown = bar(basket.read_tokens, basket.budget_tokens, 7, glyphs) if roomy else ""
    return [(role, said + shown), ("text", "   ")]


def lines(basket: Basket, room: int, lk: Look) -> tuple[list[Line], list[int]]:
    """The basket's page, and which of its lines are records."""
    glyphs = lk.glyphs
    count = len(basket.entries)
    if not count:
        return _empty(basket, room, lk), []
    over = basket.read_tokens - basket.budget_tokens
    left = f"{grouped(-over)} left" if over <= 0 else f"{grouped(over)} too many"
    shown = bar(basket.read_tokens, basket.budget_tokens, min(_BAR, max(room - 40, 6)), glyphs)
    role = "over" if over > 0 else "figure"
    out: list[Line] = [[("heading", f"  Basket {glyphs.dot} {count} record{'' if count == 1 else 's'}")]]
    out.append(_row("index", basket.index_tokens, "their rows, to choose from", room, glyphs))
    out.append(
        [
            ("text", fit.left("  full", 2 + _NAME)),
            (role, fit.right(grouped(basket.read_tokens), _FIGURE)),
            ("quiet", f"  of {grouped(basket.budget_tokens)}  "),
            ("over" if over > 0 else "bar", shown),
            ("quiet", fit.cut(f"  {left}", max(room - 35 - len(shown), 0), glyphs.ellipsis)),
        ]
    )
    if basket.work_tokens:
        worth = ratio_badge(basket.read_tokens, basket.work_tokens, glyphs)
        out.append(
            _row("saved", basket.saved_tokens, f"of {grouped(basket.work_tokens)} once spent ({worth})", room, glyphs)
        )
    out.append([])
    first = len(out)
    out += [_entry(entry, room, glyphs) for entry in basket.entries]
    return out, list(range(first, len(out)))


def _empty(basket: Basket, room: int, lk: Look) -> list[Line]:
    said = [
        "The basket is empty.",
        "",
        f"In the list, {lk.key('mark', 'Space')} marks the record under the cursor, "
        f"{lk.key('span', 'v')} marks from here to there.",
        "What is marked shows here what it costs to read, against a budget "
        f"of {grouped(basket.budget_tokens)} tokens, and can be copied: ids, text, or a call that reads it.",
    ]
    if basket.dropped:
        said += ["", lk.hint("restore", "u", "brings back what was in it")]
    return [[("quiet", f"  {line}")] for text in said for line in (fit.wrap(text, room - 2) if text else [""])]


def _row(name: str, tokens: int, meaning: str, room: int, glyphs: Glyphs) -> Line:
    said = fit.cut(f"  {meaning}", max(room - 2 - _NAME - _FIGURE, 0), glyphs.ellipsis)
    return [
        ("text", fit.left(f"  {name}", 2 + _NAME)),
        ("figure", fit.right(grouped(tokens), _FIGURE)),
        ("quiet", said),
    ]


def _entry(entry: Entry, room: int, glyphs: Glyphs) -> Line:
    sign = mark(entry.type, glyphs)
    after = " " + fit.right(read_badge(entry.read_tokens), 6)
    if room >= 56:
        after += " " + fit.right(work_badge(entry.discovery_tokens), 6)
        after += " " + fit.right(ratio_badge(entry.read_tokens, entry.discovery_tokens, glyphs), 4)
    key = fit.right(str(entry.key), 6)
    title = fit.left(one_line(entry.title), max(room - 2 - 7 - 2 - fit.width(after), 4), glyphs.ellipsis)
    return [("text", "  "), ("quiet", f"{key} "), (sign.role, f"{sign.letter} "), ("text", title), ("quiet", after)]

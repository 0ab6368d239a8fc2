"""Pure: the filters to choose from, as lines: which are on, and how many records each leaves."""

from tui.cells import fit
from tui.cells.clean import one_line
from tui.cells.glyphs import Glyphs
from tui.cells.marks import grouped, mark
from tui.state.chips import Chip
from tui.state.filters import Choice, groups
from tui.state.model import ViewState

Line = list[tuple[str, str]]
_LABEL = 26
_COUNT = 9


def lines(state: ViewState, room: int, glyphs: Glyphs) -> tuple[list[Line], list[tuple[int, Chip]]]:
    """The page, and which of its lines stand for which filter."""
    out: list[Line] = []
    picks: list[tuple[int, Chip]] = []
    if state.choosing.trouble:
        out += [[("match", line)] for line in fit.wrap(f"No counts: {one_line(state.choosing.trouble)}", room)]
    elif state.choosing.offer is None:
        out.append([("quiet", f"  counting{glyphs.ellipsis}")])
    for title, choices in groups(state.ask.text, state.choosing):
        most = max([choice.count or 0 for choice in choices], default=0)
        if out:
            out.append([])
        out.append([("group", f"  {title}")])
        for choice in choices:
            picks.append((len(out), choice.chip))
            out.append(_line(choice, most, room, glyphs))
    return out, picks


def _line(choice: Choice, most: int, room: int, glyphs: Glyphs) -> Line:
    label = min(_LABEL, max(room - _COUNT - 8, 10))
    sign = mark(choice.chip.value, glyphs) if choice.chip.field == "type" else None
    box = "[x] " if choice.on else "[ ] "
    name = fit.left(one_line(choice.label), label, glyphs.ellipsis)
    line: Line = [("text", "  "), ("chosen" if choice.on else "quiet", box)]
    line += [(sign.role, f"{sign.letter} ")] if sign is not None else [("text", "  ")]
    line.append(("chosen" if choice.on else "text", name))
    if choice.count is None:
        return line
    line.append(("figure", fit.right(grouped(choice.count), _COUNT)))
    free = min(room - label - _COUNT - 11, 40)
    if free >= 6 and most:
        full = max(1, round(choice.count / most * free)) if choice.count else 0
        line.append(("quiet", "  " + glyphs.full * full))
    return line

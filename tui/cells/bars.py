"""Pure: a strip drawn as bars stacked by type, with what is above and below them.

A type is told by its colour in the bars and by its letter beside the playhead, so that nothing is told by colour alone.
"""

from collections.abc import Sequence

from tui.cells import look
from tui.cells.fit import width
from tui.cells.look import Look
from tui.cells.marks import mark
from tui.cells.strip import Column, Shape, Slot

Piece = tuple[str, str]
_DOTS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
"""Of a braille cell, from the lowest: the left half, the right one."""
_BRAILLE = 0x2800
_HOUR_MS, _DAY_MS = 3_600_000, 86_400_000
_STEPS, _LABEL = (1, 2, 3, 6, 12), 8
"""Hours from one label to the next, of which each has this many cells."""
_SHORT_CELLS = 14
"""What the one-line strip keeps for the time of its playhead."""


def bars(shape: Shape, lk: Look, tall: int, *, fine: bool = False) -> list[list[Piece]]:
    """The bars as ``tall`` lines, the upper one first. Anything but nothing shows at least the lowest bar."""
    order = _order(shape)
    levels = 4 if fine else len(lk.glyphs.bars)
    most = max(shape.most, 1)
    lines: list[list[Piece]] = []
    for line in range(tall - 1, -1, -1):
        pieces: list[Piece] = []
        for slot in shape.slots:
            if slot.text:
                pieces.append(("fold", slot.text if line == 0 else " " * slot.width))
                continue
            reached = [_level(column.count, most, levels * tall) - line * levels for column in slot.columns]
            role = _role(slot.columns, reached, line * levels, levels, order, lk)
            glyph = _braille(reached) if fine else _block(reached[0], lk.glyphs.bars)
            pieces.append((role, glyph * slot.width))
        lines.append(pieces)
    return lines


def labels(shape: Shape, room: int, lk: Look, note: str = "", *, folds: bool = False) -> list[Piece]:
    """The line above the bars: days and hours where they begin, none cut, none touching another; a note at its end.

    folds: quiet times are told here too, where there are no bars that tell them.
    """
    taken: list[tuple[int, int]] = [(room - width(note) - 1, room)] if note else []
    placed: list[tuple[int, str]] = []
    days, hours = _candidates(shape, lk)
    quiet = [(slot.at, slot.text) for slot in shape.slots if slot.text and folds]
    for number, (at, text) in enumerate((*quiet, *days, *hours)):
        end = at + width(text)
        apart = 0 if number < len(quiet) else 1 if number < len(quiet) + len(days) else 2
        if end <= room and all(end + apart <= start or at >= stop + apart for start, stop in taken):
            placed.append((at, text))
            taken.append((at, end))
    pieces: list[Piece] = []
    at = 0
    for start, text in sorted(placed):
        pieces.append(("axis", " " * (start - at) + text))
        at = start + width(text)
    if note and room - width(note) >= at:
        pieces.append(("axis", " " * (room - width(note) - at) + note))
    return pieces


def below(
    shape: Shape,
    room: int,
    lk: Look,
    *,
    here_ms: int | None,
    marks_ms: Sequence[int] = (),
    brush_ms: tuple[int, int] | None = None,
) -> list[Piece]:
    """The line below the bars: playhead with its time and what is there by letter, the brush, what is marked."""
    cells = [" "] * room
    roles = ["text"] * room
    for moment in marks_ms:
        if (at := shape.cell(moment)) is not None:
            cells[at], roles[at] = lk.glyphs.mark, "mark"
    if brush_ms is not None:
        _brush(cells, roles, shape, brush_ms, lk.glyphs.brush)
    here = shape.cell(here_ms) if here_ms is not None else None
    if here is not None and here_ms is not None:
        cells[here], roles[here] = lk.glyphs.here, "here"
        label = f"{look.full(lk, here_ms)}{_legend(shape.slot(here_ms), lk)}"
        for text in (label, look.full(lk, here_ms), look.clock(lk, here_ms)):
            places = (here + 2, here - 1 - width(text))
            start = next((at for at in places if 0 <= at <= room - width(text)), None)
            if start is not None and brush_ms is None:
                cells[start : start + len(text)] = text
                roles[start : start + len(text)] = ["here"] * len(text)
                break
    return _joined(cells, roles)


def single(shape: Shape, lk: Look, here_ms: int | None, *, fine: bool = False) -> list[Piece]:
    """All in one line: bars, the playhead in place of its bar, and its time at the end."""
    cells: list[str] = []
    roles: list[str] = []
    for role, text in bars(shape, lk, 1, fine=fine)[0]:
        cells += text
        roles += [role] * len(text)
    here = shape.cell(here_ms) if here_ms is not None else None
    if here is None or here_ms is None:
        return _joined(cells, roles)
    cells[here], roles[here] = lk.glyphs.here, "here"
    return [*_joined(cells, roles), ("here", f" {look.tick(lk, here_ms, 0)}")]


def single_room(room: int) -> int:
    """Cells for the bars where all is in one line."""
    return room - _SHORT_CELLS


def _brush(cells: list[str], roles: list[str], shape: Shape, span: tuple[int, int], glyphs: str) -> None:
    first_ms, last_ms = max(min(span), shape.slots[0].start_ms), min(max(span), shape.slots[-1].end_ms - 1)
    first, last = shape.cell(first_ms), shape.cell(last_ms)
    if first is None or last is None or first_ms > last_ms:
        return
    text = glyphs[0] + glyphs[1] * (last - first - 1) + glyphs[2] if last > first else glyphs[0]
    cells[first : last + 1] = text
    roles[first : last + 1] = ["brush"] * len(text)


def _legend(slot: Slot | None, lk: Look) -> str:
    """`  B2 D1`: the types of a slot by their letters, the most frequent first."""
    found: dict[str, int] = {}
    for name, count in (slot.types if slot is not None else {}).items():
        letter = mark(name, lk.glyphs).letter
        found[letter] = found.get(letter, 0) + count
    parts = [f"{letter}{count}" for letter, count in sorted(found.items(), key=lambda item: (-item[1], item[0]))]
    return "  " + " ".join(parts) if parts else ""


def _joined(cells: Sequence[str], roles: Sequence[str]) -> list[Piece]:
    pieces: list[Piece] = []
    for char, role in zip(cells, roles, strict=True):
        if pieces and pieces[-1][0] == role:
            pieces[-1] = (role, pieces[-1][1] + char)
        else:
            pieces.append((role, char))
    return pieces


def _order(shape: Shape) -> list[str]:
    """Types from the bottom of a bar to its top: the most frequent of all lowest."""
    summed: dict[str, int] = {}
    for slot in shape.slots:
        for name, count in slot.types.items():
            summed[name] = summed.get(name, 0) + count
    return sorted(summed, key=lambda name: (-summed[name], name))


def _level(count: int, most: int, levels: int) -> int:
    return max(1, round(count / most * levels)) if count else 0


def _role(
    columns: Sequence[Column], reached: Sequence[int], floor: int, levels: int, order: Sequence[str], lk: Look
) -> str:
    """Of the type that a bar consists of in a line; without types, of a plain bar."""
    tallest = max(range(len(columns)), key=lambda number: reached[number])
    column, above = columns[tallest], reached[tallest]
    if above <= 0:
        return "text"
    middle = (floor + min(above, levels) / 2) / (floor + above) * column.count
    passed = 0
    for name in order:
        passed += column.types.get(name, 0)
        if middle < passed:
            return mark(name, lk.glyphs).role
    return "bar"


def _block(level: int, glyphs: str) -> str:
    return " " if level <= 0 else glyphs[min(level, len(glyphs)) - 1]


def _braille(levels: Sequence[int]) -> str:
    dots = 0
    for half, level in zip(_DOTS, levels, strict=False):
        dots |= sum(half[: max(0, min(level, 4))])
    return chr(_BRAILLE + dots) if dots else " "


def _candidates(shape: Shape, lk: Look) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """(cell, label) where a day begins (with wide buckets: a month), and where any other slot does."""
    coarse = shape.bucket_ms >= _DAY_MS
    cells = next((slot.width for slot in shape.slots if not slot.text), 1)
    every = next((step for step in _STEPS if step * _HOUR_MS * cells >= _LABEL * shape.bucket_ms), _STEPS[-1])
    days: list[tuple[int, str]] = []
    hours: list[tuple[int, str]] = []
    before = ""
    for slot in shape.slots:
        if slot.text:
            continue
        label = look.month(lk, slot.start_ms) if coarse else look.weekday(lk, slot.start_ms)
        if label != before:
            days.append((slot.at, label))
            before = label
        elif coarse and (cells > 2 or shape.bucket_ms > _DAY_MS or lk.at(slot.start_ms).weekday() == 0):
            hours.append((slot.at, look.day_of_month(lk, slot.start_ms)))
        elif not coarse and (moment := lk.at(slot.start_ms)).minute == 0 and moment.hour % every == 0:
            hours.append((slot.at, look.clock(lk, slot.start_ms)))
    return days, hours

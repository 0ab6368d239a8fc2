"""Pure: counts over time as one or two lines of bars, and the axis under them."""

from dataclasses import dataclass

from tui.cells.fit import width
from tui.cells.look import Look, full, tick
from worker.contract.search import Facets

_HAIR = 1e-6
"""Less of a cell than rounding can make is none of it."""
_FEW, _NARROW, _WIDE = 12, 2, 4
"""A bucket is at most four cells wide, and two where there are few: three days of memory are no skyline."""


@dataclass(frozen=True, slots=True)
class Strip:
    """heights: records in each cell, of a bucket that lies in several its share.

    first_ms: the time at the left edge; step_ms: the time in one cell.
    """

    heights: tuple[float, ...]
    first_ms: int
    step_ms: float

    def cell(self, epoch_ms: int) -> int | None:
        """The cell in which a moment lies."""
        at = int((epoch_ms - self.first_ms) / self.step_ms) if self.step_ms > 0 else 0
        return at if 0 <= at < len(self.heights) else None


def strip(facets: Facets, room: int) -> Strip | None:
    """The set over time in ``room`` cells; None if it is empty."""
    if not facets.buckets or facets.bucket_ms <= 0 or room < 8:
        return None
    first = facets.buckets[0].start_epoch_ms
    count = max(1, round((facets.buckets[-1].start_epoch_ms - first) / facets.bucket_ms) + 1)
    cells = min(room, count * (_WIDE if count >= _FEW else _NARROW))
    step_ms = facets.bucket_ms * count / cells
    heights = [0.0] * cells
    for bucket in facets.buckets:
        begin = round((bucket.start_epoch_ms - first) / facets.bucket_ms) * cells / count
        end = begin + cells / count
        for cell in range(int(begin), min(cells, int(end - _HAIR) + 1)):
            heights[cell] += bucket.count * (min(end, cell + 1) - max(begin, cell)) * count / cells
    return Strip(tuple(heights), first, step_ms)


def rows(shape: Strip, bars: str, tall: int) -> list[str]:
    """The bars as ``tall`` lines, the upper one first. Anything but nothing shows at least the lowest bar."""
    most = max(shape.heights) or 1.0
    levels = len(bars) * tall
    filled = [0 if height < _HAIR else max(1, round(height / most * levels)) for height in shape.heights]
    lines: list[str] = []
    for line in range(tall - 1, -1, -1):
        floor = line * len(bars)
        lines.append("".join(_cell(level - floor, bars) for level in filled))
    return lines


def axis(shape: Strip, room: int, look: Look, here_ms: int | None) -> list[tuple[str, str]]:
    """The line under the bars: dates, and where the cursor's record lies. No label is cut or touches another."""
    line: list[tuple[int, str, str]] = []
    here = shape.cell(here_ms) if here_ms is not None else None
    if here is not None and here_ms is not None:
        label = f"{look.glyphs.here} {full(look, here_ms)}"
        start = here
        if start + width(label) > room:
            label = f"{full(look, here_ms)} {look.glyphs.here}"
            start = here - width(label) + 1
        if start >= 0:
            line.append((start, "here", label))
        else:
            line.append((here, "here", look.glyphs.here))
    last = ""
    end = -2
    for cell in range(0, len(shape.heights), max(12, len(shape.heights) // 6)):
        label = tick(look, int(shape.first_ms + cell * shape.step_ms), int(len(shape.heights) * shape.step_ms))
        stop = cell + width(label)
        free = all(stop + 2 <= start or cell >= start + width(text) + 2 for start, _, text in line)
        if label != last and cell >= end + 2 and stop <= room and free:
            line.append((cell, "axis", label))
            last, end = label, stop
    pieces: list[tuple[str, str]] = []
    at = 0
    for start, role, text in sorted(line):
        pieces += [("axis", " " * (start - at)), (role, text)]
        at = start + width(text)
    return pieces


def _cell(level: int, bars: str) -> str:
    return " " if level <= 0 else bars[min(level, len(bars)) - 1]

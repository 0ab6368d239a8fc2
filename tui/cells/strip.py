"""Pure: buckets over time laid out in cells: quiet times folded, as much of the rest as there is room for.

A place on the strip is a moment, never a cell: another width, zoom or fold finds it again by ``Shape.cell``.
"""

from collections.abc import Mapping, Sequence

import msgspec

from worker.contract.search import Bucket

_FEW, _NARROW, _WIDE = 12, 2, 4
"""A bucket is at most four cells wide, and two where there are few: three days of memory are no skyline."""
_LEAST_ROOM = 8


class Column(msgspec.Struct, frozen=True):
    """What one bar stands for. first: number of its first bucket among those of the strip."""

    start_ms: int
    end_ms: int
    count: int = 0
    types: Mapping[str, int] = msgspec.field(default_factory=dict)


class Slot(msgspec.Struct, frozen=True):
    """``width`` cells of the strip: columns side by side in each, or a fold with its text."""

    at: int
    width: int
    start_ms: int
    end_ms: int
    columns: tuple[Column, ...] = ()
    text: str = ""

    @property
    def count(self) -> int:
        """Records in it."""
        return sum(column.count for column in self.columns)

    @property
    def types(self) -> dict[str, int]:
        """How many of each type."""
        found: dict[str, int] = {}
        for column in self.columns:
            for name, count in column.types.items():
                found[name] = found.get(name, 0) + count
        return found


class Shape(msgspec.Struct, frozen=True):
    """Slots from the left, without a hole between them. bucket_ms: of a bucket, before any were put together."""

    slots: tuple[Slot, ...]
    bucket_ms: int

    @property
    def width(self) -> int:
        """Cells in use."""
        return self.slots[-1].at + self.slots[-1].width

    @property
    def most(self) -> int:
        """Records in the highest column."""
        return max((column.count for slot in self.slots for column in slot.columns), default=0)

    def slot(self, epoch_ms: int) -> Slot | None:
        """Where a moment lies."""
        return next((slot for slot in self.slots if slot.start_ms <= epoch_ms < slot.end_ms), None)

    def cell(self, epoch_ms: int) -> int | None:
        """The cell in which a moment lies."""
        slot = self.slot(epoch_ms)
        if slot is None:
            return None
        return slot.at + (epoch_ms - slot.start_ms) * slot.width // max(slot.end_ms - slot.start_ms, 1)


class Fit(msgspec.Struct, frozen=True):
    """How a strip is laid out. per: columns in a cell. folded: quiet times are left out, with ``gap`` at their ends.

    window: as fine as it is, around a moment, rather than all of it put together. keep: the cell that the moment is to
    stay in; None for the middle.
    """

    room: int
    per: int = 1
    folded: bool = True
    gap: str = "┄"
    window: bool = False
    keep: int | None = None


def shape(buckets: Sequence[Bucket], bucket_ms: int, fit: Fit, here_ms: int | None = None) -> Shape | None:
    """The strip; None where there is nothing, or no room for it."""
    if not buckets or bucket_ms <= 0 or fit.room < _LEAST_ROOM:
        return None
    columns = _whole(buckets, bucket_ms)
    together = 1
    slots = _slots(columns, together, fit)
    if fit.window:
        slots = _window(slots, fit, here_ms)
    while _cells(slots) > fit.room:
        # Before two buckets are put together, shorter quiet times are folded too.
        slots = _slots(columns, together, fit, tight=True)
        if _cells(slots) > fit.room:
            together += 1
            slots = _slots(columns, together, fit)
    widest = 1 if fit.per > 1 else _WIDE if len(columns) >= _FEW else _NARROW  # half of a wide bar is none
    bars = sum(not slot.text for slot in slots) or 1
    stretch = max(1, min(widest, (fit.room - _cells(slots) + bars) // bars))
    return Shape(_placed([_stretched(slot, stretch) for slot in slots]), bucket_ms)


def _whole(buckets: Sequence[Bucket], bucket_ms: int) -> list[Column]:
    """All buckets, those without a record too."""
    columns: list[Column] = []
    for bucket in buckets:
        start, end = bucket.start_epoch_ms, bucket.end_epoch_ms
        if columns and (hole := start - columns[-1].end_ms) > 0:
            missing, first = max(1, round(hole / bucket_ms)), columns[-1].end_ms
            edges = [first + hole * number // missing for number in range(missing + 1)]
            columns += [Column(left, right) for left, right in zip(edges, edges[1:], strict=False)]
        columns.append(Column(start, end if end > start else start + bucket_ms, bucket.count, bucket.types))
    return columns


def _slots(columns: Sequence[Column], together: int, fit: Fit, *, tight: bool = False) -> list[Slot]:
    """Columns ``together`` at a time, ``per`` of those in a cell; of quiet times one slot each, where that is less.

    tight: of those that are too short to be told in words too.
    """
    size = together * fit.per
    slots: list[Slot] = []
    quiet: list[Slot] = []
    for at in range(0, len(columns), size):
        parts = [_sum(columns[begin : begin + together]) for begin in range(at, min(at + size, len(columns)), together)]
        slot = Slot(0, 1, parts[0].start_ms, parts[-1].end_ms, tuple(parts))
        if fit.folded and not slot.count:
            quiet.append(slot)
            continue
        slots += _folded(quiet, fit.gap, tight)
        quiet = []
        slots.append(slot)
    return slots + _folded(quiet, fit.gap, tight)


def _folded(quiet: list[Slot], gap: str, tight: bool) -> list[Slot]:
    if not quiet:
        return []
    start, end = quiet[0].start_ms, quiet[-1].end_ms
    text = f"{gap}{duration(end - start)}{gap}"
    if len(quiet) > len(text):
        return [Slot(0, len(text), start, end, (), text)]
    return [Slot(0, 1, start, end, (), gap)] if tight and len(quiet) > 2 else quiet


def duration(span_ms: int) -> str:
    """`40m`, `3h`, `2d`, `5w`: the largest unit of which there are at least two, or the smallest."""
    for unit_ms, name in ((604_800_000, "w"), (86_400_000, "d"), (3_600_000, "h")):
        if span_ms >= 1.9 * unit_ms:
            return f"{round(span_ms / unit_ms)}{name}"
    return f"{max(1, round(span_ms / 60_000))}m"


def _sum(columns: Sequence[Column]) -> Column:
    if len(columns) == 1:
        return columns[0]
    types: dict[str, int] = {}
    for column in columns:
        for name, count in column.types.items():
            types[name] = types.get(name, 0) + count
    return Column(columns[0].start_ms, columns[-1].end_ms, sum(column.count for column in columns), types)


def _cells(slots: Sequence[Slot]) -> int:
    return sum(slot.width for slot in slots)


def _stretched(slot: Slot, width: int) -> Slot:
    return slot if slot.text else Slot(0, width, slot.start_ms, slot.end_ms, slot.columns)


def _window(slots: list[Slot], fit: Fit, here_ms: int | None) -> list[Slot]:
    """As many slots around a moment as there is room for."""
    if _cells(slots) <= fit.room:
        return slots
    here = len(slots) - 1
    if here_ms is not None:
        here = next((at for at, slot in enumerate(slots) if here_ms < slot.end_ms), here)
    left = min(fit.keep if fit.keep is not None else fit.room // 2, fit.room - slots[here].width)
    first, taken = here, slots[here].width
    while first > 0 and taken - slots[here].width + slots[first - 1].width <= left:
        first -= 1
        taken += slots[first].width
    last = here
    while last + 1 < len(slots) and taken + slots[last + 1].width <= fit.room:
        last += 1
        taken += slots[last].width
    while first > 0 and taken + slots[first - 1].width <= fit.room:
        first -= 1
        taken += slots[first].width
    return slots[first : last + 1]


def _placed(slots: Sequence[Slot]) -> tuple[Slot, ...]:
    placed: list[Slot] = []
    at = 0
    for slot in slots:
        placed.append(Slot(at, slot.width, slot.start_ms, slot.end_ms, slot.columns, slot.text))
        at += slot.width
    return tuple(placed)

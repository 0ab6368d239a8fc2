"""Pure: the filters in a query line: which there are, and the line with one more or one less.

A chip is nothing but its piece of the line (`type:bugfix`), so what a key does can be typed, and the other way round.
"""

import re

from msgspec import Struct

from worker.contract.query import Filter, filters

DATES = ("since", "until", "at")
SPAN = ("since", "until")


class Chip(Struct, frozen=True):
    """One filter: one value of one field."""

    field: str
    value: str

    @property
    def fits(self) -> bool:
        """Whether the value can be said in a query line at all."""
        return [each.values for each in filters(str(self))] == [(self.value,)]

    def __str__(self) -> str:
        return f"{self.field}:{_said(self.value)}"


def chips(line: str) -> tuple[Chip, ...]:
    """The filters of a line, in its order."""
    return tuple(Chip(piece.field, value) for piece in filters(line) for value in piece.values)


def spans(line: str) -> list[tuple[int, int]]:
    """Where in the line filters stand."""
    return [(piece.start, piece.end) for piece in filters(line)]


def words(line: str) -> str:
    """The line without its filters."""
    for start, end in reversed(spans(line)):
        line = line[:start] + line[end:]
    return line.strip()


def added(line: str, chip: Chip) -> str:
    """The line with a filter: beside others of its field, of which any will do; a span of time in place of the last."""
    if chip.field in DATES:
        line = _rid_of(line, DATES)
    for piece in filters(line):
        if piece.field == chip.field:
            return _put(line, piece, (*piece.values, chip.value)) if chip.value not in piece.values else line
    return f"{chip} {line}".rstrip()


def removed(line: str, chip: Chip) -> str:
    """The line without a filter."""
    for piece in reversed(filters(line)):
        if piece.field == chip.field and chip.value in piece.values:
            line = _put(line, piece, tuple(value for value in piece.values if value != chip.value))
    return line


def toggled(line: str, chip: Chip) -> str:
    """The line with the filter if it has it not, without it if it has."""
    return removed(line, chip) if chip in chips(line) else added(line, chip)


def without(line: str, field: str) -> str:
    """The line without any filter of a field; of one for dates, without any date."""
    return _rid_of(line, DATES if field in DATES else (field,))


def last(line: str) -> Chip | None:
    """The filter that ``shortened`` takes out."""
    there = chips(line)
    return there[-1] if there else None


def shortened(line: str) -> str:
    """The line without its last filter; the two ends of a span are one."""
    chip = last(line)
    if chip is None:
        return line
    if chip.field in SPAN:
        return _rid_of(line, SPAN)
    return removed(line, chip)


def _rid_of(line: str, fields: tuple[str, ...]) -> str:
    for piece in reversed(filters(line)):
        if piece.field in fields:
            line = _put(line, piece, ())
    return line


def _put(line: str, piece: Filter, values: tuple[str, ...]) -> str:
    """The line with other values in a piece of it."""
    said = f"{piece.field}:{_said(','.join(values))}" if values else ""
    before, after = line[: piece.start], line[piece.end :]
    return before + said + after if said else (before.rstrip() + " " + after.lstrip()).strip()


def _said(value: str) -> str:
    """A value in quotes, if without them it would end sooner or lose what it begins or ends with."""
    return f'"{value}"' if re.search(r"\s|^[^\w./~]|[^\w/*]$", value) else value

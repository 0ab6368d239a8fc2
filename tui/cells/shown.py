"""Pure: what a terminal shows, and the least that turns it into what it is to show.

Cells that stay as they are get no bytes; lines that only moved are moved by the terminal itself, within a scroll
region. Both are found by comparing cells, so that it does not matter what moved them: a key, a wheel, a record that
came. Whatever is not known for certain is written.

Of the sequences, only those that xterm, tmux, GNU screen and the Linux console share: CUP, CUF, SGR, DECSTBM, and LF
and RI at the margins (the console has no SU and SD; not all have BCE, so exposed cells are written, blanks too).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import msgspec

_STEADY = re.compile(
    "[ -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u037a-\u037f\u0384-\u0482\u048a-\u0556"
    "\u2010-\u2027\u2030-\u205e\u2070-\u209c\u20a0-\u20bf\u2100-\u218b\u2190-\u2319\u231c-\u2328\u232b-\u23e8"
    "\u2460-\u25fc\u25ff-\u2604\u2768-\u2794\u2798-\u27af\u27c0-\u2b19]*"
)
"""Characters that take one cell in every terminal: all our own, and those of most of Europe."""
_ON_BLANKS = frozenset(("4", "7", "9", "21", "51", "52", "53"))
"""SGR attributes that are seen where there is no character."""
_BRIDGED = 4
"""Cells that are rather written again than passed over, which takes as many bytes."""


class Pen(NamedTuple):
    """How a character is drawn, as SGR parameters: attributes in ascending order, foreground, background."""

    attributes: tuple[str, ...] = ()
    ink: str = ""
    paper: str = ""

    @property
    def seen_on_blanks(self) -> bool:
        """Whether a blank shows more of it than the background."""
        return not _ON_BLANKS.isdisjoint(self.attributes)


PLAIN = Pen()
_SEALED = Pen(("0",))
"""Of a text that brings its own sequences."""
Cell = tuple[str, Pen]
"""A character, or a sealed text of as many cells as ``_COVERED`` ones follow, and one."""
_COVERED: Cell = ("", _SEALED)


@lru_cache(1024)
def pen(sgr: str) -> Pen:
    """The pen of SGR parameters, as Rich writes them: ``1;38;5;174;48;5;233``."""
    attributes, ink, paper = [], "", ""
    codes = iter(sgr.split(";") if sgr else ())
    for code in codes:
        if code in ("38", "48"):
            kind = next(codes)
            code = ";".join((code, kind, *(next(codes) for _ in range(3 if kind == "2" else 1))))
        number = int(code.partition(";")[0])
        if number in (39, 49):
            continue
        if 30 <= number < 39 or 90 <= number < 98:
            ink = code
        elif 40 <= number < 49 or 100 <= number < 108:
            paper = code
        else:
            attributes.append(code)
    return Pen(tuple(attributes), ink, paper)


class Piece(msgspec.Struct, frozen=True):
    """A part of a line as it is to be. known: whether its cells are certain to look so once it is written."""

    line: int
    start: int
    cells: Sequence[Cell]
    known: bool = True

    @property
    def stop(self) -> int:
        """The column after it."""
        return self.start + len(self.cells)


def steady(text: str) -> bool:
    """Whether each character takes one cell, whatever terminal it is."""
    return _STEADY.fullmatch(text) is not None


def cells(text: str, drawn: Pen) -> list[Cell]:
    """The cells of a steady text; blanks without what is not seen of them."""
    bare = drawn if drawn.seen_on_blanks else Pen(paper=drawn.paper)
    return [(char, bare if char == " " else drawn) for char in text]


def sealed(text: str, room: int) -> list[Cell]:
    """The cells of any other text with its sequences, which begins and ends with a plain pen: written whole or not."""
    return [(text, _SEALED), *[_COVERED] * (room - 1)]


class Shown:
    """A terminal of ``width`` cells and ``height`` lines, nothing known of it at first."""

    def __init__(self, width: int, height: int) -> None:
        self.size = (width, height)
        self._lines: list[list[Cell | None]] = [[None] * width for _ in range(height)]

    def note(self, pieces: Sequence[Piece]) -> None:
        """These have been written. Errors: ``ValueError`` for pieces that are not on the screen."""
        self._check(pieces)
        for piece in pieces:
            own = piece.cells if piece.known else [None] * len(piece.cells)
            self._lines[piece.line][piece.start : piece.stop] = own

    def turn(self, pieces: Sequence[Piece]) -> str:
        """What to write so that these are shown. The pen is plain before and after; the cursor is anywhere after.

        Errors: ``ValueError`` for pieces that are not on the screen.
        """
        self._check(pieces)
        width, _ = self.size
        by_line: dict[int, list[Piece]] = {}
        for piece in sorted(pieces, key=lambda piece: (piece.line, piece.start)):
            by_line.setdefault(piece.line, []).append(piece)
        text = _written(self._lines, by_line)
        scroll = _scroll(self._lines, {line: whole for line, own in by_line.items() if (whole := _whole(own, width))})
        if scroll is not None:
            lines = scroll.of(self._lines)
            scrolled = scroll.sequence + _written(lines, by_line)
            if len(scrolled.encode()) < len(text.encode()):
                self._lines, text = lines, scrolled
        self.note(pieces)
        return text

    def _check(self, pieces: Sequence[Piece]) -> None:
        width, height = self.size
        for piece in pieces:
            if not (0 <= piece.line < height and 0 <= piece.start < piece.stop <= width):
                raise ValueError(piece)


class _Scroll(msgspec.Struct, frozen=True):
    """Lines ``top`` to ``bottom``, both included, moved up by so many, or down by less than none."""

    top: int
    bottom: int
    by: int

    @property
    def sequence(self) -> str:
        """What makes a terminal do so; the margins are those of the screen before and after."""
        at, turns = (self.bottom, "\n" * self.by) if self.by > 0 else (self.top, "\x1bM" * -self.by)
        return f"\x1b[m\x1b[{self.top + 1};{self.bottom + 1}r\x1b[{at + 1}H{turns}\x1b[r"

    def of(self, lines: Sequence[list[Cell | None]]) -> list[list[Cell | None]]:
        """The lines after it; of those that are exposed nothing is known."""
        region = [list(line) for line in lines[self.top : self.bottom + 1]]
        exposed: list[list[Cell | None]] = [[None] * len(region[0]) for _ in range(abs(self.by))]
        moved = [*region[self.by :], *exposed] if self.by > 0 else [*exposed, *region[: self.by]]
        return [*lines[: self.top], *moved, *lines[self.bottom + 1 :]]


def _whole(own: Sequence[Piece], width: int) -> list[Cell] | None:
    """The line that these pieces make, unless they leave cells of it out."""
    at = 0
    for piece in own:
        if piece.start != at or not piece.known:
            return None
        at = piece.stop
    return [cell for piece in own for cell in piece.cells] if at == width else None


def _scroll(lines: Sequence[list[Cell | None]], wanted: Mapping[int, list[Cell]]) -> _Scroll | None:
    """The scrolling that brings most lines to their place, among lines that are wanted anew as a whole.

    Not from the first line of the screen on: what leaves it there may go into the terminal's history. The last cell of
    a line is left out of the comparison: a scroll bar stays where it is, whatever moves beside it.
    """
    best: tuple[tuple[int, int], _Scroll] | None = None
    numbers = sorted(line for line in wanted if line)
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        block = [line for _, line in run]
        before: dict[tuple[Cell | None, ...], list[int]] = {}
        for line in block:
            before.setdefault(tuple(lines[line][:-1]), []).append(line)
        moves: dict[int, list[int]] = {}
        for line in block:
            body = tuple(wanted[line][:-1])
            sources = before.get(body, [])
            if line not in sources and any(text != " " for text, _ in body):
                for source in sources:
                    moves.setdefault(source - line, []).append(line)
        for by, targets in moves.items():
            if best is None or (len(targets), -abs(by)) > best[0]:
                scroll = _Scroll(min(targets[0], targets[0] + by), max(targets[-1], targets[-1] + by), by)
                best = (len(targets), -abs(by)), scroll
    return best[1] if best is not None else None


def _written(lines: Sequence[list[Cell | None]], by_line: Mapping[int, Sequence[Piece]]) -> str:
    """What brings the pieces on to these lines."""
    out: list[str] = []
    held = PLAIN
    for number, own in by_line.items():
        column: int | None = None
        for start, changed in _changes(lines[number], own):
            out.append(_way(number, column, start))
            for text, wanted in changed:
                if wanted != held:
                    drawn = PLAIN if wanted is _SEALED else _on_blank(held, wanted) if text == " " else wanted
                    out.append(_exchange(held, drawn))
                    held = drawn
                out.append(text)
            column = start + len(changed) if changed[-1][1] is not _SEALED else None
    if held != PLAIN:
        out.append("\x1b[m")
    return "".join(out)


def _changes(line: Sequence[Cell | None], own: Sequence[Piece]) -> Iterator[tuple[int, Sequence[Cell]]]:
    """(column, cells) of what differs in a line, from left to right.

    Where a sealed text is or was, terminals do not agree on which cell what follows is in: then it is all or nothing.
    """
    if any(is_sealed(line[piece.start : piece.stop]) or is_sealed(piece.cells) or not piece.known for piece in own):
        if not all(piece.known and line[piece.start : piece.stop] == list(piece.cells) for piece in own):
            yield from ((piece.start, piece.cells) for piece in own)
        return
    for piece in own:
        start = stop = -1
        for at, cell in enumerate(piece.cells):
            if line[piece.start + at] == cell:
                continue
            if start >= 0 and not _bridged(piece.cells[stop - 1 : at]):
                yield piece.start + start, piece.cells[start:stop]
                start = -1
            start, stop = at if start < 0 else start, at + 1
        if start >= 0:
            yield piece.start + start, piece.cells[start:stop]


def is_sealed(part: Sequence[Cell | None]) -> bool:
    """Whether there is a sealed text in it."""
    return any(cell is not None and cell[1] is _SEALED for cell in part)


def _bridged(part: Sequence[Cell]) -> bool:
    """Whether the cells after the first one are rather written again than passed over."""
    drawn = part[0][1]
    return len(part) - 1 <= _BRIDGED and all(
        text.isascii() and (own == drawn or (text == " " and _on_blank(drawn, own) == drawn)) for text, own in part[1:]
    )


def _way(line: int, column: int | None, start: int) -> str:
    """From a column of the line, or from anywhere, to the start."""
    if column is None:
        return f"\x1b[{line + 1};{start + 1}H" if start else f"\x1b[{line + 1}H"
    return "" if start == column else f"\x1b[{start - column}C"


def _on_blank(held: Pen, wanted: Pen) -> Pen:
    """The pen for a blank that is nearest to the one in hand."""
    if held.seen_on_blanks or wanted.seen_on_blanks:
        return wanted
    return held._replace(paper=wanted.paper)


def _exchange(held: Pen, wanted: Pen) -> str:
    """One pen for another."""
    if held == wanted:
        return ""
    if wanted == PLAIN:
        return "\x1b[m"
    codes = ["0", *wanted.attributes, *(colour for colour in (wanted.ink, wanted.paper) if colour)]
    if set(held.attributes) <= set(wanted.attributes):
        more = [code for code in wanted.attributes if code not in held.attributes]
        more += [wanted.ink or "39"] if wanted.ink != held.ink else []
        more += [wanted.paper or "49"] if wanted.paper != held.paper else []
        codes = min(more, codes, key=lambda each: len(";".join(each)))
    return f"\x1b[{';'.join(codes)}m"

"""Pure: parts of a whole side by side in one line, each as wide as it is large; and parts of the parts below them."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui.cells import fit
from tui.cells.glyphs import Glyphs

Piece = tuple[str, str]
_LEAST = 3
"""Cells of a part at least; smaller ones are put together at the end."""


@dataclass(frozen=True, slots=True)
class Share:
    """One part. name, figure: written on it as far as they fit."""

    name: str
    figure: str
    value: int


@dataclass(frozen=True, slots=True)
class Span:
    """A part in its cells. index: of its share; None for what is put together, ``count`` of them (0: not told)."""

    start: int
    cells: int
    index: int | None
    count: int = 1


def spans(shares: Sequence[Share], room: int, *, start: int = 0, more: int = 0, rest: int = 0) -> list[Span]:
    """The parts in ``room`` cells, in their order. more: parts that are not among them, worth ``rest`` in all.

    What would have less than three cells is put together at the end; a whole of nothing has no parts.
    """
    whole = sum(share.value for share in shares) + rest
    if whole <= 0 or room < _LEAST:
        return []
    shown: list[int] = []
    for index, share in enumerate(shares):
        if share.value / whole * room >= _LEAST:
            shown.append(index)
    folded = sum(share.value > 0 for share in shares) - len(shown) + more
    folded_value = whole - sum(shares[index].value for index in shown)
    if not shown:
        return [Span(start, room, None, folded)]
    tail = max(_LEAST, round(folded_value / whole * room)) if folded or rest else 0
    if tail and room - tail < _LEAST * len(shown):
        tail = min(tail, _LEAST)
    free = room - tail
    together = sum(shares[index].value for index in shown)
    made: list[Span] = []
    at, done = 0, 0
    for index in shown:
        done += shares[index].value
        end = max(round(done / together * free), at + 1)
        made.append(Span(start + at, min(end, free) - at, index))
        at = min(end, free)
    made = [span for span in made if span.cells > 0]
    return [*made, Span(start + free, tail, None, folded)] if tail else made


def line(spans: Sequence[Span], shares: Sequence[Share], room: int, glyphs: Glyphs, chosen: int | None) -> list[Piece]:
    """The parts as pieces: each has a texture other than its neighbours', so that it is told from them by that alone.

    One colour for all but what is chosen: each more would cost 40 bytes a part.

    chosen: the share under the cursor; the cursor's sign stands at its left edge.
    """
    pieces: list[Piece] = []
    at = 0
    for number, span in enumerate(spans):
        if span.start > at:
            pieces.append(("text", " " * (span.start - at)))
        pieces += _cells(span, shares, glyphs, number, chosen=span.index is not None and span.index == chosen)
        at = span.start + span.cells
    if at < room:
        pieces.append(("text", " " * (room - at)))
    return pieces


def _cells(span: Span, shares: Sequence[Share], glyphs: Glyphs, number: int, *, chosen: bool) -> list[Piece]:
    other = glyphs.spent if glyphs.spent != glyphs.bars[-1] else glyphs.full
    texture = glyphs.unspent if span.index is None else (glyphs.bars[-1], other)[number % 2]
    edge = glyphs.cursor if chosen else "|" if glyphs.cursor == ">" else "│"
    free = span.cells - 1
    label = _label(span, shares, glyphs, free)
    left = min(max((free - fit.width(label)) // 2, 0), 2) if label else free
    text = edge + texture * left + label + texture * (free - left - fit.width(label))
    return [("chosen" if chosen else "flame", text)]


def _label(span: Span, shares: Sequence[Share], glyphs: Glyphs, free: int) -> str:
    """The longest form that fits; empty where none does."""
    if span.index is None:
        forms = (
            [f" {span.count} more ", f"{span.count} more", f"+{span.count}"] if span.count else [" others ", "other"]
        )
    else:
        share = shares[span.index]
        name = fit.cut(share.name, max(free - 2 - len(share.figure) - 1, 0), glyphs.ellipsis)
        forms = [f" {share.name} {share.figure} "]
        forms += [f" {name} {share.figure} "] if fit.width(name) >= 4 else []
        forms += [f" {fit.cut(share.name, free - 2, glyphs.ellipsis)} "] if free >= 6 else []
    return next((form for form in forms if fit.width(form) <= free), "")

"""Pure: rows that are brought in from elsewhere, cleaned as what agents tell is."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from worker.contract.clean import cleaned
from worker.contract.transfer import ImportBatch, RowKind
from worker.store import foreseen

Row = dict[str, Any]

_KEYS = frozenset(("content_session_id", "memory_session_id", "content_hash", "platform_source"))
"""By these rows find each other."""
_MOST_ROWS, _MOST_CHARS = 100, 250_000
"""Of a piece."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of one table. places: where each stands in the batch. chars: about how much text there is."""

    kind: RowKind
    rows: tuple[Row, ...]
    places: tuple[int, ...]
    chars: int = 0


@dataclass(frozen=True, slots=True)
class Clean:
    """A piece as it may be kept. lines: the search words of its texts, of those that are known."""

    piece: Piece
    lines: dict[str, str] = field(default_factory=dict)


def pieces(batch: ImportBatch) -> Iterator[Piece]:
    """All rows of a batch, those first that others need. What is long comes in pieces, so that one can be written while
    the next is cleaned."""
    for kind in (RowKind.SESSION, RowKind.OBSERVATION, RowKind.SUMMARY, RowKind.PROMPT):
        rows: tuple[Row, ...] = getattr(batch, kind.plural)
        start = chars = 0
        for at, row in enumerate(rows, start=1):
            chars += sum(len(value) for value in row.values() if isinstance(value, str))
            if at == len(rows) or at - start == _MOST_ROWS or chars > _MOST_CHARS:
                yield Piece(kind, rows[start:at], tuple(range(start, at)), chars)
                start, chars = at, 0


def clean(piece: Piece) -> Clean:
    """The rows as they may be kept; a prompt that was all private is left out."""
    rows = tuple(map(_clean, piece.rows))
    if piece.kind is not RowKind.PROMPT:
        return Clean(Piece(piece.kind, rows, piece.places))
    kept = [at for at, row in enumerate(rows) if _says(row) or not _says(piece.rows[at])]
    return Clean(Piece(piece.kind, tuple(rows[at] for at in kept), tuple(piece.places[at] for at in kept)))


def prepared(piece: Piece) -> Clean:
    """The same, with the search words of all of it."""
    done = clean(piece).piece
    return Clean(done, foreseen.lines(done.kind, done.rows))


def _says(row: Row) -> bool:
    return bool(str(row.get("prompt_text") or "").strip())


def _clean(row: Row) -> Row:
    return {key: value if key in _KEYS else _value(value) for key, value in row.items()}


def _value(value: object) -> object:
    """Lists and objects may stand as JSON text: then the texts in it are cleaned, and it stays JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            held = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return cleaned(value)
        after = cleaned(held)
        return value if after == held else msgspec.json.encode(after).decode()
    return cleaned(value)

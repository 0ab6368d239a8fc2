"""A JSON export, the original's or ours, or a bare import batch: one object with an array for each kind of row.

The file is mapped, not read, and a row is decoded when its turn comes: what is held besides is a reference a row.
"""

import mmap
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from worker.cli.importers.mending import NoObject, halves_replaced, json_object
from worker.cli.importers.source import LeftOut, Row
from worker.contract.errors import Invalid
from worker.contract.transfer import RowKind

_MADE = rb"\ufffd"
"""How ``halves_replaced`` writes it; JSON made by programs has the character itself."""
_BYTE = re.compile(r"\(byte (\d+)\)")

Buffer = bytes | mmap.mmap


class _Arrays(msgspec.Struct):
    sessions: list[msgspec.Raw] | None = None
    prompts: list[msgspec.Raw] | None = None
    observations: list[msgspec.Raw] | None = None
    summaries: list[msgspec.Raw] | None = None


class Document:
    """A JSON export; ``mark`` of a row plays no part."""

    form = "JSON export"

    def __init__(self, path: Path) -> None:
        """Errors: ``Invalid`` with the line for a file that is no such object; ``OSError``."""
        with path.open("rb") as file:
            self._text: Buffer = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._text[:3] == b"\xef\xbb\xbf":
            self._text = bytes(self._text)[3:]
        arrays, self._mended = _arrays(self._text, path)
        self._rows = {kind: getattr(arrays, kind.plural) or [] for kind in RowKind}
        if all(getattr(arrays, kind.plural) is None for kind in RowKind):
            raise Invalid(
                f"{path} holds no {', '.join(kind.plural for kind in RowKind)}: it is no export of claude-mem"
            )
        self.total = sum(map(len, self._rows.values()))

    def close(self) -> None:
        """Let go of the file: its mapping ends with the last row that refers to it."""
        self._rows = {}
        self._text = b""

    def place(self, row: Row) -> str:
        """The line on which a row with these very words first begins."""
        return self._line(bytes(self._rows[row.kind][row.at]))

    def rows(self) -> Iterator[Row | LeftOut]:
        """Kind by kind, sessions first, whatever the order in the file."""
        done = 0
        for kind, rows in self._rows.items():
            for at, raw in enumerate(rows):
                done += 1
                text = bytes(raw)
                try:
                    value, replaced = json_object(text)
                    yield Row(kind, at, value, len(text), 0, done, replaced or (self._mended and _MADE in text))
                except NoObject as error:
                    yield LeftOut(f"{kind.plural}[{at}]", self._line(text), str(error))

    def _line(self, text: bytes) -> str:
        return _line(self._text, max(0, self._text.find(text)))


def open_source(path: Path) -> Document:
    """The reader of a file. Errors: ``Invalid``."""
    try:
        return Document(path)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror or error}") from error


def _arrays(text: Buffer, path: Path) -> tuple[_Arrays, bool]:
    """The arrays, and whether halves of surrogate pairs had to be replaced in the text."""
    try:
        try:
            return msgspec.json.decode(text, type=_Arrays), False
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            return msgspec.json.decode(halves_replaced(memoryview(text)), type=_Arrays), True
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        found = _BYTE.search(str(error))
        if "truncated" in str(error):
            raise Invalid(f"{path} ends in the middle ({_line(text, len(text))})") from error
        place = f", {_line(text, int(found[1]))}" if found else ""
        raise Invalid(f"{path} is no JSON export: {error}{place}") from error


def _line(text: Buffer, offset: int) -> str:
    """`line 3` of a byte, with the byte where lines tell nothing."""
    number, at, before = 1, text.find(b"\n"), -1
    while 0 <= at < offset:
        number, before, at = number + 1, at, text.find(b"\n", at + 1)
    return f"line {number}, byte {offset - before}" if offset - before > 500 or number == 1 else f"line {number}"

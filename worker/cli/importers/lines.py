"""JSON lines: `{"k": "observation", "v": {…}}`, read as they come; nothing but the present line is held."""

from collections.abc import Iterator
from pathlib import Path

from worker.cli.importers.mending import NoObject, json_object
from worker.cli.importers.source import LeftOut, Row
from worker.contract.errors import Invalid
from worker.contract.transfer import RowKind

_KINDS = {kind.value: kind for kind in RowKind}


class Lines:
    """A file of JSON lines; ``mark`` of a row is its line number."""

    form = "JSON lines"

    def __init__(self, path: Path) -> None:
        """Errors: ``OSError``."""
        self._file = path.open("rb")
        self.total = path.stat().st_size

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def place(self, row: Row) -> str:
        """`line 17`."""
        return f"line {row.mark}"

    def rows(self) -> Iterator[Row | LeftOut]:
        """Row for row; sessions stand before what belongs to them in every file that a program of ours wrote."""
        counts = dict.fromkeys(RowKind, 0)
        done = 0
        for number, line in enumerate(self._file, 1):
            done += len(line)
            text = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
            if not text:
                continue
            try:
                kind, value, replaced = _opened(text)
            except NoObject as error:
                yield LeftOut(f"line {number}", f"line {number}", str(error))
                continue
            yield Row(kind, counts[kind], value, len(text), number, done, replaced)
            counts[kind] += 1


def open_source(path: Path) -> Lines:
    """The reader of a file. Errors: ``Invalid``."""
    try:
        return Lines(path)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror or error}") from error


def _opened(text: bytes) -> tuple[RowKind, dict[str, object], bool]:
    line, replaced = json_object(text)
    kind, value = line.get("k"), line.get("v")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise NoObject(f"has no k that is one of {', '.join(_KINDS)}")
    if not isinstance(value, dict):
        raise NoObject("has no v that is an object")
    return _KINDS[kind], value, replaced

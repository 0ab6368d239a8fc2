"""Source kind → its reader's module; and which kind a file is."""

import contextlib
import importlib
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from worker.cli.importers.source import Source
from worker.contract.errors import Invalid

_READERS = {
    "database": "worker.cli.importers.database",
    "document": "worker.cli.importers.export",
    "lines": "worker.cli.importers.lines",
}
_HEAD_BYTES = 65536
_LINES = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"[kv]"\s*:')


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Source]:
    """The reader of a file. Errors: ``Invalid`` for a file that cannot be read or is nothing that we know."""
    source: Source = importlib.import_module(_READERS[kind_of(path)]).open_source(path)
    try:
        yield source
    finally:
        source.close()


def kind_of(path: Path) -> str:
    """Which reader a file needs, by its first bytes. Errors: as ``opened``."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Invalid(f"{path} is not a file")
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror or error}") from error
    if head.startswith(b"SQLite format 3\0"):
        return "database"
    if _LINES.match(head):
        return "lines"
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return "document"
    raise Invalid(f"{path} {_why(head)}")


def _why(head: bytes) -> str:
    if not head:
        return "is empty"
    if head.startswith((b"\x1f\x8b", b"PK\x03\x04", b"(\xb5/\xfd")):
        return "is packed; unpack it first"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "is UTF-16 text; save it as UTF-8 first"
    return "is neither a claude-mem database nor a JSON export"

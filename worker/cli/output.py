"""Files that are whole or not there: written beside their place, then renamed."""

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from worker.contract.errors import Invalid


class Written(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> int:
        """Take all of them."""


@contextlib.contextmanager
def written(target: str, *, lasting: bool = True) -> Iterator[Written]:
    """A file for its owner alone (0600), under its name only once the block ended well; `-` is standard output.

    A link keeps pointing where it points; a pipe or device is written to as it is. lasting: on the disk itself when
    the name is there, and not only with the system: 4 ms a file.
    Errors: ``Invalid`` for a folder or a database in its place; ``OSError``.
    """
    if target == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    place = Path(os.path.realpath(target))
    if place.exists() and not stat.S_ISREG(place.stat().st_mode):
        if place.is_dir():
            raise Invalid(f"{target} is a folder; give the name of a file")
        with place.open("wb") as device:
            yield device
        return
    _refuse_database(place)
    beside = place.with_name(f".{place.name[:100]}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            yield file
            file.flush()
            if lasting:
                os.fsync(file.fileno())
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


def _refuse_database(place: Path) -> None:
    if place.exists():
        with place.open("rb") as file:
            if file.read(16) == b"SQLite format 3\0":
                raise Invalid(f"{place} is a database; an export does not take its place")

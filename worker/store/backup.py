"""A copy of the database before it is changed, made by SQLite's own backup."""

import datetime as dt
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from worker.contract.errors import Unavailable

FOLDER = "backups"
_MOST = 3


def free_bytes(folder: Path) -> int:
    """Room on the disk of a folder."""
    return shutil.disk_usage(folder).free


def copy(source: sqlite3.Connection, path: Path, before: str, *, free: Callable[[Path], int] = free_bytes) -> Path:
    """The copy `backups/claude-mem-before-<before>-<time>.db` beside the database at ``path``.

    source: a connection that writes nothing. Room is asked for the copy and for the change, which writes each page
    twice at most. Of copies made before one and the same change the first and the newest stay.
    Errors: ``Unavailable`` when there is not enough room.
    """
    needed = 3 * _size(source) + 2**20
    there = free(path.parent)
    if there < needed:
        raise Unavailable(
            f"the database must be brought up to date, and a copy is made first: that needs {_megabytes(needed)} "
            f"on the disk of {path.parent}, and {_megabytes(there)} are free; nothing was changed"
        )
    folder = path.parent / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    now = dt.datetime.now(dt.UTC)
    target = folder / f"{path.stem}-before-{before}-{now:%Y%m%dT%H%M%S.%f}Z.db"
    partial = target.with_suffix(".partial")
    for old in folder.glob(f"{path.stem}-before-*.partial"):
        old.unlink()
    # Made by us, so that nobody else may ever read it.
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with closing(sqlite3.connect(partial)) as made:
            source.backup(made)
        _flush(partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    for surplus in sorted(folder.glob(f"{path.stem}-before-{before}-*.db"))[1 : 1 - _MOST]:
        surplus.unlink()
    return target


def _size(connection: sqlite3.Connection) -> int:
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return int(pages) * int(size)


def _flush(file: Path) -> None:
    """On the disk before the change begins."""
    opened = os.open(file, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _megabytes(count: int) -> str:
    return f"{-(-count // 2**20):,} MB"

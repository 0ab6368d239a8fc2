"""A database file that is only read: served as it lies, or from a copy where something must be written to serve it."""

import logging
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from worker.contract.errors import Unavailable
from worker.store import backup
from worker.store.database import has_fulltext, told
from worker.store.memo import Remembering
from worker.store.reconcile import is_finished
from worker.store.tables import Store, open_store
from worker.store.wal import wal_bytes, wal_file

_log = logging.getLogger("worker.store")


def open_reader(path: Path, scratch: Path, *, free: Callable[[Path], int] = backup.free_bytes) -> Store:
    """The store of a file to which nothing is written.

    A file without our index, or with one that is behind, is copied to the folder ``scratch``, and the copy gets it:
    then what is served is the state of this moment. free: bytes of room on the disk of a folder.
    Errors: ``Unavailable`` or ``Busy`` with the reason.
    """
    if not path.is_file():
        raise Unavailable(f"there is no memory at {path}")
    with told(path):
        if _is_finished(path):
            try:
                return open_store(path, connect=connection, ours=False)
            except Unavailable as error:
                _log.info("read from a copy: %s", error.message)
        copied = scratch / path.name
        _copy(path, copied, free)
    return open_store(copied)


def _is_finished(path: Path) -> bool:
    """Whether the file can be served without a change."""
    try:
        with closing(connection(path)) as opened:
            opened.row_factory = sqlite3.Row
            return is_finished(opened, fulltext=has_fulltext(opened))
    except sqlite3.OperationalError as error:
        if _name(error).startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
            return False
        raise


def connection(path: Path) -> sqlite3.Connection:
    """One that cannot write."""
    try:
        return _connected(path, "mode=ro")
    except sqlite3.OperationalError:
        if wal_bytes(path):
            raise
        return _connected(path, "immutable=1")  # a folder in which SQLite cannot make its shared memory


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    made = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?{mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        factory=Remembering,
    )
    try:
        made.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the file is not touched before this
    except BaseException:
        made.close()
        raise
    return made


def _copy(path: Path, to: Path, free: Callable[[Path], int]) -> None:
    log = wal_bytes(path)
    needed = 2 * (path.stat().st_size + log)
    if free(to.parent) < needed:
        raise Unavailable(
            f"{path} cannot be read as it lies, and a copy of it has no room in {to.parent}, "
            f"which would take {-(-needed // 2**20):,} MB"
        )
    try:
        with closing(connection(path)) as source, closing(sqlite3.connect(to)) as made:
            source.backup(made)
    except sqlite3.OperationalError as error:
        if not log or not _name(error).startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
            raise
        # What is in the log can only be read where files can be made beside it.
        to.unlink(missing_ok=True)
        for one, copied in ((path, to), (wal_file(path), wal_file(to))):
            shutil.copyfile(one, copied)


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", None) or ""

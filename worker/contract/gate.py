"""The spawn gate: of many that want to start a worker at once, one may. ``spawn.lock``, in the original's form."""

import contextlib
import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from worker.contract.errors import Unavailable
from worker.contract.running import alive
from worker.contract.settings import Settings

_LOCK_STALE_S = 90.0


class _Owner(msgspec.Struct):
    pid: int


def lock_file(settings: Settings) -> Path:
    """There while somebody starts a worker."""
    return settings.data_dir / "spawn.lock"


def is_held(settings: Settings) -> bool:
    """Whether somebody is starting a worker."""
    return lock_file(settings).exists() and not _left_behind(lock_file(settings))[0]


def claim(settings: Settings) -> bool:
    """True for the one who may start the worker, and who takes the lock away afterwards.

    Errors: ``Unavailable`` when the data directory cannot be written to.
    """
    lock = lock_file(settings)
    try:
        # One by one: of those that mkdir makes on the way to another, the mode is whatever the umask leaves.
        for folder in (*reversed(settings.data_dir.parents), settings.data_dir, settings.logs):
            folder.mkdir(mode=0o700, exist_ok=True)
        _drop_if_left_behind(lock)
        handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError as error:
        if error.filename == str(lock):
            return False
        raise Unavailable(f"cannot write to {settings.data_dir}: {error.filename} is in the way") from error
    except OSError as error:
        raise Unavailable(f"cannot write to {settings.data_dir}: {error.strerror or error}") from error
    started = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode({"pid": os.getpid(), "startedAt": started}))
    except OSError as error:
        lock.unlink(missing_ok=True)
        raise Unavailable(f"cannot write to {settings.data_dir}: {error.strerror or error}") from error
    return True


def _left_behind(lock: Path) -> tuple[bool, int]:
    """Whether the owner of a lock is dead, or it is older than any start takes; and when it was made, in ns."""
    try:
        seen = lock.stat()
        owner = msgspec.json.decode(lock.read_bytes(), type=_Owner).pid
    except FileNotFoundError:
        return False, 0
    except msgspec.MsgspecError:
        owner = 0  # being written at this moment, or not by us: only its age counts
    # One of the future is from before somebody set the clock back.
    young = abs(time.time() - seen.st_mtime) <= _LOCK_STALE_S
    return not (young and (owner <= 0 or alive(owner))), seen.st_mtime_ns


def _drop_if_left_behind(lock: Path) -> None:
    """Take away a lock whose owner is dead, or that is older than any start takes."""
    dead, made_ns = _left_behind(lock)
    if not dead:
        return
    # Moved first, so that of two who judged the same lock only one drops it and neither drops a fresh one.
    aside = lock.with_name(f"{lock.name}.{os.getpid()}.{threading.get_ident()}")
    with contextlib.suppress(FileNotFoundError):
        lock.rename(aside)
        if aside.stat().st_mtime_ns != made_ns:
            with contextlib.suppress(FileExistsError):
                os.link(aside, lock)
        aside.unlink()

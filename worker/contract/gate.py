"""The spawn gate: of many that want to start a worker at once, one may. ``spawn.lock``, in the original's form.

With one key more, ``startToken`` as in ``worker.pid``: the id of a process that died may be another's by now, and after
a container began anew it nearly always is.
"""

import contextlib
import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from worker.contract.errors import Unavailable
from worker.contract.running import alive, start_token
from worker.contract.settings import Settings

_LOCK_STALE_S = 90.0
_UNSIGNED_S = 1.0
"""So long counts a lock that tells no process for certain: one that is being written, or of the original. If its owner
does start a worker, the port decides between the two."""


class _Owner(msgspec.Struct, omit_defaults=True):
    pid: int
    startedAt: str = ""
    startToken: str | None = None


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
        started = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        signed = msgspec.json.encode(_Owner(os.getpid(), started, start_token(os.getpid())))
        handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError as error:
        if error.filename == str(lock):
            return False
        raise Unavailable(f"cannot write to {settings.data_dir}: {error.filename} is in the way") from error
    except OSError as error:
        raise Unavailable(f"cannot write to {settings.data_dir}: {error.strerror or error}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(signed)
    except OSError as error:
        lock.unlink(missing_ok=True)
        raise Unavailable(f"cannot write to {settings.data_dir}: {error.strerror or error}") from error
    return True


def _left_behind(lock: Path) -> tuple[bool, int]:
    """Whether the owner of a lock is dead, or it is older than any start takes; and when it was made, in ns."""
    try:
        seen = lock.stat()
        owner = msgspec.json.decode(lock.read_bytes(), type=_Owner)
    except FileNotFoundError:
        return False, 0
    except (msgspec.MsgspecError, UnicodeError):
        owner = _Owner(0)  # being written at this moment, or not by us: only its age counts
    return abs(time.time() - seen.st_mtime) > _lasts_s(owner), seen.st_mtime_ns


def _lasts_s(owner: _Owner) -> float:
    """How long a lock counts. The age of one of the future does too: it is from before somebody set the clock back."""
    if owner.pid > 0 and not alive(owner.pid):
        return -1.0
    now = start_token(owner.pid) if owner.pid > 0 else None
    if owner.startToken is not None and now is not None:
        return _LOCK_STALE_S if owner.startToken == now else -1.0
    # A system that tells of no process when it began leaves nothing but the id to go by.
    return _LOCK_STALE_S if owner.pid > 0 and start_token(os.getpid()) is None else _UNSIGNED_S


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

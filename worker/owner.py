"""One worker for a data directory: the lock that a second one, on another port, finds held.

The kernel lets go of it when the process ends, however it ends, so it is never stale.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from worker.contract.errors import Conflict

_LOCK = ".py-worker.lock"


@contextlib.contextmanager
def sole(data_dir: Path, port: int) -> Iterator[None]:
    """While in it, nobody else owns the directory. Errors: ``Conflict`` naming the port of the one who does.

    A directory in which no file can be made needs no owner: nothing is written there, and opening it says why.
    """
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(data_dir / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    with os.fdopen(handle, "r+", encoding="utf-8") as lock:
        if not taken(lock.fileno()):
            other = lock.read(40).strip() or "another port"
            raise Conflict(f"a worker on {other} serves {data_dir} already; `claude-mem worker restart` moves it")
        lock.truncate()
        lock.write(f"port {port}")
        lock.flush()
        yield


def taken(handle: int) -> bool:
    """Take the lock of an open file, until it is closed; False when another process has it."""
    if sys.platform == "win32":
        return True  # no flock there; the port alone tells workers apart
    import fcntl  # not on every platform

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks, as some network shares are
    return True

"""Whether a process runs, and since when. Light: hooks use it."""

import os

PID_FILE = "worker.pid"
"""In the data directory, of the worker that serves it."""


def start_token(pid: int) -> str | None:
    """When the process began, in the system's ticks: tells it from a later one with the same id. None if unknown."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else None


def alive(pid: int) -> bool:
    """Whether a process with this id runs; one that ended and was not collected does not."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return _stat(pid)[:1] != ["Z"]


def _stat(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as opened:
            # Counted from behind the name, which may hold blanks and brackets.
            return opened.read().rpartition(")")[2].split()
    except OSError:
        return []

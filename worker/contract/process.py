"""Which process is the worker, as its pid file tells it, and whether it still runs."""

import os
from pathlib import Path

import msgspec

from worker.contract.settings import Settings


class _Recorded(msgspec.Struct):
    pid: int
    port: int | None = None
    startToken: str | None = None


def pid_file(settings: Settings) -> Path:
    """`worker.pid`, which the worker writes while it serves."""
    return settings.data_dir / "worker.pid"


def recorded_pid(settings: Settings) -> int | None:
    """The worker's process as ``worker.pid`` has it, None if it ended or cannot be told from a later one of that id."""
    try:
        recorded = msgspec.json.decode(pid_file(settings).read_bytes(), type=_Recorded)
    except (OSError, msgspec.MsgspecError):
        return None
    if recorded.port not in (None, settings.port):  # of another worker on the same memory
        return None
    if recorded.pid <= 1 or recorded.startToken is None or not alive(recorded.pid):
        return None
    return recorded.pid if recorded.startToken == start_token(recorded.pid) else None


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
        # Counted from behind the name, which may hold blanks and brackets.
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return []

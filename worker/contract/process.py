"""Which process is the worker, and where it answers, as its pid file tells it."""

from pathlib import Path

import msgspec

from worker.contract.running import PID_FILE, alive, start_token
from worker.contract.settings import Settings


class _Recorded(msgspec.Struct):
    pid: int
    port: int | None = None
    startToken: str | None = None


def pid_file(settings: Settings) -> Path:
    """`worker.pid`, which the worker writes while it serves."""
    return settings.data_dir / PID_FILE


def recorded_pid(settings: Settings) -> int | None:
    """The worker's process as ``worker.pid`` has it, None if it ended or cannot be told from a later one of that id."""
    recorded = _living(settings)
    # Another port is that of another worker on the same memory.
    return recorded.pid if recorded is not None and recorded.port in (None, settings.port) else None


def recorded_port(settings: Settings) -> int | None:
    """The port of the worker that serves this memory, which need not be that of the settings; None if none lives."""
    recorded = _living(settings)
    return None if recorded is None else recorded.port


def _living(settings: Settings) -> _Recorded | None:
    try:
        recorded = msgspec.json.decode(pid_file(settings).read_bytes(), type=_Recorded)
    except (OSError, msgspec.MsgspecError):
        return None
    if recorded.pid <= 1 or recorded.startToken is None or not alive(recorded.pid):
        return None
    return recorded if recorded.startToken == start_token(recorded.pid) else None

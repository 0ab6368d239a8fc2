"""The end of a worker: asked for; then, if its pid file names it for certain, with signals."""

import contextlib
import os
import signal
import time
from collections.abc import Callable

from worker.contract import calls
from worker.contract.errors import MemError, TimedOut, Unavailable, Unreachable
from worker.contract.process import recorded_pid
from worker.contract.quick import QuickClient
from worker.contract.running import alive
from worker.contract.settings import Settings
from worker.contract.status import Health

_ANSWER_S = 5.0
_LEAVE_S = 10.0
"""A worker finishes what is under way, for up to 8 s."""
_TERMINATE_S = 3.0
_KILL_S = 2.0
_POLL_S = 0.05


def end(settings: Settings, health: Health | None, tell: Callable[[str], None]) -> int:
    """The process id of the worker that is gone now. tell: hears what is done beyond asking.

    health: of the worker, None if it takes connections and does not answer.
    Errors: ``Unavailable`` when it stays, or cannot be told for certain; ``Unauthorized``, ``Forbidden`` as it says.
    """
    recorded = recorded_pid(settings)
    pid = health.pid if health else recorded
    if pid is None:
        raise Unavailable(f"nothing tells which process holds port {settings.port}; end it by other means")
    if health is not None:
        with contextlib.suppress(Unreachable, TimedOut):  # gone before it answered, or stuck: seen below
            client = QuickClient(settings.host, settings.port, token=settings.credential)
            client.send(calls.shutdown(), timeout_s=_ANSWER_S)
        if _left(settings, pid, _LEAVE_S):
            return pid
    if pid == recorded:
        tell(f"the worker (pid {pid}) does not end by itself; terminating it")
        if _signalled(settings, pid, signal.SIGTERM, _TERMINATE_S):
            return pid
        tell(f"the worker (pid {pid}) does not hear; killing it")
        if _signalled(settings, pid, signal.SIGKILL, _KILL_S):
            return pid
    raise Unavailable(f"the worker (pid {pid}) is still there; end it with `kill {pid}`")


def _signalled(settings: Settings, pid: int, number: signal.Signals, patience_s: float) -> bool:
    # Looked at once more: by now the id may be another process's.
    if recorded_pid(settings) == pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    return _left(settings, pid, patience_s)


def _left(settings: Settings, pid: int, patience_s: float) -> bool:
    """Whether the process is gone, given some time."""
    deadline = time.monotonic() + patience_s
    while alive(pid) or _answers(settings, pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _answers(settings: Settings, pid: int) -> bool:
    """Whether it answers although no such process is here: it may live in another container."""
    try:
        return QuickClient(settings.host, settings.port).send(calls.health(), timeout_s=1.0).pid == pid
    except MemError:
        return False

"""Find the worker, start it if nobody answers, wait until it serves.

The port is the lock: of two workers started at once, one binds it and the other ends. The spawn gate only keeps many
clients from starting many workers to find that out.
"""

import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from worker.contract import calls, ending, gate, remote
from worker.contract.errors import Conflict, Forbidden, MemError, TimedOut, Unauthorized, Unavailable, Unreachable
from worker.contract.process import recorded_pid
from worker.contract.quick import QuickClient
from worker.contract.settings import Settings, dialled, is_loopback
from worker.contract.status import PROGRAM, Health
from worker.contract.version import __version__, is_older

_POLL_S = 0.05
_PATIENCE_S = 2.0
_SILENT_S = 3.0
"""A worker that serves and says nothing for so long hangs: whoever wants it is told, and not kept waiting for it."""
_VERSION_S = 2.0
_BROKEN_OFF = (http.client.HTTPException, ConnectionResetError, BrokenPipeError)
_WAY_OUT = "stop it, or set CLAUDE_MEM_WORKER_PORT to a free port"


class Silent(Conflict):
    """Somebody holds the port and says nothing."""


def find(settings: Settings, *, timeout_s: float = _PATIENCE_S) -> Health | None:
    """Our worker at the configured address, or None if nobody answers there.

    Errors: ``Conflict`` when somebody else does, or a worker of ours for another data directory, ``Silent`` when the
    port takes connections and nothing tells of a worker of ours; ``TimedOut`` when ours takes longer to answer;
    ``Unauthorized`` without its token.
    """
    # Until it is known who answers, nobody on this machine is given the token.
    token = "" if is_loopback(settings.host) else settings.credential
    try:
        health = QuickClient(settings.host, settings.port, token=token).send(calls.health(), timeout_s=timeout_s)
    except Unreachable as error:
        # A worker that is just ending breaks off too, but then takes no second connection.
        if isinstance(error.__cause__, _BROKEN_OFF) and takes_connections(settings):
            raise Conflict(f"port {settings.port} is taken by a program that speaks no HTTP; {_WAY_OUT}") from error
        return None
    except TimedOut as error:
        if _is_expected(settings):
            raise TimedOut(_silent(settings)) from error
        raise Silent(f"port {settings.port} is taken by a program that does not answer; {_WAY_OUT}") from error
    except Unauthorized:
        raise
    except MemError as error:
        raise Conflict(f"port {settings.port} is taken by another program; {_WAY_OUT}") from error
    if health.program != PROGRAM:
        who = f"the original claude-mem's worker (pid {health.pid})" if health.workerPath else "another program"
        raise Conflict(f"{who} answers on port {settings.port}; {_WAY_OUT}")
    if os.path.realpath(health.dataDir) != os.path.realpath(settings.data_dir):
        raise Conflict(
            f"the worker on port {settings.port} serves {health.dataDir}, not {settings.data_dir}; {_WAY_OUT}"
        )
    return health


def ensure(settings: Settings, *, wait_s: float = 15.0) -> Health:
    """Our worker, started if need be; one of an older version makes room for one of ours. One elsewhere is only asked.

    Errors: ``Conflict`` as for ``find``; ``TimedOut`` for one that is silent, within 3 s unless it is being started;
    ``Unavailable`` with the reason when none comes up within ``wait_s``.
    """
    if settings.remote:
        return remote.reached(settings)
    deadline = time.monotonic() + wait_s
    try:
        health = find(settings, timeout_s=_SILENT_S)
    except TimedOut:
        if not gate.is_held(settings):
            raise
        return _served(settings, deadline)
    if health is None or is_outdated(settings):
        return _started(settings, deadline)
    return health if health.initialized else _served(settings, deadline)


def _is_expected(settings: Settings) -> bool:
    """Whether a worker of ours is there, as far as files tell, or is being started."""
    return recorded_pid(settings) is not None or gate.is_held(settings)


def is_outdated(settings: Settings) -> bool:
    """Whether the worker that answers is older than this program. A newer one is left alone: it knows our calls.

    One that answered a moment ago and no longer does is on its way out, and counts as older.
    """
    try:
        client = QuickClient(settings.host, settings.port, token=settings.credential)
        return is_older(client.send(calls.version(), timeout_s=_VERSION_S).version, __version__)
    except Unreachable:
        return True
    except MemError:
        return False


def boot_log(settings: Settings) -> Path:
    """What the worker process printed before its own log was open, and why it ended if it did."""
    return settings.logs / "worker-start.log"


def takes_connections(settings: Settings) -> bool:
    """Whether anybody listens on the port."""
    try:
        socket.create_connection((dialled(settings.host), settings.port), timeout=0.5).close()
    except OSError:
        return False
    return True


def spawn(settings: Settings) -> subprocess.Popen[bytes]:
    """A worker process of its own session, not waited for. Errors: ``Unavailable`` when it cannot be started."""
    # -P: the folder we are called from may hold a package named `worker` of its own.
    command = [sys.executable, "-P", "-m", "worker", "--data-dir", str(settings.data_dir)]
    command += ["--host", settings.host, "--port", str(settings.port)] + (["--demo"] if settings.demo else [])
    try:
        handle = os.open(boot_log(settings), os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as output:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, cwd="/"
            )
    except OSError as error:
        raise Unavailable(f"cannot start the worker: {error}") from error
    # It outlives us, or ends while we live: then nobody else would take it off the process table.
    threading.Thread(target=process.wait, name="worker-reaper", daemon=True).start()
    return process


def _started(settings: Settings, deadline: float) -> Health:
    """The worker, by whoever of those that want one is let through the gate."""
    lock = gate.lock_file(settings)
    ours = gate.claim(settings)
    try:
        # Between the first look and the gate another may have started it.
        process = spawn(settings) if ours and _has_room(settings) else None
        return _served(settings, deadline, process=process, awaited=None if ours else lock)
    finally:
        if ours:
            lock.unlink(missing_ok=True)


def _has_room(settings: Settings) -> bool:
    """Whether the port is free for our worker, once one of an older version has left it."""
    try:
        health = find(settings)
        if health is not None and is_outdated(settings):
            ending.end(settings, health, lambda _: None)
            return True
        return health is None
    except TimedOut:
        return False
    except (Unauthorized, Forbidden):
        return False  # our token may only read, so the older one goes on serving


def _served(
    settings: Settings,
    deadline: float,
    *,
    process: subprocess.Popen[bytes] | None = None,
    awaited: Path | None = None,
) -> Health:
    """The worker once it serves. process: the one we started. awaited: the lock of somebody else who is starting it."""
    while True:
        # Both are looked at before the question, so that a worker which came up in between is not taken for dead.
        over = time.monotonic() > deadline
        ended = process is not None and process.poll() is not None
        gone = awaited is not None and not awaited.exists()
        if awaited is not None and not (gone or over or gate.is_held(settings)):
            return _started(settings, deadline)  # whoever was to start it is dead
        try:
            health = find(settings)
        except TimedOut:
            if over:
                raise
            continue
        # Looked at again, because for a moment there is none when a third one takes the place of somebody dead.
        given_up = ended or (gone and awaited is not None and not awaited.exists())
        replaced = awaited is not None and not (given_up or over) and health is not None and is_outdated(settings)
        if health is not None and health.initialized and not replaced:
            return health
        if health is not None and over:
            raise Unavailable("the worker is still opening its database; try again in a moment", retry_after_s=5)
        if health is None and (given_up or over):
            why = _last_line(boot_log(settings)) or "no reason given"
            raise Unavailable(f"the worker {'ended at once' if given_up else 'did not come up in time'}: {why}")
        time.sleep(_POLL_S)


def _silent(settings: Settings) -> str:
    pid = recorded_pid(settings)
    if pid is not None:
        return (
            f"the worker (pid {pid}) takes connections on port {settings.port} and does not answer; "
            "if it stays so, `claude-mem worker restart` ends it and starts another"
        )
    return f"a worker is being started on port {settings.port} and does not answer yet; try again"


def _last_line(file: Path) -> str:
    try:
        lines = [line.strip() for line in file.read_text("utf-8", "replace").splitlines() if line.strip()]
    except OSError:
        return ""
    return lines[-1] if lines else ""

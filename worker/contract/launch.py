"""Find the worker, start it if nobody answers, wait until it serves.

The port is the lock: of two workers started at once, one binds it and the other ends. ``spawn.lock`` (the original's
form) only keeps many clients from starting many workers to find that out.
"""

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from worker.contract import calls
from worker.contract.errors import Conflict, MemError, TimedOut, Unavailable, Unreachable
from worker.contract.quick import QuickClient
from worker.contract.settings import Settings, dialled
from worker.contract.status import PROGRAM, Health

_POLL_S = 0.05
_LOCK_STALE_S = 90.0
_WAY_OUT = "stop it, or set CLAUDE_MEM_WORKER_PORT to a free port"


def find(settings: Settings, *, timeout_s: float = 2.0) -> Health | None:
    """Our worker at the configured address, or None if nobody answers there.

    Errors: ``Conflict`` when somebody else does, or a worker of ours for another data directory; ``TimedOut`` when
    the port takes connections and stays silent (a busy worker, or not a worker).
    """
    try:
        health = QuickClient(settings.host, settings.port).send(calls.health(), timeout_s=timeout_s)
    except Unreachable as error:
        # A worker that is just ending breaks off too, but then takes no second connection.
        if isinstance(error.__cause__, http.client.HTTPException) and _takes_connections(settings):
            raise Conflict(f"port {settings.port} is taken by a program that speaks no HTTP; {_WAY_OUT}") from error
        return None
    except TimedOut as error:
        raise TimedOut(
            f"port {settings.port} takes connections but did not answer within {timeout_s:g} s: "
            "the worker is very busy, or another program holds the port"
        ) from error
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
    """Our worker, started if need be.

    Errors: ``Conflict`` as for ``find``; ``Unavailable`` with the reason when it does not come up within ``wait_s``.
    """
    deadline = time.monotonic() + wait_s
    if not _nobody(settings):
        return _served(settings, deadline)
    lock = settings.data_dir / "spawn.lock"
    ours = _claim(settings, lock)
    try:
        # Between the first look and the lock another may have started it.
        process = spawn(settings) if ours and _nobody(settings) else None
        return _served(settings, deadline, process=process, awaited=None if ours else lock)
    finally:
        if ours:
            lock.unlink(missing_ok=True)


def boot_log(settings: Settings) -> Path:
    """What the worker process printed before its own log was open, and why it ended if it did."""
    return settings.logs / "worker-start.log"


def _nobody(settings: Settings) -> bool:
    try:
        return find(settings) is None
    except TimedOut:
        return False


def _takes_connections(settings: Settings) -> bool:
    try:
        socket.create_connection((dialled(settings.host), settings.port), timeout=0.5).close()
    except OSError:
        return False
    return True


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
        given_up = (process is not None and process.poll() is not None) or (awaited is not None and _gone(awaited))
        try:
            health = find(settings)
        except TimedOut:
            if over:
                raise
            continue
        if health is not None and health.initialized:
            return health
        if health is not None and over:
            raise Unavailable("the worker is still opening its database; try again in a moment", retry_after_s=5)
        if health is None and (given_up or over):
            why = _last_line(boot_log(settings)) or "no reason given"
            raise Unavailable(f"the worker {'ended at once' if given_up else 'did not come up in time'}: {why}")
        time.sleep(_POLL_S)


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


def _claim(settings: Settings, lock: Path) -> bool:
    """True for the one who may start the worker."""
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        settings.logs.mkdir(mode=0o700, exist_ok=True)
        _drop_if_left_behind(lock)
        handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError as error:
        if error.filename == str(lock):
            return False
        raise Unavailable(f"cannot write to {settings.data_dir}: {error.filename} is in the way") from error
    except OSError as error:
        raise Unavailable(f"cannot write to {settings.data_dir}: {error.strerror or error}") from error
    with os.fdopen(handle, "wb") as file:
        started = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        file.write(msgspec.json.encode({"pid": os.getpid(), "startedAt": started}))
    return True


class _Owner(msgspec.Struct):
    pid: int


def _drop_if_left_behind(lock: Path) -> None:
    """Take away a lock whose owner is dead, or that is older than any start takes."""
    try:
        seen = lock.stat()
        owner = msgspec.json.decode(lock.read_bytes(), type=_Owner).pid
    except FileNotFoundError:
        return
    except msgspec.MsgspecError:
        owner = 0  # being written at this moment, or not by us: only its age counts
    if time.time() - seen.st_mtime <= _LOCK_STALE_S and (owner <= 0 or alive(owner)):
        return
    # Moved first, so that of two who judged the same lock only one drops it and neither drops a fresh one.
    aside = lock.with_name(f"{lock.name}.{os.getpid()}.{threading.get_ident()}")
    with contextlib.suppress(FileNotFoundError):
        lock.rename(aside)
        if aside.stat().st_mtime_ns != seen.st_mtime_ns:
            with contextlib.suppress(FileExistsError):
                os.link(aside, lock)
        aside.unlink()


class _Recorded(msgspec.Struct):
    pid: int
    startToken: str | None = None


def recorded_pid(settings: Settings) -> int | None:
    """The worker's process as ``worker.pid`` has it, None if it ended or cannot be told from a later one of that id."""
    try:
        recorded = msgspec.json.decode((settings.data_dir / "worker.pid").read_bytes(), type=_Recorded)
    except (OSError, msgspec.MsgspecError):
        return None
    if recorded.pid <= 1 or recorded.startToken is None or not alive(recorded.pid):
        return None
    return recorded.pid if recorded.startToken == start_token(recorded.pid) else None


def start_token(pid: int) -> str | None:
    """When the process began, in the system's ticks: tells it from a later one with the same id. None if unknown."""
    try:
        # Counted from behind the name, which may hold blanks and brackets.
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


def alive(pid: int) -> bool:
    """Whether a process with this id runs; one that ended and was not collected does not."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return True


def _gone(file: Path) -> bool:
    return not file.exists()


def _last_line(file: Path) -> str:
    try:
        lines = [line.strip() for line in file.read_text("utf-8", "replace").splitlines() if line.strip()]
    except OSError:
        return ""
    return lines[-1] if lines else ""

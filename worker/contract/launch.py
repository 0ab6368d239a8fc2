"""Find the worker, start it if nobody answers, wait until it serves.

The port is the lock: of two workers started at once, one binds it and the other ends. ``spawn.lock`` (the original's
form) only keeps many clients from starting many workers to find that out.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from worker.contract import calls
from worker.contract.errors import Conflict, MemError, Unavailable, Unreachable
from worker.contract.quick import QuickClient
from worker.contract.settings import Settings
from worker.contract.status import PROGRAM, Health

_POLL_S = 0.05
_LOCK_STALE_S = 90.0


def find(settings: Settings, *, timeout_s: float = 2.0) -> Health | None:
    """Our worker at the configured address, or None if nobody answers there.

    Errors: ``Conflict`` when somebody else does, or a worker of ours for another data directory.
    """
    try:
        health = QuickClient(settings.host, settings.port).send(calls.health(), timeout_s=timeout_s)
    except Unreachable:
        return None
    except MemError as error:
        raise Conflict(f"port {settings.port} is taken by another program ({error.message}); {_WAY_OUT}") from error
    if health.program != PROGRAM:
        raise Conflict(f"the original claude-mem's worker (pid {health.pid}) answers on {settings.port}; {_WAY_OUT}")
    if Path(health.dataDir) != settings.data_dir:
        raise Conflict(
            f"the worker on port {settings.port} serves {health.dataDir}, not {settings.data_dir}; {_WAY_OUT}"
        )
    return health


_WAY_OUT = "stop it, or set CLAUDE_MEM_WORKER_PORT to a free port"


def ensure(settings: Settings, *, wait_s: float = 15.0) -> Health:
    """Our worker, started if need be.

    Errors: ``Conflict`` as for ``find``; ``Unavailable`` with the reason when it does not come up within ``wait_s``.
    """
    health = find(settings)
    if health is not None:
        return _served(settings, health, None, time.monotonic() + wait_s)
    try:
        settings.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _spawn_lock(settings.data_dir / "spawn.lock") as ours:
            return _served(settings, None, _spawn(settings) if ours else None, time.monotonic() + wait_s)
    except OSError as error:
        raise Unavailable(f"cannot write to {settings.data_dir}: {error.strerror or error}") from error


def boot_log(settings: Settings) -> Path:
    """What the worker process printed before its own log was open, and why it ended if it did."""
    return settings.logs / "worker-start.log"


def _served(
    settings: Settings, health: Health | None, process: subprocess.Popen[bytes] | None, deadline: float
) -> Health:
    while health is None or not health.initialized:
        ended = process is not None and process.poll() is not None
        health = find(settings)
        if health is None and (ended or time.monotonic() > deadline):
            why = _last_line(boot_log(settings)) or "no reason given"
            raise Unavailable(f"the worker {'ended at once' if ended else 'did not come up in time'}: {why}")
        if health is not None and not health.initialized and time.monotonic() > deadline:
            raise Unavailable("the worker is still opening its database; try again in a moment", retry_after_s=5)
        if health is None or not health.initialized:
            time.sleep(_POLL_S)
    return health


def _spawn(settings: Settings) -> subprocess.Popen[bytes]:
    # -P: the folder we are called from may hold a package named `worker` of its own.
    command = [sys.executable, "-P", "-m", "worker", "--data-dir", str(settings.data_dir)]
    command += ["--host", settings.host, "--port", str(settings.port)] + (["--demo"] if settings.demo else [])
    with open(boot_log(settings), "wb") as output:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, cwd="/"
        )


@contextlib.contextmanager
def _spawn_lock(path: Path) -> Iterator[bool]:
    """True for the one who may start the worker; a lock older than 90 s was left behind and does not count."""
    with contextlib.suppress(FileNotFoundError):
        if time.time() - path.stat().st_mtime > _LOCK_STALE_S:
            path.unlink(missing_ok=True)
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        yield False
        return
    try:
        started = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        os.write(handle, msgspec.json.encode({"pid": os.getpid(), "startedAt": started}))
        os.close(handle)
        yield True
    finally:
        path.unlink(missing_ok=True)


def _last_line(file: Path) -> str:
    try:
        lines = [line.strip() for line in file.read_text("utf-8", "replace").splitlines() if line.strip()]
    except OSError:
        return ""
    return lines[-1] if lines else ""

"""How long hooks take: a short line each, which `worker.contract.hook_times` reads. Nothing of the event itself."""

import contextlib
import os
import time

MOST_BYTES = 64 * 1024


def note(data_dir: str, event: str, outcome: str, *, began_s: float, deadline_s: float, moment_ns: int) -> None:
    """Leave a line; a hook never fails for it. began_s, deadline_s: on the clock of ``time.monotonic``."""
    now_s = time.monotonic()
    told = "late" if now_s > deadline_s else outcome
    line = f"{moment_ns // 1_000_000} {event} {(now_s - began_s) * 1000:.0f} {told}\n".encode()
    with contextlib.suppress(OSError):
        _append(os.path.join(data_dir, "state", "hook-times.log"), line)


def _append(file: str, line: bytes) -> None:
    # Nobody waits for who reads it, should it be a pipe.
    flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(file, flags, 0o600)
    except FileNotFoundError:
        os.mkdir(os.path.dirname(file), 0o700)  # where there is no memory yet, there is none to keep this in
        handle = os.open(file, flags, 0o600)
    try:
        os.write(handle, line)
        too_long = os.fstat(handle).st_size > MOST_BYTES
    finally:
        os.close(handle)
    if too_long:
        _halve(file)


def _halve(file: str) -> None:
    """Keep the last half. What another hook adds meanwhile is lost, which is of no matter."""
    with open(file, "rb") as opened:
        opened.seek(-MOST_BYTES // 2, os.SEEK_END)
        kept = opened.read().partition(b"\n")[2]
    aside = f"{file}.{os.getpid()}"
    handle = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "wb") as opened:
        opened.write(kept)
    os.replace(aside, file)

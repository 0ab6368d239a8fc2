"""A worker of one's own that only reads the database file, for when the real one cannot be had.

It listens on a port that nobody else knows, with a token that nobody else has, and ends with whoever started it.
"""

import contextlib
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from typing import IO

from worker.contract import calls, settings
from worker.contract.errors import MemError, Unavailable
from worker.contract.quick import QuickClient
from worker.contract.settings import Settings

_POLL_S = 0.05
_GRACE_S = 3.0
_HOST = "127.0.0.1"


class Reader:
    """One that serves; ``close`` it. settings: where it answers, and its token."""

    def __init__(self, process: subprocess.Popen[bytes], where: Settings) -> None:
        self._process = process
        self.settings = where

    @property
    def alive(self) -> bool:
        """Whether it still serves."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it."""
        _end(self._process)


def start(mine: Settings, *, wait_s: float = 60.0) -> Reader:
    """A reader of the memory in ``mine.data_dir``, once it serves. A large memory may have to be copied first.

    Errors: ``Unavailable`` with the reason.
    """
    if not mine.database.is_file():
        raise Unavailable(f"there is no memory at {mine.database}")
    token = secrets.token_urlsafe(24)
    command = [sys.executable, "-P", "-m", "worker", "--read-only", "--with-parent"]
    command += ["--data-dir", str(mine.data_dir), "--host", _HOST, "--port", "0"]
    environ = settings.inherited(CLAUDE_MEM_API_TOKEN=token, CLAUDE_MEM_API_READ_TOKEN="")
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, env=environ, cwd="/",
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise Unavailable(f"cannot start a reader: {error}") from error
        late = threading.Timer(wait_s, process.kill)
        late.daemon = True
        late.start()
        try:
            where = replace(mine, host=_HOST, port=_port(process, said), token=token, read_token="", demo=False)
            _await(process, where, said)
        except BaseException:
            _end(process)
            raise
        finally:
            late.cancel()
    return Reader(process, where)


def _port(process: subprocess.Popen[bytes], said: IO[bytes]) -> int:
    line = process.stdout.readline() if process.stdout is not None else b""
    if not line.strip().isdigit():
        raise Unavailable(_why(process, said))
    return int(line)


def _await(process: subprocess.Popen[bytes], where: Settings, said: IO[bytes]) -> None:
    client = QuickClient(where.host, where.port, token=where.token)
    while process.poll() is None:
        with contextlib.suppress(MemError):
            if client.send(calls.health(), timeout_s=2.0).initialized:
                return
        time.sleep(_POLL_S)
    raise Unavailable(_why(process, said))


def _why(process: subprocess.Popen[bytes], said: IO[bytes]) -> str:
    process.wait()
    said.seek(0)
    lines = [line.strip() for line in said.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1] if lines else "the reader ended without a word, or took too long"


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

"""A real worker on a free port."""

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeVar

from worker.contract import calls
from worker.contract.client import WorkerClient
from worker.contract.errors import TimedOut, Unavailable, Unreachable
from worker.contract.quick import QuickClient
from worker.contract.search import Degraded, SearchPage, SearchQuery

T = TypeVar("T")
PATIENCE_S = 60.0
"""For what takes well under a second on an idle machine; a test fails after it, and never waits for it to pass."""


@cache
def _ports() -> Iterator[int]:
    """Ports to try: none that the system gives to whoever asks for any, and of each process of the tests others."""
    share = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 12
    first, count = 20_000 + 1_000 * share, 1_000
    return (first + (os.getpid() * 7 + number) % count for number in itertools.count())


def free_port() -> int:
    """A port that nobody listens on, nor will until it is used: what the system hands out may be taken meanwhile."""
    for port in _ports():
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError


def wait_for(look: Callable[[], T], *, within_s: float = PATIENCE_S) -> T:
    """The first answer of ``look`` that is true."""
    deadline = time.monotonic() + within_s
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"still {found!r} after {within_s:g} s")
        time.sleep(0.02)


WORDS_ONLY = {"CLAUDE_MEM_CHROMA_ENABLED": "false"}
"""Settings of a worker without the index by meaning, whose model would take a second of every test."""


@dataclass
class WorkerProcess:
    """``python -P -m worker`` on a data directory. stderr: what it said, once it has ended."""

    data_dir: Path
    port: int
    process: subprocess.Popen[bytes]
    host: str = "127.0.0.1"
    token: str = ""
    stderr: str = field(default="", init=False)

    @property
    def quick(self) -> QuickClient:
        """A client for single calls."""
        return QuickClient(self.host, self.port, timeout_s=PATIENCE_S, token=self.token)

    def client(self) -> WorkerClient:
        """A client to use in an ``async with``."""
        return WorkerClient(self.host, self.port, timeout_s=PATIENCE_S, token=self.token)

    def searched(self, query: SearchQuery) -> SearchPage:
        """An answer in which meaning has its say: a model kept from running is too slow for one, and asked again."""

        def once() -> SearchPage | None:
            page = self.quick.send(calls.search(query))
            return None if page.degraded in (Degraded.INDEX_SLOW, Degraded.INDEX_FAILED) else page

        page = wait_for(once)
        assert page is not None
        return page

    def ready(self) -> bool:
        """Whether it serves. Errors: ``AssertionError`` with its words when it ended instead."""
        if self.process.poll() is not None:
            self.wait()
            raise AssertionError(f"the worker ended with {self.process.returncode}: {self.stderr}")
        try:
            return self.quick.send(calls.readiness()).status == "ready"
        except (Unreachable, Unavailable, TimedOut):
            return False

    def stop(self, number: signal.Signals = signal.SIGTERM, *, within_s: float = PATIENCE_S) -> int:
        """Its exit code after a signal."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait(within_s=within_s)

    def wait(self, *, within_s: float = PATIENCE_S) -> int:
        """Its exit code."""
        if not self.process.stderr or self.process.stderr.closed:
            return self.process.wait(within_s)
        _, said = self.process.communicate(timeout=within_s)
        self.stderr = said.decode("utf-8", "replace")
        return self.process.returncode


def start_worker(
    data_dir: Path,
    *,
    port: int | None = None,
    arguments: tuple[str, ...] = (),
    environ: Mapping[str, str] | None = None,
) -> WorkerProcess:
    """A worker process, not waited for; see ``running_worker``."""
    port = port or free_port()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAUDE_MEM_")}
    process = subprocess.Popen(
        (sys.executable, "-P", "-m", "worker", "--data-dir", str(data_dir), "--port", str(port), *arguments),
        env=kept | WORDS_ONLY | {"HOME": str(data_dir.parent)} | dict(environ or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    return WorkerProcess(data_dir, port, process, token=dict(environ or {}).get("CLAUDE_MEM_API_TOKEN", ""))


@contextlib.contextmanager
def running_worker(
    data_dir: Path,
    *,
    port: int | None = None,
    arguments: tuple[str, ...] = (),
    environ: Mapping[str, str] | None = None,
) -> Iterator[WorkerProcess]:
    """A worker that serves; ended with the block."""
    worker = start_worker(data_dir, port=port, arguments=arguments, environ=environ)
    try:
        wait_for(worker.ready)
        yield worker
    finally:
        if worker.process.poll() is None:
            worker.process.kill()
        worker.wait()

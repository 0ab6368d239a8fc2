"""The app in a real terminal before a real worker, and what it takes: bytes, processor time, memory."""

import os
import select
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.processes import WorkerProcess
from tests.tui.terminal import Terminal

ESCAPE, PAGE_DOWN, BACKSPACE = "\x1b", "\x1b[6~", "\x7f"
UP, DOWN = "\x1b[A", "\x1b[B"
_MARK = "▌"
"""Before the row under the cursor."""


def environ_of(worker: WorkerProcess, home: Path) -> dict[str, str]:
    """The environment of an app that meets this worker, and keeps what it keeps in its memory's folder."""
    return {
        "PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "xterm-256color",
        "COLORTERM": "truecolor", "CLAUDE_MEM_DATA_DIR": str(worker.data_dir),
        "CLAUDE_MEM_WORKER_PORT": str(worker.port),
    }  # fmt: skip


@contextmanager
def app_before(
    worker: WorkerProcess, home: Path, *, program: Sequence[str] = ("-m", "tui"), size: tuple[int, int] = (80, 24)
) -> Iterator[Terminal]:
    """The app before a worker, afresh, its list shown and at rest."""
    with Terminal([*program, "--no-restore"], environ_of(worker, home), size=size) as terminal:
        terminal.until(lambda text: " records" in text and _MARK in text and "● live" in text, within_s=60)
        terminal.read(quiet_s=0.5)
        yield terminal


def first_paint(argv: Sequence[str], environ: dict[str, str], mark: bytes) -> tuple[float, float]:
    """Seconds from the start of a program until its terminal has been sent the mark: by the clock, of the processor."""
    started = time.perf_counter()
    with Terminal(list(argv), environ) as terminal:
        written = b""
        while mark not in written:
            assert select.select([terminal.fd], [], [], 60)[0], "nothing was painted"
            written += os.read(terminal.fd, 65536)
        return time.perf_counter() - started, cpu_s(terminal.process.pid)


def step_bytes(terminal: Terminal, keys: str, times: int, *, quiet_s: float = 0.04) -> list[int]:
    """Bytes that each press of a key costs by itself, without the preview that follows once the cursor rests."""
    taken = []
    for _ in range(times):
        terminal.send(keys)
        taken.append(len(terminal.read(quiet_s=quiet_s)))
    terminal.read(quiet_s=0.5)
    return taken


def watched(terminals: Sequence[Terminal], for_s: float) -> list[int]:
    """Bytes that each of them writes meanwhile."""
    taken = dict.fromkeys((terminal.fd for terminal in terminals), 0)
    of = {terminal.fd: terminal for terminal in terminals}
    end = time.monotonic() + for_s
    while (left := end - time.monotonic()) > 0:
        for fd in select.select(list(of), [], [], left)[0]:
            taken[fd] += len(of[fd].read(quiet_s=0))
    return list(taken.values())


def cpu_s(pid: int) -> float:
    """Seconds of the processor that all threads of a process have taken; of those that are gone, none."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def resident_mb(pid: int) -> float:
    """Memory that a process holds."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

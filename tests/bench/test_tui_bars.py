"""What the terminal app may take, each figure beside its bar: bytes and ratios are held to, times are printed.

`make bench-tui`. With BENCH_MEMORY naming a folder, the memory of 100,000 records is made there once and kept.
"""

import itertools
import os
import random
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.bench.corpus import words
from tests.bench.gauge import (
    BACKSPACE,
    DOWN,
    PAGE_DOWN,
    UP,
    app_before,
    cpu_s,
    environ_of,
    first_paint,
    resident_mb,
    step_bytes,
    watched,
)
from tests.bench.long_memory import filled
from tests.processes import WorkerProcess, running_worker
from tests.tui.terminal import Terminal
from tui.deeds.asking import PAUSE_S
from tui.gateway.lists import query_of
from tui.state.model import PAGE, Ask
from worker.contract import calls
from worker.contract.search import SearchPage

pytestmark = pytest.mark.bench
RECORDS = 100_000
IDLE_S = 10.0
REPEATS = 30
"""Keys a second that a key held down gives."""
WALKS = {
    "list": ("", "q quit"),
    "search box": ("/cache", "❯ cache"),
    "preview": ("\t", "to the list"),
    "timeline and lanes": ("i", "timeline around"),
    "as of": ("jja", "AS OF"),
    "record": ("\r", "q back"),
    "filters": ("f", "F drop last"),
    "basket": (" j b", "copy call"),
    "score sheet": ("/token\rc", "q close"),
    "cost": ("$", "COST"),
    "sessions": ("S", "SESSIONS"),
    "next start": ("p", "NEXT SESSION"),
    "health": ("!", "HEALTH"),
    "palette": (":", "do it"),
    "guide": ("?\r", "q close"),
    "box of the guide": ("?", "to the keys"),
}
"""Screen or focus → the keys that lead there from the list, and what shows that they have."""


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    kept = os.environ.get("BENCH_MEMORY")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("bars")
    with running_worker(filled(folder / str(RECORDS), RECORDS)) as served:
        yield served


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def told(what: str, figure: str, bar: str) -> None:
    print(f"\n  {what:42} {figure:>28}   bar {bar}", end="")


def test_start_to_first_paint(worker: WorkerProcess, home: Path) -> None:
    """Until the last word of the bottom line, which is painted last. In pairs, so that both meet the same machine."""
    environ = environ_of(worker, home)

    def pair() -> tuple[float, float]:
        bare = first_paint(["-m", "tests.bench.bare_app"], environ, b"row 1")
        ours = first_paint(["-m", "tui"], environ, b" quit")
        return ours[0] / bare[0], ours[1] / bare[1]

    pair()
    clock, processor = (statistics.median(ratios) for ratios in zip(*(pair() for _ in range(15)), strict=True))
    told("start to first paint", f"{clock:.2f} × ({processor:.2f} × CPU)", "1.5 × an empty app")
    assert processor <= 1.5


def test_silent_on_every_screen(worker: WorkerProcess, home: Path) -> None:
    with ExitStack() as all_of_them:
        terminals = []
        for keys, known in WALKS.values():
            terminal = all_of_them.enter_context(app_before(worker, home))
            walk(terminal, keys, known)
            terminals.append(terminal)
        for terminal in terminals:
            terminal.read(quiet_s=1.0)
        before = [cpu_s(terminal.process.pid) for terminal in terminals]
        written = watched(terminals, IDLE_S)
        taken = [cpu_s(terminal.process.pid) - was for terminal, was in zip(terminals, before, strict=True)]
    for name, count, seconds in zip(WALKS, written, taken, strict=True):
        told(f"idle, {name}", f"{count} B, {seconds / IDLE_S:.2%} CPU", "0 B in 10 s, 0.5% CPU")
    assert written == [0] * len(WALKS)
    assert max(taken) / IDLE_S < 0.005


def walk(terminal: Terminal, keys: str, known: str) -> None:
    for key in keys:
        terminal.send(key)
        terminal.read(quiet_s=0.05)
    terminal.until(lambda text: known in text, within_s=20)
    terminal.read(quiet_s=0.5)


def held_down(terminal: Terminal, key: str, times: int) -> float:
    """Bytes a press of a key held as long, as a keyboard repeats it; with the preview that follows once it is let go.

    A screen that stalls in between shows a preview there too, so of several times it is the middle one.
    """
    taken = []
    for _ in range(3):
        begun, next_press = len(terminal.written), time.monotonic()
        for _ in range(times):
            terminal.send(key)
            next_press += 1 / REPEATS
            terminal.during(max(next_press - time.monotonic(), 0))
        terminal.read(quiet_s=0.5)
        taken.append((len(terminal.written) - begun) / times)
    return statistics.median(taken)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["preview below", "preview beside"])
def test_bytes_of_a_key_held_down(worker: WorkerProcess, home: Path, size: tuple[int, int]) -> None:
    """The list scrolls meanwhile: one row at a time, or half a list where the preview stands beside it."""
    columns, lines = size
    with app_before(worker, home, size=size) as terminal:
        for name, key in (("j", "j"), ("k", "k"), ("down", DOWN), ("up", UP)):
            mean = held_down(terminal, key, 72)
            told(f"{name} held down, {columns}×{lines}", f"{mean:.0f} B a key", "600 B")
            assert mean <= 600
        each = step_bytes(terminal, "j", 60, quiet_s=0.4)
        figure = f"{statistics.median(each):.0f} B, mean {statistics.mean(each):.0f} B"
        told(f"the same, a preview read with each, {columns}×{lines}", figure, "2,000 B")
        assert max(statistics.median(each), statistics.mean(each)) <= 2_000


def test_bytes_of_a_step_and_of_a_screenful(worker: WorkerProcess, home: Path) -> None:
    with app_before(worker, home) as terminal:
        steps = step_bytes(terminal, "j", 6)
        pages = step_bytes(terminal, PAGE_DOWN, 12)
    told("key-down", f"{statistics.median(steps):.0f} B", "600 B")
    told("page-down", f"{statistics.median(pages):.0f} B, at most {max(pages)} B", "3,500 B")
    assert statistics.median(steps) <= 600
    assert max(pages) <= 3_500


def test_memory_after_a_look_round(worker: WorkerProcess, home: Path) -> None:
    with app_before(worker, home) as terminal:
        started = resident_mb(terminal.process.pid)
        for _ in range(30):
            step_bytes(terminal, PAGE_DOWN, 1, quiet_s=0.1)
        walk(terminal, "Gg/cache token\rjji", "timeline around")
        looked = resident_mb(terminal.process.pid)
    told("resident at 100,000 records", f"{started:.1f} MB, {looked:.1f} MB later", "60 MB")
    assert looked <= 60


def test_last_key_to_first_hits(worker: WorkerProcess, home: Path) -> None:
    ratios, paints, answers = [], [], []
    with app_before(worker, home) as terminal:
        terminal.send("/")
        # Rarer and rarer words, each with what the next one begins with.
        for first, second in itertools.pairwise(words(5_000, random.Random(7))[20:1_300:80]):
            began, asked = f"{first} {second[:3]}", f"{first} {second[:4]}"
            known, typed = _answer(worker, began), _answer(worker, asked)
            if known.total == typed.total:
                continue  # it would not be seen when the new answer is there
            terminal.send(began)
            _until_hits(terminal, known.total)
            terminal.read(quiet_s=0.5)
            started = time.perf_counter()
            terminal.send(asked[-1])
            _until_hits(terminal, typed.total)
            paints.append(time.perf_counter() - started)
            started = time.perf_counter()
            _answer(worker, asked)
            answers.append(time.perf_counter() - started)
            ratios.append(paints[-1] / (answers[-1] + PAUSE_S))
            terminal.send(BACKSPACE * len(asked))
            terminal.until(lambda text: " records" in text)
            terminal.read(quiet_s=0.5)
    told(
        "last key to first hits",
        f"{statistics.median(ratios):.2f} × ({_ms(paints)} of {_ms(answers)} + {PAUSE_S * 1000:.0f} ms)",
        "1.5 × (answer + debounce)",
    )
    assert statistics.median(ratios) <= 1.5


def _answer(worker: WorkerProcess, text: str) -> SearchPage:
    """The worker's own answer to what the app asks."""
    return worker.quick.send(calls.search(query_of(Ask(text=text), limit=PAGE)))


def _until_hits(terminal: Terminal, total: int) -> None:
    started = time.perf_counter()
    while f" {total:,} hit" not in terminal.text:
        assert time.perf_counter() - started < 20, terminal.text
        terminal.read(quiet_s=0.002)


def _ms(times: list[float]) -> str:
    return f"{statistics.median(times) * 1000:.0f}"

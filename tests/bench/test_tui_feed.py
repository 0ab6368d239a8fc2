"""What the terminal app writes while records come in, and what a long day leaves behind in it. `make bench-tui`."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.corpus import questions
from tests.bench.feed import Feed, tell
from tests.bench.gauge import BACKSPACE, app_before, cpu_s, environ_of, resident_mb, watched
from tests.bench.long_memory import filled
from tests.bench.test_tui_bars import told
from tests.processes import WorkerProcess, running_worker, wait_for
from tests.tui.terminal import Terminal
from tui.deeds.asking import PAUSE_S
from tui.gateway.lists import query_of
from tui.state.model import Ask
from worker.contract import calls

pytestmark = pytest.mark.bench
RECORDS = 10_000
FEED_S = 10.0
ROUNDS = int(os.environ.get("BENCH_SOAK_ROUNDS", "100"))
"""Of the soak: 10 searches, 100 events and 2 resizes each."""
_WARM_ROUNDS = 10
SIZES = [(120, 36), (80, 24), (50, 20), (200, 60), (80, 24), (100, 30)]


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[WorkerProcess]:
    with running_worker(filled(tmp_path / "memory", RECORDS)) as served:
        yield served


def test_a_feed_that_is_not_followed(worker: WorkerProcess, tmp_path: Path) -> None:
    figures = {}
    with app_before(worker, tmp_path) as terminal:
        for rate in (50, 500):
            figures[rate] = _fed(terminal, worker, rate, "not followed", "200 B/s")
    assert max(figures.values()) <= 200


def test_a_feed_that_is_followed(worker: WorkerProcess, tmp_path: Path) -> None:
    with app_before(worker, tmp_path) as terminal:
        terminal.send("U")
        terminal.until(lambda text: "● following" in text)
        slow, fast = (_fed(terminal, worker, rate, "followed in the list", "60,000 B/s") for rate in (50, 500))
        assert "● following" in terminal.text and "Fed" in terminal.text
    told("followed at 500 events/s against 50", f"{fast / slow:.2f} ×", "1.5 ×")
    assert max(slow, fast) <= 60_000
    assert fast <= 1.5 * slow  # however much comes, a screenful is painted as often


def test_a_feed_that_is_followed_line_by_line(worker: WorkerProcess, tmp_path: Path) -> None:
    with Terminal(["-m", "worker.cli.main", "tail"], environ_of(worker, tmp_path)) as terminal:
        terminal.until(lambda text: "#" in text)
        figures = [_fed(terminal, worker, rate, "followed by `tail`", "60,000 B/s") for rate in (50, 500)]
    assert max(figures) <= 60_000


def _fed(terminal: Terminal, worker: WorkerProcess, rate: int, how: str, bar: str) -> float:
    terminal.read(quiet_s=1.0)
    before = cpu_s(terminal.process.pid)
    with Feed(worker, rate) as feed:
        watched([terminal], 1.0)
        was = feed.told
        (written,) = watched([terminal], FEED_S)
        events = feed.told - was
    taken = (cpu_s(terminal.process.pid) - before) / (FEED_S + 1)
    terminal.until(lambda text: "Fed" in text or " new" in text)
    told(f"{events / FEED_S:.0f} events/s, {how}", f"{written / FEED_S:,.0f} B/s, {taken:.1%} CPU", bar)
    assert events / FEED_S > rate * 0.8
    return written / FEED_S


def test_a_long_day_leaves_nothing_behind(worker: WorkerProcess, tmp_path: Path) -> None:
    path, asked = tmp_path / "tasks", questions(ROUNDS * 10)
    program = ("-m", "tests.bench.told_app", str(path))
    with app_before(worker, tmp_path, program=program) as terminal:
        warm_mb, warm_tasks = 0.0, 0
        for number in range(ROUNDS):
            if number == min(_WARM_ROUNDS, ROUNDS // 2):
                warm_mb, warm_tasks = _at_rest(terminal, path)
            _resize(terminal, SIZES[number % len(SIZES)])
            tell(worker, 100)
            _resize(terminal, (80, 24))
            terminal.send("/")
            for text in asked[number * 10 : number * 10 + 10]:
                _search(terminal, worker, text.split()[0])
            terminal.send("\r")
            terminal.read(quiet_s=0.05)
            terminal.send(BACKSPACE)  # back to all records
            terminal.until(lambda text: " records" in text)
        mb, tasks = _at_rest(terminal, path)
    grown = mb / warm_mb - 1
    told(
        f"soak: {ROUNDS * 100:,} events, {ROUNDS * 2} resizes, {ROUNDS * 10:,} searches",
        f"{warm_mb:.1f} → {mb:.1f} MB ({grown:+.1%}), {warm_tasks} → {tasks} tasks",
        "5%, no more tasks",
    )
    assert tasks <= warm_tasks
    assert grown < 0.05


def _search(terminal: Terminal, worker: WorkerProcess, text: str) -> None:
    total = worker.quick.send(calls.search(query_of(Ask(text=text)))).total
    terminal.send(f"{BACKSPACE * 20}{text}")
    terminal.until(lambda screen: f"❯ {text} " in screen and f" {total:,} hit" in screen, within_s=30)
    terminal.read(quiet_s=PAUSE_S + 0.02)  # what was found before may have been as much


def _resize(terminal: Terminal, size: tuple[int, int]) -> None:
    terminal.resize(*size)
    terminal.read(quiet_s=0.1)


def _at_rest(terminal: Terminal, path: Path) -> tuple[float, int]:
    """Memory and tasks once nothing is going on."""
    terminal.read(quiet_s=1.5)
    path.unlink(missing_ok=True)
    os.kill(terminal.process.pid, signal.SIGUSR1)
    return resident_mb(terminal.process.pid), int(wait_for(lambda: path.exists() and path.read_text()))

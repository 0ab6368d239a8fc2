"""What a question over HTTP costs beside the bare FTS5 query in it, in one run; figures are printed, not asserted.

The bare query gives numbers and weights. Its page is what an answer has besides: how many there are, titles, excerpts,
marks, by FTS5's own functions. The least worker is ``least_worker``: either of them over HTTP, and nothing else.

`make bench`; sizes from the environment variable BENCH_RECORDS (`1000 10000` by default, `100000` takes minutes).
What is asked over a connection that stays open has little of the client in it: its bytes are read, and no more. The
others are what a short program needs: a connection each, and the answer as values.
"""

import os
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.bench import least_worker
from tests.bench.corpus import COMMON, batches, questions
from tests.bench.kept import Kept
from tests.processes import running_worker
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.curation import Save
from worker.contract.search import BatchQuery, SearchQuery, TimelineQuery

pytestmark = pytest.mark.bench
SIZES = [int(size) for size in os.environ.get("BENCH_RECORDS", "1000 10000").split()]


@pytest.mark.parametrize("records", SIZES)
def test_a_question_over_http_beside_bare_fts5(tmp_path: Path, records: int) -> None:
    asked = questions(120)
    with running_worker(tmp_path / "memory") as worker:
        quick = worker.quick
        started = time.perf_counter()
        for batch in batches(records):
            quick.send(calls.import_batch(batch))
        imported_s = time.perf_counter() - started
        kept = Kept(worker.host, worker.port)
        raw = sqlite3.connect(f"file:{worker.data_dir / 'claude-mem.db'}?mode=ro", uri=True)
        common = " ".join(COMMON[:8])

        def measured(asked: Sequence[str], ask: Callable[[str], object]) -> list[float]:
            # With another record in it nothing that was counted before is true, so each has the whole work to do.
            quick.send(calls.save(Save(text="One more")))
            return _ms(asked, ask)

        with _least_worker(worker.data_dir / "claude-mem.db") as least:
            quick.send(calls.save(Save(text="One more")))
            figures = _in_turns(
                asked,
                {
                    "bare FTS5": lambda text: least_worker.rows(raw, text),
                    "FTS5's page": lambda text: least_worker.page(raw, text),
                    "least worker": lambda text: least.get(_of_least("/rows", text)),
                    "its page": lambda text: least.get(_of_least("/page", text)),
                    "kept open": lambda text: kept.get(calls.search(SearchQuery(text=text))),
                },
            )
        figures |= {
            "as text": measured(asked, lambda text: kept.get(calls.search_text(SearchQuery(text=text)))),
            "version": measured(asked, lambda _: kept.get(calls.version())),
            "search": measured(asked, lambda text: quick.send(calls.search(SearchQuery(text=text)))),
            "second page": measured(asked, lambda text: quick.send(calls.search(SearchQuery(text=text, offset=20)))),
            "typing": measured(asked, lambda text: quick.send(calls.search(SearchQuery(text=text, typing=True)))),
            "8 common": measured([common] * 10, lambda text: quick.send(calls.search(SearchQuery(text=text)))),
            "first page": measured(asked, lambda _: quick.send(calls.search(SearchQuery()))),
            "deep page": measured(asked, lambda _: quick.send(calls.search(SearchQuery(offset=records - 20)))),
            "facets": measured(asked[:5], lambda _: quick.send(calls.facets(SearchQuery()))),
            "timeline": measured(asked, lambda _: quick.send(calls.timeline(TimelineQuery(anchor=str(records // 2))))),
            "batch of 20": measured(asked, lambda _: quick.send(calls.batch(BatchQuery(ids=tuple(range(1, 21)))))),
            "one row in": measured(asked[:20], lambda text: quick.send(calls.save(Save(text=f"One more: {text}")))),
        }
        resident = next(
            int(line.split()[1]) // 1024
            for line in Path(f"/proc/{worker.process.pid}/status").read_text().splitlines()
            if line.startswith("VmRSS")
        )
        raw.close()
        kept.close()
        worker.stop()
    started = time.perf_counter()
    with running_worker(tmp_path / "memory"):
        healthy_s = time.perf_counter() - started
    base = statistics.median(figures["bare FTS5"])
    print(f"\n{records} records: imported {records / imported_s:.0f}/s, worker {resident} MB resident, ", end="")
    print(f"healthy {healthy_s:.2f} s after its start")
    for name, times in figures.items():
        p50, p95 = statistics.median(times), sorted(times)[int(len(times) * 0.95)]
        print(f"  {name:12} p50 {p50:7.2f} ms   p95 {p95:7.2f} ms   {p50 / base:5.1f} × bare FTS5")
    assert resident > 0


@contextmanager
def _least_worker(database: Path) -> Iterator[Kept]:
    """A connection to ``least_worker``."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.least_worker", str(database)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    kept = Kept("127.0.0.1", int(process.stdout.readline()))
    try:
        yield kept
    finally:
        kept.close()
        process.kill()
        process.communicate()


def _of_least(path: str, text: str) -> Call[str]:
    return Call("GET", path, str, params=(("query", text),))


def _in_turns(asked: Sequence[str], deeds: dict[str, Callable[[str], object]]) -> dict[str, list[float]]:
    """Milliseconds. Each question in each way, one after the other: what just ran slows or warms all of them alike."""
    figures: dict[str, list[float]] = {name: [] for name in deeds}
    for text in asked:
        for name, ask in deeds.items():
            figures[name] += _ms([text], ask)
    return figures


def _ms(asked: Sequence[str], ask: Callable[[str], object]) -> list[float]:
    times = []
    for text in asked:
        started = time.perf_counter()
        ask(text)
        times.append((time.perf_counter() - started) * 1000)
    return times

"""What a question over HTTP costs beside the bare FTS5 query in it, in one run; figures are printed, not asserted.

`make bench`; sizes from the environment variable BENCH_RECORDS (`1000 10000` by default, `100000` takes minutes).
"""

import os
import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.bench.corpus import COMMON, batches, questions
from tests.processes import running_worker
from worker.contract import calls
from worker.contract.curation import Save
from worker.contract.search import BatchQuery, SearchQuery, TimelineQuery
from worker.search import terms
from worker.store import listing

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
        raw = sqlite3.connect(f"file:{worker.data_dir / 'claude-mem.db'}?mode=ro", uri=True)
        bare = (
            f"SELECT rowid, bm25(py_text, {', '.join(map(str, listing.WEIGHTS))}) s "
            "FROM py_text WHERE py_text MATCH ? ORDER BY s LIMIT 20"
        )
        common = " ".join(COMMON[:8])
        figures = {
            "bare FTS5": _ms(asked, lambda text: raw.execute(bare, (terms.expression(terms.Wanted(text)),)).fetchall()),
            "search": _ms(asked, lambda text: quick.send(calls.search(SearchQuery(text=text)))),
            "second page": _ms(asked, lambda text: quick.send(calls.search(SearchQuery(text=text, offset=20)))),
            "typing": _ms(asked, lambda text: quick.send(calls.search(SearchQuery(text=text, typing=True)))),
            "8 common": _ms([common] * 10, lambda text: quick.send(calls.search(SearchQuery(text=text)))),
            "first page": _ms(asked, lambda _: quick.send(calls.search(SearchQuery()))),
            "deep page": _ms(asked, lambda _: quick.send(calls.search(SearchQuery(offset=records - 20)))),
            "facets": _ms(asked[:5], lambda _: quick.send(calls.facets(SearchQuery()))),
            "timeline": _ms(asked, lambda _: quick.send(calls.timeline(TimelineQuery(anchor=str(records // 2))))),
            "batch of 20": _ms(asked, lambda _: quick.send(calls.batch(BatchQuery(ids=tuple(range(1, 21)))))),
            "one row in": _ms(asked[:20], lambda text: quick.send(calls.save(Save(text=f"One more: {text}")))),
        }
        resident = next(
            int(line.split()[1]) // 1024
            for line in Path(f"/proc/{worker.process.pid}/status").read_text().splitlines()
            if line.startswith("VmRSS")
        )
        raw.close()
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


def _ms(asked: Sequence[str], ask: Callable[[str], object]) -> list[float]:
    times = []
    for text in asked:
        started = time.perf_counter()
        ask(text)
        times.append((time.perf_counter() - started) * 1000)
    return times

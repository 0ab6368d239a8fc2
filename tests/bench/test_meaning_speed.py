"""What search by meaning costs beside its parts, in one run; figures are printed, not asserted.

`make bench-meaning`; records from BENCH_RECORDS (1,000 by default), the model from BENCH_MODEL (`hash`, whose vectors
cost nothing, so that everything else shows; `minilm` embeds some ten records a second and core).
"""

import os
import shutil
import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.bench.corpus import batches, questions
from tests.processes import WorkerProcess, running_worker, wait_for
from worker.contract import calls
from worker.contract.curation import Save
from worker.contract.index import IndexState
from worker.contract.search import Mode, SearchQuery
from worker.contract.settings import Embedding, calm
from worker.projection import embedders
from worker.projection.embed import Embedder
from worker.projection.opening import open_local
from worker.search import terms
from worker.store import listing

pytestmark = pytest.mark.bench
RECORDS = int(os.environ.get("BENCH_RECORDS", "1000"))
MODEL = os.environ.get("BENCH_MODEL", "hash")
_SAMPLE = 200
_FRAGMENTS = 300
_HOURS_S = 4 * 3600.0


def test_a_question_by_meaning_beside_its_parts(tmp_path: Path) -> None:
    calm()
    asked = questions(100)
    environ = {"CLAUDE_MEM_CHROMA_ENABLED": "true", "CLAUDE_MEM_EMBEDDING_MODEL": MODEL}
    embedder = embedders.load(Embedding(model=MODEL))
    assert embedder is not None
    print(f"\n{RECORDS} records, {MODEL}")
    with running_worker(tmp_path / "memory", environ=environ) as worker:
        for batch in batches(RECORDS):
            worker.quick.send(calls.import_batch(batch))
        began = time.perf_counter()
        busy = _ms(asked, lambda text: _search(worker, text, Mode.KEYWORD)) if _pending(worker) else []
        wait_for(lambda: not _pending(worker), within_s=_HOURS_S)
        backfill_s = time.perf_counter() - began
        alone_s = _embedding_alone_s(embedder)
        print(f"  backfill {backfill_s:.1f} s, embedding alone {alone_s:.1f} s: {alone_s / backfill_s:.2f} of its rate")
        quiet = _ms(asked, lambda text: _search(worker, text, Mode.KEYWORD))
        if busy:
            _tell("keyword beside backfill", busy, statistics.median(quiet), "quiet")
        hybrid = _ms(asked, lambda text: _search(worker, text, None))
        again = _ms(asked, lambda text: _search(worker, text, None))
        scoped = _ms(asked, lambda text: _search(worker, text, None, project="project-1"))
        live = [_live_s(worker, number) for number in range(5)]
        resident = _resident(worker.process.pid)
        raw = sqlite3.connect(f"file:{worker.data_dir / 'claude-mem.db'}?mode=ro", uri=True)
        bare = (
            f"SELECT rowid, bm25(py_text, {', '.join(map(str, listing.WEIGHTS))}) s "
            "FROM py_text WHERE py_text MATCH ? ORDER BY s LIMIT 20"
        )
        words = _ms(asked, lambda text: raw.execute(bare, (terms.expression(terms.Wanted(text)),)).fetchall())
        raw.close()
        worker.stop()
    shutil.copytree(tmp_path / "memory" / "vectors", tmp_path / "copy")
    index = open_local(tmp_path / "copy", embedder.name, embedder.dimension)
    thinking = _ms(asked, lambda text: embedder.embed([text], "query"))
    vectors = [embedder.embed([text], "query")[0] for text in asked]
    nearest = [_once(lambda vector=vector: index.nearest(vector, _FRAGMENTS)) for vector in vectors]  # type: ignore[misc]
    index.close()
    parts = sum(map(statistics.median, (words, thinking, nearest)))
    for name, times in {
        "bare FTS5": words, "embedding": thinking, "bare Chroma": nearest, "keyword": quiet, "hybrid": hybrid,
        "hybrid, asked again": again, "hybrid, one project": scoped,
    }.items():  # fmt: skip
        _tell(name, times, parts, "the three bare parts")
    print(f"  saved to found by meaning: {max(live):.2f} s at most; resident {resident}")


def _search(worker: WorkerProcess, text: str, mode: Mode | None, project: str | None = None) -> None:
    worker.quick.send(calls.search(SearchQuery(text=text, mode=mode, project=project)))


def _pending(worker: WorkerProcess) -> bool:
    status = worker.quick.send(calls.index_status())
    return status.state is not IndexState.READY or status.pending > 0 or status.chroma != "ready"


def _live_s(worker: WorkerProcess, number: int) -> float:
    """From saving a record to its first appearance among what is found by meaning."""
    text = f"The zeppelin number {number} landed on platform {number}"
    key = worker.quick.send(calls.save(Save(text=text))).id
    began = time.perf_counter()
    query = SearchQuery(text=text, mode=Mode.SEMANTIC, limit=5)
    wait_for(lambda: any(hit.id == key for hit in worker.quick.send(calls.search(query)).hits))
    return time.perf_counter() - began


def _embedding_alone_s(embedder: Embedder) -> float:
    """What the model alone would take for all records, by a sample of them."""
    rows = [row for batch in batches(min(RECORDS, _SAMPLE)) for row in batch.observations]
    parts = [[row["title"], row["narrative"], *row["facts"]] for row in rows]
    texts = [["\n".join(each), *each] for each in parts]
    began = time.perf_counter()
    for at in range(0, len(texts), 8):
        embedder.embed([text for each in texts[at : at + 8] for text in each], "document")
    return (time.perf_counter() - began) * RECORDS / len(texts)


def _resident(pid: int) -> str:
    """Of the worker and the processes that it started, MB."""
    children = [
        child for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
    megabytes = [
        int(line.split()[1]) // 1024
        for each in (str(pid), *children)
        for line in Path(f"/proc/{each}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    ]
    return f"{sum(megabytes)} MB ({' + '.join(map(str, megabytes))})"


def _ms(asked: Sequence[str], ask: Callable[[str], object]) -> list[float]:
    return [_once(lambda text=text: ask(text)) for text in asked]  # type: ignore[misc]


def _once(ask: Callable[[], object]) -> float:
    started = time.perf_counter()
    ask()
    return (time.perf_counter() - started) * 1000


def _tell(name: str, times: Sequence[float], base: float, of: str) -> None:
    p50, p95 = statistics.median(times), sorted(times)[int(len(times) * 0.95)]
    print(f"  {name:24} p50 {p50:7.2f} ms   p95 {p95:7.2f} ms   {p50 / base:5.2f} × {of}")

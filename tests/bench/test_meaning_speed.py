"""What search by meaning costs beside its parts; figures are printed, not asserted.

`make bench-meaning`; records from BENCH_RECORDS (1,500 by default, five minutes of a core), the model from BENCH_MODEL
(`minilm`; `hash` costs nothing, so that everything else shows).

What is compared is measured in turns, so that whatever else the machine does slows both alike, and the median counts.
Times are told by the clock and by the processor: an answer has its parts done by two cores at once, where there are
two that are free, and pays for all of them.
"""

import os
import shutil
import sqlite3
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.bench.corpus import batches, questions
from tests.bench.kept import Kept
from tests.processes import WorkerProcess, running_worker, wait_for
from worker.capture.cleaning import CLEANER
from worker.contract import calls
from worker.contract.curation import Save
from worker.contract.index import IndexState, IndexStatus
from worker.contract.search import Mode, SearchQuery
from worker.contract.settings import Embedding, calm
from worker.projection import embedders
from worker.projection.embed import Embedder
from worker.projection.opening import open_local
from worker.projection.thread import POLITE
from worker.search import terms
from worker.store import listing

pytestmark = pytest.mark.bench
RECORDS = int(os.environ.get("BENCH_RECORDS", "1500"))
MODEL = os.environ.get("BENCH_MODEL", "minilm")
_TURNS = 8
_A_TURN = 80
"""Records of the backfill in a turn: ten batches, with what Chroma does now and then for many of them."""
_ALONE = 32
"""Records that the model alone embeds in a turn."""
_BATCH = 8
_ASKED = 100
_BESIDE = 40
_APART_S = 0.5
"""Between two questions beside a backfill: it makes way for a moment after each, and must be at work again."""
_FRAGMENTS = 300
_HOURS_S = 4 * 3600.0
_ENVIRON = {"CLAUDE_MEM_CHROMA_ENABLED": "true", "CLAUDE_MEM_EMBEDDING_MODEL": MODEL}

Cost = tuple[float, float]
"""By the clock and by the processor."""


def test_search_by_meaning_beside_its_parts(tmp_path: Path) -> None:
    calm()
    embedder = embedders.load(Embedding(model=MODEL))
    assert embedder is not None
    print(f"\n{RECORDS} records, {MODEL}; by the clock | by the processor")
    with running_worker(tmp_path / "memory", environ=_ENVIRON) as worker:
        for batch in batches(RECORDS):
            worker.quick.send(calls.import_batch(batch))
        wait_for(lambda: _status(worker).chroma.startswith("ready"), within_s=60)  # its start is no part of the rate
        _backfill_beside_the_embedder(worker, embedder)
        _keyword_beside_backfill(worker)
        wait_for(lambda: _is_done(worker), within_s=_HOURS_S)
        live = [_live_s(worker, number) for number in range(5)]
        print(f"  saved to found by meaning: {max(live):.2f} s at most; resident {_resident(worker)}")
        worker.stop()
    shutil.copytree(tmp_path / "memory" / "vectors", tmp_path / "copy")
    with running_worker(tmp_path / "memory", environ=_ENVIRON) as worker:
        wait_for(lambda: _is_done(worker), within_s=60)
        _questions_beside_their_parts(worker, embedder, tmp_path / "copy")
        print(f"  resident {_resident(worker)}")


def _backfill_beside_the_embedder(worker: WorkerProcess, embedder: Embedder) -> None:
    """The rate of the backfill, Chroma's writes and all, in shares of that of the model alone."""
    shares: list[Cost] = []
    records = 0
    for alone in _samples():
        if _status(worker).pending < 3 * _A_TURN:
            break
        with _paused(worker):
            clock_s, cpu_s = _taken(lambda: _politely(_embed, embedder, alone), os.getpid())  # noqa: B023
        done, (both_s, both_cpu_s) = _progress(worker, _A_TURN)
        shares.append((clock_s / _ALONE * done / both_s, cpu_s / _ALONE * done / both_cpu_s))
        records += done
    if shares:
        clock, cpu = (statistics.median(column) for column in zip(*shares, strict=True))
        told = f"in {len(shares)} turns, {records} records; load {os.getloadavg()[0]:.1f}"
        print(f"  backfill: {clock:.2f} | {cpu:.2f} of the embedder's own rate, {told}")


def _keyword_beside_backfill(worker: WorkerProcess) -> None:
    """A question by words now and then, while records are embedded and while they are not."""
    asked = questions(_BESIDE)
    with _asking(worker) as ask:
        for text in asked:
            ask(text, Mode.KEYWORD)  # what is counted once is counted now
    quiet: list[float] = []
    busy: list[float] = []
    for at in range(0, len(asked), 10):
        if _status(worker).pending < 3 * _A_TURN:
            break
        with _paused(worker):
            quiet += _now_and_then(worker, asked[at : at + 10])
        _progress(worker, _BATCH)
        busy += _now_and_then(worker, asked[at : at + 10])
    if quiet:
        times = [one / other for one, other in zip(busy, quiet, strict=True)]
        print(f"  keyword beside backfill: {statistics.median(times):.2f} × quiet, question by question")
        _tell("keyword, quiet", quiet)
        _tell("keyword, beside backfill", busy)


def _questions_beside_their_parts(worker: WorkerProcess, embedder: Embedder, vectors: Path) -> None:
    """Each question by words and meaning, then its parts one by one."""
    index = open_local(vectors, embedder.name, embedder.dimension)
    raw = sqlite3.connect(f"file:{worker.data_dir / 'claude-mem.db'}?mode=ro", uri=True)
    bare = (
        f"SELECT rowid, bm25(py_text, {', '.join(map(str, listing.WEIGHTS))}) s "
        "FROM py_text WHERE py_text MATCH ? ORDER BY s LIMIT 20"
    )
    ours = (worker.process.pid, *_children(worker.process.pid))
    its = (os.getpid(), *(child for child in _children(os.getpid()) if child not in ours))
    told: dict[str, list[Cost]] = {}

    def note(name: str, deed: Callable[[], object], pids: Sequence[int]) -> None:
        told.setdefault(name, []).append(_taken(deed, *pids))

    with closing(index), closing(raw), _asking(worker) as ask:
        for text in questions(10, seed=3):
            ask(text, None)
        for text in questions(_ASKED):
            vector = embedder.embed([text], "query")[0]
            match = terms.expression(terms.Wanted(text))
            note("hybrid", lambda: ask(text, None), ours)  # noqa: B023
            note("embedding", lambda: embedder.embed([text], "query"), its)  # noqa: B023
            note("bare Chroma", lambda: index.nearest(vector, _FRAGMENTS), its)  # noqa: B023
            note("bare FTS5", lambda: raw.execute(bare, (match,)).fetchall(), its)  # noqa: B023
            note("hybrid, asked again", lambda: ask(text, None), ours)  # noqa: B023
            note("hybrid, one project", lambda: ask(text, None, project="project-1"), ours)  # noqa: B023
            note("keyword", lambda: ask(text, Mode.KEYWORD), ours)  # noqa: B023
    parts = [_middle(told[name]) for name in ("embedding", "bare Chroma", "bare FTS5")]
    clock, cpu = (sum(column) for column in zip(*parts, strict=True))
    for name, costs in told.items():
        ms, cpu_ms = _middle(costs)
        p95 = sorted(costs)[int(len(costs) * 0.95)][0]
        print(
            f"  {name:20} p50 {ms * 1000:6.2f} | {cpu_ms * 1000:6.2f} ms   p95 {p95 * 1000:6.2f} ms   "
            f"{ms / clock:4.2f} | {cpu_ms / cpu:4.2f} × the three bare parts"
        )


def _samples() -> Iterator[list[list[str]]]:
    """The texts of records, a turn at a time: like those of the memory, and others."""
    rows = (row for batch in batches(_TURNS * _ALONE, seed=5) for row in batch.observations)
    for _ in range(_TURNS):
        parts = [[row["title"], row["narrative"], *row["facts"]] for _, row in zip(range(_ALONE), rows, strict=False)]
        yield [["\n".join(each), *each] for each in parts]


def _embed(embedder: Embedder, records: Sequence[Sequence[str]]) -> None:
    for at in range(0, len(records), _BATCH):
        embedder.embed([text for each in records[at : at + _BATCH] for text in each], "document")


def _politely(deed: Callable[..., None], *given: object) -> None:
    """Do it on a thread that steps back as far as the backfill's: other programs are to slow both alike."""

    def step_back() -> None:
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + POLITE)

    with ThreadPoolExecutor(1, initializer=step_back) as pool:
        pool.submit(deed, *given).result()


def _progress(worker: WorkerProcess, records: int) -> tuple[int, Cost]:
    """From the end of one batch to that of another, so many records later: how many were done, and what it took."""
    # Out of the file: what the worker is asked is part of what it pays.
    uri = f"file:{worker.data_dir / 'claude-mem.db'}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as rows:
        first = last = _after(rows, _embedded(rows))

        def wait() -> None:
            nonlocal last
            while last < first + records and (now := _after(rows, last)) > last:
                last = now

        cost = _taken(wait, worker.process.pid, *_children(worker.process.pid))
    return last - first, cost


def _after(rows: sqlite3.Connection, embedded: int) -> int:
    """How many are embedded as soon as it is another number; the same number when nothing waits."""
    while (now := _embedded(rows)) == embedded and rows.execute("SELECT 1 FROM py_pending LIMIT 1").fetchone():
        time.sleep(0.05)
    return now


def _embedded(rows: sqlite3.Connection) -> int:
    found: int = rows.execute("SELECT count(*) FROM py_vectors WHERE seal IS NOT NULL").fetchone()[0]
    return found


@contextmanager
def _paused(worker: WorkerProcess) -> Iterator[None]:
    """While in it nothing is embedded, nor what was begun before."""
    worker.quick.send(calls.index_pause())
    pids = (worker.process.pid, *_children(worker.process.pid))
    wait_for(lambda: _taken(lambda: time.sleep(0.3), *pids)[1] < 0.03, within_s=60)
    yield
    worker.quick.send(calls.index_resume())


Ask = Callable[..., None]


@contextmanager
def _asking(worker: WorkerProcess) -> Iterator[Ask]:
    """Asks on one connection that stays. What a client makes of an answer is no part of what it costs."""
    kept = Kept(worker.host, worker.port)

    def ask(text: str, mode: Mode | None, project: str | None = None) -> None:
        kept.get(calls.search(SearchQuery(text=text, mode=mode, project=project)))

    with closing(kept):
        yield ask


def _now_and_then(worker: WorkerProcess, asked: Sequence[str]) -> list[float]:
    taken = []
    with _asking(worker) as ask:
        for text in asked:
            time.sleep(_APART_S)
            started = time.perf_counter()
            ask(text, Mode.KEYWORD)
            taken.append(time.perf_counter() - started)
    return taken


def _status(worker: WorkerProcess) -> IndexStatus:
    return worker.quick.send(calls.index_status())


def _is_done(worker: WorkerProcess) -> bool:
    status = _status(worker)
    return status.state is IndexState.READY and not status.pending and status.chroma == "ready"


def _live_s(worker: WorkerProcess, number: int) -> float:
    """From saving a record to its first appearance among what is found by meaning."""
    text = f"The zeppelin number {number} landed on platform {number}"
    key = worker.quick.send(calls.save(Save(text=text))).id
    began = time.perf_counter()
    query = SearchQuery(text=text, mode=Mode.SEMANTIC, limit=5)
    wait_for(lambda: any(hit.id == key for hit in worker.quick.send(calls.search(query)).hits))
    return time.perf_counter() - began


def _taken(deed: Callable[[], object], *pids: int) -> Cost:
    """What a deed takes: seconds by the clock, and of the processor in these processes."""
    before_s, started = sum(map(_cpu_s, pids)), time.perf_counter()
    deed()
    return time.perf_counter() - started, sum(map(_cpu_s, pids)) - before_s


def _cpu_s(pid: int) -> float:
    # The clock that `clock_getcpuclockid` names: `/proc` tells of a thread that is running what it told 4 ms ago.
    return time.clock_gettime(~pid << 3 | 2)


def _children(pid: int) -> list[int]:
    """All but the one that cleaned what was imported, which ends by itself."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    found = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return [child for child in found if CLEANER.encode() not in Path(f"/proc/{child}/cmdline").read_bytes()]


def _resident(worker: WorkerProcess) -> str:
    """Of the worker and the processes that it started, MB; what several share in full for each, then in shares."""
    pids = (worker.process.pid, *_children(worker.process.pid))
    lines = [line.split() for pid in pids for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()]
    whole, shared = ([int(line[1]) // 1024 for line in lines if line[0] == name] for name in ("Rss:", "Pss:"))
    return f"{sum(whole)} MB ({' + '.join(map(str, whole))}), {sum(shared)} MB without what is shared"


def _middle(costs: Sequence[Cost]) -> Cost:
    clock, cpu = (statistics.median(column) for column in zip(*costs, strict=True))
    return clock, cpu


def _tell(name: str, times_s: Sequence[float]) -> None:
    p95 = sorted(times_s)[int(len(times_s) * 0.95)]
    print(f"  {name:24} p50 {statistics.median(times_s) * 1000:7.2f} ms   p95 {p95 * 1000:7.2f} ms")

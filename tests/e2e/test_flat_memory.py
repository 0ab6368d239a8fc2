"""A worker that answers for long keeps what it holds in memory."""

from pathlib import Path

import pytest

from tests.bench.corpus import questions
from tests.factories import make_batch, observation_row, prompt_row
from tests.processes import WorkerProcess, running_worker, wait_for
from worker.contract import calls
from worker.contract.corpus import CorpusOrder
from worker.contract.index import IndexStatus
from worker.contract.search import SearchQuery

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")

MEANING = {"CLAUDE_MEM_CHROMA_ENABLED": "true", "CLAUDE_MEM_EMBEDDING_MODEL": "hash"}
RECORDS = 2_100
"""More than are compared one by one, so that Chroma is asked each time."""
SEARCHES, CORPUS_QUERIES = 500, 100
ROOM_KB = 6_000
"""Of what an allocator keeps; one more client of Chroma would take a multiple of it with every question."""


def is_ready(status: IndexStatus) -> bool:
    return (status.chroma, status.pending, status.embedded) == ("ready", 0, RECORDS)


def resident_kb(worker: WorkerProcess) -> tuple[int, int]:
    """Of the worker, and of the process that holds Chroma."""
    (lock,) = (worker.data_dir / "vectors").glob(".*.lock")
    owner, host = lock.read_text().split()
    assert int(owner) == worker.process.pid
    first, second = (
        int(line.split()[1])
        for pid in (owner, host)
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    )
    return first, second


def test_searches_and_corpus_queries_take_no_more_memory(tmp_path: Path) -> None:
    """R060."""
    asked = questions(25)
    with running_worker(tmp_path / "memory", environ=MEANING) as worker:
        rows = [observation_row(f"{asked[n]} {n}", created_at_epoch=n) for n in range(25)]
        # Prompts are one document each, which is soon written.
        prompts = [prompt_row(f"{asked[n % 25]} {n}", prompt_number=n, created_at_epoch=n) for n in range(25, RECORDS)]
        worker.quick.send(calls.import_batch(make_batch(rows, prompts=prompts)))
        worker.quick.send(calls.build_corpus(CorpusOrder(name="all")))
        wait_for(lambda: is_ready(worker.quick.send(calls.index_status())))

        def ask(searches: int, corpus_queries: int) -> None:
            for n in range(searches):
                found = worker.searched(SearchQuery(text=asked[n % 25], limit=5))
                assert (found.strategy, found.degraded, len(found.hits)) == ("hybrid", None, 5)
            for n in range(corpus_queries):
                assert worker.quick.send(calls.query_corpus("all", asked[n % 25])).answer

        ask(SEARCHES // 5, CORPUS_QUERIES // 5)
        before = resident_kb(worker)
        ask(SEARCHES * 4 // 5, CORPUS_QUERIES * 4 // 5)
        grown = [after - was for after, was in zip(resident_kb(worker), before, strict=True)]
    assert max(grown) < ROOM_KB, f"grown by {grown} KB from {before}"

"""A filter that fifty thousand records pass, through the whole search: each of them can be listed, and nothing else."""

import asyncio
from pathlib import Path

from tests.factories import NOON, make_batch, observation_row
from tests.parts.conftest import fill
from tests.processes import WorkerProcess, running_worker, wait_for
from worker.contract import calls
from worker.contract.search import SearchPage, SearchQuery
from worker.store.tables import open_store

PASSING, NAMED = 50_000, 50
MEANING = {"CLAUDE_MEM_CHROMA_ENABLED": "true", "CLAUDE_MEM_EMBEDDING_MODEL": "hash"}
MANY = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
    INSERT INTO observations (memory_session_id, project, type, title, concepts, created_at, created_at_epoch)
    SELECT 'm-1', 'shop', 'bugfix', CASE WHEN i % 1000 THEN 'straw ' ELSE 'needle ' END || i, '["wide"]', '', ? + i
    FROM n"""


async def remember(path: Path) -> None:
    store = open_store(path)
    await fill(store, make_batch([observation_row(f"needle, other {n}", created_at_epoch=n) for n in range(40)]))
    await store.write(lambda connection: connection.execute(MANY, (PASSING, NOON)))
    await store.close()


def page(worker: WorkerProcess, offset: int) -> SearchPage:
    query = SearchQuery(text="needle", project="shop", concepts=("wide",), limit=100, offset=offset)
    return worker.searched(query)


def test_fifty_thousand_pass_a_filter(tmp_path: Path) -> None:
    """Chroma is away, so that all that pass are compared one by one."""
    data = tmp_path / "memory"
    data.mkdir()
    (data / "vectors").write_text("not a folder")
    asyncio.run(remember(data / "claude-mem.db"))
    with running_worker(data, environ=MEANING) as worker:
        wait_for(lambda: worker.quick.send(calls.index_status()).embedded > 500)
        first = page(worker, 0)
        assert (first.strategy, first.total) == ("hybrid", PASSING)
        assert sum(hit.title.startswith("needle ") for hit in first.hits[:NAMED]) == NAMED
        last = page(worker, PASSING - 50)
        assert len(last.hits) == 50 and page(worker, PASSING).hits == ()
        listed = [hit.title for found in (first, last) for hit in found.hits]
        assert len(set(listed)) == 150 and not any("other" in title for title in listed)

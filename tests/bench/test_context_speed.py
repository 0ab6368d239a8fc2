"""What the context of a session costs beside the SQL that reads its rows, in one run; figures are printed.

`make bench`; sizes from BENCH_RECORDS, as in ``test_search_speed``.
"""

import datetime as dt
import statistics
import time
from pathlib import Path

import pytest

from tests.bench.corpus import batches
from tests.bench.test_search_speed import SIZES
from tests.factories import NOON
from worker.contract.context_settings import ContextSettings
from worker.present import composing
from worker.present.composing import ContextQuery
from worker.store.imports import import_batch
from worker.store.tables import Connection, open_store

pytestmark = pytest.mark.bench
_PROJECT = "project-3"
_ROUNDS = 15


def bare(connection: Connection) -> int:
    """The rows that a context of fifty chooses from."""
    observations = connection.execute(
        """SELECT * FROM observations WHERE project = ?1 OR merged_into_project = ?1
            ORDER BY created_at_epoch DESC LIMIT 200""",
        (_PROJECT,),
    ).fetchall()
    summaries = connection.execute(
        "SELECT * FROM session_summaries WHERE project = ?1 ORDER BY created_at_epoch DESC LIMIT 4", (_PROJECT,)
    ).fetchall()
    return len(observations) + len(summaries)


@pytest.mark.parametrize("records", SIZES)
async def test_a_context_beside_its_bare_sql(tmp_path: Path, records: int) -> None:
    store = open_store(tmp_path / "claude-mem.db")
    for batch in batches(records):
        await store.write(lambda connection, batch=batch: import_batch(connection, batch))  # type: ignore[misc]
    query, settings = ContextQuery(projects=(_PROJECT,)), ContextSettings()
    took: dict[str, list[float]] = {"bare SQL": [], "context": []}
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        assert await store.read(bare) > 50
        middle = time.perf_counter()
        made = await composing.compose(store, query, settings, now_ms=NOON, zone=dt.UTC)
        assert len(made.listed) + len(made.read) >= 50
        took["bare SQL"].append((middle - started) * 1000)
        took["context"].append((time.perf_counter() - middle) * 1000)
    await store.close()
    base = statistics.median(took["bare SQL"])
    print(f"\n{records} records:")
    for name, times in took.items():
        print(f"  {name:9} p50 {statistics.median(times):7.2f} ms   {statistics.median(times) / base:5.1f} × bare SQL")

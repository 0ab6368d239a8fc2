"""Filters narrow what words find; they never take away what fits all of them."""

from pathlib import Path

import pytest

from tests.factories import DAY, MINUTE, NOON, make_batch, observation_row, session_row
from tests.processes import running_worker
from worker.contract import calls
from worker.contract.search import Mode, SearchQuery

ROWS = 20


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("text", ["lease", "lease renewed in the shop", "which lease was renewed today"])
def test_words_with_a_day_and_a_project_find_all_rows_of_both(tmp_path: Path, text: str, mode: Mode) -> None:
    """R032: as many rows of the day and project, and more like them elsewhere and earlier, which fit better."""
    sessions = [session_row(name, project=name) for name in ("shop", "other")]
    rows = [
        observation_row(
            f"Lease {number} is renewed" if project == "shop" else "Lease renewed today in the shop, which lease",
            memory_session_id=f"m-{project}",
            project=project,
            created_at_epoch=NOON - days * DAY + number * MINUTE,
        )
        for project, days in (("shop", 0), ("other", 0), ("shop", 3))
        for number in range(ROWS)
    ]
    with running_worker(tmp_path / "memory") as worker:
        worker.quick.send(calls.import_batch(make_batch(rows, sessions=sessions)))
        query = SearchQuery(
            text=text,
            project="shop",
            since_epoch_ms=NOON - NOON % DAY,
            until_epoch_ms=NOON - NOON % DAY + DAY - 1,
            limit=ROWS,
            mode=mode,
        )
        page = worker.quick.send(calls.search(query))
        assert page.total == ROWS
        assert sorted(hit.title for hit in page.hits) == sorted(f"Lease {number} is renewed" for number in range(ROWS))
        assert {hit.project for hit in page.hits} == {"shop"}

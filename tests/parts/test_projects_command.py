"""`claude-mem projects` against a real worker."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.factories import make_batch, observation_row, session_row
from tests.processes import WorkerProcess, running_worker
from worker.contract import calls


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path_factory.mktemp("home") / "memory") as running:
        running.quick.send(
            calls.import_batch(
                make_batch([observation_row("old", project="shop")], sessions=[session_row(project="shop")])
            )
        )
        yield running


def run(worker: WorkerProcess, *words: str, code: int = 0) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAUDE")}
    given = {"HOME": str(worker.data_dir.parent), "CLAUDE_MEM_DATA_DIR": str(worker.data_dir)}
    done = subprocess.run(
        (sys.executable, "-P", "-m", "worker.cli.main", "projects", *words),
        env=kept | given | {"CLAUDE_MEM_WORKER_PORT": str(worker.port)},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stdout or done.stderr


def test_list_merge_and_alias(worker: WorkerProcess) -> None:
    """R188."""
    assert run(worker).splitlines() == ["shop"]
    assert "1 observations and 0 summaries of shop are found under store" in run(worker, "merge", "shop", "store")
    assert '"observations": 0' in run(worker, "merge", "shop", "store", "--json")
    assert "nothing is filed under 'nowhere'" in run(worker, "merge", "nowhere", "store", code=1)
    run(worker, "alias", "store", "shop")
    assert "store -> shop" in run(worker, "list")
    assert "an alias, of 'shop'" in run(worker, "alias", "x", "store", code=3)
    run(worker, "alias", "store", "store")
    assert "->" not in run(worker, "list")

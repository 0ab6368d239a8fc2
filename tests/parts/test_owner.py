"""One worker for a data directory."""

import signal
from pathlib import Path

from tests.processes import free_port, running_worker, start_worker, wait_for


def test_a_second_worker_on_one_memory_ends_with_a_sentence_that_names_the_first(tmp_path: Path) -> None:
    """R052: on another port, where the port cannot tell."""
    with running_worker(tmp_path / "memory") as first:
        second = start_worker(first.data_dir, port=free_port())
        assert second.wait() == 1
        said = f"a worker on port {first.port} serves {first.data_dir} already; `claude-mem worker restart` moves it"
        assert second.stderr.strip() == said
        assert first.ready()


def test_the_lock_of_a_dead_worker_holds_nobody_up(tmp_path: Path) -> None:
    """R107."""
    with running_worker(tmp_path / "memory") as first:
        first.stop(signal.SIGKILL)
    with running_worker(tmp_path / "memory", port=free_port()) as second:
        wait_for(second.ready)

"""`import transcripts` by the command, into a real worker."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import WorkerProcess, running_worker, wait_for
from tests.unit.cli.test_transcripts import Writer
from worker.contract import calls
from worker.contract.tool_uses import ToolUseQuery


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path_factory.mktemp("home") / "memory") as running:
        yield running


@pytest.fixture
def past(tmp_path: Path) -> Path:
    """Transcripts of two sessions of their own for each test."""
    folder = tmp_path / "projects" / "-home-u-shop"
    one = (
        Writer(f"one-{tmp_path.name}")
        .user("fix the login")
        .calls(f"t1-{tmp_path.name}")
        .result(f"t1-{tmp_path.name}")
        .says("Fixed it.")
    )
    one.user("<private>no</private>").calls(f"t2-{tmp_path.name}").result(f"t2-{tmp_path.name}").says("Well.").raw(
        "{half"
    )
    one.save(folder)
    two = (
        Writer(f"two-{tmp_path.name}")
        .user("write the docs", cwd="/home/u/docs")
        .calls(f"t3-{tmp_path.name}", cwd="/home/u/docs")
    )
    two.result(f"t3-{tmp_path.name}", cwd="/home/u/docs").save(tmp_path / "projects" / "-home-u-docs")
    three = Writer(f"three-{tmp_path.name}")  # a resumed session repeats what it goes on from
    three.lines = [line.replace('"sessionId": "one-', '"sessionId": "three-') for line in one.lines]
    os.utime(three.save(folder), (time.time() + 60,) * 2)
    return tmp_path / "projects"


def run(worker: WorkerProcess, *words: str, code: int = 0, **environ: str) -> dict[str, Any]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAUDE")}
    given = {"HOME": str(worker.data_dir.parent), "CLAUDE_MEM_DATA_DIR": str(worker.data_dir)}
    done = subprocess.run(
        (sys.executable, "-P", "-m", "worker.cli.main", "import", "transcripts", *words, "--json"),
        env=kept | given | {"CLAUDE_MEM_WORKER_PORT": str(worker.port)} | environ,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    told: dict[str, Any] = json.loads(done.stdout) if done.stdout else {"said": done.stderr}
    return told


def uses(worker: WorkerProcess, past: Path) -> list[str]:
    found = worker.quick.send(calls.tool_uses(ToolUseQuery(limit=500))).toolUses
    return sorted(use.tool_use_id[:2] for use in found if use.content_session_id.endswith(past.parent.name))


def test_a_dry_run_counts_and_tells_nobody(worker: WorkerProcess, past: Path) -> None:
    told = run(worker, str(past), "--dry-run")
    assert told["sessions"] == 2 and told["found"] == {"prompts": 3, "tool uses": 3, "turns": 2}
    assert told["projects"] == {"shop": 6, "docs": 2} and told["broken_lines"] == 2 and told["tokens"] > 10
    assert told["added"] == {} and uses(worker, past) == []


def test_it_adds_everything_once_and_nothing_of_what_was_private(worker: WorkerProcess, past: Path) -> None:
    told = run(worker, str(past))
    assert told["added"] == {"prompts": 2, "tool uses": 2}
    assert told["left_out"] == {"private": 3, "repeated by another session": 6}
    assert uses(worker, past) == ["t1", "t3"]
    again = run(worker, str(past))
    assert again["added"] == {} and again["known"] == {"prompts": 2, "tool uses": 2}
    assert uses(worker, past) == ["t1", "t3"]
    records = worker.quick.send(calls.session(f"one-{past.parent.name}"))
    assert (records.session.project, records.session.prompts) == ("shop", 1)
    assert records.entries[0].created_at_epoch == 1_772_618_400_000


def test_what_came_later_is_added_to_what_is_there(worker: WorkerProcess, past: Path) -> None:
    run(worker, str(past))
    file = past / "-home-u-shop" / f"one-{past.parent.name}.jsonl"
    more = Writer(f"one-{past.parent.name}")
    more.lines, more.seconds = file.read_text().splitlines(), 40
    more.user("and now this").calls("t9").result("t9").save(file.parent)
    assert run(worker, str(past))["added"] == {"prompts": 1, "tool uses": 1}


def test_a_choice_of_project_days_and_exclusion(worker: WorkerProcess, past: Path) -> None:
    assert run(worker, str(past), "--dry-run", "--project", "docs")["found"] == {"prompts": 1, "tool uses": 1}
    assert run(worker, str(past), "--dry-run", "--days", "1", code=1)["left_out"] == {"older than --days": 14}
    told = run(worker, str(past), "--dry-run", CLAUDE_MEM_EXCLUDED_PROJECTS="/home/u/shop")
    assert told["projects"] == {"docs": 2}
    assert "no " in run(worker, str(past / "nowhere"), code=2)["said"]


def test_the_transcripts_of_the_agent_are_found_by_themselves(worker: WorkerProcess, past: Path) -> None:
    told = run(worker, "--dry-run", CLAUDE_CONFIG_DIR=str(past.parent))
    assert told["path"] == str(past) and told["sessions"] == 2


def test_what_was_brought_in_becomes_memories(worker: WorkerProcess, past: Path) -> None:
    run(worker, str(past))
    name = f"one-{past.parent.name}"

    def observed() -> bool:
        line = worker.quick.send(calls.session(name)).session
        return line.observations > 0 or line.summaries > 0

    wait_for(observed)

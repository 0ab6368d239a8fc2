"""`scan-secrets` over a memory from before secrets were masked."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.factories import make_batch, observation_row
from tests.parts.conftest import foreign
from tests.processes import WorkerProcess, running_worker, wait_for
from worker.cli.secrets_scan import scanned
from worker.contract import calls

TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path_factory.mktemp("home") / "memory") as running:
        yield running


def run(worker: WorkerProcess, *words: str, program: str = "scan-secrets") -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAUDE")}
    given = {"HOME": str(worker.data_dir.parent), "CLAUDE_MEM_DATA_DIR": str(worker.data_dir)}
    return subprocess.run(
        (sys.executable, "-P", "-m", "worker.cli.main", program, *words),
        env=kept | given | {"CLAUDE_MEM_WORKER_PORT": str(worker.port)},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_an_excerpt_hides_every_secret_in_it() -> None:
    row = {"id": 5, "text": f"first {TOKEN} and\npassword='hunter2x9' then {TOKEN}", "facts": None}
    found = list(scanned("118", row))
    assert [one.kind for one in found] == ["token", "password", "token"]
    assert all(one.record == "118" and one.column == "text" for one in found)
    assert not any(TOKEN[:12] in one.excerpt or "hunter2" in one.excerpt for one in found)
    assert found[0].excerpt.startswith("first **** and")


def test_it_names_record_and_column_and_shows_no_secret(worker: WorkerProcess) -> None:
    clean = run(worker)
    assert (clean.returncode, clean.stdout) == (0, "none found\n") and "claude-mem delete" not in clean.stderr
    worker.quick.send(calls.import_batch(make_batch([observation_row("harmless"), observation_row("old")])))
    with contextlib.closing(foreign(worker.data_dir / "claude-mem.db")) as older:  # one that did not mask
        older.execute("UPDATE observations SET narrative = ? WHERE title = 'old'", (f"it was {TOKEN}",))
        number = older.execute("SELECT id FROM observations WHERE title = 'old'").fetchone()[0]
    done = run(worker)
    assert done.returncode == 1 and TOKEN not in done.stdout and "token" in done.stdout
    assert "`claude-mem delete KEY`" in done.stderr
    told = json.loads(run(worker, "--json").stdout)["found"]
    assert told == [{"kind": "token", "record": str(number), "column": "narrative", "excerpt": "it was ****"}]


def test_whatever_it_names_can_be_deleted_by_that_name(worker: WorkerProcess) -> None:
    with contextlib.closing(foreign(worker.data_dir / "claude-mem.db")) as older:
        older.execute("UPDATE sdk_sessions SET user_prompt = ?, custom_title = ?", (f"log in: {TOKEN}", TOKEN))
        sql = """INSERT INTO tool_uses (tool_use_id, content_session_id, project, tool_name, tool_input, tool_response,
            created_at, created_at_epoch) VALUES ('t', 'c-1', 'shop', 'Bash', ?, ?, '', 1)"""
        use = older.execute(sql, (f"curl {TOKEN}", f"welcome {TOKEN}")).lastrowid
        older.execute("UPDATE observations SET narrative = ? WHERE title = 'harmless'", (TOKEN,))
    named = [one["record"] for one in json.loads(run(worker, "--json").stdout)["found"]]
    assert {"C1", f"T{use}"} < set(named) and named.count(f"T{use}") == 2 == named.count("C1")
    deleted = run(worker, "--yes", *named, program="delete")
    assert deleted.returncode == 0, deleted.stderr
    assert (run(worker).stdout, TOKEN in deleted.stdout) == ("none found\n", False)
    path = worker.data_dir / "claude-mem.db"
    wait_for(lambda: not any(TOKEN.encode() in file.read_bytes() for file in path.parent.glob(f"{path.name}*")))


def test_so_can_rows_whose_ids_are_below_one(worker: WorkerProcess) -> None:
    """Programs that write to the database do give them."""
    told = "created_at, created_at_epoch"
    tables: list[tuple[str, str, tuple[object, ...]]] = [
        ("sdk_sessions", "content_session_id, memory_session_id, project, started_at, started_at_epoch, custom_title",
         ("low", "low", "shop", "", 1)),
        ("observations", f"type, memory_session_id, project, {told}, title", ("bugfix", "low", "shop", "", 1)),
        ("session_summaries", f"memory_session_id, project, {told}, request", ("low", "shop", "", 1)),
        ("user_prompts", f"prompt_number, content_session_id, session_db_id, {told}, prompt_text",
         (1, "low", -5, "", 1)),
        ("tool_uses", f"tool_use_id, content_session_id, project, {told}, tool_name", ("low", "low", "shop", "", 1)),
    ]  # fmt: skip
    with contextlib.closing(foreign(worker.data_dir / "claude-mem.db")) as other:
        for table, names, values in tables:
            for number in (-5,) if table in ("sdk_sessions", "tool_uses") else (-5, 0):
                row = (number, *values, TOKEN)
                other.execute(f"INSERT INTO {table} (id, {names}) VALUES ({', '.join('?' * len(row))})", row)
    named = [one["record"] for one in json.loads(run(worker, "--json").stdout)["found"]]
    assert set(named) == {"-5", "0", "S-5", "S0", "P-5", "P0", "T-5", "C-5"}
    deleted = run(worker, "--yes", *named, program="delete")
    assert (deleted.returncode, run(worker).stdout) == (0, "none found\n"), deleted.stderr

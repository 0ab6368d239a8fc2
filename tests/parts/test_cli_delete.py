"""`claude-mem delete` against a real worker, asked on a real pseudo-terminal."""

import contextlib
import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.factories import make_batch, observation_row, prompt_row, summary_row
from tests.mcp.fake_worker import Answer, FakeWorker, Request, environment, serving
from tests.parts.conftest import foreign
from tests.processes import PATIENCE_S, WorkerProcess, running_worker, wait_for
from tests.tui.terminal import Terminal
from worker.cli.keys import records_of
from worker.contract import calls
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import SearchQuery

TOKEN = "ghp_" + "a1B2" * 9
PROGRAM = ["-P", "-m", "worker.cli.main", "delete"]
LISTENING = """
import signal, sys
from worker.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())
"""
"""Whoever runs the tests in the background has taken this signal from them, and from what they start."""


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path_factory.mktemp("home") / "memory") as running:
        yield running


@pytest.fixture
def keys(worker: WorkerProcess) -> Iterator[dict[str, RecordKey]]:
    """A memory of four records: `heron` and `ibis` are observations, `stork` a summary, `crane` a prompt."""
    batch = make_batch(
        [observation_row("about a heron"), observation_row("about an ibis", project="zoo")],
        summaries=[summary_row("about a stork")],
        prompts=[prompt_row("about a\n crane")],
    )
    worker.quick.send(calls.import_batch(batch))
    wait_for(lambda: found(worker) == BIRDS)
    hits = worker.quick.send(calls.search(SearchQuery())).hits
    yield {hit.title.split()[-1]: hit.key for hit in hits}
    for key in records_of(worker.quick, [hit.key for hit in hits]):
        worker.quick.send(calls.delete(key))


SHOWN = {
    "heron": "bugfix | shop | 2026-03-04 12:00 | about a heron",
    "ibis": "bugfix | zoo | 2026-03-04 12:00 | about an ibis",
    "stork": "session | shop | 2026-03-04 13:00 | about a stork",
    "crane": "prompt | shop | 2026-03-04 11:59 | about a crane",
}
BIRDS = set(SHOWN)


def environ(worker: WorkerProcess) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAUDE")}
    given = {"HOME": str(worker.data_dir.parent), "CLAUDE_MEM_DATA_DIR": str(worker.data_dir), "TZ": "UTC"}
    return kept | given | {"CLAUDE_MEM_WORKER_PORT": str(worker.port)}


def run(worker: WorkerProcess, *words: object) -> subprocess.CompletedProcess[str]:
    return command(environ(worker), *words)


def command(env: dict[str, str], *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, *PROGRAM, *map(str, words)),
        env=env, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=PATIENCE_S,
    )  # fmt: skip


def terminal(worker: WorkerProcess, *words: object) -> Terminal:
    return Terminal([*PROGRAM, *map(str, words)], environ(worker), size=(100, 20))


def asks(text: str) -> bool:
    return "[y/N]" in text


def found(worker: WorkerProcess, words: str = "about") -> set[str]:
    """What a search finds, by the bird in it."""
    return {hit.title.split()[-1] for hit in worker.quick.send(calls.search(SearchQuery(text=words))).hits}


@pytest.mark.parametrize("bird", SHOWN)
def test_a_deleted_record_is_found_no_more_and_the_others_stay(
    worker: WorkerProcess, keys: dict[str, RecordKey], bird: str
) -> None:
    assert found(worker) == BIRDS
    done = run(worker, "--yes", f"#{keys[bird]}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"#{keys[bird]} | {SHOWN[bird]}", f"deleted: {keys[bird]}"]
    assert found(worker) == BIRDS - {bird} and found(worker, bird) == set()


def test_several_keys_with_commas_and_one_twice(worker: WorkerProcess, keys: dict[str, RecordKey]) -> None:
    heron, stork, crane = keys["heron"], keys["stork"], keys["crane"]
    done = run(worker, f"{heron},{str(stork).lower()}", "--yes", crane, f"#{heron}")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"deleted: {heron}, {stork}, {crane}")
    assert found(worker) == {"ibis"}


@pytest.mark.parametrize("wrong", ["x7", "S", "--7", "1.5", "session 3", "T", "C-", "TS3", "C1.5", "٣", "T٣"])
def test_nothing_is_deleted_where_a_key_is_none(worker: WorkerProcess, keys: dict[str, RecordKey], wrong: str) -> None:
    done = run(worker, "--yes", keys["heron"], "--", wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"argument KEY: must be 118, #118, S14, P40, T9 or C3, not '{wrong}'" in done.stderr
    assert found(worker) == BIRDS


def test_without_a_key_nothing_is_asked(worker: WorkerProcess) -> None:
    done = run(worker, "--yes", ",")
    assert done.returncode == 2 and "give at least one KEY" in done.stderr


def test_what_is_not_there_is_told(worker: WorkerProcess, keys: dict[str, RecordKey]) -> None:
    done = run(worker, "--yes", "S9000")
    assert (done.returncode, done.stdout) == (1, "") and "claude-mem: there is no S9000\n" in done.stderr
    done = run(worker, "--yes", "9000", keys["ibis"])
    assert done.returncode == 1 and "claude-mem: there is no 9000\n" in done.stderr
    assert found(worker) == BIRDS - {"ibis"}


def test_where_nobody_can_be_asked_nothing_is_deleted(worker: WorkerProcess, keys: dict[str, RecordKey]) -> None:
    done = run(worker, keys["heron"])
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "--yes" in line
    assert found(worker) == BIRDS


def test_a_question_that_nobody_reads_is_not_asked(worker: WorkerProcess, keys: dict[str, RecordKey]) -> None:
    ours, theirs = pty.openpty()  # to type at; what is written goes to a pipe
    done = subprocess.run(
        (sys.executable, *PROGRAM, str(keys["heron"])),
        env=environ(worker), stdin=theirs, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, done.stdout) == (2, "") and "--yes" in done.stderr
    assert found(worker) == BIRDS


@pytest.mark.parametrize("answer", ["n\n", "\n", "yess\n", "\x04", "\udcff\n"])
def test_whoever_does_not_say_yes_keeps_them(worker: WorkerProcess, keys: dict[str, RecordKey], answer: str) -> None:
    with terminal(worker, keys["heron"], keys["crane"]) as asking:
        asking.until(asks)
        assert all(f"#{keys[bird]} | {SHOWN[bird]}" in asking.text for bird in ("heron", "crane"))
        assert "Delete these 2 records for good? [y/N]" in asking.text
        os.write(asking.fd, answer.encode("utf-8", "surrogateescape"))
        assert asking.left() == 1
        assert "nothing was deleted" in asking.text
    assert found(worker) == BIRDS


@pytest.mark.parametrize("answer", ["y\n", "YES\n"])
def test_whoever_says_yes_is_rid_of_them(worker: WorkerProcess, keys: dict[str, RecordKey], answer: str) -> None:
    with terminal(worker, keys["heron"], "9000") as asking:
        asking.until(asks)
        assert "there is no 9000" in asking.text and "Delete this record for good? [y/N]" in asking.text
        assert found(worker) == BIRDS
        asking.send(answer)
        assert asking.left() == 1  # not all that was named
        assert f"deleted: {keys['heron']}" in asking.text
    assert found(worker) == BIRDS - {"heron"}


def test_nobody_is_asked_about_nothing(worker: WorkerProcess) -> None:
    with terminal(worker, "9000") as asking:
        assert asking.left() == 1
        assert "there is no 9000" in asking.text and not asks(asking.text)


def test_interrupted_at_the_question(worker: WorkerProcess, keys: dict[str, RecordKey]) -> None:
    with Terminal(["-P", "-c", LISTENING, "delete", str(keys["heron"])], environ(worker)) as asking:
        asking.until(asks)
        asking.process.send_signal(signal.SIGINT)
        assert asking.left() == 130
    assert found(worker) == BIRDS


def test_gone_between_looking_and_deleting(worker: WorkerProcess, keys: dict[str, RecordKey]) -> None:
    with terminal(worker, keys["heron"], keys["ibis"]) as asking:
        asking.until(asks)
        worker.quick.send(calls.delete(keys["heron"]))
        asking.send("y\n")
        assert asking.left() == 0
        assert f"{keys['heron']} was gone already" in asking.text and f"deleted: {keys['ibis']}" in asking.text
    assert found(worker) == {"stork", "crane"}


def test_as_json(worker: WorkerProcess, keys: dict[str, RecordKey]) -> None:
    done = run(worker, "--json", "--yes", keys["ibis"], "P9000", keys["stork"])
    assert done.returncode == 1 and "claude-mem: there is no P9000\n" in done.stderr
    told = json.loads(done.stdout)
    ibis, stork = told.pop("deleted")
    assert told == {"missing": ["P9000"], "left": []}
    about = {"title": "about an ibis", "project": "zoo", "created_at_epoch": 1_772_625_600_000}
    assert ibis == {"key": str(keys["ibis"]), "kind": "observation"} | about
    assert (stork["key"], stork["kind"], stork["title"]) == (str(keys["stork"]), "summary", "about a stork")
    assert found(worker) == {"heron", "crane"}


def test_json_is_not_mixed_with_the_question(worker: WorkerProcess, keys: dict[str, RecordKey]) -> None:
    with terminal(worker, "--json", keys["heron"]) as asking:
        asking.until(asks)
        asking.send("n\n")
        assert asking.left() == 1
        written = asking.written.decode()
    told = json.loads(written[written.index("{") :])
    assert told == {"deleted": [], "missing": [], "left": [str(keys["heron"])]}
    assert found(worker) == BIRDS


def test_a_secret_is_not_shown_once_more(worker: WorkerProcess, keys: dict[str, RecordKey]) -> None:
    with contextlib.closing(foreign(worker.data_dir / "claude-mem.db")) as older:  # a program that did not mask
        title = f"{'so much before it ' * 5}{TOKEN}"
        older.execute("UPDATE observations SET title = ? WHERE id = ?", (title, keys["heron"].id))
    assert "before it ****" in (shown := run(worker, "--yes", keys["heron"])).stdout
    assert TOKEN[:8] not in shown.stdout


def test_what_another_device_has_made_stays_and_is_told(worker: WorkerProcess, keys: dict[str, RecordKey]) -> None:
    with contextlib.closing(foreign(worker.data_dir / "claude-mem.db")) as older:
        older.execute("UPDATE observations SET origin_device_id = 'laptop' WHERE id = ?", (keys["heron"].id,))
        done = run(worker, "--yes", "--json", keys["heron"], keys["ibis"])
        older.execute("UPDATE observations SET origin_device_id = NULL WHERE id = ?", (keys["heron"].id,))
    assert done.returncode == 1 and "came from another device" in done.stderr
    told = json.loads(done.stdout)
    assert ([one["key"] for one in told["deleted"]], told["left"]) == ([str(keys["ibis"])], [str(keys["heron"])])
    assert found(worker) == BIRDS - {"ibis"}


@pytest.fixture
def rows(worker: WorkerProcess, keys: dict[str, RecordKey]) -> dict[str, str]:
    """The keys of a session that says something itself, and of two tool uses, one with the other's number as its id."""
    with contextlib.closing(foreign(worker.data_dir / "claude-mem.db")) as older:  # a program that did not mask
        older.execute("DELETE FROM tool_uses")
        texts = (f"hello {TOKEN}", f"log in with {TOKEN}")
        older.execute("UPDATE sdk_sessions SET custom_title = ?, user_prompt = ? WHERE id = 1", texts)
        first = used(older, "toolu", "Bash", f'{{"command":"curl -u {TOKEN}"}}')
        second = used(older, str(first), "Read", '{"file_path":"/a.py"}')
    return {"session": "C1", "curl": f"T{first}", "read": f"T{second}"}


def used(older: sqlite3.Connection, tool_use_id: str, name: str, given: str) -> int:
    sql = """INSERT INTO tool_uses (tool_use_id, content_session_id, project, tool_name, tool_input, created_at,
        created_at_epoch) VALUES (?, 'c-1', 'shop', ?, ?, '', 1772625600000)"""
    return int(older.execute(sql, (tool_use_id, name, given)).lastrowid or 0)


def held(worker: WorkerProcess) -> tuple[list[tuple[object, ...]], list[str]]:
    """What the first session says itself, and the names of the tools used."""
    with contextlib.closing(foreign(worker.data_dir / "claude-mem.db")) as older:
        said = older.execute("SELECT custom_title, user_prompt FROM sdk_sessions WHERE id = 1").fetchall()
        return said, [name for (name,) in older.execute("SELECT tool_name FROM tool_uses ORDER BY id")]


def test_a_tool_use_goes_alone_and_shows_no_secret(worker: WorkerProcess, rows: dict[str, str]) -> None:
    done = run(worker, "--yes", rows["curl"].lower())
    assert done.returncode == 0, done.stderr
    shown, told = done.stdout.splitlines()
    assert shown.startswith(f"#{rows['curl']} | tool use | shop | 2026-03-04 12:00 | Bash {{") and "****" in shown
    assert told == f"deleted: {rows['curl']}" and TOKEN[:8] not in done.stdout
    assert held(worker)[1] == ["Read"] and found(worker) == BIRDS
    done = run(worker, "--yes", rows["curl"])
    assert done.returncode == 1 and f"there is no {rows['curl']}\n" in done.stderr


def test_a_session_s_own_texts_go_and_its_records_stay(worker: WorkerProcess, rows: dict[str, str]) -> None:
    with terminal(worker, rows["session"]) as asking:
        asking.until(asks)
        assert "#C1 | own texts | shop | " in asking.text and "hello **** / log in with ****" in asking.text
        assert "Delete the own texts of 1 session, whose records stay, for good? [y/N]" in asking.text
        asking.send("y\n")
        assert asking.left() == 0
        assert "deleted: C1" in asking.text and TOKEN[:8] not in asking.text
    assert held(worker) == ([(None, None)], ["Bash", "Read"]) and found(worker) == BIRDS
    done = run(worker, "--yes", "C1", "C9000")
    assert done.returncode == 1 and "there is no C9000\n" in done.stderr and "no texts of its own" in done.stdout


def test_all_sorts_at_once_are_counted_in_the_question(
    worker: WorkerProcess, keys: dict[str, RecordKey], rows: dict[str, str]
) -> None:
    named = [keys["heron"], keys["ibis"], *rows.values()]
    with terminal(worker, *named) as asking:
        asking.until(asks)
        said = " ".join(asking.text.split())
        asked = "2 records, 2 tool uses and the own texts of 1 session, whose records stay, for good? [y/N]"
        assert f"Delete {asked}" in said
        asking.send("n\n")
        assert asking.left() == 1
    assert held(worker)[1] == ["Bash", "Read"] and found(worker) == BIRDS
    told = json.loads(run(worker, "--json", "--yes", *named).stdout)
    assert [one["kind"] for one in told["deleted"]] == ["observation"] * 2 + ["session", "tool_use", "tool_use"]
    assert told["deleted"][2] | {"created_at_epoch": 0} == {
        "key": "C1", "kind": "session", "title": "hello **** / log in with ****", "project": "shop",
        "created_at_epoch": 0,
    }  # fmt: skip
    assert held(worker) == ([(None, None)], []) and found(worker) == {"stork", "crane"}


def test_a_worker_that_cannot_start_is_3(tmp_path: Path) -> None:
    done = command(environment(tmp_path, FAKE_WORKER="dies"), "--yes", "118")
    assert (done.returncode, done.stdout) == (3, "") and "the disk is full" in done.stderr


def test_a_worker_that_ends_in_the_middle_leaves_told_what_was_done(tmp_path: Path) -> None:
    env = environment(tmp_path)

    def stopping(request: Request) -> Answer:
        if request.method == "DELETE":
            return 503, {"error": "stopping", "code": "unavailable"}
        return fake.canned(request)

    def obeying(request: Request) -> Answer:
        if request.method == "DELETE":
            return 200, {"success": True, "id": "118", "kind": "observation"}
        return fake.canned(request)

    fake = FakeWorker(env["CLAUDE_MEM_DATA_DIR"], int(env["CLAUDE_MEM_WORKER_PORT"]))
    prompt = calls.delete(RecordKey(RecordKind.PROMPT, 40)).path
    fake.answers = {calls.delete(RecordKey(RecordKind.OBSERVATION, 118)).path: obeying, prompt: stopping}
    with serving(fake):
        done = command(env, "--yes", "118", "P40")
    assert done.returncode == 3 and done.stdout.splitlines()[-1] == "deleted: 118"
    assert done.stderr.endswith("claude-mem: stopped at P40\nclaude-mem: stopping\n")


def test_help_names_it_beside_show(worker: WorkerProcess) -> None:
    overview = subprocess.run(
        (sys.executable, *PROGRAM[:-1], "--help"), capture_output=True, text=True, timeout=PATIENCE_S
    ).stdout.splitlines()
    (at,) = [number for number, line in enumerate(overview) if line.startswith("  show ")]
    assert overview[at + 1].startswith("  delete ")
    done = run(worker, "--help")
    assert done.returncode == 0 and "--yes" in done.stdout and "exit codes" in done.stdout

"""`claude-mem doctor`: what it finds on a machine that is well, and on one where something is not."""

import contextlib
import importlib.util
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.factories import make_batch, observation_row, prompt_row
from tests.mcp.fake_worker import FakeWorker, serving
from tests.parts.conftest import foreign
from tests.parts.test_cli import run
from tests.processes import WORDS_ONLY, free_port, running_worker, wait_for
from worker.cli.checks import agent, hooks, machine, memory, service
from worker.cli.checks.finding import Case
from worker.cli.entries import with_hooks
from worker.cli.harness.telling import note_trouble
from worker.contract import calls, launch, spool
from worker.contract.capture import ToolUsed
from worker.contract.curation import Save
from worker.contract.errors import Unavailable
from worker.contract.home import NOWHERE
from worker.contract.index import IndexState, IndexStatus
from worker.contract.search import SearchQuery
from worker.contract.settings import Chroma, Settings
from worker.contract.upkeep import Check
from worker.store import private, schema

EVERY = [
    "installed", "settings", "folder", "file system", "disk", "permissions", "keymap", "access", "port", "running",
    "version", "reachable", "stream", "observer", "database", "index", "fulltext", "meaning",
    "agent", "hooks", "spool", "hook times",
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "state", "said"),
    [
        (None, "ok", "the usual keys"),
        (b'set = "vim"\ngo_back = ["x"]\n', "ok", "asks for 2 changes"),
        (b"go_back = [", "warn", "is no TOML"),
        (b"\xff\xfe", "warn", "is no TOML"),
    ],
)
def test_a_keymap_that_cannot_be_read_is_told(tmp_path: Path, content: bytes | None, state: str, said: str) -> None:
    if content is not None:
        (tmp_path / "keymap.toml").write_bytes(content)
    found = machine.keymap(Case(Settings(tmp_path, "127.0.0.1", 1), tmp_path / "agent.json"))
    assert (found.state, said in found.message, bool(found.advice)) == (state, True, state == "warn")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    data = tmp_path / "data"
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(tmp_path),
        **WORDS_ONLY,
        "CLAUDE_MEM_DATA_DIR": str(data),
        "CLAUDE_MEM_WORKER_PORT": str(free_port()),
    }


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(Settings(tmp_path / "data", "127.0.0.1", 37700), tmp_path / ".claude.json")


def examined(env: dict[str, str], *, code: int) -> dict[str, Any]:
    """The findings by name; each has a sentence, and advice if it is not well."""
    done = run(env, "doctor", "--json")
    assert done.returncode == code and done.stderr == ""
    told = json.loads(done.stdout)
    assert told["ok"] is (code == 0)
    assert all(one["message"] and bool(one["advice"]) == (one["state"] != "ok") for one in told["checks"])
    assert all("\n" not in one["advice"] for one in told["checks"])
    return {one["name"]: one for one in told["checks"]}


def test_a_user_without_a_home_is_told_what_to_set(env: dict[str, str]) -> None:
    del env["CLAUDE_MEM_DATA_DIR"]
    (told,) = examined(env | {"HOME": NOWHERE}, code=1).values()
    assert (told["name"], told["message"]) == ("settings", "this user has no home folder")
    assert told["advice"] == "set HOME, or CLAUDE_MEM_DATA_DIR to an absolute path"


def test_worker_that_is_well(env: dict[str, str]) -> None:
    """Installed, running, reachable, indexed; for people too."""
    with running_worker(Path(env["CLAUDE_MEM_DATA_DIR"]), port=int(env["CLAUDE_MEM_WORKER_PORT"])) as worker:
        worker.quick.send(calls.import_batch(make_batch([observation_row("zebra")])))
        found = examined(env, code=0)
        assert list(found) == EVERY
        assert {name for name, one in found.items() if one["state"] != "ok"} == {"agent", "hooks"}
        assert found["index"]["message"] == "1 of 1 records"
        assert run(env, "doctor").stdout.startswith("ok    installed    claude-mem ")


def test_a_provider_that_cannot_be_reached_is_told_everywhere(env: dict[str, str]) -> None:
    """By the doctor, by health and by the state of the queue; the event waits."""
    asked = {
        "CLAUDE_MEM_PROVIDER": "openrouter",
        "CLAUDE_MEM_OPENROUTER_BASE_URL": f"http://127.0.0.1:{free_port()}/v1",
        "CLAUDE_MEM_OBSERVER_PAUSE_MS": "0",
    }
    use = ToolUsed(content_session_id="s-1", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t-1")
    with running_worker(
        Path(env["CLAUDE_MEM_DATA_DIR"]), port=int(env["CLAUDE_MEM_WORKER_PORT"]), environ=asked
    ) as worker:
        worker.quick.send(calls.tool_used(use))
        wait_for(lambda: worker.quick.send(calls.processing()).state == "paused")
        found = examined(env, code=0)["observer"]
        ai = worker.quick.send(calls.health()).ai
    assert found["state"] == "warn" and found["message"].startswith("openrouter, paused: http://127.0.0.1:")
    assert (ai["provider"], ai["state"]) == ("openrouter", "paused") and "cannot be reached" in ai["reason"]


def test_a_database_that_cannot_be_written_as_before_is_told_everywhere(env: dict[str, str]) -> None:
    """By the doctor, by health and by what was not kept; it is read as ever."""
    data = Path(env["CLAUDE_MEM_DATA_DIR"])
    with running_worker(data) as worker:
        worker.quick.send(calls.import_batch(make_batch([], prompts=[prompt_row("zebra")])))
        assert worker.stop() == 0
    with contextlib.closing(foreign(data / "claude-mem.db")) as connection:
        connection.execute("DROP TABLE observations")
        connection.execute(schema.table("observations").replace(" text TEXT,", " text TEXT, vis TEXT NOT NULL,"))
        connection.execute(schema.index("ux_observations_session_hash"))
        connection.execute("INSERT INTO schema_versions (version, applied_at) VALUES (60, '')")
    with running_worker(data, port=int(env["CLAUDE_MEM_WORKER_PORT"])) as worker:
        with pytest.raises(Unavailable, match="observations: vis refuses NULL") as raised:
            worker.quick.send(calls.save(Save(text="said on purpose")))
        assert worker.quick.send(calls.health()).status == "degraded"
        found = examined(env, code=0)["database"]
        assert (found["state"], found["message"]) == ("warn", raised.value.message)
        assert worker.quick.send(calls.search(SearchQuery(text="zebra"))).total == 1


def test_nothing_there_yet_is_no_failure_and_nothing_is_made(env: dict[str, str]) -> None:
    found = examined(env, code=0)
    assert {name for name, one in found.items() if one["state"] != "ok"} == {
        "running", "version", "reachable", "stream", "observer", "agent", "hooks",
    }  # fmt: skip
    assert not Path(env["CLAUDE_MEM_DATA_DIR"]).exists()


def test_database_is_looked_at_while_no_worker_runs(env: dict[str, str]) -> None:
    data = Path(env["CLAUDE_MEM_DATA_DIR"])
    with running_worker(data) as worker:
        worker.quick.send(calls.import_batch(make_batch([observation_row("a"), observation_row("b")])))
        assert worker.stop() == 0
    connection = foreign(data / "claude-mem.db")
    connection.execute("DELETE FROM py_docs WHERE docid = (SELECT min(docid) FROM py_docs)")
    connection.close()
    found = examined(env, code=0)
    assert (found["index"]["state"], found["index"]["message"]) == ("warn", "1 of 2 records (observations 1 of 2)")
    assert found["database"]["message"] == "sound"
    (data / "claude-mem.db").write_bytes(b"this is no database" * 1000)
    assert examined(env, code=1)["database"]["state"] == "fail"


def test_port_of_another_is_named(env: dict[str, str]) -> None:
    """R105."""
    original = FakeWorker("", int(env["CLAUDE_MEM_WORKER_PORT"]))
    original.answers["/api/health"] = lambda _: (200, {"status": "ok", "pid": 77, "workerPath": "/x/worker.cjs"})
    with serving(original):
        port = examined(env, code=1)["port"]
    assert "the original claude-mem's worker (pid 77)" in port["message"] and "CLAUDE_MEM_WORKER_PORT" in port["advice"]


def test_settings_that_cannot_be_read(env: dict[str, str]) -> None:
    """R119."""
    data = Path(env["CLAUDE_MEM_DATA_DIR"])
    data.mkdir()
    (data / "settings.json").write_text('{"a": 1,}')
    found = examined(env, code=1)
    assert list(found) == ["settings"] and "not JSON" in found["settings"]["message"]


@pytest.mark.parametrize("name", ["textual", "chromadb", "numpy", "onnxruntime", "tokenizers"])
def test_a_package_that_is_not_there(case: Case, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda one: None if one == name else found(one))
    told = machine.installed(case)
    assert told.state == "fail" and told.message.endswith(f" lacks {name}")


def test_port_that_only_a_connection_has(case: Case) -> None:
    """R105: nobody answers there, and yet no worker could listen."""
    with socket.create_server(("127.0.0.1", 0)) as elsewhere, socket.create_connection(elsewhere.getsockname()) as call:
        found = service.port(replace(case, settings=replace(case.settings, port=call.getsockname()[1])))
    assert (found.state, "cannot be had" in found.message, "CLAUDE_MEM_WORKER_PORT" in found.advice) == (
        "fail", True, True,
    )  # fmt: skip
    assert service.port(replace(case, settings=replace(case.settings, port=free_port()))).state == "ok"


def test_worker_that_hangs_has_one_way_out(env: dict[str, str]) -> None:
    """R209: nobody is sent to start another, which could not be."""
    with running_worker(Path(env["CLAUDE_MEM_DATA_DIR"]), port=int(env["CLAUDE_MEM_WORKER_PORT"])) as worker:
        worker.process.send_signal(signal.SIGSTOP)
        found = examined(env, code=1)
    assert (
        found["port"]["advice"] == "`claude-mem worker restart`" and str(worker.process.pid) in found["port"]["message"]
    )
    assert not [one for one in found.values() if "worker start" in one["advice"] + one["message"]]


def test_worker_of_another_version(case: Case, tmp_path: Path) -> None:
    """R113."""
    with serving(FakeWorker(str(tmp_path / "data"), version="0.0.9")) as worker:
        settings = Settings(tmp_path / "data", "127.0.0.1", worker.port)
        theirs = Case(settings, case.agent_file, launch.find(settings))
        assert service.version(theirs).state == "warn" and "0.0.9" in service.version(theirs).message
        assert service.stream(theirs).state == "fail"


def test_files_that_others_may_read(case: Case) -> None:
    """R158."""
    data = case.settings.data_dir
    data.mkdir(mode=0o755)
    data.chmod(0o755)
    (data / "claude-mem.db").write_bytes(b"")
    (data / "claude-mem.db").chmod(0o644)
    found = machine.permissions(case)
    assert (found.state, found.advice) == ("fail", f"`chmod -R go= {data}`")
    assert subprocess.run(found.advice.strip("`").split(), check=True).returncode == 0
    assert machine.permissions(case).state == "ok"


def test_what_an_earlier_umask_left_open_is_shut(tmp_path: Path) -> None:
    """R158: files that were there before, with whatever modes."""
    data = tmp_path / "data"
    (data / "logs").mkdir(parents=True)
    for name in ("settings.json", ".env", "logs/claude-mem-2020-01-01.log"):
        (data / name).write_text("{}")
        (data / name).chmod(0o666)
    for folder in (data, data / "logs"):
        folder.chmod(0o777)
    with running_worker(data):
        modes = {str(path.relative_to(data)): path.stat().st_mode & 0o777 for path in (data, *data.rglob("*"))}
    assert {mode for name, mode in modes.items() if name in (".", "logs")} == {0o700}
    assert {mode for name, mode in modes.items() if name not in (".", "logs")} == {0o600}


OURS = (
    "backups/claude-mem-before-1-2026.db", "corpora/auth.corpus.json", "spool/1-t-2.json", "state/hook-times.log",
    "vectors/claude-mem-1/chroma.sqlite3", "chroma/chroma.sqlite3", "viewer/index.html",
    "logs/claude-mem-2020-01-01.log",
)  # fmt: skip


@pytest.mark.parametrize("name", OURS)
def test_a_folder_of_ours_that_others_may_read(case: Case, name: str) -> None:
    data = case.settings.data_dir
    (data / name).parent.mkdir(parents=True)
    (data / name).write_text("{}")
    data.chmod(0o755)
    folder = data / name.split("/")[0]
    folder.chmod(0o755)
    secret = folder.name not in ("state", "viewer", "logs")
    found = machine.permissions(case)
    assert (found.state, folder.name in found.message) == ("fail" if secret else "warn", True)
    folder.chmod(0o700)
    assert machine.permissions(case).state == "ok"


def test_in_a_home_what_is_ours_is_shut_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (*OURS, "keymap.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "state" / "hook-times.log").rename(tmp_path / "state" / "of somebody else")
    (tmp_path / "letter.txt").write_text("not ours")
    (tmp_path / "logs" / "claude-mem-2020-01-02.log").symlink_to("../letter.txt")
    folders = {name.split("/")[0] for name in OURS}
    for path in (tmp_path, *(tmp_path / name for name in (*folders, *OURS, "keymap.toml", "letter.txt"))):
        if path.exists():
            path.chmod(0o777)
    private.shut(tmp_path)
    assert [name for name in folders if (tmp_path / name).stat().st_mode & 0o077] == ["state"]
    kept_open = [name for name in ("", "letter.txt", "keymap.toml") if (tmp_path / name).stat().st_mode & 0o077]
    assert kept_open == ["", "letter.txt"]


def test_in_a_home_the_spool_beside_our_database_is_ours_whatever_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("spool", "logs", "backups"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    private.shut(tmp_path)
    assert (tmp_path / "spool").stat().st_mode & 0o077
    for name in ("claude-mem.db", ".py-worker.lock", *schema.MARKERS):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o666)
    private.shut(tmp_path)
    assert {path.name for path in tmp_path.iterdir() if path.stat().st_mode & 0o077} == {"logs", "backups"}


def test_in_a_home_the_advice_names_what_is_ours_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "a home"
    monkeypatch.setenv("HOME", str(home))
    (home / "spool").mkdir(parents=True)
    for name in ("claude-mem.db", ".py-worker.lock", "letter.txt"):
        (home / name).write_text("")
        (home / name).chmod(0o644)
    for folder in (home, home / "spool"):
        folder.chmod(0o755)
    case = Case(Settings(home, "127.0.0.1", 37700), home / ".claude.json")
    found = machine.permissions(case)
    assert found.state == "fail"
    subprocess.run(shlex.split(found.advice.strip("`")), check=True)
    assert {path.name for path in (home, *home.iterdir()) if path.stat().st_mode & 0o077} == {"a home", "letter.txt"}
    assert machine.permissions(case).state == "ok"


def test_folder_in_the_way(case: Case) -> None:
    """R109."""
    case.settings.data_dir.write_text("a file")
    assert machine.folder(case).state == "fail"


def test_file_system_of_another_machine(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_kind_of", lambda path: "nfs4")
    assert machine.file_system(case).state == "warn"


@pytest.mark.parametrize(
    ("host", "token", "state"),
    [
        ("127.0.0.1", "", "ok"), ("127.0.0.1", "pass1234", "warn"), ("0.0.0.0", "", "fail"),
        ("0.0.0.0", "x" * 32, "ok"), ("::", "pass1234", "warn"),
    ],
)  # fmt: skip
def test_access(case: Case, host: str, token: str, state: str) -> None:
    """R160."""
    found = service.access(Case(Settings(case.settings.data_dir, host, 1, token=token), case.agent_file))
    assert found.state == state and (not token or token not in found.message + found.advice)


def test_silence_about_the_memory_is_told(case: Case) -> None:
    for look in (memory.database, memory.index, memory.fulltext, memory.settings):
        assert look(case).state == "warn"
    bad = Case(case.settings, case.agent_file, reports={"fulltext": Check(name="fulltext", ok=False, message="none")})
    assert memory.fulltext(bad).state == "warn"


@pytest.mark.parametrize(
    ("status", "state", "said", "advice"),
    [
        (None, "warn", "no worker tells", "worker start"),
        (IndexStatus(state=IndexState.READY, records=9, embedded=9, chroma="ready"), "ok", "9 of 9 records", ""),
        (
            IndexStatus(state=IndexState.READY, records=9, embedded=9, chroma="in use by process 7"),
            "warn", "Chroma is away (in use by process 7)", "logs",
        ),
        (IndexStatus(state=IndexState.CATCHING_UP, records=12, embedded=2, pending=1000), "warn", "1,000 wait", "let"),
        (
            IndexStatus(state=IndexState.READY, records=9, embedded=8, pending=1, failed=1, reason="too\nlong"),
            "warn", "1 wait, 1 of them failed: too long", "logs",
        ),
        (IndexStatus(state=IndexState.STARTING), "warn", "being opened", "moment"),
        (IndexStatus(state=IndexState.PAUSED, records=9), "warn", "paused; 0 of 9", "resume"),
        (IndexStatus(state=IndexState.FAILED, reason="no such model"), "warn", "cannot be used: no such model", "logs"),
        (IndexStatus(state=IndexState.FAILED), "warn", "no reason is told", "logs"),
        (IndexStatus(state=IndexState.OFF), "warn", "the settings do not", "restart"),
    ],
)  # fmt: skip
def test_meaning(case: Case, status: IndexStatus | None, state: str, said: str, advice: str) -> None:
    found = memory.meaning(replace(case, meaning=status))
    assert (found.state, said in found.message, advice in found.advice) == (state, True, True), found
    assert bool(found.advice) == (state != "ok") and "\n" not in found.message
    off = replace(case, meaning=status, settings=replace(case.settings, chroma=Chroma(enabled=False)))
    assert memory.meaning(off).state == "ok"


@pytest.mark.parametrize(
    ("content", "state", "said"),
    [
        (None, "warn", "there is no"),
        ("{", "warn", "cannot be read"),
        ("{}", "warn", "no MCP entry"),
        ('{"mcpServers": {"m": {"command": "/nowhere/claude-mem", "args": ["mcp"]}}}', "warn", "not there"),
        ('{"mcpServers": {"m": {"command": "sh", "args": ["-m", "mcp_bridge"]}}}', "ok", "for all projects"),
        ('{"projects": {"/src": {"mcpServers": {"m": {"command": "sh", "args": ["mcp_bridge"]}}}}}', "ok", "/src"),
        ('{"mcpServers": {"other": {"type": "http", "url": "https://x"}}, "more": [1]}', "warn", "no MCP entry"),
    ],
)
def test_entry_of_the_agent(case: Case, content: str | None, state: str, said: str) -> None:
    if content is not None:
        case.agent_file.write_text(content)
    before = case.agent_file.read_bytes() if content is not None else None
    found = agent.entry(case)
    assert found.state == state and said in found.message
    assert before is None or case.agent_file.read_bytes() == before


def test_hooks_that_are_there_missing_or_lead_nowhere(case: Case, tmp_path: Path) -> None:
    here = replace(case, hooks_file=tmp_path / "settings.json")
    assert here.hooks_file is not None
    assert hooks.called(here).state == "warn" and "none of our hooks" in hooks.called(here).message
    here.hooks_file.write_text(json.dumps(with_hooks({}, sys.executable + " claude-mem")))
    assert hooks.called(here).state == "ok"
    some = with_hooks({}, "/nowhere/claude-mem")
    here.hooks_file.write_text(json.dumps(some))
    assert "/nowhere/claude-mem, which is not there" in hooks.called(here).message
    del some["hooks"]["Stop"]
    here.hooks_file.write_text(json.dumps(some))
    assert "for Stop" in hooks.called(here).message
    here.hooks_file.write_text("{")
    assert "is not JSON" in hooks.called(here).message


def test_what_hooks_kept_and_what_they_lost_is_told(case: Case) -> None:
    where = str(case.settings.data_dir)
    assert hooks.spooled(case).state == "ok"
    name = spool.put(where, "/x", {}, moment_ns=1, tag="a")
    assert "1 events wait" in hooks.spooled(case).message
    spool.set_aside(where, name, "odd")
    assert "set aside" in hooks.spooled(case).message
    note_trouble(where, "observation", "no room", int(time.time() * 1000))
    assert "observation): no room" in hooks.spooled(case).message
    note_trouble(where, "observation", "no room", 1000)
    assert "set aside" in hooks.spooled(case).message

"""A real worker that wants a token."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.parts.test_cli import SCRIPT, run
from tests.parts.test_edge import Answer, ask
from tests.processes import PATIENCE_S, WorkerProcess, free_port, start_worker
from worker.cli.harness.recorded import is_recorded
from worker.contract import calls, launch
from worker.contract.client import WorkerClient
from worker.contract.curation import Save
from worker.contract.errors import Forbidden, Unauthorized, Unavailable
from worker.contract.quick import QuickClient
from worker.contract.search import BatchQuery, SearchQuery
from worker.contract.settings import Settings

TOKEN, READING = "tok_test_all_9f3b71", "tok_test_read_2c84"


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    environ = {
        "CLAUDE_MEM_API_TOKEN": TOKEN,
        "CLAUDE_MEM_API_READ_TOKEN": READING,
        "CLAUDE_MEM_LOG_LEVEL": "DEBUG",
    }
    home = tmp_path_factory.mktemp("home")
    waiting = start_worker(home / "data", environ=environ)
    try:
        where = Settings(waiting.data_dir, waiting.host, waiting.port, token=TOKEN)
        assert launch._served(where, 1e12).initialized
        yield waiting
        assert waiting.stop() == 0
        said = waiting.stderr + "".join(file.read_text() for file in (home / "data" / "logs").iterdir())
        assert TOKEN not in said and READING not in said
    finally:
        if waiting.process.poll() is None:
            waiting.process.kill()
            waiting.wait()


def quick(worker: WorkerProcess, token: str) -> QuickClient:
    return QuickClient(worker.host, worker.port, timeout_s=PATIENCE_S, token=token)


def bare(worker: WorkerProcess, method: str, path: str, **headers: str) -> Answer:
    body = b"{}" if method in ("POST", "PUT") else None
    return ask(worker, method, path, body, Content_Type="application/json", **headers)


def test_every_route_wants_it(worker: WorkerProcess) -> None:
    """R160: the table of routes itself is asked, by /openapi.json."""
    document = bare(worker, "GET", calls.OPENAPI, Authorization=f"Bearer {TOKEN}").json
    assert set(document["components"]["securitySchemes"]) == {"bearer", "key"}
    asked = 0
    for path, methods in document["paths"].items():
        for method in methods:
            answer = bare(worker, method.upper(), path.replace("{id}", "1"))
            open_to_all = path in (calls.HEALTH, calls.ALIVE, *calls.VIEWERS)
            assert answer.status == (200 if open_to_all else 401), (method, path)
            assert open_to_all or answer.problem()[1] == "unauthorized"
            asked += 1
    assert asked > 30
    assert bare(worker, "GET", "/nowhere").status == 401


def test_without_a_token_nothing_changes(worker: WorkerProcess) -> None:
    """R160."""
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"X_Api_Key": TOKEN[:-1]}):
        assert bare(worker, "POST", calls.SHUTDOWN, **headers).status == 401
        assert bare(worker, "POST", calls.SAVE, **headers).status == 401
    assert bare(worker, "GET", f"{calls.SEARCH}?token={TOKEN}").status == 401
    assert worker.process.poll() is None


def test_both_clients_send_it(worker: WorkerProcess) -> None:
    saved = quick(worker, TOKEN).send(calls.save(Save(text="kept by token", project="shop")))

    async def by_client() -> int:
        async with WorkerClient(worker.host, worker.port, token=TOKEN) as client:
            events = client.events()
            assert (await anext(events)).type == "connected"
            await events.aclose()  # type: ignore[attr-defined]
            return (await client.send(calls.observation(saved.id))).id

    assert asyncio.run(by_client()) == saved.id
    with pytest.raises(Unauthorized, match="CLAUDE_MEM_API_TOKEN"):
        quick(worker, "").send(calls.stats())


def test_reading_token_reads_and_no_more(worker: WorkerProcess) -> None:
    """R160."""
    reader = quick(worker, READING)
    found = reader.send(calls.search(SearchQuery()))
    assert reader.send(calls.batch(BatchQuery(ids=(1,)))) is not None
    writing: list[calls.Call[Any]] = [calls.save(Save(text="x")), calls.shutdown(), calls.change_settings({})]
    for call in writing:
        with pytest.raises(Forbidden, match="may only read"):
            reader.send(call)
    assert bare(worker, "DELETE", "/api/observation/1", Authorization=f"Bearer {READING}").status == 403
    assert reader.send(calls.search(SearchQuery())).total == found.total


def test_under_a_foreign_name_only_with_it(worker: WorkerProcess) -> None:
    """R156: a page that points its name at this machine has no token."""
    foreign = {"Host": "memory.example"}
    assert bare(worker, "GET", calls.HEALTH, **foreign).status == 401
    assert bare(worker, "GET", calls.SEARCH, **foreign, Authorization=f"Bearer {TOKEN}").status == 200
    page = {"Origin": "https://evil.example", "Authorization": f"Bearer {TOKEN}"}
    assert bare(worker, "GET", calls.SEARCH, **page).status == 403


def test_command_line_uses_it_and_never_prints_it(worker: WorkerProcess) -> None:
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(worker.data_dir.parent),
        "CLAUDE_MEM_DATA_DIR": str(worker.data_dir),
        "CLAUDE_MEM_WORKER_PORT": str(worker.port),
        "CLAUDE_MEM_API_TOKEN": TOKEN,
    }
    status = run(env, "worker", "status")
    assert status.returncode == 0 and "observations" in status.stdout
    doctor = run(env, "doctor", "--json")
    assert [one for one in json.loads(doctor.stdout)["checks"] if one["state"] == "fail"] == []
    logs = run(env, "worker", "logs", "-n", "1000")
    without = run(env | {"CLAUDE_MEM_API_TOKEN": ""}, "search", "anything")
    assert without.returncode == 3 and "CLAUDE_MEM_API_TOKEN" in without.stderr
    for done in (status, doctor, logs, without):
        assert TOKEN not in done.stdout + done.stderr


@pytest.mark.parametrize("later", ["tok_test_other_1d5e", ""])
def test_a_worker_can_be_stopped_when_the_token_has_changed_since(tmp_path: Path, later: str) -> None:
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "CLAUDE_MEM_DATA_DIR": str(tmp_path / "data"),
        "CLAUDE_MEM_WORKER_PORT": str(free_port()),
        "CLAUDE_MEM_API_TOKEN": TOKEN,
    }
    assert run(env, "worker", "start").returncode == 0
    stopped = run(env | {"CLAUDE_MEM_API_TOKEN": later}, "worker", "stop")
    try:
        assert stopped.returncode == 0, stopped.stderr
        assert "another token" in stopped.stderr and TOKEN not in stopped.stderr
        assert run(env, "worker", "status").returncode == 1
    finally:
        run(env, "worker", "stop")


@pytest.mark.parametrize("known", [True, False])
def test_a_hook_uses_it_with_a_worker_that_it_knows_or_gets_to_know(worker: WorkerProcess, known: bool) -> None:
    pid_file = worker.data_dir / "worker.pid"
    recorded = pid_file.read_bytes()
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(worker.data_dir.parent),
        "CLAUDE_MEM_DATA_DIR": str(worker.data_dir),
        "CLAUDE_MEM_WORKER_PORT": str(worker.port),
        "CLAUDE_MEM_API_TOKEN": TOKEN,
        "CLAUDE_MEM_HOOK_TIMEOUT_MS": "30000",
    }
    assert is_recorded(str(worker.data_dir), worker.port) and not is_recorded(str(worker.data_dir), worker.port + 1)
    if not known:
        pid_file.unlink()
    try:
        told = json.dumps({"session_id": f"s-{known}", "cwd": "/home/ann/shop", "prompt": f"asked {known}"})
        command = [SCRIPT, "hook", "claude-code", "session-init"]
        done = subprocess.run(command, env=env, input=told, capture_output=True, text=True, timeout=2 * PATIENCE_S)
    finally:
        pid_file.write_bytes(recorded)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")
    found = quick(worker, TOKEN).send(calls.search(SearchQuery(text=f'"asked {known}"')))
    assert found.total == 1 and not list((worker.data_dir / "spool").glob("*.json"))


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_beyond_this_machine_only_with_a_token(tmp_path: Path, host: str) -> None:
    """R160."""
    refused = start_worker(tmp_path / "data", arguments=("--host", host))
    assert refused.wait() == 1
    assert len(refused.stderr.splitlines()) == 1 and "CLAUDE_MEM_API_TOKEN" in refused.stderr
    port = free_port()
    where = Settings(tmp_path / "data", host, port)
    with pytest.raises(Unavailable, match="CLAUDE_MEM_API_TOKEN"):
        launch.ensure(where)


def test_beyond_this_machine_with_a_token_of_the_file(tmp_path: Path) -> None:
    """R160: from settings.json; the environment is not the only place."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.json").write_text(json.dumps({"CLAUDE_MEM_API_TOKEN": TOKEN}))
    worker = start_worker(data, arguments=("--host", "0.0.0.0"), environ={"CLAUDE_MEM_DATA_DIR": str(data)})
    try:
        where = Settings(data, "0.0.0.0", worker.port, token=TOKEN)
        assert launch._served(where, 1e12).initialized
        assert bare(worker, "GET", calls.STATS).status == 401
        shown = quick(worker, TOKEN).send(calls.settings())
        assert TOKEN not in json.dumps(shown) and shown["CLAUDE_MEM_API_TOKEN"].startswith("****")
    finally:
        assert worker.stop() == 0


@pytest.mark.parametrize("environ", [{"CLAUDE_MEM_API_READ_TOKEN": "a"}, {"CLAUDE_MEM_API_TOKEN": "two words"}])
def test_token_that_cannot_be_used(tmp_path: Path, environ: dict[str, str]) -> None:
    refused = start_worker(tmp_path / "data", environ=environ)
    assert refused.wait() in (1, 2)
    assert len(refused.stderr.splitlines()) == 1 and "two words" not in refused.stderr


def test_token_is_no_argument_of_a_process(worker: WorkerProcess) -> None:
    listed = subprocess.run(("ps", "-eo", "args"), capture_output=True, text=True, check=False).stdout
    assert TOKEN not in listed

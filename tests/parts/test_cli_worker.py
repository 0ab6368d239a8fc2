"""`claude-mem worker …` as a process, with a worker process that is canned."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.fake_worker import STATS, FakeWorker, environment, serving, stop_started
from tests.parts.test_cli import run
from tests.processes import free_port
from worker.contract import calls, running
from worker.contract.curation import Save
from worker.contract.quick import QuickClient


@pytest.fixture
def env(tmp_path: Path) -> Iterator[dict[str, str]]:
    yield environment(tmp_path)
    stop_started(tmp_path / "memory")


def pids(env: dict[str, str]) -> list[int]:
    return [int(line) for line in Path(env["CLAUDE_MEM_DATA_DIR"], "starts.txt").read_text().splitlines()]


def test_start_status_restart_stop(env: dict[str, str]) -> None:
    away = run(env, "worker", "status")
    assert (away.returncode, away.stderr) == (1, "")
    assert away.stdout.startswith("worker not running\n")
    assert run(env, "worker", "start").stdout.startswith("worker started\n")
    assert run(env, "worker", "start").stdout.startswith("worker already running\n")
    status = run(env, "worker", "status", "--json")
    facts = json.loads(status.stdout)
    assert status.returncode == 0
    assert facts["running"] is True
    assert facts["pid"] == pids(env)[0]
    assert facts["port"] == int(env["CLAUDE_MEM_WORKER_PORT"])
    assert facts["data_dir"] == env["CLAUDE_MEM_DATA_DIR"]
    assert (facts["observations"], facts["summaries"], facts["prompts"]) == (1012, 2, 4)
    assert run(env, "worker", "restart").stdout.startswith("worker restarted\n")
    first, second = pids(env)
    assert not running.alive(first)
    stopped = run(env, "worker", "stop", "--json")
    assert (stopped.returncode, json.loads(stopped.stdout)["did"]) == (0, "stopped")
    assert not running.alive(second)
    again = run(env, "worker", "stop")
    assert (again.returncode, again.stdout.splitlines()[0]) == (0, "worker not running")


def test_start_tells_that_an_older_one_was_replaced(env: dict[str, str]) -> None:
    """R113."""
    assert run({**env, "FAKE_WORKER": "old"}, "worker", "start").stdout.startswith("worker started\n")
    assert run(env, "worker", "start").stdout.startswith("worker restarted\n")
    assert run(env, "worker", "start").stdout.startswith("worker already running\n")
    assert len(pids(env)) == 2


def test_status_for_people(env: dict[str, str]) -> None:
    run(env, "worker", "start")
    status = run(env, "worker", "status")
    assert status.returncode == 0
    lines = {line.split()[0]: line.split()[-1] for line in status.stdout.splitlines()[1:]}
    assert "  uptime        5 s\n" in status.stdout
    assert lines["url"] == f"http://127.0.0.1:{env['CLAUDE_MEM_WORKER_PORT']}"
    assert lines["observations"] == "1012"
    assert "problem" not in lines


def test_a_worker_of_another_version_is_told(env: dict[str, str]) -> None:
    """R113."""
    with serving(FakeWorker(env["CLAUDE_MEM_DATA_DIR"], int(env["CLAUDE_MEM_WORKER_PORT"]))) as worker:
        old = {**STATS, "worker": {**STATS["worker"], "version": "0.0.1"}}
        worker.answers["/api/stats"] = lambda _: (200, old)
        status = run(env, "worker", "status")
    assert status.returncode == 0
    assert "0.0.1" in status.stdout
    assert "worker restart" in status.stdout


def test_a_port_held_by_another_is_3_and_tells_who(env: dict[str, str]) -> None:
    port = int(env["CLAUDE_MEM_WORKER_PORT"])
    original = FakeWorker("", port)
    original.answers["/api/health"] = lambda _: (200, {"status": "ok", "pid": 77, "workerPath": "/x/worker.cjs"})
    with serving(original):
        for action in ("status", "start", "stop", "restart"):
            done = run(env, "worker", action)
            assert done.returncode == 3, action
            assert "the original claude-mem's worker (pid 77) answers" in done.stderr
        told = json.loads(run(env, "worker", "status", "--json").stdout)
        assert told["running"] is False
        assert str(port) in told["problem"]
    assert all(request.path == "/api/health" for request in original.seen)


def test_a_worker_that_does_not_hear_is_terminated(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Only because its pid file names it."""
    from worker.cli import daemon
    from worker.contract import ending

    for name, value in {**env, "FAKE_WORKER": "deaf"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(ending, "_LEAVE_S", 0.3)
    assert run({**env, "FAKE_WORKER": "deaf"}, "worker", "start").returncode == 0
    (pid,) = pids(env)
    assert daemon.main(["worker", "stop"]) == 0
    assert not running.alive(pid)


def test_another_process_under_the_recorded_id_is_left_alone(env: dict[str, str]) -> None:
    """R099: the id in worker.pid was used again."""
    folder = Path(env["CLAUDE_MEM_DATA_DIR"])
    folder.mkdir()
    with subprocess.Popen(["sleep", "60"]) as stranger:
        (folder / "worker.pid").write_text(json.dumps({"pid": stranger.pid, "port": 1, "startToken": "1"}))
        assert run(env, "worker", "stop").returncode == 0
        assert run(env, "worker", "start").returncode == 0
        assert run(env, "worker", "stop").returncode == 0
        assert stranger.poll() is None
        stranger.kill()


def test_a_killed_worker_is_started_again(env: dict[str, str]) -> None:
    """R101: its pid file is still there."""
    assert run(env, "worker", "start").returncode == 0
    os.kill(pids(env)[0], signal.SIGKILL)
    assert Path(env["CLAUDE_MEM_DATA_DIR"], "worker.pid").exists()
    done = run(env, "search", "token")
    assert done.returncode == 0
    assert done.stderr in ("", "claude-mem: waiting for the worker to start...\n")  # where that takes a second
    assert len(pids(env)) == 2


@pytest.mark.parametrize("command", [("worker", "start"), ("worker", "status"), ("worker", "stop"), ("search", "x")])
def test_a_silent_program_on_the_port_is_told_in_one_sentence(env: dict[str, str], command: tuple[str, str]) -> None:
    """And not waited for: nothing tells of a worker of ours."""
    with socket.create_server(("127.0.0.1", int(env["CLAUDE_MEM_WORKER_PORT"])), backlog=16):
        done = run(env, *command)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1 and "is taken by a program that does not answer; stop it, or" in done.stderr
    assert not Path(env["CLAUDE_MEM_DATA_DIR"], "starts.txt").exists()


@pytest.mark.parametrize("command", [("worker", "status"), ("search", "x")])
def test_a_silent_worker_is_told_once(env: dict[str, str], command: tuple[str, str]) -> None:
    """With its process and the way out."""
    assert run(env, "worker", "start").returncode == 0
    (pid,) = pids(env)
    os.kill(pid, signal.SIGSTOP)
    try:
        done = run(env, *command)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1 and f"(pid {pid})" in done.stderr and "worker restart" in done.stderr


def test_a_worker_whose_port_was_changed_in_the_settings_is_found_and_moved(env: dict[str, str]) -> None:
    del env["PYTHONPATH"]
    assert run(env, "worker", "start").returncode == 0
    old, env["CLAUDE_MEM_WORKER_PORT"] = env["CLAUDE_MEM_WORKER_PORT"], str(free_port())
    try:
        told = json.loads(run(env, "worker", "status", "--json").stdout)
        assert told["port"] == int(old) and "worker restart" in told["problem"]
        refused = run(env, "search", "x")
        assert refused.returncode == 3 and f"a worker on port {old} serves" in refused.stderr
        assert json.loads(run(env, "worker", "restart", "--json").stdout)["did"] == "restarted"
        told = json.loads(run(env, "worker", "status", "--json").stdout)
        assert told["port"] == int(env["CLAUDE_MEM_WORKER_PORT"]) and "problem" not in told
    finally:
        assert run(env, "worker", "stop").returncode == 0


def test_the_real_worker(env: dict[str, str]) -> None:
    """Started, asked and stopped as a person would."""
    del env["PYTHONPATH"]
    assert run(env, "search", "anything").returncode == 1
    try:
        worker = QuickClient("127.0.0.1", int(env["CLAUDE_MEM_WORKER_PORT"]))
        saved = worker.send(calls.save(Save(text="Sixty seconds of clock skew are allowed", project="shop")))
        found = run(env, "search", "clock", "skew", "--project", "shop", "--since", "2020-01-01")
        assert (found.returncode, found.stderr) == (0, "")
        assert f"| #{saved.id} |" in found.stdout
        shown = run(env, "show", str(saved.id), "S9")
        assert shown.returncode == 1
        assert "Sixty seconds of clock skew are allowed" in shown.stdout
        assert shown.stderr == "claude-mem: there is no S9\n"
        assert run(env, "timeline", "--query", "clock", "skew", "--json").returncode == 0
        assert run(env, "timeline", "9999").returncode == 1
        assert json.loads(run(env, "worker", "status", "--json").stdout)["observations"] == 1
        health = worker.send(calls.health())
    finally:
        assert run(env, "worker", "stop").returncode == 0
    assert not running.alive(health.pid)
    assert run(env, "worker", "status").returncode == 1

"""Finding and starting the worker, with real processes and real ports."""

import concurrent.futures
import contextlib
import ctypes
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.mcp.fake_worker import FakeWorker, environment, serving, stop_started
from tests.processes import PATIENCE_S, wait_for
from worker.contract import gate, launch, process, running, settings
from worker.contract.errors import Conflict, TimedOut, Unavailable
from worker.contract.settings import Settings

ENSURE = "from worker.contract import launch, settings; print(launch.ensure(settings.load(), wait_s=60).pid)"


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    yield settings.load()
    stop_started(tmp_path / "memory")


@contextlib.contextmanager
def talker(port: int, words: bytes | None) -> Iterator[None]:
    """A program on the port that says ``words`` to whoever connects and hangs up; None: says nothing at all."""
    with socket.create_server(("127.0.0.1", port)) as listener:

        def talk() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(words or b"")

        if words is not None:
            threading.Thread(target=talk, daemon=True).start()
        yield
        if words is not None:
            listener.shutdown(socket.SHUT_RDWR)


def starts(where: Settings) -> list[int]:
    return [int(line) for line in (where.data_dir / "starts.txt").read_text().splitlines()]


def lock(where: Settings, content: object, *, age_s: float = 0) -> Path:
    where.data_dir.mkdir()
    file = where.data_dir / "spawn.lock"
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_text(text, "latin-1")
    os.utime(file, (time.time() - age_s,) * 2)
    return file


def held_by_us() -> dict[str, object]:
    return {"pid": os.getpid(), "startToken": running.start_token(os.getpid())}


def dead_pid() -> int:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    return ended.pid


def test_nobody_there(where: Settings) -> None:
    assert launch.find(where) is None


def test_our_own_worker(where: Settings) -> None:
    with serving(FakeWorker(str(where.data_dir), where.port)):
        assert launch.find(where) == launch.ensure(where)


def test_the_same_folder_by_another_name(where: Settings, tmp_path: Path) -> None:
    where.data_dir.mkdir()
    (tmp_path / "link").symlink_to(where.data_dir)
    with serving(FakeWorker(str(tmp_path / "link"), where.port)):
        assert launch.find(where) is not None


def test_a_program_that_speaks_no_http(where: Settings) -> None:
    """R105."""
    with talker(where.port, b"SSH-2.0-OpenSSH_9\r\n"), pytest.raises(Conflict, match="speaks no HTTP"):
        launch.ensure(where)


@pytest.mark.parametrize("status", [200, 500])
def test_a_program_that_streams_without_end(where: Settings, status: int) -> None:
    """R105: it is told by its first bytes, and costs no memory."""
    sent = 0
    with socket.create_server(("127.0.0.1", where.port)) as listener:

        def stream() -> None:
            nonlocal sent
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(65536)
                connection.sendall(f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n\r\n".encode())
                while True:
                    sent += connection.send(b" " * 65536)

        thread = threading.Thread(target=stream)
        thread.start()
        with pytest.raises(Conflict, match=f"port {where.port} is taken by another program; stop it, or"):
            launch.find(where, timeout_s=PATIENCE_S)
        thread.join()
    assert 0 < sent < 32 * 2**20  # what the system holds between the two, and a little


@pytest.mark.parametrize("answer", [(200, b"<html>hi</html>"), (404, b"Cannot GET"), (200, {"status": "ok"})])
def test_another_web_server(where: Settings, answer: tuple[int, object]) -> None:
    """R105."""
    stranger = FakeWorker("", where.port)
    stranger.answers["/api/health"] = lambda _: answer
    with serving(stranger), pytest.raises(Conflict, match=f"port {where.port}.*CLAUDE_MEM_WORKER_PORT"):
        launch.ensure(where)


def test_a_worker_of_another_memory(where: Settings) -> None:
    """R105: nobody reads the memory of another user of the machine."""
    with (
        serving(FakeWorker("/home/other/.claude-mem", where.port)),
        pytest.raises(Conflict, match="serves /home/other"),
    ):
        launch.ensure(where)


def test_a_port_that_stays_silent(where: Settings) -> None:
    with talker(where.port, None):
        with pytest.raises(launch.Silent, match="does not answer; stop it, or set CLAUDE_MEM_WORKER_PORT"):
            launch.find(where, timeout_s=0.1)
        assert gate.claim(where)  # now it may be a worker that somebody starts
        with pytest.raises(TimedOut, match="being started"):
            launch.find(where, timeout_s=0.1)


def test_started_with_private_files(where: Settings) -> None:
    """R158."""
    where = replace(where, data_dir=where.data_dir / "above" / "memory")
    before = os.umask(0)
    try:
        health = launch.ensure(where)
    finally:
        os.umask(before)
        stop_started(where.data_dir)
    assert where.data_dir.parent.stat().st_mode & 0o777 == 0o700
    assert starts(where) == [health.pid]
    assert where.data_dir.stat().st_mode & 0o777 == 0o700
    assert where.logs.stat().st_mode & 0o777 == 0o700
    assert launch.boot_log(where).stat().st_mode & 0o777 == 0o600
    assert not (where.data_dir / "spawn.lock").exists()


def test_waits_until_the_database_is_open(where: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_WORKER", "shut")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        patient = pool.submit(launch.ensure, where, wait_s=PATIENCE_S)
        wait_for(lambda: launch.takes_connections(where))
        told = ""
        for wait_s in (0.5, 5.0, PATIENCE_S):  # on a busy machine it may not answer so soon
            with pytest.raises((Unavailable, TimedOut)) as caught:
                launch.ensure(where, wait_s=wait_s)
            told = caught.value.message
            if "still opening" in told:
                break
        assert "still opening" in told
        (where.data_dir / "open").touch()
        assert patient.result().initialized
    assert len(starts(where)) == 1


@pytest.mark.parametrize("left", [None, {"pid": 0}])
def test_twenty_at_once_start_one(where: Settings, left: dict[str, int] | None) -> None:
    """R107: also when a lock of a dead process is in the way."""
    if left is not None:
        lock(where, {"pid": dead_pid()})
    command = [sys.executable, "-c", ENSURE]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(20)]
    told = {one.communicate(timeout=2 * PATIENCE_S)[0].strip() for one in processes}
    assert [one.returncode for one in processes] == [0] * 20
    assert told == {str(pid) for pid in starts(where)}
    assert len(told) == 1


@pytest.mark.parametrize(
    ("content", "age_s"),
    [
        ({"pid": "dead"}, 0), ("", 91), ({"pid": 1}, 91), ("{", 91), ("", -86_400),
        ("", 0), ("\xff", 2), ({"pid": 1}, 0), ({"pid": 1, "startToken": "1"}, 0),
        ({"pid": os.getpid(), "startedAt": "2026-11-30T20:00:00Z"}, 2),
    ],
)  # fmt: skip
def test_a_lock_that_was_left_behind(where: Settings, content: object, age_s: float) -> None:
    """R107: also where its owner's id is another process's by now."""
    lock(where, {"pid": dead_pid()} if content == {"pid": "dead"} else content, age_s=age_s)
    assert launch.ensure(where, wait_s=PATIENCE_S).initialized
    assert not (where.data_dir / "spawn.lock").exists()


def test_the_one_who_starts_it_dies_meanwhile(where: Settings) -> None:
    """R107."""
    with subprocess.Popen(["sleep", "60"]) as owner:
        lock(where, {"pid": owner.pid, "startToken": running.start_token(owner.pid)})
        assert gate.is_held(where) and not gate.claim(where)
        threading.Timer(0.2, owner.kill).start()
        assert launch.ensure(where, wait_s=2 * PATIENCE_S).pid == starts(where)[0]


def test_a_lock_tells_when_its_owner_began(where: Settings) -> None:
    """R107: and the rest as the original has it."""
    assert gate.claim(where)
    told = json.loads((where.data_dir / "spawn.lock").read_text())
    assert list(told) == ["pid", "startedAt", "startToken"]
    assert (told["pid"], told["startToken"]) == (os.getpid(), running.start_token(os.getpid()))


def test_a_lock_in_use_is_waited_for(where: Settings) -> None:
    file = lock(where, held_by_us())
    worker = FakeWorker(str(where.data_dir), where.port)
    with contextlib.ExitStack() as running:

        def start() -> None:
            running.enter_context(serving(worker))
            file.unlink()

        threading.Timer(0.3, start).start()
        assert launch.ensure(where).pid == os.getpid()
    assert not (where.data_dir / "starts.txt").exists()


def test_another_that_gave_up_is_not_waited_for(where: Settings) -> None:
    file = lock(where, held_by_us())
    where.logs.mkdir()
    launch.boot_log(where).write_text("Traceback\nOSError: the disk is full\n\n")
    threading.Timer(0.2, file.unlink).start()
    began = time.monotonic()
    with pytest.raises(Unavailable, match="the disk is full"):
        launch.ensure(where, wait_s=2 * PATIENCE_S)
    assert time.monotonic() - began < PATIENCE_S


def test_why_it_did_not_start(where: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_WORKER", "dies")
    with pytest.raises(Unavailable, match="^the worker ended at once: the disk is full$"):
        launch.ensure(where)
    assert not (where.data_dir / "spawn.lock").exists()


def test_a_pid_file_of_another_process(where: Settings) -> None:
    """R099, R101."""
    where.data_dir.mkdir()
    with subprocess.Popen(["sleep", "60"]) as other:
        (where.data_dir / "worker.pid").write_text(
            json.dumps({"pid": other.pid, "port": where.port, "startToken": "1"})
        )
        assert process.recorded_pid(where) is None
        assert launch.ensure(where).pid == starts(where)[0] != other.pid
        other.kill()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x"}', '{"pid": 0}', '{"pid": 1}', None])
def test_a_pid_file_that_says_nothing(where: Settings, content: str | None) -> None:
    if content is not None:
        where.data_dir.mkdir()
        (where.data_dir / "worker.pid").write_text(content)
    assert process.recorded_pid(where) is None


def test_the_recorded_process(where: Settings) -> None:
    health = launch.ensure(where)
    assert process.recorded_pid(where) == health.pid


def test_a_process_that_nobody_collected_is_not_alive() -> None:
    """R103."""
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert not running.alive(ended.pid)
    assert not running.alive(2**40)
    assert running.alive(1)


def test_a_folder_that_cannot_be_made(where: Settings) -> None:
    """R109."""
    where.data_dir.write_text("a file")
    began = time.monotonic()
    with pytest.raises(Unavailable, match=f"cannot write to {where.data_dir}"):
        launch.ensure(where, wait_s=2 * PATIENCE_S)
    assert time.monotonic() - began < PATIENCE_S


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs to be able to be another user")
def test_a_folder_that_may_not_be_written(where: Settings) -> None:
    """R109."""
    where.logs.mkdir(parents=True)
    where.data_dir.chmod(0o500)
    refused: list[str] = []

    def ask() -> None:
        ctypes.CDLL(None).setfsuid(65534)  # nobody, for this thread alone and for files alone
        with pytest.raises(Unavailable) as caught:
            launch.ensure(where, wait_s=2 * PATIENCE_S)
        refused.append(caught.value.message)

    began = time.monotonic()
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert refused == [f"cannot write to {where.data_dir}: Permission denied"]
    assert time.monotonic() - began < PATIENCE_S


def test_an_older_worker_makes_room(where: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """R113: for as many as ask at once, one new worker."""
    monkeypatch.setenv("FAKE_WORKER", "old")
    old = launch.ensure(where).pid
    monkeypatch.delenv("FAKE_WORKER")
    command = [sys.executable, "-c", ENSURE]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(5)]
    told = {one.communicate(timeout=2 * PATIENCE_S)[0].strip() for one in processes}
    assert [one.returncode for one in processes] == [0] * 5
    assert not running.alive(old)
    assert starts(where)[0] == old and len(starts(where)) == 2
    assert told == {str(starts(where)[1])}


@pytest.mark.parametrize("version", ["99.0.0", "13.25.3-python", ""])
def test_another_version_that_is_not_older_stays(where: Settings, version: str) -> None:
    """R113: nor is one ended that is asked with a token which may only read."""
    worker = FakeWorker(str(where.data_dir), where.port, version=version)
    with serving(worker):
        assert launch.ensure(where).pid == os.getpid()
        worker.version = "0.0.9"
        worker.answers["/api/admin/shutdown"] = lambda _: (403, {"error": "may only read", "code": "forbidden"})
        assert launch.ensure(where).pid == os.getpid()
    assert not (where.data_dir / "starts.txt").exists()


def test_the_token_is_not_given_to_whoever_holds_the_port(where: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """R105."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", where.port)) as listener:

        def hear() -> None:
            connection, _ = listener.accept()
            with connection:
                heard.append(connection.recv(65536))
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

        threading.Thread(target=hear, daemon=True).start()
        monkeypatch.setenv("CLAUDE_MEM_API_TOKEN", "tok_test_1")
        with pytest.raises(Conflict):
            launch.find(settings.load())
    assert heard and b"tok_test_1" not in heard[0]


def test_a_silent_worker_is_named_and_the_way_out_too(where: Settings) -> None:
    where.data_dir.mkdir()
    recorded = {"pid": os.getpid(), "port": where.port, "startToken": running.start_token(os.getpid())}
    (where.data_dir / "worker.pid").write_text(json.dumps(recorded))
    began = time.monotonic()
    with talker(where.port, None), pytest.raises(TimedOut, match=f"pid {os.getpid()}.*worker restart"):
        launch.ensure(where, wait_s=2 * PATIENCE_S)
    assert time.monotonic() - began < PATIENCE_S  # it is not waited for like one that is being started


def test_a_pid_file_of_a_worker_on_another_port(where: Settings) -> None:
    """R099: two workers may share a memory; the one is not ended for the other."""
    where.data_dir.mkdir()
    recorded = {"pid": os.getpid(), "port": where.port + 1, "startToken": running.start_token(os.getpid())}
    (where.data_dir / "worker.pid").write_text(json.dumps(recorded))
    assert process.recorded_pid(where) is None

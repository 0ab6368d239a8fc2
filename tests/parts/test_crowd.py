"""Many at once, on real workers: listeners, events, starts; and what is under way when the end comes."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.factories import make_batch, observation_row
from tests.parts.conftest import eventually
from tests.parts.test_cli import run
from tests.processes import PATIENCE_S, WORDS_ONLY, WorkerProcess, free_port, running_worker, wait_for
from worker.contract import calls, process, running
from worker.contract.quick import QuickClient
from worker.contract.search import SearchQuery
from worker.contract.settings import Settings
from worker.contract.transfer import ImportBatch

LISTEN = b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"
ENSURE = "from worker.contract import launch, settings; print(launch.ensure(settings.load(), wait_s=60).pid)"


def listener(worker: WorkerProcess) -> socket.socket:
    peer = socket.create_connection((worker.host, worker.port), timeout=PATIENCE_S)
    peer.sendall(LISTEN)
    return peer


def rows(count: int, *, start: int = 0, text: str = "x" * 300) -> ImportBatch:
    return make_batch([observation_row(f"n{start + n}", narrative=text, created_at_epoch=n + 1) for n in range(count)])


async def heard_until(reader: asyncio.StreamReader, word: bytes) -> tuple[int, int]:
    """How many new observations and resyncs came before ``word``."""
    rest, news, resyncs = b"", 0, 0
    while True:
        piece = await reader.read(2**18)
        assert piece, "the stream ended"
        *lines, rest = (rest + piece).split(b"\n")
        news += sum(line.startswith(b'data: {"type":"new_observation"') for line in lines)
        resyncs += sum(line.startswith(b'data: {"type":"resync"') for line in lines)
        if any(word in line for line in lines):
            return news, resyncs


async def test_an_import_larger_than_any_queue_reaches_who_reads(tmp_path: Path) -> None:
    """R213: beside one that never reads; 100,000 events are told in test_connection.py and in tests/bench."""
    with running_worker(tmp_path / "data") as worker, listener(worker):
        reader, writer = await asyncio.open_connection(worker.host, worker.port)
        writer.write(LISTEN)
        await eventually(lambda: worker.quick.send(calls.stats()).worker.sseClients == 2)
        heard = []
        for turn in range(4):  # whoever is kept from reading for two seconds is told to read anew
            last = f"the last of {turn}"
            hearing = asyncio.create_task(heard_until(reader, last.encode()))
            await asyncio.to_thread(worker.quick.send, calls.import_batch(rows(9_000, start=turn * 9_000)))
            await asyncio.to_thread(worker.quick.send, calls.import_batch(make_batch([observation_row(last)])))
            async with asyncio.timeout(PATIENCE_S):
                heard.append(await hearing)
            if heard[-1] == (9_001, 0):
                break
        assert heard[-1] == (9_001, 0), heard
        writer.close()


def test_end_with_fifty_streams_and_some_that_never_read(tmp_path: Path) -> None:
    """R207, R209: exit code 0."""
    with running_worker(tmp_path / "data") as worker, contextlib.ExitStack() as open_streams:
        peers = [open_streams.enter_context(listener(worker)) for _ in range(50)]
        wait_for(lambda: worker.quick.send(calls.stats()).worker.sseClients == len(peers))
        worker.quick.send(calls.import_batch(rows(100, text="x" * 50_000)))  # more than the system's buffers hold
        assert worker.stop() == 0
        assert worker.stderr == ""  # nor was it that the bound on what is under way had passed


def test_what_is_under_way_is_finished(tmp_path: Path) -> None:
    """R111, R209: a request that came before the signal is answered, and what it said is kept."""
    with running_worker(tmp_path / "data") as worker:
        log = tmp_path / "data" / "claude-mem.db-wal"
        body, before = calls.import_batch(rows(1500)).body or b"", log.stat().st_size
        head = "POST /api/import HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        with socket.create_connection((worker.host, worker.port), timeout=PATIENCE_S) as peer:
            peer.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            wait_for(lambda: log.stat().st_size > before + 100_000)
            worker.process.send_signal(signal.SIGTERM)
            answer = b""
            while piece := peer.recv(65536):
                answer += piece
        assert worker.wait() == 0
        assert b" 200 OK" in answer and b'"observationsImported":1500' in answer
    with running_worker(tmp_path / "data") as worker:
        assert worker.quick.send(calls.search(SearchQuery())).total == 1500


@pytest.fixture
def env(tmp_path: Path) -> Iterator[dict[str, str]]:
    given = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(tmp_path),
        **WORDS_ONLY,
        "CLAUDE_MEM_DATA_DIR": str(tmp_path / "memory"),
        "CLAUDE_MEM_WORKER_PORT": str(free_port()),
    }
    yield given
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        os.kill(json.loads((tmp_path / "memory" / "worker.pid").read_bytes())["pid"], signal.SIGKILL)


def test_twenty_starts_make_one_worker(env: dict[str, str]) -> None:
    """R107: and the end leaves no process of it."""
    starting = [
        subprocess.Popen([sys.executable, "-c", ENSURE], env=env, stdout=subprocess.PIPE, text=True) for _ in range(20)
    ]
    told = {one.communicate(timeout=2 * PATIENCE_S)[0].strip() for one in starting}
    assert [one.returncode for one in starting] == [0] * 20
    (pid,) = told
    recorded = Path(env["CLAUDE_MEM_DATA_DIR"], "worker.pid")
    wait_for(recorded.exists)
    assert json.loads(recorded.read_bytes())["pid"] == int(pid)
    assert run(env, "worker", "stop").returncode == 0
    assert not running.alive(int(pid)) and not recorded.exists()
    others = subprocess.run(("ps", "-eo", "args"), capture_output=True, text=True, check=False).stdout
    assert env["CLAUDE_MEM_DATA_DIR"] not in others


def test_worker_that_hangs_is_told_and_replaced(env: dict[str, str]) -> None:
    """R101, R209: one that takes connections and answers nothing."""
    assert run(env, "worker", "start").returncode == 0
    where = Settings(Path(env["CLAUDE_MEM_DATA_DIR"]), "127.0.0.1", int(env["CLAUDE_MEM_WORKER_PORT"]))
    pid = wait_for(lambda: process.recorded_pid(where)) or 0
    os.kill(pid, signal.SIGSTOP)
    restarted = run(env, "worker", "restart")
    assert f"pid {pid}) takes connections" in restarted.stderr and "worker restart" in restarted.stderr
    assert restarted.returncode == 0 and "killing it" in restarted.stderr
    assert not running.alive(pid)
    assert wait_for(lambda: process.recorded_pid(where)) != pid


def test_asked_to_start_anew_a_successor_serves(env: dict[str, str]) -> None:
    """R103: on the same port."""
    assert run(env, "worker", "start").returncode == 0
    client = QuickClient("127.0.0.1", int(env["CLAUDE_MEM_WORKER_PORT"]), timeout_s=PATIENCE_S)
    first = client.send(calls.health()).pid
    client.send(calls.restart())
    wait_for(lambda: not running.alive(first))
    assert run(env, "worker", "status").returncode in (0, 1)
    assert run(env, "worker", "start").returncode == 0
    assert client.send(calls.health()).pid != first

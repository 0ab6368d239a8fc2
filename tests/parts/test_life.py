"""A worker's life: the stream it sends, how it starts, how it ends."""

import asyncio
import contextlib
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.factories import NOON, make_batch, observation_row, prompt_row, session_row, summary_row
from tests.parts.conftest import eventually, foreign
from tests.processes import PATIENCE_S, WorkerProcess, free_port, running_worker, start_worker, wait_for
from worker.api import port as ports
from worker.contract import calls
from worker.contract.client import WorkerClient
from worker.contract.curation import Save
from worker.contract.errors import Unavailable, Unreachable
from worker.contract.events import StreamEvent
from worker.contract.search import SearchQuery
from worker.contract.settings import Settings

GREETING = ["connected", "initial_load", "processing_status"]


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path_factory.mktemp("home") / "data") as worker:
        worker.quick.send(calls.import_batch(make_batch([], sessions=[session_row()])))
        yield worker


@contextlib.asynccontextmanager
async def listening(client: WorkerClient, after: int | None = None) -> AsyncIterator[AsyncIterator[StreamEvent]]:
    """The stream, its greeting heard."""
    events = client.events(after=after)
    try:
        assert [event.type for event in await take(events, 3)] == GREETING
        yield events
    finally:
        await events.aclose()  # type: ignore[attr-defined]


async def take(events: AsyncIterator[StreamEvent], count: int) -> list[StreamEvent]:
    async with asyncio.timeout(PATIENCE_S):
        return [await anext(events) for _ in range(count)]


async def test_greeting_has_the_catalogue_and_goes_to_the_new_listener_alone(worker: WorkerProcess) -> None:
    async with worker.client() as client:
        events = client.events()
        connected, loaded, status = await take(events, 3)
        assert [connected.type, loaded.type, status.type] == GREETING
        assert loaded.projects is not None and "shop" in loaded.projects and loaded.sources == ("claude",)
        assert loaded.projectsBySource == {"claude": loaded.projects}
        assert (status.isProcessing, status.queueDepth) == (False, 0)
        assert all(event.timestamp > NOON for event in (connected, loaded, status))
        assert connected.id is not None and connected.id == loaded.id == status.id
        async with listening(client):
            await client.send(calls.save(Save(text="heard by the first", project="shop")))
            assert [event.type for event in await take(events, 1)] == ["new_observation"]
        await events.aclose()  # type: ignore[attr-defined]


async def test_saves_and_imports_are_told_as_they_happen(worker: WorkerProcess) -> None:
    async with worker.client() as client, listening(client) as events:
        saved = await client.send(calls.save(Save(text="told at once", project="shop")))
        (event,) = await take(events, 1)
        assert event.observation is not None
        assert (event.type, event.observation["id"]) == ("new_observation", saved.id)
        assert event.observation["session_id"] == "manual-content-shop-claude"
        batch = make_batch([observation_row("told too")], summaries=[summary_row("s")], prompts=[prompt_row("p")])
        await client.send(calls.import_batch(batch))
        told = await take(events, 3)
        assert sorted(event.type for event in told) == ["new_observation", "new_prompt", "new_summary"]
        ids = [event.id for event in told if event.id is not None]
        assert ids == sorted(ids) and len(set(ids)) == 3


async def test_rows_of_another_program_are_told(worker: WorkerProcess) -> None:
    async with worker.client() as client, listening(client) as events:
        connection = foreign(worker.data_dir / "claude-mem.db")
        connection.execute(
            "INSERT INTO observations (memory_session_id, project, type, title, created_at, created_at_epoch)"
            " VALUES ('m-1', 'shop', 'change', 'from elsewhere', '', 5)"
        )
        (event,) = await take(events, 1)
        assert event.observation is not None and event.observation["title"] == "from elsewhere"
        connection.execute("DELETE FROM observations WHERE title = 'from elsewhere'")
        (gone,) = await take(events, 1)
        assert (gone.type, gone.kind, gone.record_id) == ("record_deleted", "observation", event.observation["id"])
        connection.close()


async def test_who_comes_back_hears_what_was_missed(worker: WorkerProcess) -> None:
    async with worker.client() as client:
        async with listening(client) as events:
            await client.send(calls.save(Save(text="before", project="shop")))
            (last,) = await take(events, 1)
        missed = [await client.send(calls.save(Save(text=f"missed {number}", project="shop"))) for number in range(3)]
        async with listening(client, after=last.id) as events:
            heard = await take(events, 3)
            assert [event.observation["id"] for event in heard if event.observation] == [saved.id for saved in missed]
        for unknown in (1, 0, -1, 10**19):
            async with listening(client, after=unknown) as events:
                assert [event.type for event in await take(events, 1)] == ["resync"]


async def test_listeners_that_leave_are_counted_out(worker: WorkerProcess) -> None:
    """R211."""
    async with worker.client() as client:
        for _ in range(5):
            async with listening(client):
                assert (await client.send(calls.stats())).worker.sseClients >= 1

        async def all_gone() -> bool:
            return (await client.send(calls.stats())).worker.sseClients == 0

        await eventually(all_gone)


async def test_listener_that_never_reads_does_not_hold_up_the_others(worker: WorkerProcess) -> None:
    """R213."""
    with socket.create_connection((worker.host, worker.port)) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with worker.client() as client, listening(client) as events:
            rows = [observation_row(f"flood {n}", narrative="x" * 20_000, created_at_epoch=n) for n in range(300)]
            await client.send(calls.import_batch(make_batch(rows)))
            assert {event.type for event in await take(events, 300)} == {"new_observation"}


def test_written_down_while_it_runs_and_removed_at_the_end(tmp_path: Path) -> None:
    with running_worker(tmp_path / "data") as worker:
        file = tmp_path / "data" / "worker.pid"
        wait_for(file.exists)
        recorded = json.loads(file.read_bytes())
        assert (recorded["pid"], recorded["port"]) == (worker.process.pid, worker.port)
        assert recorded["startedAt"].endswith("Z")
        assert worker.stop() == 0
        assert not file.exists() and worker.stderr == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_end_with_open_streams_is_clean_and_soon(tmp_path: Path, number: signal.Signals) -> None:
    """R207, R209: exit code 0, and nothing lost."""
    with running_worker(tmp_path / "data") as worker:
        with socket.create_connection((worker.host, worker.port)) as deaf:
            deaf.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            async with worker.client() as client, listening(client) as events:
                saved = await client.send(calls.save(Save(text="kept", project="shop")))
                await take(events, 1)
                ending = asyncio.to_thread(worker.stop, number)
                exit_code, rest = await asyncio.gather(ending, drained(events))
        assert (exit_code, rest, worker.stderr) == (0, [], "")
        connection = foreign(tmp_path / "data" / "claude-mem.db")
        assert connection.execute("SELECT narrative FROM observations WHERE id = ?", (saved.id,)).fetchone() == (
            "kept",
        )
        connection.close()


BEGUN = b"POST /api/memory/save HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def connected(worker: WorkerProcess) -> socket.socket:
    return socket.create_connection((worker.host, worker.port), timeout=PATIENCE_S)


def _logged(worker: WorkerProcess) -> str:
    return "".join(file.read_text("utf-8") for file in (worker.data_dir / "logs").glob("*.log"))


def test_a_body_that_does_not_come_is_not_waited_for_at_the_end_and_one_that_came_is_worked_on(tmp_path: Path) -> None:
    with (
        running_worker(tmp_path / "data") as worker,
        contextlib.closing(foreign(tmp_path / "data" / "claude-mem.db")) as holding,
        connected(worker) as stream,
        connected(worker) as whole,
        connected(worker) as half,
    ):
        stream.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        holding.execute("BEGIN IMMEDIATE")
        whole.sendall(BEGUN + b'Expect: 100-continue\r\nContent-Length: 17\r\n\r\n{"text": "whole"')
        half.sendall(BEGUN + b"Expect: 100-continue\r\nContent-Length: 500\r\n\r\n{")
        assert [peer.recv(100)[:12] for peer in (whole, half)] == [b"HTTP/1.1 100"] * 2  # both are waited for
        whole.sendall(b"}")
        assert worker.quick.send(calls.health()).pid == worker.process.pid
        worker.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(ConnectionResetError):
            assert half.recv(100) == b""
        holding.execute("ROLLBACK")
        assert whole.recv(100).startswith(b"HTTP/1.1 200")
        assert (worker.wait(), worker.stderr) == (0, "")
        assert "Shutting down" in _logged(worker) and "[ERROR" not in _logged(worker)


def test_what_peers_do_wrong_is_no_trouble_of_the_worker(tmp_path: Path) -> None:
    page = b"Origin: https://evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    wrong = (
        BEGUN + b"Content-Length: 500\r\n\r\n{",
        BEGUN + b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"te\r\n',
        BEGUN + b"Transfer-Encoding: chunked\r\n\r\nnone\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + page + b"Sec-WebSocket-Key: dGhlIHNhbXBsZQ==\r\n\r\n",
        BEGUN + b"Origin: https://evil.example\r\nTransfer-Encoding: chunked\r\n\r\nnone\r\n",
        b"\x16\x03\x01 junk\r\n\r\n",
        b"NO HTTP\r\n\r\n",
    )
    with running_worker(tmp_path / "data") as worker:
        for sent in wrong:
            with connected(worker) as peer, contextlib.suppress(ConnectionError):
                peer.sendall(sent)
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(65_536):
                    pass
        assert worker.stop() == 0
        logged = _logged(worker)
        assert "Shutting down" in logged and "[WARN" not in logged and "[ERROR" not in logged
        assert worker.stderr == ""


def test_a_second_interrupt_is_no_fault(tmp_path: Path) -> None:
    with (
        running_worker(tmp_path / "data") as worker,
        contextlib.closing(foreign(tmp_path / "data" / "claude-mem.db")) as holding,
        connected(worker) as whole,
    ):
        holding.execute("BEGIN IMMEDIATE")
        whole.sendall(BEGUN + b'Content-Length: 17\r\n\r\n{"text": "whole"}')
        assert worker.quick.send(calls.health()).pid == worker.process.pid
        worker.process.send_signal(signal.SIGINT)
        wait_for(lambda: "Waiting for connections" in _logged(worker))
        worker.process.send_signal(signal.SIGINT)
        wait_for(lambda: "Finished server process" in _logged(worker))
        holding.execute("ROLLBACK")
        worker.wait()
        assert "Traceback" not in _logged(worker) + worker.stderr
        assert "[ERROR" not in _logged(worker)


async def drained(events: AsyncIterator[StreamEvent]) -> list[StreamEvent]:
    return [event async for event in events]


@pytest.mark.skipif(sys.platform != "linux", reason="only there another process's limits can be read")
def test_it_may_open_as_much_as_the_system_lets_it(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
    try:
        worker = start_worker(tmp_path / "data")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    wait_for(worker.ready)
    found, _ = resource.prlimit(worker.process.pid, resource.RLIMIT_NOFILE)
    assert found == min(hard, 65_536) and worker.stop() == 0


def test_asked_to_end_it_ends(tmp_path: Path) -> None:
    with running_worker(tmp_path / "data") as worker:
        assert worker.quick.send(calls.shutdown()).status == "shutting_down"
        assert worker.wait() == 0


def test_ends_while_it_is_still_opening(tmp_path: Path) -> None:
    worker = start_worker(tmp_path / "data")

    def answers() -> bool:
        try:
            return bool(worker.quick.send(calls.health()).pid)
        except Unreachable:
            return False

    wait_for(answers)
    assert worker.stop() == 0


def test_second_worker_on_the_port_says_why_it_ends(tmp_path: Path) -> None:
    with running_worker(tmp_path / "data") as worker:
        second = start_worker(tmp_path / "other", port=worker.port)
        assert second.wait() == 1
        told = f"cannot listen on 127.0.0.1:{worker.port}: Address already in use; stop what holds it ("
        assert second.stderr.count("\n") == 1 and second.stderr.startswith(told)
        assert "or set CLAUDE_MEM_WORKER_PORT to a free port" in second.stderr
        assert worker.ready()


def test_port_that_a_connection_keeps_for_a_moment(tmp_path: Path) -> None:
    """R105: that of a worker may be one from which the system lets other programs call."""
    settings = Settings(tmp_path, "127.0.0.1", free_port())
    with socket.create_server(("127.0.0.1", 0)) as elsewhere, socket.socket() as call:
        call.bind((settings.host, settings.port))
        call.connect(elsewhere.getsockname())
        with pytest.raises(Unavailable, match="Address already in use"):
            ports.listen(settings)
        call.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # ends without a trace
        threading.Timer(0.2, call.close).start()
        ports.listen(settings, patience_s=PATIENCE_S).close()


@pytest.mark.parametrize("port", ["0", "-1", "65536", "99999999999", "http"])
def test_port_that_is_none(tmp_path: Path, port: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "worker", "--data-dir", str(tmp_path), "--port", port],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert ended.returncode == 2 and "Traceback" not in ended.stderr and "--port" in ended.stderr


def test_damaged_file_is_the_reason_for_the_end(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "claude-mem.db").write_bytes(b"this is no database" * 1000)
    worker = start_worker(tmp_path / "data")
    assert worker.wait() == 1
    assert len(worker.stderr.splitlines()) == 1 and "damaged or no database" in worker.stderr


@pytest.mark.parametrize(("name", "said"), [("logs", "logs cannot be used"), ("settings.json", "is a pipe, no file")])
def test_what_is_in_the_way_is_named(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "data").mkdir()
    os.mkfifo(tmp_path / "data" / name)
    worker = start_worker(tmp_path / "data")
    assert worker.wait() == (1 if name == "logs" else 2)
    assert len(worker.stderr.splitlines()) == 1 and said in worker.stderr


@pytest.mark.parametrize("what", ["a file", "no permission"])
def test_folder_that_cannot_be_used_is_the_reason_for_the_end(tmp_path: Path, what: str) -> None:
    """R109."""
    if what == "a file":
        (tmp_path / "data").write_text("x")
    elif os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    else:
        (tmp_path / "data").mkdir(mode=0o500)
    worker = start_worker(tmp_path / "data")
    assert worker.wait() == 1
    assert len(worker.stderr.splitlines()) == 1 and str(tmp_path / "data") in worker.stderr


def test_demo_is_filled_once_and_into_an_empty_memory_only(tmp_path: Path) -> None:
    counts = []
    for _ in range(2):
        with running_worker(tmp_path / "data", arguments=("--demo",)) as worker:
            counts.append(worker.quick.send(calls.search(SearchQuery())).total)
            assert worker.stop() == 0
    assert counts[0] == counts[1] > 100


def test_killed_worker_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    """R101."""
    with running_worker(tmp_path / "data") as worker:
        worker.quick.send(calls.save(Save(text="zebra", project="shop")))
        assert worker.stop(signal.SIGKILL) == -signal.SIGKILL
    with running_worker(tmp_path / "data") as worker:
        assert worker.quick.send(calls.search(SearchQuery(text="zebra"))).total == 1


def test_log_tells_a_failure_and_the_answer_does_not(tmp_path: Path) -> None:
    with running_worker(tmp_path / "data") as worker:
        connection = foreign(tmp_path / "data" / "claude-mem.db")
        connection.execute("DROP TABLE py_docs")
        connection.close()
        # A query error is never an empty memory (R084).
        with pytest.raises(Exception, match="cannot be used|log tells") as raised:
            worker.quick.send(calls.search(SearchQuery()))
        assert raised.value.__class__.__name__ == "Unavailable"

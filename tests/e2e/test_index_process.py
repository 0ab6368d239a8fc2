"""The process that holds the vectors dies, or hangs, beside a real worker."""

import contextlib
import http.client
import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.factories import make_batch, observation_row
from tests.processes import WorkerProcess, running_worker, start_worker, wait_for
from worker.contract import calls
from worker.contract.index import IndexStatus
from worker.contract.running import alive

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")

MEANING = {"CLAUDE_MEM_CHROMA_ENABLED": "true", "CLAUDE_MEM_EMBEDDING_MODEL": "hash"}
RECORDS, DOCUMENTS = 30, 60


def status(worker: WorkerProcess) -> IndexStatus:
    return worker.quick.send(calls.index_status())


def ready(worker: WorkerProcess) -> bool:
    found = status(worker)
    return (found.chroma, found.documents, found.pending) == ("ready", DOCUMENTS, 0)


def host(worker: WorkerProcess) -> int:
    """The process of the vectors, as the lock names it."""
    (lock,) = (worker.data_dir / "vectors").glob(".*.lock")
    owner, child = map(int, lock.read_text().split())
    assert owner == worker.process.pid
    return child


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path / "memory", environ=MEANING) as running:
        rows = [observation_row(f"record {at}", created_at_epoch=at) for at in range(1, RECORDS + 1)]
        running.quick.send(calls.import_batch(make_batch(rows)))
        wait_for(lambda: ready(running))
        yield running


def test_killed_while_nobody_writes_it_is_told_and_started_again(worker: WorkerProcess) -> None:
    for _ in range(2):
        before = host(worker)
        os.kill(before, signal.SIGKILL)
        lost = wait_for(lambda: [found for found in [status(worker)] if found.chroma != "ready"])
        assert lost[0].documents is None
        wait_for(lambda: ready(worker))
        assert host(worker) != before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_one_does_not_keep_the_next_worker_from_its_folder(
    worker: WorkerProcess, number: signal.Signals
) -> None:
    stopped = host(worker)
    os.kill(stopped, signal.SIGSTOP)
    worker.stop(number)
    if number == signal.SIGTERM:
        assert not alive(stopped)
    with running_worker(worker.data_dir, environ=MEANING) as following:
        wait_for(lambda: ready(following))
        assert not alive(stopped)


def test_one_that_is_stopped_while_it_opens_does_not_either(worker: WorkerProcess) -> None:
    """Looking into a folder that was not left in order takes a second, of which the worker may see the end or not."""
    worker.stop(signal.SIGKILL)
    second = start_worker(worker.data_dir, environ=MEANING)
    try:
        (lock,) = (worker.data_dir / "vectors").glob(".*.lock")
        named: Callable[[], list[str]] = lambda: lock.read_text().split()  # noqa: E731 - read again and again
        wait_for(lambda: named()[:1] == [str(second.process.pid)] and len(named()) == 2)
        stopped = host(second)
        os.kill(stopped, signal.SIGSTOP)
        wait_for(second.ready)
    finally:
        second.stop()
    assert not alive(stopped)
    with running_worker(worker.data_dir, environ=MEANING) as third:
        wait_for(lambda: ready(third))


def test_whoever_waits_for_one_that_hangs_is_told_when_the_worker_ends(worker: WorkerProcess) -> None:
    os.kill(host(worker), signal.SIGSTOP)
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", worker.port, timeout=60)) as waiting:
        waiting.request("POST", "/api/index/verify", "{}", {"Content-Type": "application/json"})
        assert waiting.sock is not None
        waiting.sock.settimeout(0.7)
        with pytest.raises(TimeoutError):
            waiting.sock.recv(1, socket.MSG_PEEK)
        waiting.sock.settimeout(60)
        worker.process.send_signal(signal.SIGTERM)
        answer = waiting.getresponse()
        said = json.loads(answer.read())
    told = said["code"] == "unavailable" if answer.status == 503 else answer.status == 200 and said["chroma"]
    assert told, said
    assert worker.wait() == 0
    log = "".join(file.read_text() for file in worker.data_dir.rglob("*.log"))
    assert "Traceback" not in log + worker.stderr and "Exception in ASGI" not in log + worker.stderr

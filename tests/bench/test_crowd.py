"""A hundred thousand events of a real worker: what they cost, and that all of them come."""

import asyncio
from pathlib import Path

import pytest

from tests.factories import make_batch, observation_row
from tests.parts.conftest import eventually
from tests.parts.test_crowd import LISTEN, heard_until, listener, rows
from tests.processes import WorkerProcess, running_worker
from worker.contract import calls
from worker.contract.quick import QuickClient

pytestmark = pytest.mark.bench

EVENTS = 100_000
MOST_GROWTH_BYTES = 250 * 2**20
"""Of the worker while it tells them: an import holds its rows, beside two bounded queues."""


def resident_bytes(worker: WorkerProcess) -> int:
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


async def test_a_hundred_thousand_events_beside_one_that_never_reads(tmp_path: Path) -> None:
    """R213: the one that reads gets all, the other costs bounded memory."""
    with running_worker(tmp_path / "data") as worker, listener(worker):
        reader, writer = await asyncio.open_connection(worker.host, worker.port)
        writer.write(LISTEN)
        await eventually(lambda: worker.quick.send(calls.stats()).worker.sseClients == 2)
        hearing = asyncio.create_task(heard_until(reader, b'"the last"'))
        client = QuickClient(worker.host, worker.port, timeout_s=120)
        before = resident_bytes(worker)
        for at in range(0, EVENTS, 10_000):
            done = await asyncio.to_thread(client.send, calls.import_batch(rows(10_000, start=at)))
            assert done.stats.observationsImported == 10_000
        grown = resident_bytes(worker) - before
        await asyncio.to_thread(client.send, calls.import_batch(make_batch([observation_row("the last")])))
        async with asyncio.timeout(60):
            assert await hearing == (EVENTS + 1, 0)
        print(f"\\n{EVENTS} events told, the worker grew by {grown / 2**20:.0f} MiB")
        assert grown < MOST_GROWTH_BYTES
        writer.close()

"""What was given back, counted: in memory first, then in the table, and no longer than the record is there."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from tests.factories import NOON, make_batch, observation_row, prompt_row
from tests.parts.conftest import fill, foreign
from tests.processes import running_worker
from worker.contract import calls
from worker.contract.client import WorkerClient
from worker.contract.errors import Busy
from worker.contract.recalls import MCP, Recalled
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import SearchQuery
from worker.store import recalls, tally
from worker.store.forget import delete
from worker.store.search_index import docid
from worker.store.tables import Store, open_store
from worker.store.tally import Tally

ONE, TWO, ASKED = (
    docid(RecordKey(kind, number))
    for kind, number in ((RecordKind.OBSERVATION, 1), (RecordKind.OBSERVATION, 2), (RecordKind.PROMPT, 1))
)


@pytest.fixture
async def counted(store: Store) -> Tally:
    await fill(store, make_batch([observation_row("a"), observation_row("b")], prompts=[prompt_row("c")]))
    return Tally(lambda: NOON)


async def stored(store: Store) -> dict[int, Recalled]:
    return await store.read(lambda connection: recalls.of(connection, [ONE, TWO, ASKED]))


async def test_counts_are_summed_when_they_are_brought_to_the_table(store: Store, counted: Tally) -> None:
    counted.listed([ONE, TWO, ONE])
    counted.read([ONE])
    assert await stored(store) == {}
    await counted.flush(store)
    counted.listed([ONE])
    counted.read([ASKED])
    await counted.flush(store)
    assert await stored(store) == {
        ONE: Recalled(listed=2, read=1, last_epoch_ms=NOON),
        TWO: Recalled(listed=1, last_epoch_ms=NOON),
        ASKED: Recalled(read=1, last_epoch_ms=NOON),
    }
    assert await store.read(recalls.since) == NOON


async def test_they_come_by_themselves_and_all_of_them_at_the_end(
    store: Store, counted: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tally, "_EVERY_S", 0.01)
    running = asyncio.create_task(counted.run(store))
    counted.listed([ONE])
    async with asyncio.timeout(60):
        while ONE not in await stored(store):
            pass
    counted.listed([ONE, TWO])
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])
    await counted.close(store)
    assert {number: one.listed for number, one in (await stored(store)).items()} == {ONE: 2, TWO: 1}


async def test_ending_in_the_middle_of_a_write_counts_once(store: Store, counted: Tally) -> None:
    counted.listed([ONE])
    counted._writing = asyncio.create_task(counted.flush(store))
    await asyncio.sleep(0)  # the write has begun
    counted.listed([TWO])
    await counted.close(store)
    assert {number: one.listed for number, one in (await stored(store)).items()} == {ONE: 1, TWO: 1}


async def test_what_cannot_be_written_is_kept(store: Store, counted: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    counted.listed([ONE])
    with monkeypatch.context() as patch:

        def busy(*_: object) -> None:
            raise Busy("another program holds the database", retry_after_s=1)

        patch.setattr(recalls, "add", busy)
        await counted.flush(store)
    counted.listed([ONE])
    await counted.flush(store)
    assert (await stored(store))[ONE].listed == 2


async def test_deleted_records_leave_the_table_and_do_not_come_back(
    store: Store, counted: Tally, other: sqlite3.Connection
) -> None:
    counted.read([ONE, TWO, ASKED])
    await counted.flush(store)
    await store.write(lambda connection: delete(connection, RecordKey(RecordKind.OBSERVATION, 1)))
    other.execute("DELETE FROM observations WHERE id = 2")
    counted.read([ONE])
    await counted.flush(store)
    assert set(await stored(store)) == {ASKED}


async def test_an_index_that_is_built_anew_keeps_them(store: Store, counted: Tally, tmp_path: Path) -> None:
    counted.read([ONE])
    await counted.flush(store)
    await store.write(
        lambda connection: connection.execute("UPDATE py_meta SET value = '0' WHERE key = 'search_index'")
    )
    again = open_store(store.path)
    try:
        assert await stored(again) == {ONE: Recalled(read=1, last_epoch_ms=NOON)}
    finally:
        await again.close()


async def test_nothing_recalled_is_nothing_written(store: Store, counted: Tally) -> None:
    await counted.flush(store)
    assert await store.read(recalls.since) is None


async def test_a_worker_that_is_told_to_end_keeps_what_it_counted(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running_worker(data) as worker:
        worker.quick.send(calls.import_batch(make_batch([observation_row("zebra")])))
        async with worker.client() as app, WorkerClient("127.0.0.1", worker.port, caller=MCP) as bridge:
            for client in (app, bridge):
                await client.send(calls.search(SearchQuery(text="zebra")))
        worker.quick.send(calls.observation(1))
        assert worker.stop() == 0
    again = open_store(data / "claude-mem.db")
    try:
        counts = (await stored(again))[ONE]
    finally:
        await again.close()
    assert (counts.listed, counts.read) == (1, 1)


def test_a_file_that_another_program_holds_keeps_no_worker_from_ending(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running_worker(data) as worker:
        worker.quick.send(calls.import_batch(make_batch([observation_row("zebra")])))
        other = foreign(data / "claude-mem.db")
        other.execute("BEGIN IMMEDIATE")
        assert worker.quick.send(calls.search(SearchQuery(text="zebra"))).total == 1
        assert worker.stop() == 0
        other.execute("ROLLBACK")
        other.close()

"""Opening, refusing, transactions, and what is told when SQLite fails."""

import asyncio
import contextlib
import os
import sqlite3
import threading
from pathlib import Path

import pytest

from tests.factories import make_batch, observation_row
from tests.parts.conftest import catching_up, eventually, fill, foreign
from worker.contract.errors import Busy, TimedOut, Unavailable
from worker.contract.search import SearchQuery
from worker.search.engine import Engine
from worker.store.tables import Connection, Store, open_store


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to look at" * 100, b"SQLite format 3\0" + b"\xff" * 4080]
)
def test_damaged_file_is_told_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "claude-mem.db"
    path.write_bytes(content)
    with pytest.raises(Unavailable, match="damaged or no database|cannot be used"):
        open_store(path)
    assert path.read_bytes() == content


async def test_damaged_page_is_told_as_damage_and_not_as_nothing(tmp_path: Path) -> None:
    """R084."""
    path = tmp_path / "claude-mem.db"
    store = open_store(path)
    await fill(
        store, make_batch([observation_row(f"zebra {number}", created_at_epoch=number) for number in range(300)])
    )
    await store.close()
    connection = foreign(path)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'observations'").fetchone()
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)
    with pytest.raises(Unavailable, match="damaged"):
        damaged = open_store(path)
        await Engine(damaged).search(SearchQuery(project="shop"))


def test_path_that_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be used"):
        open_store(tmp_path)


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    with pytest.raises(Unavailable, match="cannot be used"):
        open_store(tmp_path / "data" / "claude-mem.db")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """R109."""
    tmp_path.chmod(0o500)
    with pytest.raises(Unavailable, match="cannot be used"):
        open_store(tmp_path / "claude-mem.db")


async def test_write_that_fails_leaves_nothing_and_the_next_one_works(store: Store) -> None:
    def half(connection: Connection) -> None:
        connection.execute("INSERT INTO sync_state VALUES ('half', 'x')")
        raise ValueError("in the middle")

    with pytest.raises(ValueError, match="in the middle"):
        await store.write(half)
    await store.write(lambda connection: connection.execute("INSERT INTO sync_state VALUES ('whole', 'x')").close())
    assert await keys(store) == ["whole"]


async def test_commit_that_fails_is_rolled_back(store: Store) -> None:
    def orphan(connection: Connection) -> None:
        connection.execute("PRAGMA defer_foreign_keys = ON")
        connection.execute(
            "INSERT INTO pending_messages (session_db_id, content_session_id, message_type, created_at_epoch)"
            " VALUES (999, 'c', 'observation', 0)"
        )

    with pytest.raises(sqlite3.IntegrityError):
        await store.write(orphan)
    await store.write(lambda connection: connection.execute("INSERT INTO sync_state VALUES ('whole', 'x')").close())
    assert await keys(store) == ["whole"]


async def keys(store: Store) -> list[str]:
    return await store.read(lambda connection: [row[0] for row in connection.execute("SELECT k FROM sync_state")])


async def test_reader_cannot_write(store: Store) -> None:
    """R096."""
    with pytest.raises(Unavailable):
        await store.read(lambda connection: connection.execute("INSERT INTO sync_state VALUES ('x', 'y')").close())


async def test_readers_are_not_held_up_by_a_writer(store: Store, other: sqlite3.Connection) -> None:
    """R096."""
    other.execute("BEGIN IMMEDIATE")
    engine = Engine(store)
    pages = await asyncio.wait_for(asyncio.gather(*(engine.search(SearchQuery(text="x")) for _ in range(10))), 60)
    assert [page.total for page in pages] == [0] * 10
    other.execute("ROLLBACK")


async def test_a_reader_that_is_free_is_taken_again_and_one_in_use_is_not(store: Store) -> None:
    """What the last question read is in the cache of its connection."""
    meeting = threading.Barrier(3, timeout=30)

    def itself(connection: Connection) -> Connection:
        return connection

    def met(connection: Connection) -> Connection:
        meeting.wait()
        return connection

    one_by_one = [await store.read(itself) for _ in range(10)]
    at_once = await asyncio.gather(*(store.read(met) for _ in range(3)))
    afterwards = [await store.read(itself) for _ in range(10)]
    assert len(set(map(id, one_by_one))) == 1 and one_by_one[0] in at_once
    assert len(set(map(id, at_once))) == 3
    assert len(set(map(id, afterwards))) == 1 and afterwards[0] in at_once


async def test_no_reader_stays_open_after_the_end(store: Store) -> None:
    reading, end = threading.Event(), threading.Event()

    def slow(connection: Connection) -> Connection:
        reading.set()
        end.wait(30)
        return connection

    used = await store.read(lambda connection: connection)
    under_way = asyncio.create_task(store.read(slow))
    await asyncio.to_thread(reading.wait, 30)
    other = await store.read(lambda connection: connection)
    closing = asyncio.create_task(store.close())
    with pytest.raises(RuntimeError, match="shutdown"):
        while True:
            await store.read(lambda connection: None)
    end.set()
    await closing
    for connection in {used, other, await under_way}:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


async def test_lock_that_is_not_given_up_is_busy_and_not_a_failure(store: Store, other: sqlite3.Connection) -> None:
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy) as raised:
        await store.write(lambda connection: None, busy_ms=1)
    assert raised.value.retry_after_s
    other.execute("ROLLBACK")
    await store.write(lambda connection: None)


async def test_bytes_that_are_no_text_do_not_hide_a_row(store: Store, other: sqlite3.Connection) -> None:
    await fill(store, make_batch([observation_row("zebra")]))
    other.execute("UPDATE observations SET narrative = CAST(X'61ff62' AS TEXT), concepts = CAST(X'5b22ff225d' AS TEXT)")
    await store.write(lambda connection: None)
    rows = await Engine(store).search_rows(SearchQuery(text="zebra"))
    assert rows.observations[0].narrative == "a\ufffdb"


async def test_bytes_that_are_no_text_are_no_reason_to_build_the_index_anew(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    store = open_store(path)
    await fill(store, make_batch([observation_row("zebra"), observation_row("giraffe")]))
    await store.close()
    with contextlib.closing(foreign(path)) as connection:
        connection.execute("UPDATE observations SET title = CAST(X'61ff62' AS TEXT) WHERE id = 1")
    store = open_store(path)
    async with catching_up(store):
        await eventually(lambda: store.complete)
    await store.close()
    before = path.read_bytes()
    store = open_store(path)
    assert store.complete and (await Engine(store).search(SearchQuery(text="giraffe"))).total == 1
    await store.close()
    assert path.read_bytes() == before


async def test_write_ahead_log_is_folded_in_at_the_end(tmp_path: Path) -> None:
    """R080."""
    path = tmp_path / "claude-mem.db"
    store = open_store(path)
    for at in range(0, 3000, 1000):
        rows = [observation_row(f"t{number}", created_at_epoch=number) for number in range(at, at + 1000)]
        await fill(store, make_batch(rows))
    assert path.with_name("claude-mem.db-wal").stat().st_size < 64 * 2**20
    await store.close()
    assert not path.with_name("claude-mem.db-wal").exists()


async def test_a_write_ahead_log_of_any_size_is_folded_in_when_nobody_writes(store: Store) -> None:
    """R080."""
    await fill(store, make_batch([observation_row("row", narrative="x " * 1_000_000)]))
    log = store.path.with_name(store.path.name + "-wal")
    assert log.stat().st_size > 2**20
    async with catching_up(store):
        await eventually(lambda: log.stat().st_size == 0)


async def test_two_openings_at_once_make_one_file(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    stores = await asyncio.gather(*(asyncio.to_thread(open_store, path) for _ in range(3)))
    versions = await stores[0].read(
        lambda connection: connection.execute("SELECT count(*) FROM schema_versions").fetchone()[0]
    )
    assert versions == 37
    for store in stores:
        await store.close()


async def test_a_database_that_was_moved_away_takes_no_more_and_ends_the_watch(store: Store, tmp_path: Path) -> None:
    await fill(store, make_batch([observation_row()]))
    store.path.rename(tmp_path / "elsewhere.db")
    with pytest.raises(Unavailable, match="moved or replaced"):
        await fill(store, make_batch([observation_row("lost?")]))
    with pytest.raises(Unavailable, match="moved or replaced"):
        await store.catch_up(lambda: None)


async def test_a_question_that_takes_too_long_is_given_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.store.database._READ_S", 0.05)
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with pytest.raises(TimedOut):
        await store.read(lambda connection: connection.execute(endless).fetchone())
    assert await store.read(lambda connection: connection.execute("SELECT 1").fetchone()[0]) == 1


async def test_a_large_write_ahead_log_is_folded_in_though_there_are_always_readers(store: Store) -> None:
    """R080."""
    log = store.path.with_name(store.path.name + "-wal")

    async def read_on() -> None:
        while True:
            await store.read(lambda connection: connection.execute("SELECT count(*) FROM observations").fetchone())

    slow = foreign(store.path)
    slow.execute("BEGIN")
    slow.execute("SELECT count(*) FROM observations").fetchone()
    for number in range(24):
        await fill(store, make_batch([observation_row(f"row {number}", narrative=f"{number} " + "x " * 400_000)]))
    assert log.stat().st_size > 16 * 2**20  # a reader of the old state keeps all of it
    slow.close()
    readers = [asyncio.create_task(read_on()) for _ in range(3)]
    try:
        async with catching_up(store):
            await eventually(lambda: log.stat().st_size == 0)
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.wait(readers)

"""No FTS5, no room, no permission, no lock, no sound file: a clear state each time, and a way back."""

import asyncio
import resource
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.factories import NOON, make_batch, observation_row, prompt_row, summary_row
from tests.parts import old_generations
from tests.parts.conftest import catching_up, eventually, fill, foreign
from tests.parts.test_migrate import assert_kept, rows_of
from tests.parts.test_schema import assert_sound
from tests.processes import PATIENCE_S, free_port, running_worker, start_worker, wait_for
from worker.contract import calls
from worker.contract.curation import Save
from worker.contract.errors import Unavailable, Unreachable
from worker.contract.quick import QuickClient
from worker.contract.search import Degraded, Order, SearchQuery
from worker.search.engine import Engine
from worker.store.database import plain_connection
from worker.store.tables import Store, open_store

BATCH = make_batch(
    [
        observation_row(
            "Expired token accepted", narrative="Clock skew of a minute", created_at_epoch=NOON, concepts='["gotcha"]'
        ),
        observation_row("Token refresh race", narrative="skew of the clock", created_at_epoch=NOON + 1, type="feature"),
        observation_row("用户身份校验失败", facts='["café au lait", "getUserById"]', created_at_epoch=NOON + 2),
    ],
    summaries=[summary_row("Fix token expiry")],
    prompts=[prompt_row("why does ORD-100821 still work?")],
)


# --- no FTS5


def without_fts5(path: Path) -> sqlite3.Connection:
    """A connection on which FTS5 tables can neither be made nor touched, not by a trigger either."""
    connection = plain_connection(path)

    def allow(action: int, first: str | None, second: str | None, database: str | None, inner: str | None) -> int:
        made = action == sqlite3.SQLITE_CREATE_VTABLE and second == "fts5"
        touched = (first or "") in ("py_text", "observations_fts", "session_summaries_fts", "user_prompts_fts")
        verbs = (sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_DROP_VTABLE)
        return sqlite3.SQLITE_DENY if made or (touched and action in verbs) else sqlite3.SQLITE_OK

    connection.set_authorizer(allow)
    return connection


async def keys(store: Store, text: str, **over: object) -> list[str]:
    page = await Engine(store).search(SearchQuery(text=text, **over))  # type: ignore[arg-type]
    assert page.degraded is (None if store.fulltext else Degraded.NO_FULLTEXT)
    assert page.total == len(page.hits)
    return [str(hit.key) for hit in page.hits]


async def test_words_are_found_without_fts5(tmp_path: Path) -> None:
    store = open_store(tmp_path / "claude-mem.db", connect=without_fts5)
    await fill(store, BATCH)
    assert store.complete
    assert await keys(store, "clock minute") == ["1", "2"], "more words first"
    assert await keys(store, "token") == ["S1", "2", "1"], "then the newest"
    assert await keys(store, "token", order=Order.DATE_ASC) == ["1", "2", "S1"]
    assert await keys(store, "身份校验") == await keys(store, "校") == ["3"]
    assert await keys(store, "cafe") == await keys(store, "Café") == await keys(store, "getuserby") == ["3"]
    assert await keys(store, "ORD-100821") == ["P1"]
    assert await keys(store, '"clock skew"') == ["1"]
    assert await keys(store, "token -refresh") == ["S1", "1"]
    assert await keys(store, "refr", typing=True) == ["2"]
    assert await keys(store, "999% _ ' \" *") == []
    assert await keys(store, "token", types=("feature",)) == ["2"]
    assert await keys(store, "") == ["S1", "3", "2", "1", "P1"]
    facets = await Engine(store).facets(SearchQuery(text="token"), most_buckets=10)
    assert facets.total == sum(count for count in (bucket.count for bucket in facets.buckets)) == 3
    await store.close()


@pytest.mark.parametrize("generation", [5, 16, 50])
async def test_old_database_opens_without_fts5_and_is_whole_when_it_comes_back(tmp_path: Path, generation: int) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, generation)
    before = rows_of(path)
    store = open_store(path, connect=without_fts5)
    assert len(await keys(store, "kiwi0000")) == 1
    await fill(store, BATCH)
    assert len(await keys(store, "refresh")) == 1
    await store.close()
    assert_kept(before, rows_of(path))
    store = open_store(path)
    async with catching_up(store):
        await eventually(lambda: store.complete)
    assert len(await keys(store, "refresh")) == len(await keys(store, "mango0000")) == 1
    await store.close()
    with closing(foreign(path)) as connection:
        assert_sound(connection)


async def test_finished_database_goes_without_fts5_and_back(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    store = open_store(path)
    await fill(store, BATCH)
    await store.close()
    store = open_store(path, connect=without_fts5)
    await fill(store, make_batch([observation_row("Written meanwhile", created_at_epoch=NOON + 9)]))
    await store.write(lambda connection: connection.execute("DELETE FROM observations WHERE id = 1").close())
    assert (await keys(store, "meanwhile"), await keys(store, "minute")) == (["4"], [])
    await store.close()
    store = open_store(path)
    assert (await keys(store, "meanwhile"), await keys(store, "minute")) == (["4"], [])
    await store.close()
    with closing(foreign(path)) as connection:
        assert_sound(connection)
        assert connection.execute("SELECT count(*) FROM observations_fts('meanwhile')").fetchone() == (1,)


# --- no permission


def read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None, check_same_thread=False)


async def test_finished_database_that_can_only_be_read_is_served(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    store = open_store(path)
    await fill(store, BATCH)
    await store.close()
    store = open_store(path, connect=read_only)
    assert store.complete
    assert await keys(store, "refresh") == ["2"]
    with pytest.raises(Unavailable, match="can only be read"):
        await fill(store, BATCH)
    await store.close()


def test_old_database_that_can_only_be_read_says_so(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 20)
    before = path.read_bytes()
    with pytest.raises(Unavailable, match="can only be read here, and something must be written to it"):
        open_store(path, connect=read_only)
    assert path.read_bytes() == before


# --- no room


def cramped(path: Path) -> sqlite3.Connection:
    """A connection for which the disk ends where the file ends."""
    connection = plain_connection(path)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    return connection


@pytest.mark.parametrize("generation", [5, 16, 33, 50])
def test_full_disk_in_the_middle_leaves_the_old_database(tmp_path: Path, generation: int) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, generation, rows=20)
    before = rows_of(path)
    with pytest.raises(Unavailable, match="is full"):
        open_store(path, connect=cramped)
    assert rows_of(path) == before
    asyncio.run(open_store(path).close())
    assert_kept(before, rows_of(path))


async def test_full_disk_refuses_a_write_and_takes_the_next(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    store = open_store(path)
    await fill(store, BATCH)
    await store.write(lambda connection: connection.execute("PRAGMA max_page_count = 1").close())
    many = make_batch([observation_row("long " * 900, created_at_epoch=number) for number in range(50)])
    with pytest.raises(Unavailable, match="is full; the change was not made"):
        await fill(store, many)
    assert await keys(store, "refresh") == ["2"]
    await store.write(lambda connection: connection.execute("PRAGMA max_page_count = 100000").close())
    assert (await fill(store, many)).observationsImported == 50
    await store.close()


def test_worker_on_a_full_disk_ends_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16, rows=100)
    with closing(foreign(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = rows_of(path)
    most = path.stat().st_size + 50_000
    ended = subprocess.run(
        (sys.executable, "-P", "-m", "worker", "--data-dir", str(tmp_path), "--port", str(free_port())),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
        env={"HOME": str(tmp_path), "PATH": ""}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ended.returncode == 1, ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1, ended.stderr
    assert "disk" in ended.stderr
    assert rows_of(path) == before


# --- no lock


async def test_finished_database_opens_while_another_program_writes(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    store = open_store(path)
    await fill(store, BATCH)
    await store.close()
    with closing(foreign(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with asyncio.timeout(PATIENCE_S):
            store = await asyncio.to_thread(open_store, path)
            assert await keys(store, "refresh") == ["2"]
        other.execute("ROLLBACK")
    await store.close()


def test_worker_waits_for_a_database_that_is_held_and_says_so(tmp_path: Path) -> None:
    """R078, R082: an old database that somebody writes to cannot be brought up to date yet."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16)
    with closing(foreign(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        worker = start_worker(tmp_path)
        try:
            wait_for(lambda: "another program holds the database" in _says(worker.quick))
            assert worker.quick.send(calls.health()).status == "degraded"
            other.execute("ROLLBACK")
            wait_for(worker.ready)
            assert worker.quick.send(calls.health()).status == "ok"
            assert worker.quick.send(calls.search(SearchQuery(text="kiwi0000"))).total == 1
        finally:
            assert worker.stop() == 0, worker.stderr


def test_health_tells_of_a_lock_that_is_held_for_long_and_nothing_is_lost(tmp_path: Path) -> None:
    """R078: what is to be kept waits, searches are answered, and afterwards all is well again by itself."""
    with running_worker(tmp_path / "memory") as worker, closing(foreign(worker.data_dir / "claude-mem.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(5) as pool:
            saves = [pool.submit(worker.quick.send, calls.save(Save(text=f"waits {at}"))) for at in range(5)]
            wait_for(lambda: worker.quick.send(calls.health()).status == "degraded")
            health = worker.quick.send(calls.health())
            assert "another program holds the database" in health.dependencies["statuses"][0]["message"]
            assert worker.quick.send(calls.doctor()).health.dependencies.degraded
            assert worker.quick.send(calls.search(SearchQuery(text="waits"))).total == 0
            other.execute("ROLLBACK")
            assert all(save.result().success for save in saves)
        wait_for(lambda: worker.quick.send(calls.health()).status == "ok")
        assert worker.quick.send(calls.search(SearchQuery(text="waits"))).total == 5


def test_health_tells_of_a_file_that_takes_no_more_until_it_does_again(tmp_path: Path) -> None:
    with running_worker(tmp_path / "memory") as worker:
        pid, most = worker.process.pid, 4096  # no page more, wherever it would lie
        before = resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
        rows = [observation_row(f"row {at}", narrative="x" * 100_000) for at in range(40)]
        with pytest.raises(Unavailable, match="the disk of"):
            worker.quick.send(calls.import_batch(make_batch(rows)))
        assert worker.quick.send(calls.health()).status == "degraded"
        assert worker.quick.send(calls.search(SearchQuery(text="row"))).total == 0
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
        wait_for(lambda: worker.quick.send(calls.health()).status == "ok")
        worker.quick.send(calls.import_batch(make_batch(rows)))
        assert worker.quick.send(calls.search(SearchQuery(text="row"))).total == 40


def test_a_trigger_of_somebody_else_that_refuses_a_change_is_told(tmp_path: Path) -> None:
    with running_worker(tmp_path / "memory") as worker, closing(foreign(worker.data_dir / "claude-mem.db")) as other:
        other.execute("CREATE TRIGGER stop BEFORE INSERT ON observations BEGIN SELECT RAISE(ABORT, 'not today'); END")
        with pytest.raises(Unavailable, match="a trigger in the database .* refused the change: not today"):
            worker.quick.send(calls.save(Save(text="refused")))


def test_worker_that_waits_for_a_database_ends_when_told(tmp_path: Path) -> None:
    """R207."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16)
    with closing(foreign(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        worker = start_worker(tmp_path)
        try:
            wait_for(lambda: "another program holds the database" in _says(worker.quick))
        finally:
            assert worker.stop() == 0, worker.stderr


def _says(client: QuickClient) -> str:
    try:
        client.send(calls.readiness())
    except (Unavailable, Unreachable) as error:
        return str(error)
    return ""


# --- no sound file


@pytest.mark.parametrize("table", ["observations", "sdk_sessions"])
def test_damaged_old_database_is_told_and_left_alone(tmp_path: Path, table: str) -> None:
    """R090."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16, rows=30)
    with closing(foreign(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)
    before = path.read_bytes()
    with pytest.raises(Unavailable, match="damaged"):
        open_store(path)
    assert path.read_bytes() == before
    assert not (tmp_path / "backups").exists()


# --- the index

HARMS = {
    "lost": "DELETE FROM py_docs WHERE docid % 4 = 1",
    "words lost": "DELETE FROM py_text WHERE rowid = 9",
    "a ghost": "INSERT INTO py_docs SELECT 4001, 1, 1000, epoch, project, merged, type, platform, session, 1, 1, 1, "
    "title, 5 FROM py_docs LIMIT 1",
    "words of a ghost": "INSERT INTO py_text (rowid, title) VALUES (4001, 'ghost')",
    "other words": "UPDATE py_text SET title = 'nonsense' WHERE rowid = 5",
    "another project": "UPDATE py_docs SET project = 'elsewhere'",
    "no table": "DROP TABLE py_docs",
    "no concepts": "DROP TABLE py_concepts",
    "concepts lost": "DELETE FROM py_concepts",
    "no words": "DROP TABLE py_text",
    "no queue": "DROP TABLE py_queue",
    "words emptied": "DELETE FROM py_text_data WHERE id > 10",
    "half of its words": "DROP TABLE py_text_idx",
    "no triggers": "DROP TRIGGER py_observations_update",
    "another format": "UPDATE py_meta SET value = '1.0' WHERE key = 'search_index'",
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS.keys())
async def test_index_repairs_itself(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "claude-mem.db"
    store = open_store(path)
    await fill(store, BATCH)
    await store.close()
    with closing(foreign(path)) as connection:
        connection.execute(harm)
        if "TRIGGER" in harm:
            connection.execute("UPDATE observations SET title = 'Edited behind its back' WHERE id = 2")
    store = open_store(path)
    async with catching_up(store):
        await eventually(lambda: store.complete)
    edited = "TRIGGER" in harm
    assert await keys(store, "behind") == (["2"] if edited else [])
    assert await keys(store, "token") == (["S1", "1"] if edited else ["S1", "2", "1"])
    assert await keys(store, "身份校验") == ["3"]
    assert await keys(store, "ghost") == await keys(store, "nonsense") == []
    assert await keys(store, "", project="shop") == ["S1", "3", "2", "1", "P1"]
    assert await keys(store, "", concepts=("gotcha",)) == ["1"]
    await store.close()
    with closing(foreign(path)) as connection:
        assert_sound(connection)


async def test_rows_edited_while_the_triggers_were_away_are_noticed(tmp_path: Path) -> None:
    """Taken away, and put back as they were, around the change of one record among many."""
    path = tmp_path / "claude-mem.db"
    store = open_store(path)
    await fill(store, BATCH)
    rest = [observation_row(f"another {number}", created_at_epoch=number) for number in range(2000)]
    await fill(store, make_batch(rest))
    await store.close()
    with closing(foreign(path)) as connection:
        names = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'py!_%' ESCAPE '!'"
        triggers = connection.execute(names).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE observations SET title = 'Taken refresh race' WHERE id = 2")
        for _, sql in triggers:
            connection.execute(sql)
    store = open_store(path)
    assert not store.complete
    assert (await Engine(store).search(SearchQuery(text="refresh"))).degraded is Degraded.INDEX_STARTING
    async with catching_up(store):
        await eventually(lambda: store.complete)
    assert await keys(store, "taken") == ["2"]
    await store.close()


async def test_triggers_taken_away_while_we_run_come_back(store: Store, other: sqlite3.Connection) -> None:
    await fill(store, BATCH)
    async with catching_up(store):
        other.execute("DROP TRIGGER py_observations_update")
        other.execute("UPDATE observations SET title = 'Edited unseen' WHERE id = 2")

        async def seen() -> bool:
            return (await Engine(store).search(SearchQuery(text="unseen"))).total == 1

        await eventually(seen)
    back = other.execute("SELECT count(*) FROM sqlite_master WHERE name = 'py_observations_update'").fetchone()
    assert back == (1,)

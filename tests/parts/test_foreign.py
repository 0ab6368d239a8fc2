"""Rows that another program writes into the same file, as the original does, are found and told."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.factories import NOON, make_batch, observation_row, prompt_row, session_row, summary_row
from tests.parts.conftest import catching_up, eventually, fill, foreign
from tests.processes import PATIENCE_S
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import SearchQuery
from worker.search.engine import Engine
from worker.store import checkup, proof, search_index
from worker.store.changes import Change, Deed
from worker.store.tables import Store, open_store

OBSERVATION = (
    "INSERT INTO observations (memory_session_id, project, type, title, narrative, content_hash, created_at,"
    " created_at_epoch) VALUES ('m-1', 'shop', 'change', ?, ?, ?, '', ?)"
)
Told = list[tuple[str, Deed]]


@pytest.fixture
async def told(store: Store) -> Told:
    await fill(store, make_batch([], sessions=[session_row()]))
    told: Told = []
    store.feed.subscribe(lambda changes: told.extend((str(change.key), change.deed) for change in changes))
    return told


@pytest.fixture
async def following(store: Store, told: Told) -> AsyncIterator[None]:
    async with catching_up(store):
        yield


def finds(engine: Engine, text: str, *keys: str) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        page = await engine.search(SearchQuery(text=text))
        return page.total == len(page.hits) and sorted(str(hit.key) for hit in page.hits) == sorted(keys)

    return look


async def test_written_rows_are_found_and_told(
    engine: Engine, other: sqlite3.Connection, told: Told, following: None
) -> None:
    other.execute(OBSERVATION, ("zebra", "stripes", "h", NOON))
    other.execute(
        "INSERT INTO session_summaries (memory_session_id, project, request, created_at, created_at_epoch)"
        " VALUES ('m-1', 'shop', 'zebra', '', 1)"
    )
    other.execute(
        "INSERT INTO user_prompts (session_db_id, content_session_id, prompt_number, prompt_text, created_at,"
        " created_at_epoch) VALUES (1, 'c-1', 1, 'zebra?', '', 1)"
    )
    await eventually(finds(engine, "zebra", "1", "S1", "P1"))
    await eventually(lambda: sorted(told) == [("1", Deed.ADDED), ("P1", Deed.ADDED), ("S1", Deed.ADDED)])


async def test_edits_are_found_under_the_new_words_alone(
    engine: Engine, other: sqlite3.Connection, told: Told, following: None
) -> None:
    """R088."""
    other.execute(OBSERVATION, ("zebra", "", "h", NOON))
    await eventually(finds(engine, "zebra", "1"))
    other.execute("UPDATE observations SET title = 'giraffe'")
    await eventually(finds(engine, "giraffe", "1"))
    assert await finds(engine, "zebra")()
    await eventually(lambda: told == [("1", Deed.ADDED), ("1", Deed.CHANGED)])


async def test_deleted_rows_vanish(engine: Engine, other: sqlite3.Connection, told: Told, following: None) -> None:
    other.execute(OBSERVATION, ("zebra", "", "h", NOON))
    await eventually(finds(engine, "zebra", "1"))
    other.execute("DELETE FROM observations")
    await eventually(finds(engine, "zebra"))
    await eventually(lambda: told[-1] == ("1", Deed.DELETED))


async def test_session_that_is_deleted_takes_its_rows_along(
    store: Store, engine: Engine, other: sqlite3.Connection, told: Told, following: None
) -> None:
    batch = make_batch([observation_row("zebra")], summaries=[summary_row("zebra")], prompts=[prompt_row("zebra")])
    await fill(store, batch)
    assert await finds(engine, "zebra", "1", "S1", "P1")()
    other.execute("DELETE FROM sdk_sessions")
    await eventually(finds(engine, "zebra"))
    gone = [("1", Deed.DELETED), ("P1", Deed.DELETED), ("S1", Deed.DELETED)]
    await eventually(lambda: sorted(told[-3:]) == gone)


@pytest.mark.parametrize("columns", ["content_hash", "origin_device_id"])
async def test_row_pushed_out_by_a_replacing_one_leaves_no_stale_hit(
    engine: Engine, other: sqlite3.Connection, told: Told, following: None, columns: str
) -> None:
    """R088: it goes without a delete trigger."""
    insert = (
        "INSERT OR REPLACE INTO observations (memory_session_id, project, type, title, content_hash, origin_device_id,"
        " origin_local_id, created_at, created_at_epoch) VALUES ('m-1', 'shop', 'change', ?, ?, ?, ?, '', 1)"
    )
    values = ("h", None, None) if columns == "content_hash" else (None, "device", "7")
    other.execute(insert, ("zebra", *values))
    await eventually(finds(engine, "zebra", "1"))
    other.execute(insert, ("giraffe", *values))
    await eventually(finds(engine, "giraffe", "2"))
    assert await finds(engine, "zebra")()
    await eventually(lambda: ("1", Deed.DELETED) in told and ("2", Deed.ADDED) in told)


@pytest.mark.parametrize("columns", ["content_hash = 'h'", "origin_device_id = 'device', origin_local_id = '7'"])
async def test_row_pushed_out_by_an_edited_one_leaves_no_stale_hit(
    engine: Engine, other: sqlite3.Connection, told: Told, following: None, columns: str
) -> None:
    """R088: the same of an edit."""
    for title, content_hash, origin in (("zebra", "h", "7"), ("giraffe", "i", "8")):
        other.execute(OBSERVATION, (title, "", content_hash, NOON))
        other.execute(
            "UPDATE observations SET origin_device_id = 'device', origin_local_id = ? WHERE title = ?", (origin, title)
        )
    await eventually(finds(engine, "zebra giraffe", "1", "2"))
    other.execute(f"UPDATE OR REPLACE observations SET {columns} WHERE id = 2")
    await eventually(finds(engine, "zebra giraffe", "2"))
    await eventually(lambda: ("1", Deed.DELETED) in told)


async def test_row_replaced_under_its_own_id(
    engine: Engine, other: sqlite3.Connection, told: Told, following: None
) -> None:
    """R088."""
    insert = (
        "INSERT OR REPLACE INTO user_prompts (id, session_db_id, content_session_id, prompt_number, prompt_text,"
        " created_at, created_at_epoch) VALUES (5, 1, 'c-1', 1, ?, '', 1)"
    )
    other.execute(insert, ("zebra",))
    await eventually(finds(engine, "zebra", "P5"))
    other.execute(insert, ("giraffe",))
    await eventually(finds(engine, "giraffe", "P5"))
    assert await finds(engine, "zebra")()


async def test_duplicate_that_does_nothing_changes_nothing(
    engine: Engine, other: sqlite3.Connection, told: Told, following: None
) -> None:
    insert = OBSERVATION + " ON CONFLICT (memory_session_id, content_hash) DO NOTHING"
    first = other.execute(insert, ("zebra", "", "h", NOON))
    assert (first.lastrowid, first.rowcount) == (1, 1)
    again = other.execute(insert, ("zebra", "", "h", NOON))
    assert again.rowcount == 0
    await eventually(finds(engine, "zebra", "1"))


async def test_our_triggers_do_not_disturb_the_writer_s_counts(
    store: Store, other: sqlite3.Connection, told: Told
) -> None:
    added = other.execute(OBSERVATION, ("zebra", "", "h", NOON))
    assert (added.lastrowid, other.execute("SELECT last_insert_rowid(), changes()").fetchone()) == (1, (1, 1))
    assert other.execute("UPDATE observations SET title = 'x'").rowcount == 1
    assert other.execute("UPDATE sdk_sessions SET project = 'y'").rowcount == 1
    assert other.execute("SELECT last_insert_rowid(), changes()").fetchone() == (1, 1)
    assert other.execute("DELETE FROM observations").rowcount == 1


async def test_renamed_project_and_session_reach_their_records(
    store: Store, engine: Engine, other: sqlite3.Connection, told: Told, following: None
) -> None:
    """R092."""
    batch = make_batch([observation_row("zebra")], summaries=[summary_row("zebra")], prompts=[prompt_row("zebra")])
    await fill(store, batch)
    other.execute("UPDATE sdk_sessions SET memory_session_id = 'm-9', project = 'mall', platform_source = 'codex'")

    async def moved() -> bool:
        hits = (await engine.search(SearchQuery(text="zebra", platform_source="codex"))).hits
        prompts = (await engine.search(SearchQuery(project="mall"))).hits
        return (
            {hit.session for hit in hits} == {"m-9"} and len(hits) == 3 and [str(hit.key) for hit in prompts] == ["P1"]
        )

    await eventually(moved)
    assert other.execute("PRAGMA foreign_key_check").fetchall() == []


async def test_update_of_what_is_not_shown_is_not_told(
    store: Store, engine: Engine, other: sqlite3.Connection, told: Told, following: None
) -> None:
    other.execute(OBSERVATION, ("zebra", "", "h", NOON))
    await eventually(finds(engine, "zebra", "1"))
    other.execute("UPDATE observations SET synced_at = 5, sync_rev = '2', relevance_count = 1")
    other.execute(OBSERVATION, ("giraffe", "", "i", NOON))
    await eventually(finds(engine, "giraffe", "2"))
    await eventually(lambda: told == [("1", Deed.ADDED), ("2", Deed.ADDED)])


@pytest.mark.parametrize(
    "change",
    [
        "CREATE VIRTUAL TABLE _fts5_probe USING fts5(a)",
        "CREATE TABLE x (a)",
        "VACUUM",
        "DROP TRIGGER py_observations_insert",
    ],
)
async def test_what_is_written_around_a_change_of_the_schema_is_told(
    store: Store, engine: Engine, other: sqlite3.Connection, told: Told, following: None, change: str
) -> None:
    """The original makes such a change at each of its starts; then every record is held against its seal."""
    await fill(
        store, make_batch([observation_row(f"lion {number}", created_at_epoch=number) for number in range(3000)])
    )
    await eventually(lambda: len(told) == 3000)
    told.clear()
    other.execute(OBSERVATION, ("zebra", "", "before", NOON))
    other.execute(change)
    for number in range(40):
        other.execute(OBSERVATION, ("zebra", "", f"h{number}", NOON))
        await asyncio.sleep(0.01)
    other.execute("UPDATE observations SET title = 'zebra' WHERE id = 1")
    other.execute("DELETE FROM observations WHERE id = 2")
    await eventually(lambda: ("2", Deed.DELETED) in told and ("1", Deed.CHANGED) in told)
    await eventually(lambda: len(told) >= 43)
    assert (await engine.search(SearchQuery(text="zebra"))).total == 42
    assert sorted(told) == sorted(
        [("1", Deed.CHANGED), ("2", Deed.DELETED), *((str(3001 + number), Deed.ADDED) for number in range(41))]
    )


async def test_what_is_written_with_a_change_of_the_schema_is_told_once(
    store: Store, other: sqlite3.Connection, told: Told, following: None
) -> None:
    """Prompts are the first to be held against their seals, at a time when nobody has indexed these."""
    other.execute(OBSERVATION, ("lion", "", "h", NOON))
    await eventually(lambda: told == [("1", Deed.ADDED)])
    other.execute("BEGIN")
    other.execute("CREATE INDEX theirs ON user_prompts (prompt_number)")
    for number in range(100):
        other.execute(
            "INSERT INTO user_prompts (session_db_id, content_session_id, prompt_number, prompt_text, created_at,"
            " created_at_epoch) VALUES (1, 'c-1', 1, ?, '', 1)",
            (f"zebra {number}",),
        )
    other.execute("COMMIT")
    await eventually(lambda: len(told) >= 101)
    await eventually(lambda: store.read(proof.is_proved))
    await eventually(lambda: store.read(lambda connection: not search_index.queued(connection)))
    assert sorted(told[1:]) == sorted((f"P{1 + number}", Deed.ADDED) for number in range(100))


async def test_a_save_of_ours_does_not_wait_for_all_that_others_wrote(
    store: Store, other: sqlite3.Connection, told: Told
) -> None:
    other.execute("BEGIN")
    for number in range(1_000):
        other.execute(OBSERVATION, ("zebra", "", f"h{number}", NOON))
    other.execute("COMMIT")
    await fill(store, make_batch([], prompts=[prompt_row("giraffe")]))
    assert ("P1", Deed.ADDED) in told and 1 < len(told) < 500
    async with catching_up(store):
        await eventually(lambda: len(told) == 1_001)
    assert len(set(told)) == 1_001


async def test_odd_values_of_other_programs_hide_nothing(
    store: Store, engine: Engine, other: sqlite3.Connection, told: Told, following: None
) -> None:
    insert = (
        "INSERT INTO observations (memory_session_id, project, type, title, narrative, facts, concepts, files_read,"
        " discovery_tokens, prompt_number, created_at, created_at_epoch)"
        " VALUES ('m-1', 'shop', 'change', ?, ?, ?, ?, ?, ?, ?, '', ?)"
    )
    odd: list[tuple[object, ...]] = [
        ("zebra", "n", "[" * 100_000, "{broken", "[1,null,{}]", "many", "first", 1.5),
        (b"zebra \xff", b"\xff\xfe", b"[]", b"\x00", "x", -5, 2.5, "soon"),
        ("zebra", "\0" * 10, '{"a":1}', '"text"', "[[[]]]", 9e18, -1, -(2**63)),
        ("zebra", "y" * 2_000_000, "null", "7", "true", None, None, 2**63 - 1),
    ]
    for row in odd:
        other.execute(insert, row)
    await eventually(finds(engine, "zebra", "1", "2", "3", "4"))
    for query in (
        SearchQuery(text="zebra"),
        SearchQuery(concepts=("gotcha",)),
        SearchQuery(files=("src",)),
        SearchQuery(text="zebra", concepts=("x",), files=("y",)),
    ):
        rows = await engine.search_rows(query)
        assert len(rows.hits) == rows.totalResults
        assert (await engine.facets(query, most_buckets=120)).total == rows.totalResults


async def test_row_is_told_after_its_commit_and_not_before(
    engine: Engine, other: sqlite3.Connection, told: Told, following: None
) -> None:
    other.execute("BEGIN IMMEDIATE")
    other.execute(OBSERVATION, ("zebra", "", "h", NOON))
    assert await finds(engine, "zebra")() and told == []
    other.execute("ROLLBACK")
    other.execute(OBSERVATION, ("giraffe", "", "h", NOON))
    await eventually(finds(engine, "giraffe", "1"))
    await eventually(lambda: told == [("1", Deed.ADDED)])


async def test_rows_written_while_no_worker_ran_are_indexed_at_the_next_start(store: Store, told: Told) -> None:
    path = store.path
    await fill(store, make_batch([observation_row("zebra")]))
    await store.close()
    connection = foreign(path)
    connection.execute(OBSERVATION, ("giraffe", "", "h", NOON))
    connection.execute("UPDATE observations SET title = 'lion' WHERE id = 1")
    connection.close()
    again = open_store(path)
    async with catching_up(again):
        await eventually(finds(Engine(again), "giraffe lion", "1", "2"))
        assert await finds(Engine(again), "zebra")()
    await again.close()


async def test_rows_of_a_time_without_our_triggers_are_noticed(store: Store, told: Told) -> None:
    path = store.path
    await fill(store, make_batch([observation_row("zebra")]))
    await store.close()
    connection = foreign(path)
    for (name,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'py%'"
    ).fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(OBSERVATION, ("giraffe", "", "h", NOON))
    connection.execute("DELETE FROM observations WHERE id = 1")
    connection.close()
    again = open_store(path)
    async with catching_up(again):
        await eventually(finds(Engine(again), "giraffe zebra", "2"))
    await again.close()


async def with_backlog(store: Store) -> Store:
    """The store opened again, with 3,000 zebras to index."""
    await store.close()
    connection = foreign(store.path)
    connection.execute("BEGIN")
    for number in range(3000):
        connection.execute(OBSERVATION, ("zebra", "", f"h{number}", number))
    connection.execute("COMMIT")
    connection.close()
    again = open_store(store.path)
    assert not again.complete
    return again


async def test_what_others_write_while_the_backlog_is_indexed_is_told(store: Store, told: Told) -> None:
    again, connection = await with_backlog(store), foreign(store.path)
    heard: list[tuple[str, Deed]] = []
    again.feed.subscribe(lambda changes: heard.extend((str(change.key), change.deed) for change in changes))
    async with catching_up(again):
        for number in range(20):
            connection.execute(OBSERVATION, ("giraffe", "", f"i{number}", NOON))
            connection.execute("UPDATE observations SET title = 'lion' WHERE id = ?", (1 + number,))
            await asyncio.sleep(0.01)
        await eventually(lambda: again.complete)
        await eventually(finds_as_many(Engine(again), zebra=2980, giraffe=20, lion=20))
    connection.close()
    added = {str(3001 + number) for number in range(20)}
    assert {key for key, _ in heard} - {str(1 + number) for number in range(20)} == added
    assert {str(1 + number) for number in range(20)} <= {key for key, _ in heard}
    await again.close()


def finds_as_many(engine: Engine, **wanted: int) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        return all([(await engine.search(SearchQuery(text=word))).total == count for word, count in wanted.items()])

    return look


async def test_index_of_another_format_is_built_anew(store: Store, told: Told) -> None:
    path = store.path
    await fill(store, make_batch([observation_row("zebra")]))
    await store.close()
    connection = foreign(path)
    connection.execute("UPDATE py_meta SET value = 'old'")
    connection.execute("DROP TABLE py_docs")
    connection.execute("CREATE TABLE py_docs (other TEXT)")
    connection.close()
    again = open_store(path)
    async with catching_up(again):
        await eventually(finds(Engine(again), "zebra", "1"))
    wanted = "SELECT value FROM py_meta WHERE key = 'search_index'"
    found = await again.read(lambda connection: connection.execute(wanted).fetchone()[0])
    assert found == search_index.FORMAT
    await again.close()


async def test_what_is_saved_while_the_backlog_is_indexed_is_found_and_told_at_once(store: Store, told: Told) -> None:
    again = await with_backlog(store)
    heard: list[Change] = []
    again.feed.subscribe(heard.extend)
    prompt = make_batch([], prompts=[prompt_row("giraffe")])
    await fill(again, prompt)
    engine = Engine(again)
    assert not again.complete
    page = await engine.search(SearchQuery(text="giraffe"))
    assert [str(hit.key) for hit in page.hits] == ["P1"] and page.degraded == "index_starting"
    assert [(str(change.key), change.deed) for change in heard] == [("P1", Deed.ADDED)]
    async with catching_up(again):
        for number in range(20):
            later = make_batch([observation_row(f"lion {number}", created_at_epoch=number)])
            await fill(again, later)
        await eventually(lambda: again.complete)
    assert (await engine.search(SearchQuery(text="zebra"))).total == 3000
    assert (await engine.search(SearchQuery(text="lion"))).total == 20
    assert len(heard) == 21
    await again.close()


async def test_lock_of_another_program_is_outlasted_by_the_watch(
    store: Store, engine: Engine, other: sqlite3.Connection, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R078: rows written under a long lock are indexed after it, though the watch ran into it."""
    monkeypatch.setattr(store._database, "_patience_s", 0.001)
    other.execute(OBSERVATION, ("zebra", "", "h", NOON))
    other.execute("BEGIN IMMEDIATE")
    refused = asyncio.Event()
    write = store._database.write

    async def noted(work: object) -> object:
        try:
            return await write(work)  # type: ignore[arg-type]
        except Exception:
            refused.set()
            raise

    monkeypatch.setattr(store._database, "write", noted)
    async with catching_up(store):
        await asyncio.wait_for(refused.wait(), PATIENCE_S)
        other.execute("COMMIT")
        await eventually(finds(engine, "zebra", "1"))


async def test_three_seconds_of_a_foreign_lock_lose_nothing(
    store: Store, other: sqlite3.Connection, told: Told
) -> None:
    """R076."""
    other.execute("BEGIN IMMEDIATE")
    rows = [observation_row(f"zebra {number}", created_at_epoch=number) for number in range(20)]
    writes = [asyncio.ensure_future(fill(store, make_batch([row], sessions=[]))) for row in rows]
    done, waiting = await asyncio.wait(writes, timeout=3)
    assert not done and len(waiting) == 20
    other.execute("COMMIT")
    assert [stats.observationsImported for stats in await asyncio.gather(*writes)] == [1] * 20
    assert len(told) == 20


async def test_kinds_and_numbers_survive_the_index_s_numbering() -> None:
    for kind in RecordKind:
        for number in (1, 2, 10**17):
            key = search_index.key(search_index.docid(RecordKey(kind, number)))
            assert (key.kind, key.id) == (kind, number)


async def test_numbers_that_the_index_cannot_hold_are_told_and_harm_nothing(
    store: Store, other: sqlite3.Connection, told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    numbered = OBSERVATION.replace("(memory_session_id", "(id, memory_session_id").replace("('m-1'", "(?, 'm-1'")
    for number in (-5, 10**18, 2**61 - 1, 2**61, 2**62 + 1):
        other.execute(numbered, (number, "zebra", "stripes", str(number), NOON))
    async with catching_up(store):
        await eventually(finds(Engine(store), "zebra", "-5", str(10**18), str(2**61 - 1)))
        # A schema that somebody changed has every record held against its seal.
        other.execute("DROP TRIGGER py_observations_update")
        await eventually(lambda: store.read(lambda connection: search_index.is_installed(connection, fulltext=True)))
        await eventually(lambda: store.read(proof.is_proved))
        await eventually(lambda: store.read(lambda connection: not search_index.queued(connection)))
    check = await store.read(checkup.completeness)
    assert not check.ok and "3 of 5 records" in check.message and "2 have numbers from 2**61 on" in check.message
    assert sorted(told) == [("-5", Deed.ADDED), (str(10**18), Deed.ADDED), (str(2**61 - 1), Deed.ADDED)]
    again = open_store(store.path)
    assert again.complete and "2 have numbers from 2**61 on" in caplog.text
    await again.close()

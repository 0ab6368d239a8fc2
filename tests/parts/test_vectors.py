"""The outbox is filled with every change, and vectors are kept, found and let go."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from tests.factories import make_batch, observation_row, prompt_row, session_row, summary_row
from tests.parts.conftest import fill, foreign
from worker.contract.records import RecordKey, RecordKind
from worker.store import forget, outbox, search_index, vectors
from worker.store.tables import Connection, Store, open_store
from worker.store.vectors import Kept, Part

MODEL = "hash/4/1"
ONE, TWO = (RecordKey(RecordKind.OBSERVATION, number) for number in (1, 2))
FIRST = search_index.docid(ONE)
PARTS = (Part("whole", "aa"), Part("title", "bb"))
BLOB = np.ones((2, 4), np.float16).tobytes()


async def pending(store: Store) -> set[int]:
    def work(connection: Connection) -> set[int]:
        return {row[0] for row in connection.execute("SELECT docid FROM py_pending")}

    return await store.read(work)


async def seal_of(store: Store, docid: int = FIRST) -> int | None:
    def work(connection: Connection) -> int | None:
        row = connection.execute("SELECT seal FROM py_docs WHERE docid = ?", (docid,)).fetchone()
        return None if row is None else int(row[0])

    return await store.read(work)


async def keep(
    store: Store, seal: int | None, *, docid: int = FIRST, stale: tuple[str, ...] = (), tokens: bytes | None = b"t"
) -> set[int]:
    def work(connection: Connection) -> set[int]:
        outbox.write_note(connection, outbox.MODEL, MODEL)
        taken = vectors.keep(connection, MODEL, [Kept(docid, seal, PARTS, stale, BLOB, tokens)])
        return outbox.hold(connection, [(number, seal) for number in taken])

    return await store.write(work)


async def written(store: Store, docid: int = FIRST) -> None:
    seal = await seal_of(store, docid)
    await keep(store, seal, docid=docid)
    await store.write(lambda connection: outbox.finish(connection, [(docid, seal)]))


async def test_every_change_of_every_kind_waits_from_the_moment_it_is_committed(store: Store) -> None:
    await fill(store, make_batch([observation_row()], summaries=[summary_row()], prompts=[prompt_row()]))
    assert await pending(store) == {4, 5, 6}


async def test_what_is_rolled_back_does_not_wait(store: Store) -> None:
    def work(connection: Connection) -> None:
        connection.execute(
            "INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, platform_source,"
            " started_at, started_at_epoch, status) VALUES ('c', 'm', 'p', 'claude', '', 1, 'active')"
        )
        connection.execute(
            "INSERT INTO observations (memory_session_id, project, type, title, created_at,"
            " created_at_epoch) VALUES ('m', 'p', 'bugfix', 't', '', 1)"
        )
        search_index.drain(connection)
        assert outbox.counts(connection)[0] == 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.write(work)
    assert await pending(store) == set()


async def test_an_edit_waits_and_one_that_changes_nothing_does_not(store: Store, other: sqlite3.Connection) -> None:
    await fill(store, make_batch([observation_row("one")]))
    await written(store)
    assert await pending(store) == set()
    other.execute("UPDATE observations SET title = 'one'")
    await store.write(search_index.drain)
    assert await pending(store) == set()
    other.execute("UPDATE observations SET title = 'two'")
    await store.write(search_index.drain)
    assert await pending(store) == {FIRST}


async def test_an_edit_back_and_forth_under_another_model_s_vectors_waits(store: Store) -> None:
    await fill(store, make_batch([observation_row("one")]))
    await written(store)
    await store.write(lambda connection: outbox.write_note(connection, outbox.MODEL, "other/4/1"))

    def touch(connection: Connection) -> None:
        connection.execute("UPDATE observations SET title = title")

    await store.write(touch)
    assert await pending(store) == {FIRST}


async def test_a_merge_into_another_project_waits(store: Store) -> None:
    await fill(store, make_batch([observation_row("one")]))
    await written(store)
    await store.write(lambda connection: connection.execute("UPDATE observations SET merged_into_project = 'big'"))
    assert await pending(store) == {FIRST}


async def test_a_deleted_record_has_no_vectors_from_the_moment_it_is_gone_and_keeps_its_parts(store: Store) -> None:
    await fill(store, make_batch([observation_row("one")]))
    await written(store)
    assert [each.parts for each in await store.read(lambda c: list(vectors.stored(c, MODEL, [FIRST])))] == [2]
    assert await store.read(lambda c: vectors.tokens(c, MODEL, [FIRST])) == {FIRST: b"t"}
    await store.write(lambda connection: forget.delete(connection, ONE))
    assert await store.read(lambda c: vectors.tokens(c, MODEL, [FIRST])) == {}
    assert await store.read(lambda connection: list(vectors.stored(connection, MODEL, [FIRST]))) == []
    kept = (await store.read(lambda connection: vectors.kept(connection, MODEL, [FIRST])))[FIRST]
    assert (kept.parts, kept.vectors, kept.tokens, kept.seal) == (PARTS, None, None, None)
    assert await pending(store) == {FIRST}


async def test_an_index_by_words_that_is_built_anew_keeps_vectors_and_queues_none(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    store = open_store(path)
    await fill(store, make_batch([observation_row("one"), observation_row("two", created_at_epoch=2)]))
    await written(store)
    await store.close()
    connection = foreign(path)
    connection.execute("UPDATE py_meta SET value = 'old' WHERE key = 'search_index'")
    connection.execute("DELETE FROM py_pending")
    connection.close()
    again = open_store(path)
    assert again.complete
    assert await pending(again) == {search_index.docid(TWO)}  # it never had vectors
    assert len(await again.read(lambda c: list(vectors.stored(c, MODEL, [FIRST])))) == 1
    await again.close()


_WITHOUT_TOKENS = """CREATE TABLE py_vectors (
        id INTEGER PRIMARY KEY, docid INTEGER NOT NULL, model TEXT NOT NULL, seal INTEGER, size INTEGER NOT NULL,
        parts TEXT NOT NULL, stale TEXT, vectors BLOB)"""


async def test_a_table_of_another_form_is_made_anew_with_its_index_and_its_records_are_behind(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    store = open_store(path)
    await fill(store, make_batch([observation_row("one")]))
    await written(store)
    await store.close()
    connection = foreign(path)
    connection.execute("DROP TABLE py_vectors")
    connection.execute(_WITHOUT_TOKENS)
    connection.execute(vectors.TABLES["py_vectors_docid"])
    connection.execute(
        "INSERT INTO py_vectors (docid, model, seal, size, parts, vectors) VALUES (?, ?, 1, 0, '[]', x'')",
        (FIRST, MODEL),
    )
    connection.close()
    again = open_store(path)
    there = await again.read(lambda c: dict(c.execute("SELECT name, sql FROM sqlite_master").fetchall()))
    assert {name: there.get(name) for name in vectors.TABLES} == vectors.TABLES
    assert await again.read(lambda c: outbox.behind(c, MODEL, -1, 10)) == ([FIRST], FIRST)
    assert await again.read(lambda c: search_index.is_installed(c, fulltext=True))
    await again.close()


async def test_an_index_of_another_form_is_made_anew(store: Store, other: sqlite3.Connection) -> None:
    other.execute("DROP INDEX py_vectors_docid")
    other.execute("CREATE UNIQUE INDEX py_vectors_docid ON py_vectors (docid, model)")
    await store.write(search_index.install)
    assert await store.read(lambda c: search_index.is_installed(c, fulltext=True))


async def test_tokens_are_given_by_model_and_those_that_are_none_are_left_out(store: Store) -> None:
    rows = [observation_row(str(n), created_at_epoch=n) for n in (1, 2, 3)]
    await fill(store, make_batch(rows))
    for number, tokens in ((4, b"abc"), (8, b""), (12, None)):
        await keep(store, await seal_of(store, number), docid=number, tokens=tokens)
    assert await store.read(lambda c: vectors.tokens(c, MODEL, [4, 8, 12, 16])) == {4: b"abc"}
    assert await store.read(lambda c: vectors.tokens(c, "other/4/1", [4, 8, 12])) == {}
    kept = await store.read(lambda c: vectors.kept(c, MODEL, [4, 8, 12]))
    assert [kept[number].tokens for number in (4, 8, 12)] == [b"abc", b"", None]


async def test_vectors_of_a_row_that_changed_meanwhile_are_not_kept(store: Store) -> None:
    await fill(store, make_batch([observation_row("one")]))
    seal = await seal_of(store)
    await store.write(lambda connection: connection.execute("UPDATE observations SET title = 'two'"))
    assert await keep(store, seal) == set()
    await store.write(lambda connection: forget.delete(connection, ONE))
    assert await keep(store, seal) == set()
    assert await store.read(lambda connection: vectors.kept(connection, MODEL, [FIRST])) == {}


async def test_what_changes_after_its_vectors_were_kept_waits_on(store: Store) -> None:
    await fill(store, make_batch([observation_row("one")]))
    seal = await seal_of(store)
    await keep(store, seal)
    await store.write(lambda connection: connection.execute("UPDATE observations SET title = 'two'"))
    await store.write(lambda connection: outbox.finish(connection, [(FIRST, seal)]))
    assert await pending(store) == {FIRST}


async def test_there_is_one_row_per_record_and_model(store: Store) -> None:
    await fill(store, make_batch([observation_row("one")]))
    for _ in range(3):
        await written(store)
    assert await store.read(lambda c: c.execute("SELECT count(*) FROM py_vectors").fetchone()[0]) == 1


async def test_more_records_than_sqlite_takes_parameters(store: Store) -> None:
    await fill(store, make_batch([observation_row("one")]))
    await written(store)
    many = list(range(40_000))
    assert [each.docid for each in await store.read(lambda c: list(vectors.stored(c, MODEL, many)))] == [FIRST]
    assert list(await store.read(lambda c: vectors.kept(c, MODEL, many))) == [FIRST]


async def test_failures_wait_longer_each_time_and_what_is_gone_comes_first(store: Store) -> None:
    await fill(store, make_batch([observation_row(str(n), created_at_epoch=n) for n in (1, 2, 3)]))
    numbers = [search_index.docid(RecordKey(RecordKind.OBSERVATION, n)) for n in (1, 2, 3)]
    assert await store.read(lambda c: outbox.due(c, 0, 10)) == numbers[::-1]
    waits = []
    for _ in range(12):
        await store.write(lambda c: outbox.fail(c, [(numbers[2], "no")], 1_000))
        waits.append(await store.read(lambda c: c.execute("SELECT max(not_before) FROM py_pending").fetchone()[0]))
    assert waits == sorted(waits)
    assert waits[0] < waits[1]
    assert waits[-1] == 601_000
    assert await store.read(lambda c: outbox.due(c, 1_000, 10)) == numbers[1::-1]
    assert await store.read(lambda c: outbox.reason(c)) == "no"
    await store.write(outbox.hurry)
    assert await store.read(lambda c: outbox.due(c, 0, 10)) == numbers[1::-1]  # it failed too often
    await store.write(lambda c: outbox.hurry(c, also_hopeless=True))
    assert await store.read(lambda c: outbox.due(c, 0, 10)) == [*numbers[1::-1], numbers[2]]
    await keep(store, await seal_of(store))
    await store.write(lambda c: forget.delete(c, ONE))
    assert (await store.read(lambda c: outbox.due(c, 0, 10)))[0] == FIRST


async def test_coverage_names_every_project_with_records_of_any_kind(store: Store) -> None:
    sessions = [session_row(name, project=name) for name in ("a", "b", "c")]
    await fill(
        store,
        make_batch(
            [observation_row("one", memory_session_id="m-a", project="a")],
            sessions=sessions,
            summaries=[summary_row(memory_session_id="m-b", project="b")],
            prompts=[prompt_row(content_session_id="c-c", project="c")],
        ),
    )
    await written(store)
    await store.write(outbox.set_marks)
    found = {(each.project, each.kind): each for each in await store.read(lambda c: vectors.coverage(c, MODEL))}
    assert {place: (each.records, each.embedded, each.pending, each.watermark) for place, each in found.items()} == {
        ("a", RecordKind.OBSERVATION): (1, 1, 0, 1),
        ("b", RecordKind.SUMMARY): (1, 0, 1, 1),
        ("c", RecordKind.PROMPT): (1, 0, 1, 1),
    }


async def test_parts_that_somebody_wrote_over_name_nothing(store: Store, other: sqlite3.Connection) -> None:
    await fill(store, make_batch([observation_row("one")]))
    await keep(store, await seal_of(store), stale=("fact_7",))
    assert (await store.read(lambda c: vectors.kept(c, MODEL, [FIRST])))[FIRST].stale == ("fact_7",)
    other.execute("UPDATE py_vectors SET parts = '{', stale = '3'")
    kept = (await store.read(lambda c: vectors.kept(c, MODEL, [FIRST])))[FIRST]
    assert (kept.parts, kept.stale) == ((), ())


async def test_since_a_stamp_is_told_what_was_kept_or_lost(store: Store) -> None:
    async def shelf() -> vectors.Shelf:
        return await store.read(vectors.shelf)

    async def changed(since: vectors.Shelf, model: str = MODEL) -> list[int]:
        return await store.read(lambda c: vectors.shelf(c).changed(model, since.stamp))

    await fill(store, make_batch([observation_row(str(n), created_at_epoch=n) for n in (1, 2, 3)]))
    empty = await shelf()
    for number in (5, 9, 13):
        await written(store, number)
    all_three = await shelf()
    assert await changed(empty) == [5, 9, 13] and await changed(all_three) == []
    assert await changed(empty, "other/4/1") == []
    await written(store, 9)
    assert await changed(all_three) == [9]
    await store.write(lambda connection: forget.delete(connection, RecordKey(RecordKind.OBSERVATION, 3)))
    last = await shelf()
    assert await changed(all_three) == [9, 13] and last.stamp > all_three.stamp
    # Its row, the last one, is gone: the next number is another than it had.
    await store.write(lambda connection: vectors.remove_gone(connection, [13]))
    assert (await shelf()).stamp == last.stamp
    await written(store)
    assert await changed(last) == [5]


async def test_what_a_former_version_kept_without_a_stamp_is_no_hindrance(store: Store) -> None:
    await fill(store, make_batch([observation_row(str(n), created_at_epoch=n) for n in (1, 2)]))
    await written(store)
    before = await store.read(vectors.stamp)
    await store.write(
        lambda c: c.execute(
            "INSERT INTO py_vectors (id, docid, model, seal, size, parts) VALUES (?, 999, 'old/4/1', 1, 0, '[]')",
            (before + 5,),
        )
    )
    assert await store.read(vectors.stamp) == before + 5
    await written(store, 9)
    await written(store)
    assert await store.read(vectors.stamp) == before + 7

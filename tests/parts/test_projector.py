"""The index by meaning follows the records, whatever fails on the way."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.factories import make_batch, observation_row, prompt_row, session_row, summary_row
from tests.parts.conftest import eventually, fill
from tests.parts.index_of_dicts import Model, Shelf, ShelfIndex, assert_true, projecting, settled, waits, wanted
from tests.processes import PATIENCE_S
from worker.contract.errors import Unavailable
from worker.contract.index import IndexState, IndexStatus
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Degraded
from worker.projection.projector import Projector
from worker.projection.semantic import Serving
from worker.store import forget, outbox, search_index, vectors
from worker.store.tables import Connection, Store

NAME = "hash-a/384/1"
EPOCH = 1_772_000_000_000


def rows(count: int, word: str = "note") -> list[dict[str, Any]]:
    return [
        observation_row(
            f"{word} {n}",
            narrative=f"about {word} {n}",
            facts=f'["first {word} {n}", "second {word} {n}"]',
            created_at_epoch=EPOCH + n,
        )
        for n in range(count)
    ]


def serving(projector: Projector) -> Serving:
    found = projector.serving()
    assert isinstance(found, Serving)
    return found


async def delete(store: Store, *numbers: int) -> None:
    def work(connection: Connection) -> None:
        for number in numbers:
            forget.delete(connection, RecordKey(RecordKind.OBSERVATION, number))

    await store.write(work)


async def run(store: Store, sql: str) -> None:
    await store.write(lambda connection: connection.execute(sql))


async def test_what_is_there_and_what_comes_is_written_and_each_text_embedded_once(store: Store) -> None:
    shelf, model = Shelf(), Model()
    await fill(store, make_batch(rows(40), summaries=[summary_row()], prompts=[prompt_row()]))
    async with projecting(store, model, shelf) as projector:
        status = await settled(store, projector)
        assert (status.state, status.records, status.embedded) == (IndexState.READY, 42, 42)
        assert (status.documents, status.model, status.chroma) == (203, "hash-a", "ready")
        await assert_true(store, shelf)
        await fill(store, make_batch(rows(3, "later")))
        await settled(store, projector)
        await assert_true(store, shelf)
    assert len(model.embedded) == len(set(model.embedded))


async def test_edits_merges_and_deletes_reach_the_index(store: Store) -> None:
    shelf = Shelf()
    await fill(store, make_batch(rows(20)))
    async with projecting(store, Model(), shelf) as projector:
        await settled(store, projector)
        await run(store, "UPDATE observations SET title = 'new', facts = '[]' WHERE id % 3 = 0")
        await run(store, "UPDATE observations SET merged_into_project = 'big' WHERE id % 4 = 0")
        await delete(store, 5, 6, 7)
        await settled(store, projector)
        await assert_true(store, shelf)


async def test_projects_with_records_of_one_kind_only(store: Store) -> None:
    shelf = Shelf()
    batch = make_batch(
        sessions=[session_row(name, project=name) for name in ("asks", "sums")],
        summaries=[summary_row(memory_session_id="m-sums", project="sums")],
        prompts=[prompt_row(content_session_id="c-asks", project="asks")],
    )
    await fill(store, batch)
    async with projecting(store, Model(), shelf) as projector:
        status = await settled(store, projector)
        assert {(each.project, each.kind.value, each.embedded, each.watermark) for each in status.covered} == {
            ("asks", "prompt", 1, 1),
            ("sums", "summary", 1, 1),
        }
        await assert_true(store, shelf)


SQL = {
    "a gap in the middle": "DELETE FROM py_vectors WHERE docid BETWEEN 20 AND 60",
    "lost marks": "DELETE FROM py_watermarks",
    "marks too high": "UPDATE py_watermarks SET mark = 1000000; DELETE FROM py_vectors",
    "marks too low": "UPDATE py_watermarks SET mark = 0",
    "all tables lost": "DROP TABLE py_vectors; DROP TABLE py_pending; DROP TABLE py_watermarks",
    "changes in between": "UPDATE observations SET title = 'x' WHERE id = 3; DELETE FROM observations WHERE id = 4",
}


def _empty(shelf: Shelf) -> None:
    shelf.held().clear()


def _another(shelf: Shelf) -> None:
    shelf.collections.clear()


def _strange(shelf: Shelf) -> None:
    some = shelf.held()["obs_1_title"]
    shelf.collections[NAME] = ("strange", {"obs_1_title": some, "x": some, "obs_1_fact_9": some})


def _lacking(shelf: Shelf) -> None:
    del shelf.held()["obs_2_whole"], shelf.held()["obs_9_fact_0"]


def _too_much(shelf: Shelf) -> None:
    some = shelf.held()["obs_1_title"]
    shelf.held().update(dict.fromkeys(("obs_999_title", "obs_1_fact_77", "else"), some))


FOLDER: dict[str, Callable[[Shelf], None]] = {
    "caught up over an empty folder": _empty,
    "another folder": _another,
    "another folder with strange documents": _strange,
    "some documents lost": _lacking,
    "documents of nothing": _too_much,
}


@pytest.mark.parametrize("how", [*SQL, *FOLDER, "outbox lost"])
async def test_a_start_notices_and_mends(store: Store, how: str) -> None:
    shelf, model = Shelf(), Model()
    await fill(store, make_batch(rows(25), prompts=[prompt_row()]))
    async with projecting(store, model, shelf) as projector:
        await settled(store, projector)
    if how in FOLDER:
        FOLDER[how](shelf)
    other = sqlite3.connect(store.path, isolation_level=None)
    other.executescript(SQL.get(how, ""))
    if how == "all tables lost":
        await store.write(lambda connection: search_index.install(connection, fulltext=True))
    if how == "outbox lost":
        other.executescript(SQL["changes in between"])
    await store.write(search_index.drain)
    if how == "outbox lost":
        other.execute("DELETE FROM py_pending")
    other.close()
    async with projecting(store, model, shelf) as projector:
        status = await settled(store, projector)
        assert status.documents == len(shelf.held())
        await assert_true(store, shelf)
        assert {(each.kind.value, each.watermark) for each in status.covered} == {("observation", 25), ("prompt", 1)}


async def test_a_start_with_nothing_to_do_writes_and_embeds_nothing(store: Store) -> None:
    shelf, model = Shelf(), Model()
    await fill(store, make_batch(rows(25)))
    async with projecting(store, model, shelf) as projector:
        await settled(store, projector)
    embedded, upserts = len(model.embedded), len(shelf.upserts)
    async with projecting(store, model, shelf) as projector:
        await settled(store, projector)
        await eventually(lambda: serving(projector).index)
    assert (len(model.embedded), len(shelf.upserts)) == (embedded, upserts)


async def test_one_record_that_fails_for_ever_keeps_no_other_out(store: Store) -> None:
    shelf = Shelf()
    bad = observation_row("\N{SKULL}", created_at_epoch=EPOCH + 10)
    await fill(store, make_batch([*rows(20), bad]))
    async with projecting(store, Model(), shelf) as projector:
        await eventually(lambda: len(shelf.held()) == 100)
        status = await projector.status()
        assert (status.pending, status.failed, status.state) == (1, 1, IndexState.CATCHING_UP)
        assert "ValueError" in status.reason
        await run(store, "UPDATE observations SET title = 'well' WHERE title = '\N{SKULL}'")
        await settled(store, projector)
        await assert_true(store, shelf)


async def test_one_record_that_brings_chroma_down_keeps_no_other_out(store: Store) -> None:
    shelf = Shelf()
    shelf.deadly = {"obs_15_title"}
    await fill(store, make_batch(rows(20)))
    async with projecting(store, Model(), shelf) as projector:
        await eventually(lambda: len(shelf.held()) == 95)
        await eventually(lambda: shelf.opened > 3)
        assert (await projector.status()).pending == 0
        shelf.deadly = set()
        await projector.repair()
        await settled(store, projector)
        await assert_true(store, shelf)


async def test_a_live_record_does_not_wait_for_the_backlog(store: Store) -> None:
    shelf, model = Shelf(), Model()
    slow, live = threading.Event(), Model()

    class TwoSpeeds(Model):
        def embed(self, texts: Any, kind: Any) -> Any:
            if threading.current_thread().name == "embed-backlog":
                self.inside.set()
                slow.wait()
            return super().embed(texts, kind)

    model = TwoSpeeds()
    await fill(store, make_batch(rows(30)))
    async with projecting(store, model, shelf) as projector:
        await eventually(model.inside.is_set)
        await fill(store, make_batch([observation_row("live", created_at_epoch=EPOCH + 999)]))
        await eventually(lambda: "obs_31_title" in shelf.held())
        assert len(shelf.held()) == 2
        slow.set()
        await settled(store, projector)
        await assert_true(store, shelf)
    assert not live.embedded


async def test_the_newest_of_the_backlog_come_first(store: Store) -> None:
    shelf, model = Shelf(), Model()
    await fill(store, make_batch(rows(30)[::-1]))
    async with projecting(store, model, shelf) as projector:
        await settled(store, projector)
    titles = [int(text.split()[1]) for text in model.embedded if text.startswith("note ") and "\n" not in text]
    assert {*titles[:16]} == {*range(14, 30)}  # two batches are under way side by side


async def test_more_changes_than_are_live_are_a_backlog(store: Store) -> None:
    shelf = Shelf()
    async with projecting(store, Model(), shelf) as projector:
        await settled(store, projector)
        await fill(store, make_batch(rows(300)))
        await settled(store, projector)
        await assert_true(store, shelf)


async def test_pause_holds_over_a_restart(store: Store) -> None:
    shelf = Shelf()
    async with projecting(store, Model(), shelf) as projector:
        await settled(store, projector)
        await projector.pause()
        await fill(store, make_batch(rows(5)))
        assert (await projector.status()).state is IndexState.PAUSED
    async with projecting(store, Model(), shelf) as projector:

        async def paused() -> bool:
            return (await projector.status()).state is IndexState.PAUSED

        await eventually(paused)
        await fill(store, make_batch(rows(2, "more")))
        assert (await projector.status()).pending == 7
        assert shelf.held() == {}
        await projector.resume()
        await settled(store, projector)
        await assert_true(store, shelf)


async def test_an_index_that_fails_for_a_while(store: Store) -> None:
    shelf, model = Shelf(), Model()
    await fill(store, make_batch(rows(10)))
    async with projecting(store, model, shelf) as projector:
        await settled(store, projector)
        shelf.down = "the disk is full"
        await fill(store, make_batch(rows(10, "more")))
        await run(store, "UPDATE observations SET facts = '[]' WHERE id = 1")
        await delete(store, 2)
        await eventually(lambda: serving(projector).index is None)

        async def kept() -> bool:
            return (await projector.status()).pending == 0

        await eventually(kept)
        status = await projector.status()
        assert (status.state, status.documents) == (IndexState.READY, None)
        assert status.chroma == "the disk is full"
        embedded = len(model.embedded)
        shelf.down = ""
        await settled(store, projector)
        await eventually(lambda: serving(projector).index)
        await assert_true(store, shelf)
        assert len(model.embedded) == embedded


async def test_an_index_that_comes_late_is_filled_without_embedding(store: Store) -> None:
    shelf, model = Shelf(), Model()
    shelf.down = "not yet"
    await fill(store, make_batch(rows(60)))
    async with projecting(store, model, shelf) as projector:
        await eventually(lambda: len(model.embedded) == 300)
        assert serving(projector).index is None
        shelf.down = ""
        await settled(store, projector)
        await assert_true(store, shelf)
    assert len(model.embedded) == 300


async def test_a_model_that_comes_late(store: Store) -> None:
    shelf, model, there = Shelf(), Model(), threading.Event()

    def open_model() -> Model:
        if not there.is_set():
            raise Unavailable("no file of the model")
        return model

    await fill(store, make_batch(rows(3)))
    async with projecting(store, open_model, shelf) as projector:
        assert projector.serving() is Degraded.INDEX_STARTING

        async def failed() -> bool:
            return (await projector.status()).state is IndexState.FAILED

        await eventually(failed)
        status = await projector.status()
        assert (status.reason, status.pending) == ("no file of the model", 3)
        assert projector.serving() is Degraded.INDEX_FAILED
        with pytest.raises(Unavailable, match="no file of the model"):
            await projector.verify()
        there.set()
        await settled(store, projector)
        await assert_true(store, shelf)


async def test_a_model_that_is_away_for_a_while(store: Store) -> None:
    shelf, model = Shelf(), Model()
    async with projecting(store, model, shelf) as projector:
        await settled(store, projector)
        model.down = "the server is away"
        await fill(store, make_batch(rows(20)))

        async def failed() -> bool:
            return (await projector.status()).state is IndexState.FAILED

        await eventually(failed)
        assert (await projector.status()).reason == "the server is away"
        model.down = ""
        assert (await settled(store, projector)).state is IndexState.READY
        await assert_true(store, shelf)


async def test_where_chroma_is_off_nothing_waits_for_it_and_a_later_one_is_believed_nothing(store: Store) -> None:
    shelf, model = Shelf(), Model()
    await fill(store, make_batch(rows(10)))
    async with projecting(store, model, shelf) as projector:
        await settled(store, projector)
    await delete(store, 1)
    async with projecting(store, model, None) as projector:
        status = await settled(store, projector)
        assert (status.chroma, serving(projector).index) == ("off", None)
        await delete(store, 2)
        await fill(store, make_batch(rows(2, "more")))
        await settled(store, projector)
    assert "obs_1_title" in shelf.held()
    async with projecting(store, model, shelf) as projector:
        await settled(store, projector)
        await eventually(lambda: serving(projector).index)
        await assert_true(store, shelf)


@pytest.mark.parametrize("revived", [True, False])
async def test_another_model_takes_over_when_all_is_there(store: Store, revived: bool) -> None:
    shelf, old, new = Shelf(), Model("hash-a"), Model("hash-b")
    await fill(store, make_batch(rows(20)))
    async with projecting(store, old, shelf) as projector:
        await settled(store, projector)
    new.gate.clear()
    former = {"open_former": lambda name: old} if revived else {}
    async with projecting(store, new, shelf, **former) as projector:
        await eventually(new.inside.is_set)
        if revived:
            await eventually(lambda: serving(projector).index)
        assert serving(projector).model == (NAME if revived else "hash-b/384/1")
        assert (await projector.status()).serving == ("hash-a" if revived else "")
        assert {*shelf.collections} >= {NAME}
        await run(store, "UPDATE observations SET title = 'changed' WHERE id = 3")
        await delete(store, 4)
        new.gate.set()
        await settled(store, projector)
        await eventually(lambda: {*shelf.collections} == {"hash-b/384/1"})
        await assert_true(store, shelf)
        assert serving(projector).model == "hash-b/384/1"

        async def alone() -> bool:
            return await store.read(lambda c: {row[0] for row in c.execute("SELECT model FROM py_vectors")}) == {
                "hash-b/384/1"
            }

        await eventually(alone)
    new.embedded.clear()
    async with projecting(store, new, shelf) as projector:
        assert (await settled(store, projector)).serving == ""
    assert new.embedded == []


async def test_a_model_changed_there_and_back_again(store: Store) -> None:
    shelf, old, new = Shelf(), Model("hash-a"), Model("hash-b")
    await fill(store, make_batch(rows(20)))
    async with projecting(store, old, shelf) as projector:
        await settled(store, projector)
    old.embedded.clear()
    new.gate.clear()
    async with projecting(store, new, shelf, open_former=lambda name: old) as projector:
        await eventually(new.inside.is_set)
        await run(store, "UPDATE observations SET title = 'changed' WHERE id = 3")
        new.gate.set()
    async with projecting(store, old, shelf, open_former=lambda name: new) as projector:
        await settled(store, projector)
        assert serving(projector).model == NAME
        await assert_true(store, shelf, NAME)
    assert [text for text in old.embedded if "\n" not in text] == ["changed"]


async def test_verify_tells_and_repair_mends(store: Store) -> None:
    shelf, model = Shelf(), Model()
    await fill(store, make_batch(rows(30), prompts=[prompt_row()]))
    async with projecting(store, model, shelf) as projector:
        await settled(store, projector)
        faults = await projector.verify()
        assert (faults.checked, faults.missing, faults.orphans, faults.stale, faults.examples) == (31, 0, 0, 0, ())
        held = shelf.held()
        held["obs_77_title"] = held["not ours"] = held["obs_1_title"]
        del held["obs_2_whole"], held["obs_2_title"], held["prompt_1"]

        def spoil(connection: Connection) -> None:
            connection.execute("UPDATE py_vectors SET seal = 1 WHERE docid = ?", (4 * 9 + 1,))
            connection.execute("UPDATE py_vectors SET vectors = x'0000' WHERE docid = ?", (4 * 10 + 1,))

        await store.write(spoil)
        faults = await projector.verify()
        assert (faults.missing, faults.orphans, faults.stale, faults.repaired) == (3, 2, 2, False)
        assert {"obs_2_whole", "prompt_1", "obs_77_title", "not ours", "obs_9_whole", "obs_10_whole"} == {
            *faults.examples
        }
        assert await projector.verify() == faults
        assert (await projector.repair()).repaired
        await settled(store, projector)
        await assert_true(store, shelf)
        assert (await projector.verify()).examples == ()


class Listing:
    """Stands in the way of whoever lists what an index holds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.goes_on = threading.Event(), threading.Event()
        listed = ShelfIndex.ids

        def ids(index: ShelfIndex) -> Any:
            self.begun.set()
            self.goes_on.wait()
            yield from listed(index)

        monkeypatch.setattr(ShelfIndex, "ids", ids)


@pytest.mark.parametrize("repairs", [False, True])
async def test_embedding_goes_on_while_chroma_is_compared(
    store: Store, monkeypatch: pytest.MonkeyPatch, repairs: bool
) -> None:
    shelf, listing = Shelf(), Listing(monkeypatch)
    await fill(store, make_batch(rows(10)))
    async with projecting(store, Model(), shelf) as projector:
        await settled(store, projector)
        comparing = asyncio.create_task(projector.repair() if repairs else projector.verify())
        await eventually(listing.begun.is_set)
        shelf.held()["obs_11_title"] = shelf.held()["obs_1_title"]  # of no record when it is looked for
        await fill(store, make_batch(rows(20, "more")))
        await run(store, "UPDATE observations SET title = 'new', facts = '[]' WHERE id = 3")
        await delete(store, 4)

        async def embedded() -> bool:
            status = await projector.status()
            return (status.pending, status.embedded) == (0, 29)

        await eventually(embedded)
        assert not comparing.done()
        assert len(shelf.held()) == 51, "what is compared is not written to"
        listing.goes_on.set()
        faults = await comparing
        assert (faults.checked, faults.waiting, faults.chroma) == (8, 21, "")
        assert (faults.missing, faults.stale) == (0, 0)
        await settled(store, projector)
        await assert_true(store, shelf)
        faults = await projector.verify()
        assert (faults.checked, faults.waiting, faults.examples) == (29, 0, ())


async def test_a_chroma_that_does_not_answer_is_not_waited_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.projection.mending._ANSWER_S", 0.2)
    shelf, listing = Shelf(), Listing(monkeypatch)
    await fill(store, make_batch(rows(10)))
    async with projecting(store, Model(), shelf) as projector:
        await settled(store, projector)
        for compare in (projector.verify, projector.repair, projector.verify):
            assert (await compare()).chroma == "it did not answer in 0.2 s"
        await fill(store, make_batch(rows(20, "more")))

        async def embedded() -> bool:
            return (await projector.status()).embedded == 30

        await eventually(embedded)
        listing.goes_on.set()
        await settled(store, projector)
        await assert_true(store, shelf)
        monkeypatch.setattr("worker.projection.mending._ANSWER_S", PATIENCE_S)
        assert (await projector.verify()).chroma == ""


async def test_a_write_that_hangs_is_not_waited_for_by_a_comparison(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.projection.mending._ANSWER_S", 0.2)
    shelf = Shelf()
    async with projecting(store, Model(), shelf) as projector:
        await settled(store, projector)
        shelf.gate.clear()
        await fill(store, make_batch(rows(3)))

        async def stored() -> bool:
            return (await waits(store))[2] == 3

        await eventually(stored)
        faults = await projector.verify()
        assert (faults.chroma, faults.checked, faults.waiting) == ("it did not answer in 0.2 s", 0, 3)
        shelf.gate.set()
        await settled(store, projector)
        await assert_true(store, shelf)


async def test_new_records_do_not_wait_for_a_write_that_hangs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.projection.projector._LIVE_INDEX_S", 0.1)
    shelf = Shelf()
    async with projecting(store, Model(), shelf) as projector:
        await settled(store, projector)
        shelf.gate.clear()
        for number in range(1, 7):
            await fill(store, make_batch(rows(1, f"new {number}")))

            async def embedded(wanted: int = number) -> bool:
                return await store.read(lambda connection: vectors.counts(connection, NAME)) == (wanted, wanted)

            await eventually(embedded)
        await run(store, "UPDATE observations SET title = 'newer' WHERE id = 1")
        await delete(store, 2)
        shelf.gate.set()
        await settled(store, projector)
        await assert_true(store, shelf)


async def test_a_comparison_tells_what_it_did_not_compare(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, model = Shelf(), Model()
    shelf.down = "vectors is a file"
    await fill(store, make_batch(rows(30)))
    async with projecting(store, model, shelf) as projector:

        async def embedded() -> bool:
            return (await projector.status()).embedded == 30

        await eventually(embedded)
        await eventually(lambda: projector._keeper is not None and projector._keeper.told == shelf.down)
        for faults in (await projector.verify(), await projector.repair()):
            assert (faults.chroma, faults.checked, faults.waiting) == ("vectors is a file", 0, 30)
        shelf.down = ""
        await settled(store, projector)
        faults = await projector.verify()
        assert (faults.chroma, faults.checked, faults.waiting) == ("", 30, 0)

        def fails(index: ShelfIndex) -> Any:
            raise Unavailable("it went away")

        with monkeypatch.context() as patched:
            patched.setattr(ShelfIndex, "ids", fails)
            opened = shelf.opened
            assert (await projector.verify()).chroma == "it went away"
        await settled(store, projector)
        assert shelf.opened == opened + 1, "what failed is opened anew"
        model.gate.clear()
        await projector.rebuild(reembed=True)
        faults = await projector.verify()
        assert (faults.checked, faults.waiting) == (0, 30)
        model.gate.set()
        await settled(store, projector)


async def test_where_there_is_to_be_no_chroma_nothing_is_said_to_be_left_out(store: Store) -> None:
    await fill(store, make_batch(rows(3)))
    async with projecting(store, Model(), None) as projector:
        await settled(store, projector)
        faults = await projector.verify()
        assert (faults.chroma, faults.checked, faults.waiting) == ("", 3, 0)


async def test_before_the_model_is_loaded_what_waits_is_counted(store: Store) -> None:
    shelf, loading = Shelf(), threading.Event()

    def open_model() -> Model:
        loading.wait()
        return Model()

    await fill(store, make_batch(rows(3)))
    async with projecting(store, open_model, shelf) as projector:
        status = await projector.status()
        assert (status.state, status.pending, status.records) == (IndexState.STARTING, 3, 3)
        loading.set()
        await settled(store, projector)


@pytest.mark.parametrize("model_loads", [False, True])
async def test_a_store_that_takes_nothing_is_told_at_once(store: Store, model_loads: bool) -> None:
    shelf, loading = Shelf(), threading.Event()

    def open_model() -> Model:
        loading.wait()
        return Model()

    async def failed() -> bool:
        return (await projector.status()).state is IndexState.FAILED

    if model_loads:
        loading.set()
    await fill(store, make_batch(rows(3)))
    await run(store, "PRAGMA query_only = 1")
    async with projecting(store, open_model, shelf) as projector:
        await eventually(failed)
        status = await projector.status()
        assert "can only be read" in status.reason and status.pending == 3
        assert projector.serving() is Degraded.INDEX_FAILED
        loading.set()
        database = store._database
        await asyncio.get_running_loop().run_in_executor(
            database._writing, lambda: database._writer.execute("PRAGMA query_only = 0").close()
        )
        assert (await settled(store, projector)).reason == ""
        assert serving(projector).model == NAME


async def test_a_disk_that_is_full_for_the_vectors_is_told(store: Store) -> None:
    shelf, model = Shelf(), Model()
    async with projecting(store, model, shelf) as projector:
        await settled(store, projector)
        await fill(store, make_batch(rows(2)))
        await settled(store, projector)
        model.gate.clear()
        await fill(store, make_batch(rows(60, "long " * 40)))
        await run(store, "PRAGMA max_page_count = 1")
        model.gate.set()

        async def failed() -> bool:
            return (await projector.status()).state is IndexState.FAILED

        await eventually(failed)
        assert "is full" in (await projector.status()).reason
        assert serving(projector).model == NAME, "what was kept before still answers"
        await run(store, "PRAGMA max_page_count = 100000")
        assert (await settled(store, projector)).reason == ""
        await assert_true(store, shelf)


async def test_a_paused_index_has_no_speed(store: Store) -> None:
    class Stopping(Model):
        def embed(self, texts: Any, kind: Any) -> Any:
            found = super().embed(texts, kind)
            if len(self.embedded) > 100 and not stopped.is_set():
                stopped.set()
                self.gate.clear()
            return found

    stopped = threading.Event()

    model = Stopping()
    await fill(store, make_batch(rows(100)))
    async with projecting(store, model, Shelf()) as projector:

        async def goes() -> bool:
            return (await projector.status()).left_s is not None

        await eventually(goes)
        await projector.pause()
        status = await projector.status()
        assert (status.state, status.rate_per_s, status.left_s) == (IndexState.PAUSED, 0.0, None)
        assert status.pending
        stopped.set()  # should it not have come so far yet, it does not stop there any more
        model.gate.set()
        await projector.resume()
        await settled(store, projector)


async def test_rebuild_fills_an_empty_folder_without_embedding(store: Store) -> None:
    shelf, model = Shelf(), Model()
    await fill(store, make_batch(rows(30)))
    async with projecting(store, model, shelf) as projector:
        await settled(store, projector)
        generation, embedded = shelf.collections[NAME][0], len(model.embedded)
        await projector.rebuild()
        await eventually(lambda: NAME in shelf.collections and shelf.collections[NAME][0] != generation)
        await settled(store, projector)
        await assert_true(store, shelf)
        assert len(model.embedded) == embedded
        await projector.rebuild(reembed=True)
        await settled(store, projector)
        await eventually(lambda: len(shelf.held()) == 150)
        await assert_true(store, shelf)
        assert len(model.embedded) == 2 * embedded


async def test_a_folder_that_lacks_much_is_not_asked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.projection.projector._MOST_LAG", 10)
    shelf, model = Shelf(), Model()
    await fill(store, make_batch(rows(200)))
    async with projecting(store, model, shelf) as projector:
        await settled(store, projector)
        shelf.gate.clear()
        shelf.held().clear()
        shelf.collections.clear()
        shelf.gate.set()
    seen: set[bool] = set()

    class Watched(Shelf):
        pass

    async with projecting(store, model, shelf) as projector:

        async def full() -> bool:
            found = projector.serving()
            if isinstance(found, Serving) and found.index is not None:
                seen.add(len(shelf.held()) >= 950)
            return (await waits(store)) == (0, 0, 0) and len(shelf.held()) == 1_000

        await eventually(full)
        await eventually(lambda: serving(projector).index)
    assert False not in seen


async def test_the_backlog_makes_way_for_questions_and_goes_on_under_steady_ones(store: Store) -> None:
    shelf = Shelf()
    await fill(store, make_batch(rows(12)))
    async with projecting(store, Model(), shelf) as projector:
        asking = asyncio.Event()

        async def ask() -> None:
            while not asking.is_set():
                projector.busy()
                await asyncio.sleep(0.02)

        task = asyncio.create_task(ask())
        await settled(store, projector)
        asking.set()
        await task
        await assert_true(store, shelf)


async def test_progress_is_reported(store: Store) -> None:
    told: list[IndexStatus] = []
    await fill(store, make_batch(rows(30)))
    async with projecting(store, Model(), Shelf(), report=told.append) as projector:
        await settled(store, projector)
        await eventually(lambda: told and told[-1].state is IndexState.READY and not told[-1].pending)
        for _ in range(2):  # as each look whether there is something to do does
            projector._moved.set()
            await eventually(lambda: not projector._moved.is_set())
            await asyncio.sleep(0.1)
    assert all(status.covered == () for status in told)
    assert all(before != after for before, after in pairwise(told))


@pytest.mark.parametrize("where", ["model", "index", "opening"])
async def test_closing_does_not_wait_for_what_hangs(store: Store, where: str) -> None:
    shelf, model = Shelf(), Model()
    opening = threading.Event()

    def open_model() -> Model:
        if where == "opening":
            model.inside.set()
            opening.wait()
        return model

    held = {"model": model.gate, "index": shelf.gate, "opening": opening}[where]
    held.clear()
    await fill(store, make_batch(rows(20)))
    projector = Projector(store, open_model, shelf.open)
    running = asyncio.create_task(projector.run())
    if where == "index":
        await eventually(lambda: store.read(lambda c: outbox.counts(c)[0] < 20))
    else:
        await eventually(model.inside.is_set)
    async with asyncio.timeout(PATIENCE_S):
        await projector.close()
    assert running.done()
    held.set()
    async with projecting(store, model, shelf) as again:
        await settled(store, again)
        await assert_true(store, shelf)


async def test_one_task_runs_it_and_closes_it(store: Store) -> None:
    shelf = Shelf()
    projector = Projector(store, Model, shelf.open)

    async def work() -> None:
        try:
            await projector.run()
        finally:
            await projector.close()

    await fill(store, make_batch(rows(5)))
    task = asyncio.create_task(work())
    await settled(store, projector)
    threads = {thread.name for thread in threading.enumerate()}
    assert {"embed-live", "embed-backlog", "write-index"} <= threads
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert shelf.closed == shelf.opened
    await eventually(lambda: not {"embed-live", "embed-backlog"} & {each.name for each in threading.enumerate()})


async def test_rows_deleted_behind_a_stopped_worker_are_gone_after_the_next_start(store: Store) -> None:
    shelf = Shelf()
    await fill(store, make_batch(rows(10)))
    async with projecting(store, Model(), shelf) as projector:
        await settled(store, projector)
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("DELETE FROM observations WHERE id < 5")
    other.close()
    await store.write(search_index.drain)
    assert await store.read(lambda c: list(vectors.stored(c, NAME, [4 * n + 1 for n in range(1, 5)]))) == []
    async with projecting(store, Model(), shelf) as projector:
        await settled(store, projector)
        await assert_true(store, shelf)
        assert len(await wanted(store)) == 30

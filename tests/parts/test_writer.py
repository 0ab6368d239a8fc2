"""One way into the index: rows are read when their turn comes, nothing stale is written, one failure stops no other."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.factories import make_batch, observation_row, prompt_row, summary_row
from tests.parts.conftest import eventually, fill
from tests.parts.index_of_dicts import Model, ReadingModel, Shelf, ShelfIndex, assert_true, waits
from worker.contract.records import RecordKey, RecordKind
from worker.projection import late
from worker.projection import writer as writing
from worker.projection.embed import Vector
from worker.projection.hashing import Hashing
from worker.projection.index import Fragment, Match, VectorIndex
from worker.projection.opening import open_local
from worker.projection.thread import OwnThread
from worker.projection.writer import Writer, Written
from worker.store import forget, outbox, search_index, vectors
from worker.store.tables import Connection, Store

NOW = 1_000.0
NAME = "hash-a/384/1"


class Bench:
    """A writer with its threads, model and index; ``write`` is called as the projector calls it."""

    def __init__(self, store: Store) -> None:
        self.store, self.shelf, self.model = store, Shelf(), Model()
        self.name = writing.Model(NAME, self.model)
        self.shelf.open(self.name.name, 384)
        self.index: VectorIndex | None = ShelfIndex(self.shelf, self.name.name)
        self.now = NOW
        self.threads = [OwnThread("embed"), OwnThread("index")]
        self.writer = Writer(store, self.threads[1], clock=lambda: self.now)

    def take(self, model: Model, name: str = NAME) -> None:
        """Another model from now on."""
        self.model = model
        self.name = writing.Model(name, model)

    async def write(self, *numbers: int, projects: bool = True) -> Written:
        return await self.writer.write(
            numbers or await self.due(), self.name, self.threads[0], self.index, projects=projects
        )

    async def due(self) -> list[int]:
        def work(connection: Connection) -> list[int]:
            now_ms = int(self.now * 1000)
            return [number for stored in (False, True) for number in outbox.due(connection, now_ms, 999, stored=stored)]

        return await self.store.read(work)


@pytest.fixture
async def bench(store: Store) -> AsyncIterator[Bench]:
    await store.write(lambda connection: outbox.write_note(connection, outbox.MODEL, NAME))
    bench = Bench(store)
    yield bench
    bench.shelf.gate.set()
    bench.model.gate.set()
    for thread in bench.threads:
        assert await thread.close(5)


def docid(number: int, kind: RecordKind = RecordKind.OBSERVATION) -> int:
    return search_index.docid(RecordKey(kind, number))


def edit(number: int = 1, **columns: object) -> Callable[[Connection], object]:
    names = ", ".join(f"{name} = ?" for name in columns)

    def work(connection: Connection) -> object:
        return connection.execute(f"UPDATE observations SET {names} WHERE id = ?", (*columns.values(), number))

    return work


def delete(number: int = 1) -> Callable[[Connection], None]:
    return lambda connection: forget.delete(connection, RecordKey(RecordKind.OBSERVATION, number))


FACTS = json.dumps([f"fact number {n}" for n in range(5)])


async def test_records_of_all_kinds_are_written_and_wait_no_more(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row(facts=FACTS)], summaries=[summary_row()], prompts=[prompt_row()]))
    assert (await bench.write()).done == 3
    await assert_true(store, bench.shelf)
    assert await waits(store) == (0, 0, 0)


async def test_an_edit_embeds_only_what_it_changed(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row("one", narrative="same", facts=FACTS)]))
    await bench.write()
    bench.model.embedded.clear()
    await store.write(edit(facts=json.dumps(["fact number 0", "another"])))
    await bench.write()
    await assert_true(store, bench.shelf)
    assert [text for text in bench.model.embedded if "\n" not in text] == ["another"]


async def test_a_change_of_metadata_embeds_nothing_and_reaches_every_document(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row("one", facts=FACTS)]))
    await bench.write()
    bench.model.embedded.clear()
    await store.write(edit(merged_into_project="big", project="other"))
    await bench.write()
    await assert_true(store, bench.shelf)
    assert {told["merged_into_project"] for _, told in bench.shelf.held().values()} == {"big"}
    assert bench.model.embedded == []


async def test_a_record_that_shrank_leaves_nothing_behind(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row("one", narrative="long", facts=FACTS)]))
    await bench.write()
    await store.write(edit(facts="[]", narrative=""))
    await bench.write()
    assert sorted(bench.shelf.held()) == ["obs_1_title", "obs_1_whole"]


async def test_a_deleted_record_leaves_nothing_behind(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row("one", facts=FACTS), observation_row("two", created_at_epoch=2)]))
    await bench.write()
    await store.write(delete())
    await bench.write()
    await assert_true(store, bench.shelf)
    assert await store.read(lambda c: c.execute("SELECT count(*) FROM py_vectors").fetchone()[0]) == 1
    assert await waits(store) == (0, 0, 0)


async def test_a_record_that_was_never_there_and_one_named_twice(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row("one")]))
    assert (await bench.write(docid(1), docid(1), docid(77), docid(1))).done == 1
    assert len(bench.shelf.upserts) == 1
    await assert_true(store, bench.shelf)


async def test_what_does_not_wait_is_not_written_again(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row("one")]))
    await bench.write()
    assert (await bench.write(docid(1))).done == 0
    assert len(bench.shelf.upserts) == 1


@pytest.mark.parametrize("gate", ["while it is embedded", "while it is written"])
@pytest.mark.parametrize("change", ["edit", "delete", "edit and back", "delete and come again"])
async def test_what_changes_under_way_ends_as_it_is(store: Store, bench: Bench, gate: str, change: str) -> None:
    await fill(store, make_batch([observation_row("before", facts=FACTS), observation_row("two", created_at_epoch=2)]))
    held = bench.model.gate if gate == "while it is embedded" else bench.shelf.gate
    held.clear()
    first = asyncio.create_task(bench.write())
    if gate == "while it is embedded":
        await eventually(bench.model.inside.is_set)
    else:
        await eventually(lambda: store.read(lambda c: outbox.counts(c)[2] == 2))
    if change.startswith("edit"):
        await store.write(edit(title="after", facts='["fact number 0"]'))
    else:
        await store.write(delete())
    second = asyncio.create_task(bench.write(docid(1)))
    if change == "edit and back":
        await store.write(edit(title="before", facts=FACTS))
    elif change == "delete and come again":
        await fill(store, make_batch([observation_row("new", id=1)]))
    held.set()
    await asyncio.gather(first, second)
    while await bench.due():
        await bench.write()
    await assert_true(store, bench.shelf)
    assert await waits(store) == (0, 0, 0)


async def test_a_stale_snapshot_is_never_stored(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row("before")]))
    bench.model.gate.clear()
    task = asyncio.create_task(bench.write())
    await eventually(bench.model.inside.is_set)
    await store.write(edit(title="after"))
    bench.model.gate.set()
    await task
    assert await store.read(lambda c: vectors.kept(c, bench.name.name, [docid(1)])) == {}
    assert bench.shelf.upserts == []


async def test_one_text_that_cannot_be_embedded_keeps_no_other_out(store: Store, bench: Bench) -> None:
    rows = [observation_row(f"n {n}", created_at_epoch=n) for n in range(1, 8)]
    await fill(store, make_batch([*rows, observation_row("\N{SKULL}", created_at_epoch=99)]))
    written = await bench.write()
    assert (written.done, written.embedder_trouble) == (7, "")
    assert len(bench.shelf.held()) == 14
    assert (await waits(store))[:2] == (1, 1)
    assert await store.read(outbox.reason) == "ValueError while it was written"


async def test_one_document_that_chroma_refuses_changes_no_count_over_twenty_rounds(store: Store, bench: Bench) -> None:
    rows = [observation_row(f"n {n}", created_at_epoch=n) for n in range(1, 51)]
    await fill(store, make_batch(rows))
    bench.shelf.poison = {"obs_7_whole"}
    counts = set()
    for _ in range(20):
        await bench.write()
        counts.add(len(bench.shelf.held()))
        bench.now += 3_600
    assert counts == {98}
    assert bench.model.embedded.count("n 7") == 1  # kept from the first round on
    assert await waits(store) == (0, 0, 1)
    bench.shelf.poison = set()
    await bench.write()
    await assert_true(store, bench.shelf)


class Refusing:
    """An index that takes nothing of what it is given together with one document."""

    def __init__(self, index: VectorIndex, refused: str) -> None:
        self._index, self._refused = index, refused
        self.generation = index.generation
        self.refusals = 0

    def upsert(self, fragments: Sequence[Fragment]) -> None:
        if any(fragment.id == self._refused for fragment in fragments):
            self.refusals += 1
            raise ValueError("this document cannot be taken")
        self._index.upsert(fragments)

    def delete(self, ids: Sequence[str]) -> None:
        self._index.delete(ids)

    def nearest(self, vector: Vector, count: int) -> list[Match]:
        return self._index.nearest(vector, count)

    def ids(self) -> Iterator[Sequence[str]]:
        return self._index.ids()

    def count(self) -> int:
        return self._index.count()

    def close(self) -> None:
        self._index.close()


async def test_one_of_a_hundred_that_fails_for_good_lets_no_folder_grow(
    store: Store, bench: Bench, tmp_path: Path
) -> None:
    """R050. The refused one is in the second batch; the first has been written by then."""
    await fill(store, make_batch([observation_row(f"n {n}", created_at_epoch=n) for n in range(1, 101)]))
    index = open_local(tmp_path / "vectors", NAME, 384)
    bench.index = refusing = Refusing(index, "obs_70_title")
    counts: list[int] = []
    sizes: list[int] = []
    try:
        for _ in range(20):
            await bench.write()
            counts.append(index.count())
            sizes.append(sum(file.stat().st_size for file in (tmp_path / "vectors").rglob("*") if file.is_file()))
            bench.now += 3_600
        assert refusing.refusals == 21  # once with all others, then alone
        assert set(counts) == {198} and len(set(sizes)) == 1, (counts, sizes)
        bench.index = index
        await bench.write()
        assert index.count() == 200
    finally:
        index.close()


async def test_no_word_of_a_record_is_in_a_file_of_chroma(store: Store, bench: Bench, tmp_path: Path) -> None:
    """It keeps for long what was deleted."""
    lists = {name: json.dumps([f"marker {name}"]) for name in ("facts", "concepts", "files_read", "files_modified")}
    row = observation_row(
        "marker title", subtitle="marker subtitle", narrative="marker narrative", text="marker", **lists
    )
    await fill(store, make_batch([row], summaries=[summary_row("marker")], prompts=[prompt_row("marker")]))
    bench.index = index = open_local(tmp_path / "vectors", NAME, 384)
    try:
        await bench.write()
        assert index.count() == 8
    finally:
        index.close()
    held = [file.read_bytes() for file in (tmp_path / "vectors").rglob("*") if file.is_file()]
    assert any(b"obs_1_title" in content for content in held)
    assert not any(b"marker" in content for content in held)


async def test_a_model_that_is_down_is_told_of_and_not_asked_for_every_record(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row(f"n {n}", created_at_epoch=n) for n in range(1, 9)]))
    bench.model.down = "the server is away"
    asked = 0
    embed = bench.model.embed

    def counting(*args: object) -> object:
        nonlocal asked
        asked += 1
        return embed(*args)  # type: ignore[arg-type]

    bench.model.embed = counting  # type: ignore[method-assign, assignment]
    assert (await bench.write()).embedder_trouble == "the server is away"
    assert asked == 3
    assert (await waits(store))[:2] == (8, 8)


async def test_without_chroma_vectors_are_kept_and_are_written_there_later_without_embedding(
    store: Store, bench: Bench
) -> None:
    await fill(store, make_batch([observation_row("one", facts=FACTS), observation_row("two", created_at_epoch=2)]))
    index, bench.index = bench.index, None
    await bench.write()
    assert await waits(store) == (0, 0, 2)
    assert len(await store.read(lambda c: list(vectors.stored(c, bench.name.name, [docid(1), docid(2)])))) == 2
    await store.write(edit(facts='["fact number 0"]'))
    await bench.write()
    await store.write(delete(2))
    await bench.write()
    assert await waits(store) == (0, 0, 2)
    embedded = len(bench.model.embedded)
    bench.index = index
    await bench.write()
    await assert_true(store, bench.shelf)
    assert (await waits(store), len(bench.model.embedded)) == ((0, 0, 0), embedded)


async def test_deleted_while_chroma_is_away_after_it_was_written_there(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row("one", facts=FACTS)]))
    await bench.write()
    index, bench.index = bench.index, None
    await store.write(edit(facts="[]"))
    await bench.write()
    await store.write(delete())
    await bench.write()
    assert len(bench.shelf.held()) == 7
    bench.index = index
    await bench.write()
    assert (bench.shelf.held(), await waits(store)) == ({}, (0, 0, 0))


async def test_where_there_is_to_be_no_chroma_nothing_waits_for_it(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row("one"), observation_row("two", created_at_epoch=2)]))
    bench.index = None
    assert (await bench.write(projects=False)).done == 2
    await store.write(delete())
    await bench.write(projects=False)
    assert await waits(store) == (0, 0, 0)
    assert await store.read(lambda c: c.execute("SELECT count(*) FROM py_vectors").fetchone()[0]) == 1


async def test_a_record_with_nothing_to_say_is_done(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row("")]))
    assert (await bench.write()).done == 1
    assert (bench.shelf.held(), await waits(store)) == ({}, (0, 0, 0))


async def test_cjk_emoji_and_ten_megabytes(store: Store, bench: Bench) -> None:
    await fill(
        store,
        make_batch(
            [
                *(observation_row(f"修正令牌过期 {n} 🎉", created_at_epoch=n) for n in range(1, 16)),
                observation_row("big", narrative="語🎉" + "x" * 10_000_000, facts=json.dumps(["x " * 9_000] * 500)),
            ]
        ),
    )
    assert (await bench.write()).done == 16
    await assert_true(store, bench.shelf)
    assert len(bench.shelf.held()) == 15 * 2 + 103
    assert max(map(len, bench.shelf.upserts)) == 100


@pytest.mark.parametrize("parts", ["parts", "'[[1'"])
async def test_damaged_vectors_are_made_anew(store: Store, bench: Bench, other: sqlite3.Connection, parts: str) -> None:
    await fill(store, make_batch([observation_row("one", facts=FACTS)]))
    await bench.write()
    other.execute(f"UPDATE py_vectors SET vectors = x'00', parts = {parts}")
    await store.write(lambda connection: outbox.queue(connection, [docid(1)]))
    await bench.write()
    await assert_true(store, bench.shelf)
    assert await store.read(lambda c: vectors.damaged(c, bench.name.name, 384)) == []


async def test_a_row_that_another_program_deletes_under_us(
    store: Store, bench: Bench, other: sqlite3.Connection
) -> None:
    await fill(store, make_batch([observation_row("one", facts=FACTS)]))
    await bench.write()
    other.execute("UPDATE observations SET title = 'x'")
    await store.write(search_index.drain)
    other.execute("DELETE FROM observations")
    await bench.write()  # the index by words has not noticed yet
    await store.write(search_index.drain)
    await bench.write()
    assert (bench.shelf.held(), await waits(store)) == ({}, (0, 0, 0))


@pytest.fixture
def reader(bench: Bench) -> ReadingModel:
    """The bench's model, one that tells its tokens."""
    model = ReadingModel()
    bench.take(model)
    return model


async def tokens(store: Store, name: str = NAME) -> dict[int, bytes]:
    numbers = [docid(number, kind) for number in (1, 2) for kind in RecordKind]
    return await store.read(lambda connection: vectors.tokens(connection, name, numbers))


def signs(*words: str) -> bytes:
    return late.packed(Hashing().embed(words, "document"))


async def test_the_telling_tokens_of_every_whole_are_kept_and_no_text_is_run_twice(
    store: Store, bench: Bench, reader: ReadingModel
) -> None:
    facts = ["the cache is stale", "tokens"]
    await fill(
        store,
        make_batch(
            [
                observation_row("one title", narrative="", facts=json.dumps(facts)),
                observation_row("alone", created_at_epoch=2),
            ],
            prompts=[prompt_row("please look at the footer")],
        ),
    )
    assert (await bench.write()).done == 3
    assert await tokens(store) == {
        docid(1): signs("one", "title", "cache", "stale", "tokens"),
        docid(2): signs("alone"),
        docid(1, RecordKind.PROMPT): signs("look", "footer"),
    }
    whole = "one title\nthe cache is stale\ntokens"
    assert sorted(reader.told) == ["alone", whole, "please look at the footer"]
    assert sorted(reader.embedded) == sorted([whole, "one title", *facts, "alone", "please look at the footer"])
    await assert_true(store, bench.shelf)


async def test_tokens_are_kept_while_the_whole_stays_and_made_anew_when_it_changes(
    store: Store, bench: Bench, reader: ReadingModel
) -> None:
    await fill(store, make_batch([observation_row("title", narrative="", facts='["former"]')]))
    await bench.write()
    first = await tokens(store)
    reader.embedded.clear()
    await store.write(edit(merged_into_project="big", project="other"))
    await bench.write()
    assert (await tokens(store), reader.embedded) == (first, [])
    await store.write(edit(facts='["latter"]'))
    await bench.write()
    assert await tokens(store) == {docid(1): signs("title", "latter")}
    await store.write(edit(facts="[]"))  # the text of the whole is now the title's, which has its vector
    await bench.write()
    assert await tokens(store) == {docid(1): signs("title")}


async def test_the_tokens_of_a_deleted_record_are_gone_before_anything_is_written(
    store: Store, bench: Bench, reader: ReadingModel
) -> None:
    await fill(store, make_batch([observation_row("one"), observation_row("two", created_at_epoch=2)]))
    await bench.write()
    await store.write(delete())
    assert await tokens(store) == {docid(2): signs("two")}
    await bench.write()
    assert await tokens(store) == {docid(2): signs("two")}


async def test_a_model_that_tells_no_tokens_has_none_and_one_that_tells_adds_them(store: Store, bench: Bench) -> None:
    await fill(store, make_batch([observation_row("title", narrative="", facts='["one"]')]))
    await bench.write()
    assert (await store.read(lambda c: vectors.kept(c, NAME, [docid(1)])))[docid(1)].tokens is None
    bench.take(reader := ReadingModel())
    await store.write(lambda connection: outbox.queue(connection, [docid(1)]))
    await bench.write()
    assert (await tokens(store), reader.embedded) == ({docid(1): signs("title", "one")}, ["title\none"])
    await assert_true(store, bench.shelf)


async def test_tokens_of_two_models_stand_beside_each_other(store: Store, bench: Bench, reader: ReadingModel) -> None:
    await fill(store, make_batch([observation_row("one")]))
    await bench.write()
    other = "hash-a/384/2"
    bench.take(ReadingModel(), other)
    await store.write(lambda connection: outbox.write_note(connection, outbox.MODEL, other))
    await store.write(edit(title="two"))
    bench.index = None
    await bench.write()
    assert (await tokens(store), await tokens(store, other)) == ({docid(1): signs("one")}, {docid(1): signs("two")})


async def test_damaged_tokens_are_noticed_and_made_anew(
    store: Store, bench: Bench, reader: ReadingModel, other: sqlite3.Connection
) -> None:
    await fill(store, make_batch([observation_row("one", narrative="")]))
    await bench.write()
    assert await store.read(lambda c: vectors.damaged(c, NAME, 384)) == []
    other.execute("UPDATE py_vectors SET tokens = x'0011'")
    assert await store.read(lambda c: vectors.damaged(c, NAME, 384)) == [docid(1)]
    await store.write(lambda connection: outbox.queue(connection, [docid(1)]))
    await bench.write()
    assert await tokens(store) == {docid(1): signs("one")}

"""What is made of a page while others are waited for is what would be made at its end."""

import sqlite3
from collections.abc import Sequence
from concurrent.futures import Future

from tests.factories import make_batch, observation_row
from tests.parts.conftest import fill
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Hit, SearchQuery
from worker.search.engine import Engine
from worker.search.hybrid import Placed
from worker.search.showing import Showing
from worker.search.snippet import Highlighter
from worker.store import records
from worker.store.rows import texts
from worker.store.tables import Connection, Store

KEYS = [RecordKey(RecordKind.OBSERVATION, number) for number in range(1, 31)]


async def made(store: Store, likely: Sequence[RecordKey], awaited: "Future[None]") -> tuple[list[Hit], list[RecordKey]]:
    """The hits of the last twenty, and which records were read before them."""
    was_read: list[RecordKey] = []

    def read(connection: Connection, keys: Sequence[RecordKey]) -> dict[RecordKey, tuple[object, ...]]:
        was_read.extend(keys)
        return records.bodies(connection, keys)

    def work(connection: Connection) -> tuple[list[Hit], list[RecordKey]]:
        showing = Showing(connection, read, texts, Highlighter(["zebra"]))
        showing.ahead(likely, 20, awaited)
        ahead = list(was_read)
        hits = showing.hits([Placed(key, 1.0, rank) for rank, key in enumerate(KEYS[10:], 1)])
        assert len(was_read) == len(set(was_read))
        return hits, ahead

    return await store.read(work)


async def test_hits_are_the_same_made_ahead_or_not(store: Store) -> None:
    await fill(store, make_batch([observation_row(f"zebra {n}", narrative=f"a zebra, number {n}") for n in range(29)]))
    plain, ahead = await made(store, [], Future())
    assert (ahead, [hit.key for hit in plain]) == ([], KEYS[10:29])  # the last one is not there
    assert plain[0].title_matches == ((0, 5),) and plain[0].snippet.matches == ((2, 7),)
    early, ahead = await made(store, KEYS[5:29], Future())
    assert early == plain
    assert ahead == KEYS[5 : 5 + len(ahead)] and len(ahead) == 24  # what stands behind the page too


async def test_nothing_is_made_ahead_of_what_is_there_already(store: Store) -> None:
    await fill(store, make_batch([observation_row(f"zebra {n}") for n in range(30)]))
    awaited: Future[None] = Future()
    awaited.set_result(None)
    assert (await made(store, KEYS[5:], awaited))[1] == []


async def test_what_another_program_does_to_a_row_is_shown_in_the_next_answer(
    store: Store, engine: Engine, other: sqlite3.Connection
) -> None:
    await fill(store, make_batch([observation_row(f"zebra {n}", narrative=f"a zebra, number {n}") for n in range(30)]))
    for _ in range(3):  # in whatever is remembered of one answer for the next
        page = await engine.search(SearchQuery(text="zebra"))
    best, second, *_ = page.hits
    other.execute("UPDATE observations SET narrative = 'now a zebra of another herd' WHERE id = ?", (best.id,))
    other.execute("DELETE FROM observations WHERE id = ?", (second.id,))
    page = await engine.search(SearchQuery(text="zebra"))
    assert page.hits[0].snippet.text == "now a zebra of another herd"
    assert second.key not in [hit.key for hit in page.hits]
    await store.write(lambda connection: None)  # the index follows
    page = await engine.search(SearchQuery(text="zebra", limit=50))
    assert page.total == len(page.hits) == 29
    assert (await engine.search(SearchQuery(text="herd"))).hits[0].key == best.key

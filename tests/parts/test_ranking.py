"""Ranking without weighing everything gives what weighing everything gives; what is remembered is true."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.factories import MINUTE, NOON, make_batch, observation_row, prompt_row, session_row
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Order, SearchQuery
from worker.search import terms
from worker.store import filters, listing, ranking, weights
from worker.store.database import Database
from worker.store.imports import import_batch
from worker.store.search_index import docid, drain, install
from worker.store.tables import Connection

COMMON_TEXT = "cache token session index queue buffer router parser worker schema lock socket"
COMMON = COMMON_TEXT.split()
RECORDS = 400


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "claude-mem.db")
    random_ = random.Random(3)

    def text(length: int) -> str:
        return " ".join(COMMON[int(len(COMMON) * random_.random() ** 1.5)] for _ in range(length))

    rows = [
        observation_row(
            text(random_.randrange(1, 4)),
            narrative=text(random_.randrange(1, 12)),
            facts=[text(2)],
            project="observer-sessions" if number % 40 == 7 else "shop",
            created_at_epoch=NOON + number * MINUTE,
        )
        for number in range(RECORDS)
    ]
    prompts = [prompt_row(text(4), created_at_epoch=NOON + number) for number in range(60)]
    batch = make_batch(sessions=[session_row()], observations=rows, prompts=prompts)

    def fill(connection: Connection) -> None:
        install(connection)
        import_batch(connection, batch)
        drain(connection)

    database.write_now(fill)
    yield database
    database.close()


@pytest.mark.parametrize("words", range(1, 11))
@pytest.mark.parametrize(
    "query",
    [SearchQuery(), SearchQuery(project="shop"), SearchQuery(kinds=(RecordKind.PROMPT,))],
    ids=["all", "project", "prompts"],
)
def test_the_best_are_the_best_of_all(
    database: Database, monkeypatch: pytest.MonkeyPatch, words: int, query: SearchQuery
) -> None:
    where = filters.condition(query)
    random_ = random.Random(words)
    asked = [
        (terms.expression(terms.Wanted(" ".join(random_.sample(COMMON, words)))), limit, offset)
        for _ in range(8)
        for limit, offset in ((1, 0), (20, 0), (20, 20), (7, 50), (600, 0))
    ]

    def pages(connection: Connection) -> list[list[tuple[RecordKey, float]]]:
        found = (
            listing.search(connection, match, where, order=Order.RELEVANCE, limit=limit, offset=offset)
            for match, limit, offset in asked
        )
        return [[(one.key, one.score) for one in page] for page in found]

    monkeypatch.setattr(weights, "_SMALL", 0)
    monkeypatch.setattr(listing, "_LONG", 10**9)
    whole = database.read_now(pages)
    monkeypatch.setattr(listing, "_LONG", 0)
    assert database.read_now(pages) == whole and any(whole)


@pytest.mark.parametrize("words", [1, 3, 6, 12])
def test_counts_of_many_words_are_those_of_one_after_the_other(database: Database, words: int) -> None:
    match = terms.expression(terms.Wanted(" ".join(COMMON[-words:])))
    where = filters.condition(SearchQuery())

    def both(connection: Connection) -> tuple[dict[RecordKind, int], list[int]]:
        shown = (
            "SELECT rowid FROM py_text WHERE py_text MATCH ? "
            "AND rowid NOT IN (SELECT docid FROM py_docs WHERE project = 'observer-sessions')"
        )
        return listing.count(connection, match, where), [row[0] for row in connection.execute(shown, (match,))]

    counts, docids = database.read_now(both)
    assert sum(counts.values()) == len(docids)
    assert counts.get(RecordKind.PROMPT, 0) == sum(number % 4 == 0 for number in docids)
    without = database.read_now(lambda connection: ranking.crowd(connection, ranking.parts_of(match) or [match]))
    assert sum(without.count(code) for code in (0, 1, 2)) >= len(docids)


def test_a_count_follows_each_change(database: Database) -> None:
    where = filters.condition(SearchQuery())

    def count(connection: Connection) -> int:
        return sum(listing.count(connection, '"cache" OR "newcomer"', where).values())

    def another(connection: Connection) -> None:
        import_batch(connection, make_batch(observations=[observation_row("newcomer", created_at_epoch=NOON - 1)]))
        drain(connection)

    before = database.read_now(count)
    assert database.read_now(count) == before
    database.write_now(another)
    assert database.read_now(count) == before + 1
    newest = database.read_now(
        lambda connection: listing.search(connection, '"newcomer"', where, order=Order.RELEVANCE, limit=1, offset=0)
    )

    def forget(connection: Connection) -> None:
        connection.execute("DELETE FROM observations WHERE id = ?", (newest[0].key.id,))
        drain(connection)
        assert connection.execute("SELECT 1 FROM py_text WHERE rowid = ?", (docid(newest[0].key),)).fetchone() is None

    database.write_now(forget)
    assert database.read_now(count) == before


def test_other_expressions_are_left_to_fts5() -> None:
    assert ranking.parts_of('"a" OR "b"* OR "c d"') == ['"a"', '"b"*', '"c d"']
    assert ranking.parts_of('"a"') == ['"a"']
    for match in ("", '("a b") AND ("a b" OR "c")', '"a" OR'):
        assert ranking.parts_of(match) == []


@pytest.mark.parametrize("order", [order for order in Order if order is not Order.RELEVANCE])
@pytest.mark.parametrize("query", [SearchQuery(), SearchQuery(project="shop"), SearchQuery(kinds=(RecordKind.PROMPT,))])
def test_pages_in_whatever_order_they_are_asked_for_are_pieces_of_the_whole_list(
    database: Database, monkeypatch: pytest.MonkeyPatch, order: Order, query: SearchQuery
) -> None:
    monkeypatch.setattr(listing, "_STEP", 10)
    where = filters.condition(query)

    def page(limit: int, offset: int) -> list[RecordKey]:
        return database.read_now(
            lambda connection: listing.listing(connection, where, order=order, limit=limit, offset=offset)
        )

    whole = page(1000, 0)
    assert len(whole) > 50
    for offset in (9, 10, 45, len(whole) - 1, 0, 31, 5000, 20):
        assert page(7, offset) == whole[offset : offset + 7]

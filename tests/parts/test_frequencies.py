from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.factories import MINUTE, NOON, make_batch, observation_row, session_row
from worker.contract.search import SearchQuery
from worker.store import filters
from worker.store.database import Database
from worker.store.frequencies import frequencies, records
from worker.store.imports import import_batch
from worker.store.search_index import drain, install
from worker.store.tables import Connection

RECORDS = 4_000
ALL = filters.condition(SearchQuery())
SHOP = filters.condition(SearchQuery(project="shop"))


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Every fourth record is the shop's; every record has `cache`, every tenth `token`, the first `socket`."""
    folder: Path = tmp_path_factory.mktemp("frequencies")
    database = Database(folder / "claude-mem.db")
    rows = [
        observation_row(
            f"cache number {number}",
            narrative=" ".join(("token",) * (number % 10 == 0) + ("socket",) * (number == 0)) or None,
            facts=[],
            project="shop" if number % 8 < 2 else "forum",
            created_at_epoch=NOON + number * MINUTE,
        )
        for number in range(RECORDS)
    ]

    def fill(connection: Connection) -> None:
        install(connection)
        import_batch(connection, make_batch(sessions=[session_row()], observations=rows))
        drain(connection)

    database.write_now(fill)
    yield database
    database.close()


async def counted(database: Database, where: filters.Condition, *words: str) -> dict[str, int]:
    return await database.read(lambda connection: frequencies(connection, words, where))


async def test_what_few_have_is_counted_exactly(database: Database) -> None:
    found = await counted(database, SHOP, "token", "socket", "tokens", "nowhere")
    shop_tokens = sum(number % 10 == 0 and number % 8 < 2 for number in range(RECORDS))
    assert found == {"token": shop_tokens, "tokens": shop_tokens, "socket": 1, "nowhere": 0}


async def test_what_many_have_is_counted_nearly(database: Database) -> None:
    found = await counted(database, SHOP, "cache")
    assert found["cache"] == pytest.approx(RECORDS / 4, rel=0.2)


async def test_without_a_filter_all_are_counted(database: Database) -> None:
    found = await counted(database, ALL, "cache", "token", "cache")
    assert found == {"cache": RECORDS, "token": RECORDS // 10}


async def test_how_many_records_pass(database: Database) -> None:
    assert await database.read(lambda connection: records(connection, SHOP)) == RECORDS // 4
    assert await database.read(lambda connection: records(connection, ALL)) == RECORDS


async def test_no_words_have_no_frequencies(database: Database) -> None:
    assert await counted(database, SHOP) == {}

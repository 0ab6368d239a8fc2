"""Filters that pass more records than SQLite takes parameters."""

from worker.contract.search import SearchQuery
from worker.store import candidates, filters
from worker.store.rows import placeholders
from worker.store.tables import Connection, Store

_MANY = 50_000


async def test_fifty_thousand_records_pass_a_filter(store: Store) -> None:
    """R058."""
    where = filters.condition(SearchQuery(project="shop"))

    def fill(connection: Connection) -> None:
        rows = [
            (number * 4 + 1, 1, number, number, "shop", None, "bugfix", "claude", "m", 1, 10, 0, f"record {number}", 7)
            for number in range(1, _MANY + 1)
        ]
        connection.executemany(f"INSERT INTO py_docs VALUES ({placeholders(rows[0])})", rows)
        connection.executemany(
            "INSERT INTO py_text (rowid, title) VALUES (?, ?)",
            [(row[0], "parser" if row[2] % 2 else "lexer") for row in rows],
        )

    def look(connection: Connection) -> None:
        passing = candidates.passing(connection, where, _MANY)
        assert passing is not None and len(passing.docids) == _MANY
        assert candidates.passing(connection, where, _MANY - 1) is None
        assert passing.moments([_MANY * 4 + 1, 4, 5, -3, 2**62]) == {_MANY * 4 + 1: _MANY, 5: 1}
        backwards = list(reversed(passing.docids))
        assert list(candidates.passing_of(connection, where, [*backwards, 4, 8])) == backwards
        assert candidates.moments(connection, backwards) == passing.moments(backwards)
        found = candidates.weighed_of(connection, '"parser"', passing.docids)
        assert len(found) == _MANY // 2 and min(found.values()) > 0

    await store.write(fill)
    await store.read(look)

import sqlite3

import pytest

from worker.contract.records import RecordKind
from worker.contract.search import SearchQuery
from worker.store.filters import Condition, condition, scope


@pytest.mark.parametrize(
    ("query", "values"),
    [
        (SearchQuery(), ("observer-sessions",)),
        (SearchQuery(project="shop"), ("shop", "shop")),
        (SearchQuery(platform_source="codex"), ("observer-sessions", "codex")),
        (SearchQuery(since_epoch_ms=0, until_epoch_ms=5), ("observer-sessions", 0, 5)),
        (SearchQuery(kinds=(RecordKind.PROMPT, RecordKind.SUMMARY)), ("observer-sessions", 0, 2)),
        (SearchQuery(types=("bugfix", "'; DROP TABLE x; --")), ("observer-sessions", "bugfix", "'; DROP TABLE x; --")),
        (SearchQuery(concepts=("gotcha",)), ("observer-sessions", "gotcha")),
        (SearchQuery(files=("a_%!",)), ("observer-sessions", *("a_", "a_%!") * 4)),
    ],
)
def test_what_is_given_is_bound_and_never_spliced(query: SearchQuery, values: tuple[object, ...]) -> None:
    found = condition(query)
    assert found.values == values
    assert found.sql.count("?") == len(values)
    assert not any(str(value) in found.sql for value in values if isinstance(value, str))


def test_scope_of_a_timeline() -> None:
    assert scope("shop", "codex") == condition(SearchQuery(project="shop", platform_source="codex"))


@pytest.mark.parametrize("query", [SearchQuery(types=("x",) * 100), SearchQuery(files=("x" * 60_000,) * 100)])
def test_long_filters_are_within_the_limits_of_sqlite(query: SearchQuery) -> None:
    found = condition(query)
    assert isinstance(found, Condition)
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE py_docs (kind, record_id, epoch, project, merged, type, platform)")
        connection.execute("CREATE TABLE observations (id, files_read, files_modified)")
        connection.execute("CREATE TABLE session_summaries (id, files_read, files_edited)")
        connection.execute("INSERT INTO py_docs VALUES (1, 7, 0, 'shop', NULL, 'x', 'claude')")
        connection.execute("""INSERT INTO observations VALUES (7, '["a.py"]', '["b.py"]')""")
        connection.execute(f"SELECT count(*) FROM py_docs d WHERE {found.sql}", found.values).fetchall()
    connection.close()

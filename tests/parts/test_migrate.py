"""Every older generation opens whole: each row as it was, the tables of today, and once is enough."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.parts import old_generations
from tests.parts.conftest import catching_up, eventually, foreign
from tests.parts.old_generations import GENERATIONS
from tests.parts.test_schema import assert_sound, structure
from worker.contract.errors import Unavailable
from worker.contract.search import SearchQuery
from worker.search.engine import Engine
from worker.store import schema
from worker.store.database import Database
from worker.store.tables import open_store

Rows = dict[str, dict[int, dict[str, Any]]]
_TODAY = {new: old for old, new in schema.RENAMED.items()}


def rows_of(path: Path) -> Rows:
    """table → id → column under today's name → value."""
    with closing(foreign(path)) as connection:
        connection.row_factory = sqlite3.Row
        there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        found: Rows = {}
        for table in (*schema.MAIN, "pending_messages", "sync_outbox"):
            if table in there:
                rows = connection.execute(f"SELECT * FROM {table}").fetchall()
                found[table] = {row["id"]: {_new(name): row[name] for name in row.keys()} for row in rows}  # noqa: SIM118
        return found


def _new(name: str) -> str:
    return schema.RENAMED.get(name, name)


def assert_kept(before: Rows, after: Rows) -> None:
    """Every row, its id and every value of it, but for what the original's migrations change themselves."""
    for table, rows in before.items():
        for number, row in rows.items():
            if table == "pending_messages" and row["status"] in ("processed", "failed"):
                assert number not in after[table]
                continue
            kept = after[table][number]
            for column, value in row.items():
                if column in schema.RETIRED.get(table, ()):
                    assert column not in kept
                elif column == "concepts" and value and "gotcha:" in value:
                    assert kept[column] == '["gotcha","how-it-works","std::vector"]'
                elif column in schema.COUNTED_IN_TEXT:
                    changed = int("gotcha:" in (row.get("concepts") or ""))
                    assert kept[column] == str(int(value) + changed)
                else:
                    assert kept[column] == value, (table, number, column)


@pytest.mark.parametrize("generation", GENERATIONS)
async def test_older_generation_opens_whole(tmp_path: Path, generation: int) -> None:
    """R082."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, generation, rows=2)
    before = rows_of(path)
    store = open_store(path)
    async with catching_up(store):
        await eventually(lambda: store.complete)
    engine = Engine(store)
    for repeat in range(2):
        for word in old_generations.words(repeat, generation):
            assert (await engine.search(SearchQuery(text=word))).total == 1, word
    assert (await engine.search(SearchQuery(text="身份校验"))).total == 2
    await store.close()
    after = rows_of(path)
    assert_kept(before, after)
    assert {table: len(rows) for table, rows in after.items() if table in before and table != "pending_messages"} == {
        table: len(rows) for table, rows in before.items() if table != "pending_messages"
    }
    assert all(row["session_db_id"] for row in after["user_prompts"].values())
    assert all(row["content_hash"] for row in after["observations"].values())
    with closing(foreign(path)) as connection:
        assert_sound(connection)


async def test_every_generation_ends_in_the_same_form(tmp_path: Path) -> None:
    made = tmp_path / "new" / "claude-mem.db"
    await open_store(made).close()
    with closing(foreign(made)) as connection:
        wanted = structure(connection)
    for generation in (5, 8, 16, 21, 32, 39, 42, 50):
        path = tmp_path / f"{generation}" / "claude-mem.db"
        path.parent.mkdir()
        old_generations.make(path, generation)
        await open_store(path).close()
        with closing(foreign(path)) as connection:
            found = structure(connection)
        assert found["versions"] == [(version,) for version in schema.VERSIONS]
        assert {name: found.get(name) for name in wanted if not _alike(name, found.get(name), wanted[name])} == {}


def _alike(name: str, found: Any, wanted: Any) -> bool:
    """Where a column stands does not matter, nor how free pages are given back."""
    if name.startswith("index "):
        return bool(found) and [*found[:-1], [part[1:] for part in found[-1]]] == [
            *wanted[:-1],
            [part[1:] for part in wanted[-1]],
        ]
    return name == "auto_vacuum" or bool(found == wanted)


async def test_the_log_tells_in_a_line_what_is_done(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "worker.store")
    await open_store(tmp_path / "new.db").close()
    old_generations.make(tmp_path / "old.db", 20)
    await open_store(tmp_path / "old.db").close()
    new, old = (
        record.getMessage()
        for record in caplog.records
        if "kept in" not in record.getMessage() and record.levelname == "INFO"
    )
    assert new.startswith("making the database: ") and old.startswith("bringing the database up to date: ")
    assert "sdk_sessions anew" in old
    assert len(new) < 200 and len(old) < 1_500


@pytest.mark.parametrize("generation", [7, 16, 33, 42, 50])
async def test_second_opening_writes_nothing(tmp_path: Path, generation: int) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, generation)
    store = open_store(path)
    async with catching_up(store):
        await eventually(lambda: store.complete)
    await store.close()
    before = path.read_bytes()
    for _ in range(2):
        store = open_store(path)
        assert store.complete
        async with catching_up(store):
            await store.read(lambda connection: None)
        assert path.with_name("claude-mem.db-wal").stat().st_size == 0
        await store.close()
        assert path.read_bytes() == before
    assert len(list((tmp_path / "backups").iterdir())) == 1


@pytest.mark.parametrize("generation", [5, 20, 50])
async def test_copy_is_made_first_and_is_the_old_file(tmp_path: Path, generation: int) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, generation)
    before = rows_of(path)
    await open_store(path).close()
    (copy,) = (tmp_path / "backups").iterdir()
    missing = min(set(schema.VERSIONS) - {number for number in schema.VERSIONS if number <= generation})
    assert copy.name.startswith(f"claude-mem-before-{missing}-")
    assert copy.stat().st_mode & 0o777 == 0o600
    assert rows_of(copy) == before


async def test_no_copy_of_what_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 20, rows=0)
    await open_store(path).close()
    assert not (tmp_path / "backups").exists()


def test_no_room_for_the_copy_is_told_and_nothing_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 20)
    before = rows_of(path)
    with pytest.raises(Unavailable, match="a copy is made first.*1 MB.* are free; nothing was changed"):
        Database(path, free=lambda folder: 2**20)
    assert rows_of(path) == before
    assert not (tmp_path / "backups").exists()


@pytest.mark.parametrize("fulltext", [[], ["user_prompts"], ["observations"], ["observations", "session_summaries"]])
async def test_missing_full_text_is_made(tmp_path: Path, fulltext: list[str]) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 50, fulltext=fulltext)
    await open_store(path).close()
    with closing(foreign(path)) as connection:
        assert_sound(connection)
        for word in old_generations.words(0, 50)[:4]:
            assert connection.execute("SELECT count(*) FROM observations_fts(?)", (word,)).fetchone() == (1,)


@pytest.mark.parametrize(
    "harm",
    [
        "DROP TRIGGER observations_au",
        "DROP TRIGGER observations_ai; UPDATE observations SET title = 'x' || title; DROP TRIGGER observations_ad",
        "INSERT INTO observations_fts(observations_fts) VALUES ('delete-all')",
        "INSERT INTO observations_fts(rowid, title) VALUES (900, 'ghost')",
        "DROP TABLE observations_fts_docsize",
        "DROP TABLE observations_fts_config",
        "DELETE FROM observations_fts_data",
        "DROP TABLE observations_fts",
        "DROP TABLE observations_fts; CREATE VIRTUAL TABLE observations_fts USING fts5(title)",
    ],
)
async def test_harmed_full_text_is_made_whole(tmp_path: Path, harm: str) -> None:
    """R086, R088."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 50)
    with closing(foreign(path)) as connection:
        for statement in harm.split(";"):
            connection.execute(statement)
    before = rows_of(path)
    await open_store(path).close()
    assert_kept(before, rows_of(path))
    with closing(foreign(path)) as connection:
        assert_sound(connection)


async def test_stale_full_text_with_the_right_counts_is_noticed_at_the_first_opening(tmp_path: Path) -> None:
    """R086."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 50)
    with closing(foreign(path)) as connection:
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'observations_au'").fetchone()
        connection.execute("DROP TRIGGER observations_au")
        connection.execute("UPDATE observations SET title = 'behind its back'")
        connection.execute(sql)
    await open_store(path).close()
    with closing(foreign(path)) as connection:
        assert_sound(connection)
        assert connection.execute("SELECT count(*) FROM observations_fts('back')").fetchone() == (4,)


async def test_full_text_trigger_that_was_changed_is_put_right(tmp_path: Path) -> None:
    """R086: in a file that we have opened before."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 50)
    await open_store(path).close()
    with closing(foreign(path)) as connection:
        connection.execute("DROP TRIGGER observations_au")
        connection.execute("CREATE TRIGGER observations_au AFTER UPDATE ON observations BEGIN SELECT 1; END")
        connection.execute("UPDATE observations SET title = 'behind its back'")
    await open_store(path).close()
    with closing(foreign(path)) as connection:
        assert_sound(connection)

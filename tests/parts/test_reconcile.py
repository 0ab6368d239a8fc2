"""Databases that no version left so: half-migrated, cut off, from elsewhere, newer, with rows that contradict."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.factories import make_batch, prompt_row
from tests.parts import old_generations
from tests.parts.conftest import fill, foreign
from tests.parts.test_migrate import Rows, assert_kept, rows_of
from tests.parts.test_schema import assert_sound, contents, structure
from worker.contract.curation import Save
from worker.contract.errors import Unavailable
from worker.contract.search import SearchQuery
from worker.search.engine import Engine
from worker.store import backup, schema
from worker.store.manual import keep
from worker.store.tables import open_store


def change(path: Path, *statements: str) -> None:
    """As another program does that looks at no key."""
    with closing(foreign(path)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA legacy_alter_table = ON")
        for statement in statements:
            connection.execute(statement)


def opened(path: Path) -> Rows:
    """The rows after an opening; nothing damaged, and a second opening changes nothing."""
    asyncio.run(open_store(path).close())
    after = rows_of(path)
    with closing(foreign(path)) as connection:
        assert_sound(connection)
    content = path.read_bytes()
    asyncio.run(open_store(path).close())
    assert path.read_bytes() == content
    return after


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("sdk_sessions", "custom_title"), ("sdk_sessions", "worker_port"), ("observations", "metadata"),
        ("observations", "discovery_tokens"), ("observations", "relevance_count"), ("user_prompts", "synced_at"),
        ("session_summaries", "merged_into_project"), ("session_summaries", "prompt_number"),
    ],
)  # fmt: skip
def test_column_is_missing_though_its_version_row_is_there(tmp_path: Path, table: str, column: str) -> None:
    """R082."""
    path = tmp_path / "claude-mem.db"
    asyncio.run(open_store(path).close())
    old_generations_rows(path)
    with closing(foreign(path)) as connection:
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'index') AND tbl_name = ? AND sql LIKE ?",
            (table, f"%{column}%"),
        ).fetchall():
            connection.execute(f"DROP {'TRIGGER' if name.startswith('py_') else 'INDEX'} {name}")
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    before = rows_of(path)
    after = opened(path)
    assert_kept(before, after)
    assert all(column in row for row in after[table].values())
    assert [name.name[:28] for name in (tmp_path / "backups").iterdir()] == ["claude-mem-before-repair-2026"[:28]]


def old_generations_rows(path: Path) -> None:
    with closing(foreign(path)) as connection:
        old_generations.fill(connection, 50)


def test_version_rows_without_the_tables(tmp_path: Path) -> None:
    """R082."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16)
    change(path, *(f"INSERT OR IGNORE INTO schema_versions (version, applied_at) VALUES ({number}, '')"
                   for number in schema.VERSIONS if number != 49))  # fmt: skip
    before = rows_of(path)
    assert_kept(before, opened(path))


def test_renamed_in_some_tables_only(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16)
    change(path, "ALTER TABLE sdk_sessions RENAME COLUMN sdk_session_id TO memory_session_id",
           "ALTER TABLE observations RENAME COLUMN sdk_session_id TO memory_session_id")  # fmt: skip
    before = rows_of(path)
    assert_kept(before, opened(path))


def test_both_names_at_once(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16)
    change(path, "ALTER TABLE sdk_sessions ADD COLUMN content_session_id TEXT",
           "UPDATE sdk_sessions SET content_session_id = claude_session_id WHERE id = 1")  # fmt: skip
    after = opened(path)
    assert [row["content_session_id"] for row in after["sdk_sessions"].values()] == ["content-0000", "silent-0000"]


def test_what_nobody_here_knows_stays(tmp_path: Path) -> None:
    """Columns, tables, indexes, triggers and views of other programs, through tables made anew."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16)
    change(
        path,
        "ALTER TABLE observations ADD COLUMN stars INTEGER NOT NULL DEFAULT 3",
        "ALTER TABLE observations ADD COLUMN \"odd name\" TEXT",
        "UPDATE observations SET stars = 5, \"odd name\" = 'kept ✔' WHERE id = 2",
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, about INTEGER REFERENCES observations(id), body BLOB)",
        "INSERT INTO notes (about, body) VALUES (2, x'00ff')",
        "CREATE INDEX mine ON observations(stars)",
        "CREATE TRIGGER mine_too AFTER DELETE ON observations BEGIN DELETE FROM notes WHERE about = old.id; END",
        "CREATE VIEW best AS SELECT id FROM observations WHERE stars > 4",
        "CREATE TABLE sessions (id INTEGER PRIMARY KEY, old TEXT)",
        "INSERT INTO sessions (old) VALUES ('of version 2')",
        "DELETE FROM observations WHERE id = 4",
    )  # fmt: skip
    before = rows_of(path)
    after = opened(path)
    assert_kept(before, after)
    assert (after["observations"][2]["stars"], after["observations"][2]["odd name"]) == (5, "kept ✔")
    with closing(foreign(path)) as connection:
        assert connection.execute("SELECT * FROM best").fetchall() == [(2,)]
        assert connection.execute("SELECT about, body FROM notes").fetchall() == [(2, b"\x00\xff")]
        assert connection.execute("SELECT old FROM sessions").fetchall() == [("of version 2",)]
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'mine%'").fetchone() == (2,)
        connection.execute("DELETE FROM observations WHERE id = 2")
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == (0,)
        made = connection.execute(
            "INSERT INTO observations (memory_session_id, project, type, created_at, created_at_epoch)"
            " VALUES ('memory-0000', 'p', 'change', '', 1)"
        )
        assert made.lastrowid == 5, "the number of a deleted row is not given again"


@pytest.mark.parametrize("generation", [8, 16, 32, 42])
@pytest.mark.parametrize("table", ["observations", "session_summaries", "sdk_sessions"])
def test_leftover_copy_goes(tmp_path: Path, generation: int, table: str) -> None:
    """Cut off while it was filled: what the table has since lost is not brought back."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, generation, rows=3)
    change(path, f"CREATE TABLE {table}_new AS SELECT * FROM {table} LIMIT 5",
           "DELETE FROM observations WHERE id = 2")  # fmt: skip
    before = rows_of(path)
    after = opened(path)
    assert_kept(before, after)
    assert len(after[table]) == len(before[table])
    with closing(foreign(path)) as connection:
        assert connection.execute("SELECT 1 FROM sqlite_master WHERE name LIKE '%!_new' ESCAPE '!'").fetchone() is None


@pytest.mark.parametrize("generation", [8, 16, 42])
@pytest.mark.parametrize("table", ["observations", "session_summaries", "sdk_sessions"])
def test_leftover_that_is_the_only_copy_becomes_the_table(tmp_path: Path, generation: int, table: str) -> None:
    """Cut off between the drop and the new name."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, generation, rows=3)
    before = rows_of(path)
    change(path, f"ALTER TABLE {table} RENAME TO {table}_new")
    assert_kept(before, opened(path))


def test_leftover_beside_a_table_that_was_begun_anew_comes_over(tmp_path: Path) -> None:
    """Cut off between the drop and the new name, then opened and used by a version that makes missing tables."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16, fulltext=())
    before = rows_of(path)["observations"]
    with closing(foreign(path)) as connection:
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'observations'").fetchone()
    change(
        path,
        "ALTER TABLE observations RENAME TO observations_new",
        sql,
        "INSERT INTO observations (sdk_session_id, project, type, title, created_at, created_at_epoch)"
        " VALUES ('memory-0000', 'shop', 'change', 'of later', '', 9)",
    )
    after = (opened(path))["observations"]
    assert len(after) == len(before) + 1
    assert after[1]["title"] == "of later"
    assert {row["title"] for row in before.values()} < {row["title"] for row in after.values()}


def test_leftover_rows_that_must_not_repeat_are_kept_aside(tmp_path: Path) -> None:
    """A session of another past whose id is taken: neither is thrown away."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 42)
    change(
        path,
        "CREATE TABLE sdk_sessions_new AS SELECT * FROM sdk_sessions",
        "UPDATE sdk_sessions_new SET started_at_epoch = 5, project = 'other' WHERE id = 1",
    )
    before = rows_of(path)
    assert_kept(before, opened(path))
    with closing(foreign(path)) as connection:
        assert connection.execute("SELECT id, project FROM py_kept_sdk_sessions_1 ORDER BY 1").fetchall() == [
            (1, "other"),
            (2, "shop"),
        ]


def test_of_many_copies_the_first_and_the_newest_stay(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16)
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "claude-mem-before-17-cut-off.partial").write_bytes(b"x")
    (tmp_path / "backups" / "claude-mem-before-9-20260101T000000.000000Z.db").write_bytes(b"x")
    with closing(foreign(path)) as connection:
        made = [backup.copy(connection, path, "17").name for _ in range(5)]
    there = sorted(os.listdir(tmp_path / "backups"))
    assert there == sorted([made[0], made[3], made[4], "claude-mem-before-9-20260101T000000.000000Z.db"])


@pytest.mark.parametrize(
    "default",
    [
        "(datetime('now'))", "('a' || 'b')", "(1 + 2)", "'it''s'", '"said"', "word", "-1.5e-3", "CURRENT_TIMESTAMP",
        "x'00ff'", "NULL", "(abs(-1))", "(-  7)",
    ],
)  # fmt: skip
def test_a_column_that_nobody_here_knows_keeps_its_default(tmp_path: Path, default: str) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 20)
    with closing(foreign(path)) as connection:
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'user_prompts'").fetchone()
    change(
        path,
        "ALTER TABLE user_prompts RENAME TO there",
        sql.replace("prompt_text TEXT NOT NULL", f"prompt_text TEXT NOT NULL, noted TEXT DEFAULT {default}"),
        "INSERT INTO user_prompts (id, content_session_id, prompt_number, prompt_text, created_at, created_at_epoch) "
        "SELECT id, content_session_id, prompt_number, prompt_text, created_at, created_at_epoch FROM there",
        "DROP TABLE there",
    )
    told = "SELECT dflt_value FROM pragma_table_info('user_prompts') WHERE name = 'noted'"
    with closing(foreign(path)) as connection:
        (was,) = connection.execute(told).fetchone()
        (value,) = connection.execute("SELECT max(noted) FROM user_prompts").fetchone()
    after = opened(path)
    assert {row["noted"] for row in after["user_prompts"].values()} == {value}
    with closing(foreign(path)) as connection:
        assert connection.execute(told).fetchone() == (was,)


def test_a_change_that_fails_leaves_no_copy_behind(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16)
    change(path, "DROP TABLE session_summaries", "CREATE VIEW session_summaries AS SELECT 1 AS id")
    for _ in range(2):
        with pytest.raises(Unavailable):
            open_store(path)
        assert list((tmp_path / "backups").iterdir()) == []


def test_a_table_of_somebody_s_own_that_is_named_like_a_leftover_stays(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16)
    before = rows_of(path)
    change(path, "CREATE TABLE observations_new (word TEXT)", "INSERT INTO observations_new VALUES ('kept')")
    assert_kept(before, opened(path))
    with closing(foreign(path)) as connection:
        assert connection.execute("SELECT word FROM observations_new").fetchall() == [("kept",)]


def test_records_without_a_session_get_one(tmp_path: Path) -> None:
    """R092."""
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 42)
    change(path, "DELETE FROM sdk_sessions WHERE id = 1", "UPDATE user_prompts SET session_db_id = NULL WHERE id = 2")
    before = rows_of(path)
    after = opened(path)
    assert {key: value["title"] for key, value in after["observations"].items()} == {
        key: value["title"] for key, value in before["observations"].items()
    }
    (stub,) = (row for row in after["sdk_sessions"].values() if row["memory_session_id"] == "memory-0000")
    assert (stub["content_session_id"], stub["status"], stub["project"]) == ("memory-0000", "completed", "shop")
    owner = after["sdk_sessions"][after["user_prompts"][2]["session_db_id"]]
    assert owner["content_session_id"] == "content-0000"
    assert len(after["pending_messages"]) == 2


def test_equal_hashes_lose_no_row_that_says_something(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 28)
    columns = ", ".join(old_generations.columns("observations", 28))
    other = columns.replace("facts", "'[\"another\"]'")
    change(
        path,
        f"INSERT INTO observations ({columns}) SELECT {columns} FROM observations WHERE id = 1",
        f"INSERT INTO observations ({columns}) SELECT {other} FROM observations WHERE id = 1",
        "UPDATE observations SET content_hash = NULL WHERE id = 2",
    )
    after = (opened(path))["observations"]
    assert sorted(after) == [1, 2, 3, 4, 6], "the one that repeats another in everything is gone"
    assert after[6]["facts"] == '["another"]'
    assert after[6]["content_hash"] == "__null_migration_6__"
    assert len(after[2]["content_hash"]) == 16


def test_sessions_that_repeat_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 50)
    change(
        path,
        "DROP INDEX ux_sdk_sessions_platform_content",
        "INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at, started_at_epoch)"
        " VALUES ('content-0000', 'twin', 'shop', '', 1)",
    )
    after = (opened(path))["sdk_sessions"]
    assert [row["content_session_id"] for row in after.values()] == ["content-0000", "silent-0000", "content-0000~3"]


def test_sessions_without_a_platform_are_claude_s(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 42)
    change(path, "UPDATE sdk_sessions SET platform_source = ''")
    assert {row["platform_source"] for row in (opened(path))["sdk_sessions"].values()} == {"claude"}


def test_sync_columns_and_queues_of_those_who_sync_stay(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 42)
    change(path, "INSERT INTO sync_outbox (op_uuid, rev, body, created_at_epoch) VALUES ('u', 7, '{}', 1)",
           "INSERT INTO sync_state VALUES ('cursor', 'c')")  # fmt: skip
    before = rows_of(path)
    after = opened(path)
    assert_kept(before, after)
    assert after["sync_outbox"][1]["rev"] == "7"
    assert [row["synced_at"] for row in after["observations"].values()] == [old_generations.NOON, None, None, None]
    with closing(foreign(path)) as connection:
        assert connection.execute("SELECT * FROM sync_state").fetchall() == [("cursor", "c")]
        assert connection.execute("SELECT count(*) FROM sync_launch_exclusions").fetchone() == (0,)


async def test_newer_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    await open_store(path).close()
    old_generations_rows(path)
    change(
        path,
        "ALTER TABLE observations ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'",
        "ALTER TABLE sdk_sessions ADD COLUMN future TEXT",
        "CREATE TABLE dreams (id INTEGER PRIMARY KEY)",
        "DROP INDEX idx_observations_type",
        "INSERT INTO schema_versions (version, applied_at) VALUES (53, ''), (60, '')",
        "DELETE FROM schema_versions WHERE version = 11",
    )
    with closing(foreign(path)) as connection:
        before = structure(connection), contents(connection)
    store = open_store(path)
    assert (await Engine(store).search(SearchQuery(text="kiwi0000"))).total == 1
    await store.close()
    with closing(foreign(path)) as connection:
        assert (structure(connection), contents(connection)) == before
    assert not (tmp_path / "backups").exists()


def test_newer_database_that_lacks_what_we_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 50)
    change(path, "ALTER TABLE observations DROP COLUMN metadata", "INSERT INTO schema_versions VALUES (NULL, 99, '')")
    before = path.read_bytes()
    with pytest.raises(Unavailable, match="newer claude-mem.*observations lack metadata.*Nothing was changed"):
        open_store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("was", "is_now", "why"),
    [
        (" text TEXT,", " text TEXT, vis TEXT NOT NULL,", "vis refuses NULL"),
        (" type TEXT NOT NULL,", " type TEXT NOT NULL CHECK (type IN ('mood')),", "type refuses values"),
    ],
)
async def test_newer_database_that_cannot_be_written_as_before_says_so(
    tmp_path: Path, was: str, is_now: str, why: str
) -> None:
    """And is read as ever; what has nothing to do with it is written."""
    path = tmp_path / "claude-mem.db"
    await open_store(path).close()
    old_generations_rows(path)
    with closing(foreign(path)) as connection:
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'observations'").fetchone()
    change(
        path,
        "DELETE FROM observations",
        "ALTER TABLE observations RENAME TO there",
        sql.replace(was, is_now),
        "DROP TABLE there",
        schema.index("ux_observations_session_hash"),
        "INSERT INTO schema_versions (version, applied_at) VALUES (60, '')",
    )
    store = open_store(path)
    told = store.trouble
    assert told.startswith("this database was made by a newer claude-mem") and why in told
    memory = Save(text="something said", project="shop")
    with pytest.raises(Unavailable) as raised:
        await store.write(lambda connection: keep(connection, memory, "claude", 0))
    assert raised.value.message == told == store.trouble
    assert (await Engine(store).search(SearchQuery())).total > 0
    assert (await fill(store, make_batch([], prompts=[prompt_row()]))).promptsImported == 1
    assert store.trouble == told
    await store.close()


_OPEN = (
    "import sys; from pathlib import Path; from worker.store.tables import open_store; open_store(Path(sys.argv[1]))"
)


async def found(path: Path, text: str) -> int:
    """How many records have a word."""
    store = open_store(path)
    total = (await Engine(store).search(SearchQuery(text=text))).total
    await store.close()
    return total


def test_killed_in_the_middle_the_old_file_is_usable_and_the_next_start_finishes(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 16, rows=200)
    before = rows_of(path)
    # The child is killed when its write-ahead log has grown to one size after another: from the first pages of the
    # change to its last.
    log = path.with_name("claude-mem.db-wal")
    killed = 0
    for size in (1, 100_000, 400_000, 900_000):
        with subprocess.Popen([sys.executable, "-c", _OPEN, str(path)]) as child:
            ended = threading.Event()
            while child.poll() is None and not (log.exists() and log.stat().st_size >= size):
                ended.wait(0.001)
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
                killed += 1
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            (named,) = connection.execute("SELECT count(*) FROM pragma_table_info('observations') WHERE name = "
                                          "'sdk_session_id'").fetchone()  # fmt: skip
        if not named:
            break
        assert rows_of(path) == before
    assert killed
    assert asyncio.run(found(path, "kiwi0199")) == 1
    assert_kept(before, rows_of(path))
    with closing(foreign(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    copies = sorted(os.listdir(tmp_path / "backups"))
    assert 1 <= len(copies) <= 3
    assert all(name.endswith(".db") for name in copies)

"""The file is the original's, table for table; what is ours stands beside it."""

import shutil
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.factories import make_batch, observation_row, prompt_row, summary_row
from tests.parts.conftest import catching_up, eventually, fill, foreign
from worker.store import schema
from worker.store.tables import open_store

FIXTURES = Path(__file__).parents[3] / "shared" / "fixtures"
LIVE, THOUSAND = FIXTURES / "upstream-13.25.3-live.db", FIXTURES / "upstream-13.25.3-1k.db"
needs_fixtures = pytest.mark.skipif(not LIVE.exists(), reason="the original's files lie in ../shared/fixtures")

Facts = dict[str, Any]


def structure(connection: sqlite3.Connection) -> Facts:
    """Everything of the original's that its own code looks at, by name; what is ours (`py_`) left out."""

    def all_of(sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in connection.execute(sql)]

    facts: Facts = {}
    for name, sql in all_of(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'py!_%' ESCAPE '!'"
    ):
        facts[f"columns of {name}"] = {row[1]: row[2:] for row in all_of(f"PRAGMA table_info({name})")}
        facts[f"keys of {name}"] = sorted(row[2:] for row in all_of(f"PRAGMA foreign_key_list({name})"))
        facts[f"automatic ids of {name}"] = "AUTOINCREMENT" in sql.upper()
        facts[f"checks of {name}"] = sql.upper().count("CHECK")
        for _, index, unique, origin, partial in all_of(f"PRAGMA index_list({name})"):
            columns = [row[1:4] for row in all_of(f"PRAGMA index_xinfo({index})")]
            facts[f"index {index}"] = (name, unique, origin, partial, columns)
        if sql.upper().startswith("CREATE VIRTUAL"):
            facts[f"fulltext {name}"] = "".join(sql.split("(", 1)[1].split()).rstrip(")").replace('"', "'")
    for name, table, sql in all_of(
        "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger' AND name NOT LIKE 'py!_%' ESCAPE '!'"
    ):
        words = sql.upper().split()
        facts[f"trigger {name}"] = (table, words[3:5], sql.upper().count("INSERT INTO"), sql.count("'delete'"))
    for pragma in ("page_size", "auto_vacuum", "user_version", "application_id", "journal_mode", "encoding"):
        facts[pragma] = all_of(f"PRAGMA {pragma}")
    facts["versions"] = all_of("SELECT version FROM schema_versions ORDER BY version")
    return facts


def contents(connection: sqlite3.Connection) -> Facts:
    """Every row of every table that is the original's, its shadow tables of full-text included."""
    names = [
        row[0]
        for row in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'py!_%' ESCAPE '!'"
            " AND sql NOT LIKE 'CREATE VIRTUAL%'"
        )
    ]
    return {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in names}


def assert_sound(connection: sqlite3.Connection) -> None:
    """R086, R092: nothing damaged, nobody orphaned, every full-text table says what its rows say."""
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    for name in (*schema.FULLTEXT, "py_text"):
        connection.execute(f"INSERT INTO {name} ({name}, rank) VALUES ('integrity-check', 1)")


async def test_new_file_is_what_the_original_would_have_made(tmp_path: Path) -> None:
    if not LIVE.exists():
        pytest.skip("the original's files lie in ../shared/fixtures")
    await open_store(tmp_path / "claude-mem.db").close()
    shutil.copy(LIVE, tmp_path / "original.db")
    ours, theirs = foreign(tmp_path / "claude-mem.db"), foreign(tmp_path / "original.db")
    made, wanted = structure(ours), structure(theirs)
    ours.close()
    theirs.close()
    assert sorted(made) == sorted(wanted)
    assert {name: made[name] for name in made if made[name] != wanted[name]} == {}


async def test_new_file_without_a_look_at_the_original(tmp_path: Path) -> None:
    await open_store(tmp_path / "claude-mem.db").close()
    connection = foreign(tmp_path / "claude-mem.db")
    facts = structure(connection)
    assert_sound(connection)
    connection.close()
    assert facts["versions"] == [(version,) for version in schema.VERSIONS]
    assert (facts["auto_vacuum"], facts["page_size"], facts["user_version"]) == ([(2,)], [(4096,)], [(0,)])
    assert {f"columns of {name}" for name in schema.TABLES} <= set(facts)
    assert len([name for name in facts if name.startswith("trigger ")]) == 9
    assert (
        facts["keys of observations"]
        == facts["keys of session_summaries"]
        == [("sdk_sessions", "memory_session_id", "memory_session_id", "CASCADE", "CASCADE", "NONE")]
    )


async def test_markers_keep_the_original_s_clean_ups_away(tmp_path: Path) -> None:
    await open_store(tmp_path / "data" / "claude-mem.db").close()
    made = {file.name for file in (tmp_path / "data").iterdir()}
    assert made >= {".cwd-remap-applied-v1", ".cleanup-v12.4.3-applied", "claude-mem.db"}


async def test_file_and_folder_are_the_owner_s_alone(tmp_path: Path) -> None:
    """R158."""
    store = open_store(tmp_path / "data" / "claude-mem.db")
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    for file in (tmp_path / "data").glob("claude-mem.db*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    await store.close()


async def test_opening_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    store = open_store(path)
    await fill(store, make_batch([observation_row()]))
    await store.close()
    connection = foreign(path)
    before = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall(), contents(connection)
    connection.close()
    store = open_store(path)
    assert store.complete
    await store.close()
    connection = foreign(path)
    after = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall(), contents(connection)
    connection.close()
    assert after == before


@needs_fixtures
@pytest.mark.parametrize("fixture", [LIVE, THOUSAND], ids=["live", "thousand"])
async def test_nothing_of_the_original_s_is_changed_by_opening(tmp_path: Path, fixture: Path) -> None:
    path = tmp_path / "claude-mem.db"
    shutil.copy(fixture, path)
    connection = foreign(path)
    before = structure(connection), contents(connection)
    connection.close()
    store = open_store(path)
    async with catching_up(store):
        await eventually(lambda: store.complete)
    await store.close()
    connection = foreign(path)
    assert (structure(connection), contents(connection)) == before
    assert_sound(connection)
    connection.close()


@needs_fixtures
@pytest.mark.parametrize("fixture", [LIVE, THOUSAND], ids=["live", "thousand"])
async def test_full_text_stays_sound_through_every_change(tmp_path: Path, fixture: Path) -> None:
    """R086, R092."""
    path = tmp_path / "claude-mem.db"
    shutil.copy(fixture, path)
    store = open_store(path)
    await _through_every_change(store.path)
    await store.write(lambda connection: None)
    await store.close()


async def test_full_text_of_a_new_file_stays_sound_through_every_change(tmp_path: Path) -> None:
    """R086, R092."""
    store = open_store(tmp_path / "claude-mem.db")
    rows = [observation_row(f"title {number}", created_at_epoch=number) for number in range(5)]
    batch = make_batch(rows, summaries=[summary_row()], prompts=[prompt_row()])
    await fill(store, batch)
    await _through_every_change(store.path)
    await store.write(lambda connection: None)
    connection = foreign(store.path)
    assert_sound(connection)
    connection.close()
    await store.close()


async def _through_every_change(path: Path) -> None:
    connection = foreign(path)
    columns = "memory_session_id, project, type, title, narrative, created_at, created_at_epoch"
    for statement in (
        f"INSERT INTO observations ({columns}) SELECT memory_session_id, project, 'change', 'added', 'words', '', 1 "
        "FROM sdk_sessions WHERE memory_session_id IS NOT NULL LIMIT 1",
        "UPDATE observations SET title = 'edited ' || title, facts = '[\"new\"]' WHERE id % 3 = 0",
        "UPDATE observations SET merged_into_project = 'whole'",
        "UPDATE observations SET synced_at = 5 WHERE id % 2 = 0",
        "UPDATE session_summaries SET learned = 'edited'",
        "UPDATE user_prompts SET prompt_text = 'edited'",
        "UPDATE sdk_sessions SET project = 'renamed'",
        "UPDATE sdk_sessions SET memory_session_id = 'moved-' || memory_session_id",
        "DELETE FROM observations WHERE id % 3 = 1",
        "DELETE FROM session_summaries WHERE id % 2 = 0",
        "DELETE FROM user_prompts WHERE id % 2 = 0",
        "DELETE FROM sdk_sessions WHERE id % 2 = 0",
        "DELETE FROM sdk_sessions",
    ):
        assert connection.execute(statement).rowcount >= 0
        assert_sound(connection)
    assert connection.execute("SELECT count(*) FROM observations").fetchone() == (0,)
    connection.close()

"""What was deleted stands nowhere in the file any more; what was not is found as before."""

import sqlite3
from pathlib import Path

import pytest

from tests.factories import make_batch, observation_row, prompt_row, summary_row
from tests.parts.conftest import catching_up, eventually, fill, foreign
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import SearchQuery
from worker.search.engine import Engine
from worker.store import erasing, forget, tables
from worker.store.schema import FULLTEXT
from worker.store.tables import Store, open_store

MARK = "xylophonequagga"
"""One word, no part of which stands anywhere else."""
TABLES = ("py_text", *FULLTEXT)
LEFT = "SELECT value FROM py_meta WHERE key = 'to_erase'"


async def filled(store: Store) -> None:
    """In several pieces, each with what is to go and what is to stay."""
    for number in range(0, 200, 25):
        rows = [observation_row(f"zebra {each}", narrative=f"stripes of {each}") for each in range(number, number + 25)]
        await fill(store, make_batch(rows))
    marked = observation_row("to go", narrative=f"the key is {MARK}, twice: {MARK}", facts=[MARK])
    prompts = [prompt_row(f"what is {MARK}?"), prompt_row("what else?", prompt_number=2)]
    await fill(store, make_batch([marked], summaries=[summary_row(f"about {MARK}")], prompts=prompts))


async def keys_of_mark(store: Store) -> list[RecordKey]:
    page = await Engine(store).search(SearchQuery(text=MARK))
    return [hit.key for hit in page.hits]


async def delete(store: Store, key: RecordKey) -> None:
    await store.write(lambda connection: forget.delete(connection, key))


def files_with_mark(path: Path) -> list[str]:
    return [file.name for file in path.parent.iterdir() if file.is_file() and MARK.encode() in file.read_bytes()]


async def is_erased(store: Store) -> bool:
    return not await store.read(erasing.is_due)


def assert_whole(path: Path) -> None:
    connection = foreign(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for table in TABLES:
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    connection.close()


async def test_what_was_deleted_is_in_no_file_and_all_else_is_found(store: Store) -> None:
    await filled(store)
    keys = await keys_of_mark(store)
    assert {key.kind for key in keys} == set(RecordKind) and files_with_mark(store.path)
    async with catching_up(store):
        for key in keys:
            await delete(store, key)
        await eventually(lambda: is_erased(store))
    assert files_with_mark(store.path) == []
    assert (await Engine(store).search(SearchQuery(text="zebra"))).total == 200
    assert (await Engine(store).search(SearchQuery(text="what else", kinds=(RecordKind.PROMPT,)))).total == 1
    assert_whole(store.path)


async def test_what_another_program_deleted_goes_too(store: Store, other: sqlite3.Connection) -> None:
    await filled(store)
    assert files_with_mark(store.path)
    async with catching_up(store):
        other.execute("DELETE FROM observations WHERE title = 'to go'")
        other.execute("DELETE FROM session_summaries")
        other.execute("DELETE FROM user_prompts WHERE id = 1")
        await eventually(lambda: files_with_mark(store.path) == [])
        await eventually(lambda: is_erased(store))
    assert await keys_of_mark(store) == []


async def test_a_deletion_that_a_reader_holds_in_the_log_is_not_forgotten(
    store: Store, other: sqlite3.Connection
) -> None:
    await filled(store)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM observations").fetchone()  # all of the log is kept for it
    for key in await keys_of_mark(store):
        await delete(store, key)
    merged = "SELECT 1 FROM py_meta WHERE key = 'to_erase' AND value = ''"
    async with catching_up(store):
        await eventually(lambda: store.read(lambda connection: connection.execute(merged).fetchone()))
        assert files_with_mark(store.path)
        other.execute("COMMIT")
        await eventually(lambda: is_erased(store))
    assert files_with_mark(store.path) == []


async def test_a_worker_that_ended_in_the_middle_goes_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing, "_PAGES", 1)
    await filled(store)
    for key in await keys_of_mark(store):
        await delete(store, key)
    for _ in range(3):
        assert await store.write(erasing.step)
    await store.close()
    assert files_with_mark(store.path)
    again = open_store(store.path)
    async with catching_up(again):
        await eventually(lambda: is_erased(again))
    await again.close()
    assert files_with_mark(store.path) == []
    assert_whole(store.path)


async def test_steady_deletions_neither_begin_a_merge_anew_nor_grow_the_log_nor_hold_others_up(
    store: Store, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "_PAGES", 1)
    await filled(store)
    merged = 0
    for key in await keys_of_mark(store):
        await delete(store, key)
    for number in range(1, 2_000):
        assert await store.write(erasing.step)
        if number % 3 == 0:
            await delete(store, RecordKey(RecordKind.OBSERVATION, number // 3))
        left = await store.read(lambda connection: connection.execute(LEFT).fetchone()[0])
        merged += not left.startswith("+py_text")
        if merged > 3:
            break
    assert merged > 3, "one table is merged to its end, whatever is deleted meanwhile"
    monkeypatch.setattr(tables, "_ERASING_S", 0.0)
    async with catching_up(store):
        other.execute("UPDATE observations SET title = 'giraffe' WHERE id = 200")
        await eventually(lambda: found_alone(store, "giraffe"))
        await eventually(lambda: is_erased(store))
    assert files_with_mark(store.path) == []
    assert_whole(store.path)


async def found_alone(store: Store, text: str) -> bool:
    return (await Engine(store).search(SearchQuery(text=text))).total == 1


async def test_what_is_deleted_meanwhile_goes_too(store: Store) -> None:
    await filled(store)
    first, *others = await keys_of_mark(store)
    await delete(store, first)
    while await store.write(erasing.step):
        pass
    for key in others:
        await delete(store, key)
    await store.write(erasing.end)  # of the first one, as the log was folded in
    assert not await is_erased(store)
    async with catching_up(store):
        await eventually(lambda: is_erased(store))
    assert files_with_mark(store.path) == []


async def test_a_table_that_another_program_took_away_holds_nothing_up(store: Store, other: sqlite3.Connection) -> None:
    await filled(store)
    for (trigger,) in other.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%user_prompts_fts%'"
    ).fetchall():
        other.execute(f"DROP TRIGGER {trigger}")
    other.execute("DROP TABLE user_prompts_fts")
    async with catching_up(store):
        for key in await keys_of_mark(store):
            await delete(store, key)
        await eventually(lambda: is_erased(store))
    assert files_with_mark(store.path) == []


@pytest.mark.parametrize("what", ["tool use", "texts of a session"])
async def test_rows_that_stand_in_no_index_are_in_no_file_either(
    store: Store, other: sqlite3.Connection, what: str
) -> None:
    await fill(store, make_batch([observation_row("zebra")]))
    if what == "tool use":
        use = "INSERT INTO tool_uses (tool_use_id, content_session_id, project, tool_name, tool_input, created_at,"
        other.execute(f"{use} created_at_epoch) VALUES ('t', 'c-1', 'shop', 'Bash', ?, '', 1)", (f"{MARK} " * 2_000,))
    else:
        other.execute("UPDATE sdk_sessions SET user_prompt = ?, custom_title = ?", (f"{MARK} " * 20, MARK))
    assert files_with_mark(store.path)
    gone = forget.delete_tool_use if what == "tool use" else forget.clear_session
    await store.write(lambda connection: gone(connection, 1))
    left = "SELECT value FROM py_meta WHERE key = 'to_erase'"
    assert other.execute(left).fetchone() == ("",), "no index has to be merged for it"
    async with catching_up(store):
        await eventually(lambda: is_erased(store))
    assert files_with_mark(store.path) == []
    assert_whole(store.path)


async def test_what_is_to_be_merged_is_not_forgotten_for_a_row_that_stands_in_no_index(store: Store) -> None:
    await filled(store)
    for key in await keys_of_mark(store):
        await delete(store, key)
    await store.write(lambda connection: forget.clear_session(connection, 1))
    async with catching_up(store):
        await eventually(lambda: is_erased(store))
    assert files_with_mark(store.path) == []


@pytest.mark.parametrize(
    ("of_session", "prompts", "left"),
    [
        ("the secret", ["the secret", "more"], None),
        ("the sec…", ["the secret", "more"], None),
        ("another one", ["the secret", "more"], "another one"),
        ("the secret", ["the secret", "the secret"], "the secret"),
        (None, ["the secret"], None),
    ],
)
async def test_a_prompt_is_taken_out_of_its_session_too(
    store: Store, other: sqlite3.Connection, of_session: str | None, prompts: list[str], left: str | None
) -> None:
    await fill(store, make_batch([], prompts=[prompt_row(text, prompt_number=n) for n, text in enumerate(prompts, 1)]))
    other.execute("UPDATE sdk_sessions SET user_prompt = ?", (of_session,))
    await delete(store, RecordKey(RecordKind.PROMPT, 1))
    assert other.execute("SELECT DISTINCT user_prompt FROM sdk_sessions").fetchall() == [(left,)]

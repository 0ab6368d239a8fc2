"""Imports: nothing twice, all or nothing; and memories saved on purpose."""

import sqlite3
from typing import Any

import pytest

from tests.factories import (
    NOON,
    Row,
    make_batch,
    observation_row,
    prompt_row,
    session_row,
    summary_row,
)
from tests.parts.conftest import fill
from worker.contract.curation import Save
from worker.contract.errors import Invalid
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import SearchQuery
from worker.contract.transfer import ImportBatch, ImportStats, Mended, RowKind
from worker.search.engine import Engine
from worker.store import imports, records, stats
from worker.store.manual import keep
from worker.store.observations import content_hash
from worker.store.tables import Store

FULL = make_batch(
    [observation_row(), observation_row("用户身份校验失败 😀", created_at_epoch=NOON + 1)],
    sessions=[session_row(), session_row("2", platform_source="codex")],
    summaries=[summary_row()],
    prompts=[prompt_row(), prompt_row("and then?", prompt_number=2)],
)


async def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    return await store.read(lambda connection: [tuple(row) for row in connection.execute(sql)])


async def test_second_import_adds_nothing(store: Store) -> None:
    """R234."""
    first = await fill(store, FULL)
    assert first == ImportStats(sessionsImported=2, summariesImported=1, observationsImported=2, promptsImported=2)
    again = await fill(store, FULL)
    assert again == ImportStats(sessionsSkipped=2, summariesSkipped=1, observationsSkipped=2, promptsSkipped=2)


async def test_a_row_twice_in_one_batch_is_one_row(store: Store) -> None:
    """R164."""
    stats = await fill(
        store, make_batch([observation_row()] * 3, summaries=[summary_row()] * 2, prompts=[prompt_row()] * 2)
    )
    assert (stats.observationsImported, stats.observationsSkipped) == (1, 2)
    assert (stats.summariesImported, stats.promptsImported) == (1, 1)


async def test_export_comes_back_as_it_was(store: Store) -> None:
    """R236."""
    given: Row = {
        "title": "用户 😀 \u2028 \0", "subtitle": None, "narrative": "n" * 100_000, "facts": '["a"]', "concepts": None,
        "prompt_number": 3, "discovery_tokens": 12, "content_hash": "ABCDEF0123456789", "merged_into_project": "mall",
        "agent_type": "x", "agent_id": "y", "metadata": '{"k":1}', "generated_by_model": "m",
        "created_at": "2026-03-04T12:00:00.000Z",
    }  # fmt: skip
    await fill(store, make_batch([observation_row(**given)]))
    found = (await Engine(store).search_rows(SearchQuery(project="mall"))).observations[0]
    assert {name: getattr(found, name) for name in given} == given
    assert (await fill(store, make_batch([observation_row(**given)]))).observationsImported == 0


@pytest.mark.parametrize(
    ("batch", "field"),
    [
        (
            make_batch([observation_row()] * 3 + [observation_row(created_at_epoch=None)]),
            "observations[3].created_at_epoch",
        ),
        (make_batch([observation_row()], prompts=[prompt_row(), prompt_row(None)]), "prompts[1].prompt_text"),
        (
            make_batch([observation_row()], summaries=[summary_row(memory_session_id=None)]),
            "summaries[0].memory_session_id",
        ),
        (make_batch([observation_row()], sessions=[session_row(), session_row(status="odd")]), "sessions[1].status"),
    ],
)
async def test_bad_row_is_named_and_nothing_of_the_batch_is_kept(store: Store, batch: ImportBatch, field: str) -> None:
    with pytest.raises(Invalid) as raised:
        await fill(store, batch)
    assert raised.value.field == field and field in raised.value.message
    held = await store.read(lambda connection: stats.database(connection, store.path))
    assert (held.sessions, held.observations, held.summaries, held.prompts) == (0, 0, 0, 0)


async def test_what_is_mended_comes_once_and_is_told_each_time(store: Store) -> None:
    batch = make_batch(
        [observation_row("odd", created_at_epoch="soon", memory_session_id=""), observation_row(created_at_epoch=-5)],
        summaries=[summary_row(created_at_epoch=None)],
        prompts=[prompt_row(content_session_id="", created_at_epoch="2026-03-04T12:00:00Z")],
    )
    told: list[list[Mended]] = [[], []]
    first, again = [
        await store.write(lambda connection, mended=mended: imports.import_batch(connection, batch, mended=mended))  # type: ignore[misc]
        for mended in told
    ]
    assert (first.observationsImported, first.summariesImported, first.promptsImported) == (2, 1, 1)
    assert (again.observationsSkipped, again.summariesSkipped, again.promptsSkipped) == (2, 1, 1)
    assert told[0] == told[1]
    assert [one.row for one in told[0]] == [
        "observations[0].memory_session_id", "observations[0].created_at_epoch", "summaries[0].created_at_epoch",
        "prompts[0].content_session_id",
    ]  # fmt: skip
    assert sorted(row[0] for row in await rows(store, "SELECT created_at_epoch FROM observations")) == [-5, 0]


async def test_the_place_of_a_prompt_is_that_in_what_was_sent(store: Store) -> None:
    batch = make_batch([], prompts=[prompt_row(), prompt_row(None)])
    with pytest.raises(Invalid) as raised:
        await store.write(lambda connection: imports.import_rows(connection, RowKind.PROMPT, batch.prompts, [3, 7]))
    assert raised.value.field == "prompts[7].prompt_text"


async def test_rows_of_unknown_sessions_get_one(store: Store) -> None:
    await fill(
        store,
        make_batch(
            [observation_row(memory_session_id="lost", project="attic")],
            sessions=[],
            summaries=[summary_row(memory_session_id="lost", project="attic")],
            prompts=[prompt_row(content_session_id="gone", platform_source="Codex CLI", project="cellar")],
        ),
    )
    assert await rows(
        store, "SELECT content_session_id, memory_session_id, project, platform_source, status FROM sdk_sessions"
    ) == [
        ("imported-lost", "lost", "attic", "claude", "completed"),
        ("gone", "gone", "cellar", "codex", "completed"),
    ]
    assert await rows(store, "PRAGMA foreign_key_check") == []


async def test_same_words_at_another_time_are_another_row(store: Store) -> None:
    one, other = observation_row(created_at_epoch=1), observation_row(created_at_epoch=2)
    stats = await fill(store, make_batch([one, other]))
    assert stats.observationsImported == 2
    digest = content_hash("m-1", one["title"], "")
    assert await rows(store, "SELECT content_hash FROM observations ORDER BY id") == [(digest,), (None,)]
    assert (await fill(store, make_batch([one, other]))).observationsImported == 0


async def test_hash_that_is_taken_by_other_words_is_given_up(store: Store) -> None:
    await fill(store, make_batch([observation_row("a", content_hash="h"), observation_row("b", content_hash="h")]))
    assert await rows(store, "SELECT title, content_hash FROM observations ORDER BY id") == [("a", "h"), ("b", None)]


async def test_lists_and_their_json_text_are_stored_alike(store: Store) -> None:
    await fill(store, make_batch([observation_row("a", facts=["x", "é"]), observation_row("b", facts='["x","é"]')]))
    assert await rows(store, "SELECT DISTINCT facts FROM observations") == [('["x","é"]',)]


async def test_session_without_a_memory_id_is_kept(store: Store) -> None:
    sessions = [session_row("1", memory_session_id=""), session_row("2", memory_session_id=None)]
    assert (await fill(store, make_batch([], sessions=sessions))).sessionsImported == 2
    assert await rows(store, "SELECT memory_session_id FROM sdk_sessions") == [(None,), (None,)]
    later = [session_row("1", memory_session_id="m-1")]
    assert (await fill(store, make_batch([observation_row()], sessions=later))).sessionsSkipped == 1
    assert await rows(store, "SELECT memory_session_id FROM sdk_sessions ORDER BY id DESC") == [(None,), ("m-1",)]


async def test_sessions_are_told_apart_by_platform(store: Store) -> None:
    same = [session_row("1"), session_row("1", platform_source="Codex", memory_session_id="m-2")]
    prompts = [prompt_row("one"), prompt_row("two", platform_source="codex")]
    stats = await fill(store, make_batch([], sessions=same, prompts=prompts))
    assert (stats.sessionsImported, stats.promptsImported) == (2, 2)
    assert await rows(store, "SELECT session_db_id FROM user_prompts ORDER BY id") == [(1,), (2,)]


async def test_memory_id_of_another_session_is_not_taken_away(store: Store) -> None:
    sessions = [session_row("1"), session_row("2", memory_session_id="m-1")]
    stats = await fill(store, make_batch([observation_row()], sessions=sessions))
    assert (stats.sessionsImported, stats.sessionsSkipped, stats.observationsImported) == (1, 1, 1)


async def test_prompts_without_numbers_are_numbered(store: Store) -> None:
    prompts = [prompt_row(text, prompt_number=None, created_at_epoch=at) for at, text in enumerate("abc", 1)]
    await fill(store, make_batch([], prompts=prompts))
    assert await rows(store, "SELECT prompt_number, prompt_text FROM user_prompts") == [(1, "a"), (2, "b"), (3, "c")]
    assert (await fill(store, make_batch([], prompts=prompts))).promptsImported == 0


async def test_import_is_found_and_told_once_each(store: Store) -> None:
    told: list[str] = []
    store.feed.subscribe(lambda changes: told.extend(str(change.key) for change in changes))
    await fill(store, FULL)
    await fill(store, FULL)
    assert sorted(told) == ["1", "2", "P1", "P2", "S1"]
    assert (await Engine(store).search(SearchQuery(text="身份校验"))).total == 1


def save(store: Store, memory: Save, platform: str | None = None) -> Any:
    return store.write(lambda connection: keep(connection, memory, platform, NOON))


async def test_saved_memory_is_an_observation_of_its_pseudo_session(store: Store) -> None:
    memory = Save(text="login expires", title="Login", project="demo", metadata={"k": [1]})
    assert await save(store, memory) == 1
    key = RecordKey(RecordKind.OBSERVATION, 1)
    found = (await store.read(lambda connection: records.by_keys(connection, [key])))[key]
    columns = {
        name: getattr(found, name) for name in ("memory_session_id", "project", "title", "narrative", "metadata")
    }
    assert columns == {
        "memory_session_id": "manual-demo-claude", "project": "demo", "title": "Login", "narrative": "login expires",
        "metadata": '{"k":[1]}',
    }  # fmt: skip
    assert await rows(
        store, "SELECT type, subtitle, facts, concepts, files_read, files_modified FROM observations"
    ) == [("discovery", "Manual memory", "[]", "[]", "[]", "[]")]
    assert await rows(store, "SELECT content_session_id, status FROM sdk_sessions") == [
        ("manual-content-demo-claude", "active")
    ]


async def test_same_memory_twice_is_the_same_observation(store: Store) -> None:
    memory = Save(text="x", title="t", project="demo")
    first, again, elsewhere = [await save(store, memory, platform) for platform in (None, "Claude", "Codex")]
    assert first == again != elsewhere


def test_hash_of_words_is_the_original_s() -> None:
    said = "remember that the login cache expires after ten minutes"
    assert content_hash("manual-demo-claude", said, said) == "51c73d46c189fafb"
    assert content_hash("manual-demo", said, said) == "372629d14b689088"
    assert content_hash("m", None, None) == content_hash("m", "", "")


async def test_memory_saved_beside_the_original_s(store: Store, other: sqlite3.Connection) -> None:
    other.execute(
        "INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at, started_at_epoch)"
        " VALUES ('manual-content-demo-claude', 'manual-demo-claude', 'demo', '', 1)"
    )
    await save(store, Save(text="x", title="t", project="demo"))
    assert await rows(store, "SELECT count(*) FROM sdk_sessions") == [(1,)]

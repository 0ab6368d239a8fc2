"""Rows out, page by page, and in again: what the tables hold survives, and nothing comes in twice."""

import sqlite3
from typing import Any

import msgspec
import pytest

from tests.factories import DAY, HOUR, NOON, Row, make_batch, observation_row, prompt_row, session_row, summary_row
from tests.parts.conftest import fill
from worker.contract.costs import CostQuery
from worker.contract.transfer import EQUAL_IN, NTH, SHARED, ExportQuery, ImportBatch, ImportStats, RowKind
from worker.search import costs
from worker.store import aliases, exports, imports, spend
from worker.store.tables import Connection, Store, open_store

NOT_MOVED = {"id", "session_db_id", "synced_at", "origin_device_id", "origin_local_id", "sync_rev"}
FULL = make_batch(
    [
        observation_row(
            "用户 😀", subtitle=None, text="old \0 \x1b", narrative="\x7f\x9b\u2028", facts=None, concepts='["a"]',
            prompt_number=2, discovery_tokens=None, content_hash="ABCDEF0123456789", generated_by_model="m",
            relevance_count=4, merged_into_project="mall", agent_type="x", agent_id="y", metadata='{"k": 1}',
            created_at="2026-03-04T12:00:00Z",
        ),
        observation_row("", text="the only words", relevance_count=None, created_at_epoch=1),
    ],
    sessions=[
        session_row(
            user_prompt="why?", completed_at="2026-03-04T13:00:00.000Z", completed_at_epoch=NOON + HOUR,
            worker_port=37777, prompt_counter=3, custom_title="Title 标题", observed_model="opus",
            observed_billing="api", platform_source="codex",
        ),
        session_row("2", memory_session_id=None, status="failed"),
    ],
    summaries=[
        summary_row(
            investigated="", learned=None, completed="c", next_steps="n", notes="notes", files_read='["a"]',
            files_edited=None, discovery_tokens=9, merged_into_project="mall", prompt_number=1,
        )
    ],
    prompts=[
        prompt_row(platform_source="codex"),
        prompt_row("", prompt_number=0, platform_source="codex"),
        prompt_row("another after a deletion", platform_source="codex"),
    ],
)  # fmt: skip


async def pages(store: Store, kind: RowKind, **over: Any) -> list[Row]:
    """All rows of a kind, over as many pages as it takes."""
    query, rows = ExportQuery(kind=kind, **over), []
    while True:
        page = await store.read(lambda connection, query=query: exports.page(connection, query))  # type: ignore[misc]
        rows += [msgspec.json.decode(raw) for raw in page.rows]
        if page.next is None:
            return rows
        assert page.rows and page.next > query.after
        query = msgspec.structs.replace(query, after=page.next)


async def everything(store: Store, **over: Any) -> ImportBatch:
    return ImportBatch(**{kind.plural: tuple(await pages(store, kind, **over)) for kind in RowKind})


def content(batch: ImportBatch) -> dict[str, list[Row]]:
    return {
        kind.plural: [
            {name: value for name, value in row.items() if name not in NOT_MOVED} for row in getattr(batch, kind.plural)
        ]
        for kind in RowKind
    }


async def test_every_column_survives_the_way_out_and_in(store: Store) -> None:
    """R236."""
    await fill(store, FULL)
    taken = await everything(store)
    assert [len(getattr(taken, kind.plural)) for kind in RowKind] == [2, 3, 2, 1]
    for kind in RowKind:
        for given, found in zip(getattr(FULL, kind.plural), getattr(taken, kind.plural), strict=True):
            assert {name: found[name] for name in given} == given
    other = open_store(store.path.parent / "other" / "claude-mem.db")
    assert (await fill(other, taken)).observationsImported == 2
    assert content(await everything(other)) == content(taken)
    assert await fill(other, taken) == ImportStats(
        sessionsSkipped=2, promptsSkipped=3, observationsSkipped=2, summariesSkipped=1
    )
    assert await fill(store, taken) == await fill(other, taken)
    await other.close()


async def test_rows_whose_hash_the_original_left_empty_come_once(store: Store, other: sqlite3.Connection) -> None:
    """R234."""
    await fill(store, FULL)
    other.execute("UPDATE observations SET content_hash = NULL")
    taken = await everything(store)
    assert all(row["content_hash"] is None for row in taken.observations)
    assert (await fill(store, taken)).observationsImported == 0
    assert (await fill(store, taken)).observationsSkipped == 2


async def test_what_only_looks_alike_is_kept_apart(store: Store) -> None:
    alike = [
        observation_row(),
        observation_row(facts='["x"]'),
        observation_row(text="t"),
        observation_row(subtitle="s"),
    ]
    said = [summary_row(), summary_row(learned="more")]
    batch = make_batch(alike, summaries=said, prompts=[prompt_row(), prompt_row("same number")])
    first, second = await fill(store, batch), await fill(store, batch)
    assert (first.observationsImported, first.summariesImported, first.promptsImported) == (4, 2, 2)
    assert (second.observationsImported, second.summariesImported, second.promptsImported) == (0, 0, 0)


@pytest.mark.parametrize("column", [name for name in EQUAL_IN[RowKind.OBSERVATION] if "_session_" not in name])
async def test_observations_that_differ_in_one_column_are_two(store: Store, column: str) -> None:
    """R236."""
    other: Row = {"created_at_epoch": NOON + 1, "prompt_number": 4}
    given = observation_row(content_hash=None)
    batch = make_batch([given, given | {column: other.get(column, '["other"]')}])
    assert (await fill(store, batch)).observationsImported == 2
    assert (await fill(store, batch)).observationsImported == 0


@pytest.mark.parametrize("column", [name for name in EQUAL_IN[RowKind.SUMMARY] if "_session_" not in name])
async def test_summaries_that_differ_in_one_column_are_two(store: Store, column: str) -> None:
    """R236."""
    other: Row = {"created_at_epoch": NOON + 1, "prompt_number": 4}
    batch = make_batch([], summaries=[summary_row(), summary_row(**{column: other.get(column, '["other"]')})])
    assert (await fill(store, batch)).summariesImported == 2
    assert (await fill(store, batch)).summariesImported == 0


async def test_a_row_is_known_again_whatever_became_of_it(store: Store, other: sqlite3.Connection) -> None:
    """R234: also as the original's import leaves it, as another program writes the same, and before a migration."""
    row = observation_row(
        facts=None, files_read='["a"]', concepts='["Gotcha: it bites","gotcha","std::vector"]', metadata='{"k": 1}',
        generated_by_model="m", agent_id="a", discovery_tokens=None,
    )  # fmt: skip
    batch = make_batch([row], summaries=[summary_row(files_read=None)])
    await fill(store, batch)
    other.execute(
        """UPDATE observations SET id = 900, content_hash = NULL, relevance_count = 8, merged_into_project = 'mall',
            facts = '', files_read = ' [ "a" ] ', prompt_number = 0, concepts = '["gotcha","std::vector"]',
            metadata = NULL, generated_by_model = NULL, agent_id = NULL, discovery_tokens = 0"""
    )
    other.execute("UPDATE session_summaries SET id = 900, merged_into_project = 'mall', files_read = '[]'")
    again = await fill(store, batch)
    assert (again.observationsSkipped, again.summariesSkipped) == (1, 1)


async def test_of_equal_rows_as_many_come_as_there_are(store: Store) -> None:
    rows = make_batch(
        [observation_row(), observation_row(**{NTH: 2}), observation_row(**{NTH: 3})],
        summaries=[summary_row(), summary_row(**{NTH: 2})],
        prompts=[prompt_row(), prompt_row(**{NTH: 2})],
    )
    first, again = await fill(store, rows), await fill(store, rows)
    assert (first.observationsImported, first.summariesImported, first.promptsImported) == (3, 2, 2)
    assert (again.observationsSkipped, again.summariesSkipped, again.promptsSkipped) == (3, 2, 2)
    assert [row["content_hash"] is None for row in await pages(store, RowKind.OBSERVATION)] == [False, True, True]


async def test_a_session_that_comes_after_its_rows_takes_the_place_of_the_one_made_for_them(store: Store) -> None:
    await fill(store, make_batch([observation_row(platform_source="Codex CLI")], sessions=[]))
    assert [row["platform_source"] for row in await pages(store, RowKind.SESSION)] == ["codex"]
    late = make_batch([], sessions=[session_row(custom_title="Late", platform_source="codex")], prompts=[prompt_row()])
    assert (await fill(store, late)).sessionsImported == 1
    (session,) = await pages(store, RowKind.SESSION)
    assert (session["content_session_id"], session["custom_title"]) == ("c-1", "Late")
    assert (await fill(store, late)).sessionsImported == 0


async def test_a_known_session_gets_what_it_lacks_and_keeps_what_it_has(store: Store) -> None:
    await fill(store, make_batch([], sessions=[session_row(project="", custom_title="Mine", memory_session_id=None)]))
    more = session_row(custom_title="Theirs", observed_model="opus", user_prompt="why?")
    assert (await fill(store, make_batch([], sessions=[more]))).sessionsSkipped == 1
    (session,) = await pages(store, RowKind.SESSION)
    kept = {name: session[name] for name in ("project", "custom_title", "memory_session_id", "observed_model")}
    assert kept == {"project": "shop", "custom_title": "Mine", "memory_session_id": "m-1", "observed_model": "opus"}


async def work_tokens(store: Store) -> int:
    found = await store.read(lambda connection: costs.answer(connection, CostQuery(), NOON))
    return found.total.work_tokens


@pytest.mark.parametrize("made_before", [False, True])
async def test_parts_of_an_answer_are_parts_on_another_machine_too(store: Store, made_before: bool) -> None:
    """R236: of session 1 our observer shared 100 tokens out; in 2 the original noted 70 on each of its two records."""
    rows = [
        observation_row(title, memory_session_id=f"m-{number}", discovery_tokens=tokens)
        for number, tokens in (("1", 50), ("2", 70))
        for title in ("one", "another")
    ]
    await fill(store, make_batch(rows, sessions=[session_row(), session_row("2")]))
    await store.write(lambda connection: spend.add(connection, spend.Call("shop", 1, "haiku", 100), NOON))
    assert await work_tokens(store) == 100 + 70
    taken = await everything(store)
    assert [session.get(SHARED) for session in taken.sessions] == [1, None]
    other = open_store(store.path.parent / "other" / "claude-mem.db")
    if made_before:  # its records came first, under a session that was made for them
        await fill(other, make_batch(list(taken.observations), sessions=[]))
    for _ in range(2):
        await fill(other, taken)
        assert await work_tokens(other) == 100 + 70
        assert content(await everything(other)) == content(taken)
    observer = (await other.read(lambda connection: costs.answer(connection, CostQuery(), NOON))).observer
    assert (observer.total.tokens, observer.days, observer.projects, observer.models) == (0, (), (), ())
    await other.close()


async def test_a_dry_run_counts_and_keeps_nothing(store: Store) -> None:
    def count(connection: Connection) -> ImportStats:
        with imports.undone(connection):
            return imports.import_batch(connection, FULL)

    would = await store.write(count)
    assert (would.sessionsImported, would.observationsImported, would.promptsImported) == (2, 2, 3)
    assert await everything(store) == ImportBatch()
    assert await fill(store, FULL) == would


async def test_filters_keep_the_sessions_that_the_rows_need(store: Store) -> None:
    batch = make_batch(
        [
            observation_row("here", memory_session_id="m-1"),
            observation_row("merged", memory_session_id="m-2", project="old", merged_into_project="shop"),
            observation_row("late", memory_session_id="m-3", created_at_epoch=NOON + 9 * DAY),
        ],
        sessions=[session_row("1"), session_row("2", project="old"), session_row("3"), session_row("4", project="x")],
        prompts=[prompt_row(), prompt_row("other", content_session_id="c-4")],
    )
    await fill(store, batch)

    async def seen(**over: Any) -> tuple[list[str], list[str], list[str]]:
        taken = await everything(store, **over)
        return (
            [row["content_session_id"] for row in taken.sessions],
            [row["title"] for row in taken.observations],
            [row["prompt_text"] for row in taken.prompts],
        )

    asked = prompt_row()["prompt_text"]
    assert await seen(project="shop") == (["c-1", "c-2", "c-3"], ["here", "merged", "late"], [asked])
    assert await seen(since_epoch_ms=NOON + DAY) == (["c-3"], ["late"], [])
    assert await seen(project="x") == (["c-4"], [], ["other"])
    assert await seen(project="shop", until_epoch_ms=NOON) == (["c-1", "c-2", "c-3"], ["here", "merged"], [asked])
    assert await seen(project="none") == ([], [], [])


async def test_a_project_is_taken_out_under_all_its_names(store: Store) -> None:
    await fill(
        store,
        make_batch(
            [observation_row("old", memory_session_id="m-2", project="store"), observation_row("new"),
             observation_row("other", memory_session_id="m-3", project="y")],
            sessions=[session_row(), session_row("2", project="store"), session_row("3", project="y")],
            prompts=[prompt_row("asked", content_session_id="c-2")],
        ),
    )  # fmt: skip
    await store.write(lambda connection: aliases.put(connection, "store", "shop"))
    for project in ("shop", "store"):
        taken = await everything(store, project=project)
        assert [row["title"] for row in taken.observations] == ["old", "new"]
        assert [row["project"] for row in taken.sessions] == ["shop", "store"]
        assert [row["prompt_text"] for row in taken.prompts] == ["asked"]


async def test_forty_thousand_rows_come_out_page_by_page(store: Store, other: sqlite3.Connection) -> None:
    """R058: each once, in order, though SQLite takes no 40,000 values in one question."""
    await fill(store, make_batch([]))
    other.execute(
        """WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
        INSERT INTO observations (memory_session_id, project, type, title, created_at, created_at_epoch)
        SELECT 'm-1', 'shop', 'change', 't' || i, '', i FROM n"""
    )
    rows = await pages(store, RowKind.OBSERVATION, limit=1000)
    assert [row["title"] for row in rows] == [f"t{number}" for number in range(1, 40_001)]


async def test_a_page_ends_sooner_when_its_rows_are_long(store: Store) -> None:
    rows = [observation_row(str(number), narrative="n" * 900_000, created_at_epoch=number) for number in range(5)]
    await fill(store, make_batch(rows))
    query = ExportQuery(kind=RowKind.OBSERVATION)
    page = await store.read(lambda connection: exports.page(connection, query))
    assert (len(page.rows), page.next, page.newest) == (3, 3, 5)
    assert len(await pages(store, RowKind.OBSERVATION)) == 5


@pytest.mark.parametrize("kind", list(RowKind))
async def test_what_is_written_meanwhile_is_left_out(store: Store, kind: RowKind) -> None:
    await fill(store, FULL)
    assert [row["id"] for row in await pages(store, kind, upto=1)] == [1]
    assert await pages(store, kind, after=5) == []


async def test_bytes_that_some_program_wrote_into_a_text_come_out_as_text(
    store: Store, other: sqlite3.Connection
) -> None:
    await fill(store, make_batch([observation_row()]))
    other.execute("UPDATE observations SET narrative = x'61ff', title = CAST(x'62ff' AS TEXT)")
    (row,) = await pages(store, RowKind.OBSERVATION)
    assert (row["narrative"], row["title"]) == ("a\ufffd", "b\ufffd")


@pytest.mark.parametrize("odd", ["x'416263'", "CAST(x'ff41' AS TEXT)", "x'ff41'", "CAST(x'fffd' AS TEXT)"])
async def test_bytes_that_some_program_wrote_are_known_again(store: Store, other: sqlite3.Connection, odd: str) -> None:
    """R234: as they are read, in each text by which rows of one moment are told apart."""
    texts = {
        "observations": ("title", "subtitle", "narrative", "text"),
        "session_summaries": ("request", "investigated", "learned", "completed", "next_steps", "notes"),
        "user_prompts": ("prompt_text",),
    }
    count = sum(map(len, texts.values()))
    await fill(
        store,
        make_batch(
            [observation_row(f"o{at}") for at in range(4)],
            summaries=[summary_row(f"s{at}") for at in range(6)],
            prompts=[prompt_row("p")],
        ),
    )
    for table, columns in texts.items():
        for at, column in enumerate(columns):
            other.execute(f"UPDATE {table} SET {column} = {odd} WHERE id = {at + 1}")
    again = await fill(store, await everything(store))
    assert (again.observationsImported, again.summariesImported, again.promptsImported) == (0, 0, 0)
    assert again.observationsSkipped + again.summariesSkipped + again.promptsSkipped == count
    other.execute(f"UPDATE observations SET title = {odd}, subtitle = '', narrative = '', text = ''")
    other.execute("UPDATE observations SET title = 'A' || title WHERE id = 2")
    ours = await everything(store)
    other.execute("DELETE FROM observations WHERE id = 2")
    assert (await fill(store, ours)).observationsImported == 1

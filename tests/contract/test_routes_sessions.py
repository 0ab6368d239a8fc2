"""Sessions with what they came to, and what each holds."""

from typing import Any

import pytest

from tests.contract.edge import Edge
from tests.factories import DAY, HOUR, MINUTE, NOON, make_batch, observation_row, prompt_row, session_row, summary_row


@pytest.fixture
async def filled(edge: Edge) -> Edge:
    await edge.fill(
        make_batch(
            [
                observation_row("zebra", discovery_tokens=70),
                observation_row("giraffe", created_at_epoch=NOON + 1),
                observation_row("lion", memory_session_id="m-2", project="mall", created_at_epoch=NOON - DAY),
            ],
            sessions=[
                session_row(custom_title="Animals"),
                session_row("2", project="mall", platform_source="codex", started_at_epoch=NOON - DAY - HOUR),
                session_row("3", custom_title="Cats\nand dogs", started_at_epoch=NOON - 3 * DAY, status="active"),
                session_row("4", started_at_epoch=NOON - 4 * DAY, user_prompt="from the row"),
                session_row("5", project="observer-sessions"),
            ],
            summaries=[
                summary_row("first", created_at_epoch=NOON + MINUTE),
                summary_row("second", learned="much", next_steps="more", created_at_epoch=NOON + HOUR),
            ],
            prompts=[
                prompt_row("which\nanimals?"),
                prompt_row("early bird", content_session_id="c-2", created_at_epoch=NOON - DAY - MINUTE),
                prompt_row("late bird", content_session_id="c-2", prompt_number=2, created_at_epoch=NOON - DAY),
            ],
        )
    )
    return edge


async def lines(edge: Edge, **params: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await edge.ask("/api/sessions", **params))["sessions"]
    return found


async def test_the_last_started_come_first_with_what_they_came_to(filled: Edge) -> None:
    found = await lines(filled)
    assert [(line["content_session_id"], line["title"]) for line in found] == [
        ("c-1", "second"),
        ("c-2", "early bird"),
        ("c-3", "Cats and dogs"),
        ("c-4", "from the row"),
    ]
    first = found[0]
    assert (first["prompts"], first["observations"], first["summaries"]) == (1, 2, 2)
    assert (first["request"], first["learned"], first["next_steps"], first["summary_id"]) == (
        "second",
        "much",
        "more",
        2,
    )
    assert (first["work_tokens"], first["last_at_epoch"]) == (70, NOON + HOUR)
    hits = (await filled.ask("/api/search", format="hits", query="session:c-1"))["hits"]
    assert first["read_tokens"] == sum(hit["read_tokens"] for hit in hits) > 0
    assert (found[2]["last_at_epoch"], found[2]["status"], found[2]["summary_id"]) == (NOON - 3 * DAY, "active", None)


async def test_pages_and_filters(filled: Edge) -> None:
    page = await filled.ask("/api/sessions", limit=2, offset=1)
    assert (page["total"], page["offset"]) == (4, 1)
    assert [line["id"] for line in page["sessions"]] == [2, 3]
    assert [line["id"] for line in await lines(filled, project="mall")] == [2]
    assert [line["id"] for line in await lines(filled, platformSource="codex")] == [2]
    assert [line["id"] for line in await lines(filled, project="observer-sessions")] == [5]
    assert await lines(filled, offset=99) == await lines(filled, project="none") == []
    await filled.store.write(
        lambda connection: connection.execute("UPDATE observations SET merged_into_project = 'zoo' WHERE id = 3")
    )
    assert [line["id"] for line in await lines(filled, project="zoo")] == [2]


async def test_those_that_were_at_work_in_a_span(filled: Edge) -> None:
    for span, ids in (
        ({"dateStart": NOON + MINUTE, "dateEnd": NOON + MINUTE}, [1]),  # a summary of it
        ({"dateStart": NOON - DAY - HOUR, "dateEnd": NOON - DAY - HOUR}, [2]),  # its start
        ({"dateStart": NOON - DAY, "dateEnd": NOON}, [1, 2]),
        ({"dateEnd": NOON - 2 * DAY}, [3, 4]),
        ({"dateStart": NOON + DAY}, []),
        ({"dateStart": NOON - 3 * DAY, "project": "mall"}, [2]),
    ):
        page = await filled.ask("/api/sessions", **span)
        assert ([line["id"] for line in page["sessions"]], page["total"]) == (ids, len(ids)), span


async def test_sessions_as_they_were_at_a_moment(filled: Edge) -> None:
    then = NOON + MINUTE  # between the first summary and the second
    page = await filled.ask("/api/sessions", asOf=then)
    assert [line["id"] for line in page["sessions"]] == [1, 2, 3, 4]
    first = page["sessions"][0]
    assert (first["title"], first["summaries"], first["last_at_epoch"]) == ("first", 1, then)
    assert first["learned"] is None
    assert (await lines(filled))[0]["read_tokens"] > first["read_tokens"] > 0
    found = await filled.ask("/api/sessions/1", asOf=then)
    assert ([entry["kind"] for entry in found["entries"]], found["total"]) == (
        ["prompt", "observation", "observation", "summary"],
        4,
    )
    before = await filled.ask("/api/sessions", asOf=NOON - DAY - MINUTE)
    assert ([line["id"] for line in before["sessions"]], before["total"]) == ([2, 3, 4], 3)
    early = before["sessions"][0]
    assert (early["prompts"], early["observations"], early["read_tokens"] > 0) == (1, 0, True)
    assert [line["id"] for line in await lines(filled, asOf=NOON - DAY, dateEnd=NOON - 2 * DAY)] == [3, 4]
    status, code, _ = await filled.problem("GET", "/api/sessions/1", params={"asOf": NOON - DAY})
    assert (status, code) == (404, "not_found")


async def test_a_session_that_ended_later_was_open(edge: Edge) -> None:
    ended = session_row(status="completed", completed_at_epoch=NOON + HOUR)
    await edge.fill(make_batch([observation_row("zebra")], sessions=[ended]))
    for moment, said in ((NOON + MINUTE, ("active", None)), (NOON + HOUR, ("completed", NOON + HOUR))):
        (line,) = await lines(edge, asOf=moment)
        assert (line["status"], line["ended_at_epoch"]) == said


@pytest.mark.parametrize("name", ["1", "m-1", "c-1"])
async def test_a_session_under_all_its_names(filled: Edge, name: str) -> None:
    found = await filled.ask(f"/api/sessions/{name}")
    assert [(entry["kind"], entry["id"]) for entry in found["entries"]] == [
        ("prompt", 1),
        ("observation", 1),
        ("observation", 2),
        ("summary", 1),
        ("summary", 2),
    ]
    assert (found["session"]["id"], found["total"]) == (1, 5)
    part = await filled.ask(f"/api/sessions/{name}", limit=2, offset=2)
    assert ([entry["id"] for entry in part["entries"]], part["total"], part["offset"]) == ([2, 1], 5, 2)


async def test_a_session_in_which_nothing_was_learned_yet_has_its_prompts(filled: Edge) -> None:
    def anonymous(connection: Any) -> None:
        connection.execute("DELETE FROM observations WHERE id = 3")
        connection.execute("UPDATE sdk_sessions SET memory_session_id = NULL WHERE id = 2")
        connection.execute("UPDATE user_prompts SET session_db_id = NULL WHERE prompt_text = 'late bird'")

    await filled.store.write(anonymous)
    found = await filled.ask("/api/sessions/2")
    assert [entry["title"] for entry in found["entries"]] == ["early bird", "late bird"]
    line = found["session"]
    assert (line["memory_session_id"], line["prompts"], line["title"]) == (None, 2, "early bird")
    assert (line["last_at_epoch"], found["total"]) == (NOON - DAY, 2)
    assert (await lines(filled))[1] == line


async def test_what_is_not_there(filled: Edge) -> None:
    for name in ("99", "none", "%00", "%F0%9F%98%80"):
        assert await filled.problem("GET", f"/api/sessions/{name}") == (404, "not_found", "session")

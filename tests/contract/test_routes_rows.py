"""Rows by id, by session, by file; tool uses; and rows taken away."""

import sqlite3
from typing import Any

import pytest

from tests.contract.edge import Edge
from tests.factories import HOUR, NOON, make_batch, observation_row, prompt_row, session_row, summary_row
from worker.api.endpoint import IGNORED
from worker.contract import calls
from worker.contract.records import parse_key
from worker.store.tables import Connection

TOOL_USE = {
    "tool_use_id": "toolu_1", "content_session_id": "c-1", "memory_session_id": "m-1", "project": "shop",
    "platform_source": "codex", "tool_name": "Bash", "tool_input": '{"command":"ls é"}', "tool_response": None,
    "agent_id": "a-1", "created_at": "2026-03-04T12:00:00.000Z", "created_at_epoch": NOON,
}  # fmt: skip

NOT_SERVED = {("DELETE", calls.SUMMARY), ("GET", calls.SUMMARY_ROW), ("GET", calls.TOOL_USE)}


async def write(edge: Edge, sql: str, *rows: tuple[object, ...]) -> None:
    def work(connection: Connection) -> None:
        connection.executemany(sql, rows)

    await edge.store.write(work)


async def keep_tool_uses(edge: Edge, *given: dict[str, Any]) -> None:
    rows = [TOOL_USE | one for one in given]
    marks = ",".join("?" * len(TOOL_USE))
    await write(
        edge, f"INSERT INTO tool_uses ({','.join(TOOL_USE)}) VALUES ({marks})", *(tuple(row.values()) for row in rows)
    )


async def memory(edge: Edge) -> None:
    await edge.fill(
        make_batch(
            [
                observation_row("zebra", files_read='["src/a.py","x, y.py"]', platform_source="claude"),
                observation_row("giraffe", files_modified='["src/a.py"]', created_at_epoch=NOON + 1),
                observation_row("broken", files_read="src/a.py", created_at_epoch=NOON + 2),
            ],
            sessions=[session_row(), session_row("2", started_at_epoch=NOON, platform_source="codex", project="api")],
            summaries=[summary_row("zebra summary")],
            prompts=[prompt_row("zebra?")],
        )
    )


@pytest.mark.parametrize("ids", [["m-1", "m-2", "gone"], '["m-1","m-2"]', "m-1, m-2", "m-2,m-1"])
async def test_sessions_by_memory_id(edge: Edge, ids: object) -> None:
    await memory(edge)
    rows = await edge.post(calls.SESSIONS_BATCH, {"memorySessionIds": ids})
    assert [row["memory_session_id"] for row in rows] == ["m-2", "m-1"]
    assert rows[1] == {
        "id": 1, "content_session_id": "c-1", "memory_session_id": "m-1", "project": "shop",
        "platform_source": "claude", "user_prompt": None, "custom_title": None,
        "started_at": "2026-03-04T11:00:00.000Z", "started_at_epoch": NOON - HOUR, "completed_at": None,
        "completed_at_epoch": None, "status": "completed",
    }  # fmt: skip


async def test_sessions_are_asked_for_by_their_ids(edge: Edge) -> None:
    assert await edge.post(calls.SESSIONS_BATCH, {"memorySessionIds": []}) == []
    for body in ({}, {"memorySessionIds": 5}, {"memorySessionIds": None}):
        assert await edge.problem("POST", calls.SESSIONS_BATCH, json=body) == (422, "invalid", "memorySessionIds")
    many = {"memorySessionIds": ["m"] * 1001}
    assert await edge.problem("POST", calls.SESSIONS_BATCH, json=many) == (422, "invalid", "memorySessionIds")


async def test_what_a_body_says_that_plays_no_part_is_told(edge: Edge) -> None:
    await memory(edge)
    body = {"ids": "1,2", "order": "date_asc", "orderBy": "date_desc", "ünï": None}
    answer = await edge.client.post(calls.BATCH, params={"lean": 1}, json=body)
    assert [row["id"] for row in answer.json()] == [2, 1]
    assert answer.headers[IGNORED] == "lean, order, %C3%BCn%C3%AF"
    assert IGNORED not in (await edge.client.post(calls.BATCH, json={"ids": [1], "lean": True})).headers
    nameless = await edge.client.post(calls.BATCH, params={"a": 1, "": 1}, json={"ids": [1], "b": 1, "": 1})
    assert nameless.headers[IGNORED] == "a, b"
    assert IGNORED not in (await edge.client.get(calls.HEALTH, params={"": 1})).headers
    typo = await edge.client.post(calls.IMPORT, json={"observation": [{"id": 1}]})
    assert (typo.status_code, typo.headers[IGNORED]) == (200, "observation")


async def test_a_platform_under_both_its_names_is_one_of_them(edge: Edge) -> None:
    await memory(edge)
    both = {"ids": [1, 2, 3], "platformSource": "codex", "platform_source": "claude"}
    answer = await edge.client.post(calls.BATCH, json=both)
    assert (answer.json(), answer.headers[IGNORED]) == ([], "platform_source")
    answer = await edge.client.post(calls.BATCH, json=both | {"platformSource": None})
    assert len(answer.json()) == 3 and IGNORED not in answer.headers


@pytest.mark.parametrize("body", [{"ids": ["1,2"]}, {"ids": [1.0, "#2"]}, {"ids": ["1 2", 3], "limit": 2.0}])
async def test_ids_and_counts_as_models_write_them(edge: Edge, body: object) -> None:
    """R196."""
    await memory(edge)
    assert {row["id"] for row in await edge.post(calls.BATCH, body)} >= {2}
    await keep_tool_uses(edge, {}, {"tool_use_id": "toolu_2"})
    assert [row["id"] for row in await edge.post(calls.TOOL_USES_BATCH, {"ids": [1.0], "limit": 1.0})] == [1]
    assert [row["id"] for row in await edge.post(calls.TOOL_USES_BATCH, {"ids": 2.0})] == [2]


async def test_observations_of_a_file_by_its_whole_path(edge: Edge) -> None:
    await memory(edge)
    await write(edge, "UPDATE observations SET files_read = ?, files_modified = 'x' WHERE id = 3", ("[src/a.py",))
    found = await edge.ask(calls.OBSERVATIONS_BY_FILE, path="src/a.py")
    assert ([row["title"] for row in found["observations"]], found["count"]) == (["giraffe", "zebra"], 2)
    assert (await edge.ask(calls.OBSERVATIONS_BY_FILE, path="a.py"))["count"] == 0
    assert (await edge.ask(calls.OBSERVATIONS_BY_FILE, path="x, y.py"))["count"] == 1
    assert (await edge.ask(calls.OBSERVATIONS_BY_FILE, path="src/a.py", limit=1))["count"] == 1
    assert (await edge.ask(calls.OBSERVATIONS_BY_FILE, path="src/a.py", projects="api,x"))["count"] == 0
    assert (await edge.ask(calls.OBSERVATIONS_BY_FILE, path="src/a.py", platformSource="codex"))["count"] == 0
    both = await edge.client.get(
        calls.OBSERVATIONS_BY_FILE, params={"path": ["x, y.py", "src/a.py"], "projects": "shop"}
    )
    assert both.json()["count"] == 2
    assert await edge.problem("GET", calls.OBSERVATIONS_BY_FILE) == (422, "invalid", "path")


async def test_tool_uses_without_what_went_in_and_came_out(edge: Edge) -> None:
    await keep_tool_uses(
        edge, {}, {"tool_use_id": "toolu_2", "tool_name": "Read", "created_at_epoch": NOON + 1, "project": "api"}
    )
    found = await edge.ask(calls.TOOL_USES)
    assert (found["count"], [use["tool_use_id"] for use in found["toolUses"]]) == (2, ["toolu_2", "toolu_1"])
    assert found["toolUses"][1] == {
        "id": 1, "tool_use_id": "toolu_1", "tool_name": "Bash", "project": "shop", "content_session_id": "c-1",
        "memory_session_id": "m-1", "platform_source": "codex", "agent_id": "a-1", "agent_type": None,
        "observation_id": None, "or_generation_id": None, "or_session_id": None, "prompt_number": None,
        "created_at": "2026-03-04T12:00:00.000Z", "created_at_epoch": NOON, "tool_input_bytes": 19,
        "tool_response_bytes": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("params", "ids"),
    [
        ({"project": "api"}, [2]),
        ({"session": "c-1"}, [2, 1]),
        ({"contentSessionId": "c-2"}, []),
        ({"memorySessionId": "m-1"}, [2, 1]),
        ({"tool_name": "Bash,Edit"}, [1]),
        ({"toolName": "Read"}, [2]),
        ({"agentId": "a-2"}, []),
        ({"platformSource": "Codex CLI"}, [2, 1]),
        ({"platform_source": "claude"}, []),
        ({"dateStart": NOON + 1}, [2]),
        ({"dateEnd": NOON}, [1]),
        ({"orderBy": "date_asc"}, [1, 2]),
        ({"limit": 1}, [2]),
        ({"offset": 1}, [1]),
    ],
)
async def test_tool_uses_by_filter(edge: Edge, params: dict[str, object], ids: list[int]) -> None:
    await keep_tool_uses(
        edge, {}, {"tool_use_id": "toolu_2", "tool_name": "Read", "created_at_epoch": NOON + 1, "project": "api"}
    )
    assert [use["id"] for use in (await edge.ask(calls.TOOL_USES, **params))["toolUses"]] == ids


@pytest.mark.parametrize("limit", ["0", "501", "x"])
async def test_tool_uses_are_bounded(edge: Edge, limit: str) -> None:
    assert await edge.problem("GET", calls.TOOL_USES, params={"limit": limit}) == (422, "invalid", "limit")


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        ({"ids": [1, 2]}, [2, 1]),
        ({"ids": 2}, [2]),
        ({"ids": ["toolu_1", 2, "gone"]}, [2, 1]),
        ({"ids": "toolu_1, 2"}, [2, 1]),
        ({"ids": '["toolu_1"]'}, [1]),
        ({"ids": [1, 2], "limit": 1}, [2]),
        ({"ids": [1, 2], "project": "shop"}, [1]),
        ({"ids": [1, 2], "contentSessionId": "c-2"}, []),
        ({"ids": []}, []),
        ({"ids": [99999999999999999999999]}, []),
    ],
)
async def test_tool_uses_in_full(edge: Edge, body: object, ids: list[int]) -> None:
    await keep_tool_uses(edge, {}, {"tool_use_id": "toolu_2", "project": "api"})
    rows = await edge.post(calls.TOOL_USES_BATCH, body)
    assert [row["id"] for row in rows] == ids
    assert all(row["tool_input"] == '{"command":"ls é"}' for row in rows)


@pytest.mark.parametrize("body", [{"ids": [1], "limit": 201}, {"ids": [1], "limit": 0}, {"ids": [True]}, {}])
async def test_tool_use_bodies_that_cannot_be_meant(edge: Edge, body: dict[str, object]) -> None:
    status, code, field = await edge.problem("POST", calls.TOOL_USES_BATCH, json=body)
    assert (status, code) == (422, "invalid")
    assert field is not None and field.startswith("limit" if "limit" in body else "ids")


async def test_odd_values_of_other_programs_hide_no_tool_use(edge: Edge) -> None:
    await keep_tool_uses(edge, {"tool_input": b"\xff\x00", "created_at_epoch": "soon", "agent_id": 5})
    use = (await edge.ask(calls.TOOL_USES))["toolUses"][0]
    assert (use["tool_input_bytes"], use["created_at_epoch"], use["agent_id"]) == (2, 0, "5")


DELETIONS = [
    (calls.OBSERVATION, "observation", "observations", "zebra"),
    (calls.SUMMARY_ROW, "summary", "session_summaries", "zebra"),
    (calls.PROMPT, "prompt", "user_prompts", "zebra"),
]


@pytest.mark.parametrize(("path", "kind", "table", "word"), DELETIONS)
async def test_a_row_goes_with_its_index_and_is_told(edge: Edge, path: str, kind: str, table: str, word: str) -> None:
    await memory(edge)
    before = (await edge.ask(calls.SEARCH, query=word, format="hits"))["total"]
    answer = await edge.client.delete(path.format(id=1))
    assert answer.json() == {"success": True, "id": "1", "kind": kind, "entity_rev": None}
    assert edge.broadcaster.sent == [{"type": "record_deleted", "kind": kind, "record_id": 1}]
    assert (await edge.ask(calls.SEARCH, query=word, format="hits"))["total"] == before - 1
    assert await edge.problem("DELETE", path.format(id=1)) == (404, "not_found", "id")
    assert (await edge.client.delete(path.format(id=1))).json()["error"] == f"{kind} #1 not found"
    with sqlite3.connect(edge.store.path) as other:
        assert other.execute(f"SELECT count(*) FROM {table} WHERE id = 1").fetchone() == (0,)
        assert other.execute(f"SELECT rowid FROM {table}_fts WHERE {table}_fts MATCH ?", (word,)).fetchall() == []
        other.execute(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('integrity-check')")
    other.close()


@pytest.mark.parametrize(
    "text", ["-0", "00", "01", "+1", "-01", "--1", "1.0", str(-(2**61) - 1), "x", "１", "9" * 30, "1%20"]
)
async def test_only_a_number_in_its_one_form_is_deleted(edge: Edge, text: str) -> None:
    await memory(edge)
    assert await edge.problem("DELETE", f"/api/observation/{text}") == (422, "invalid", "id")


@pytest.mark.parametrize("number", [-(2**61), -5, 0, 10**18, 2**61 - 1, 2**61, 2**63 - 1])
@pytest.mark.parametrize("path", [calls.OBSERVATION, calls.SUMMARY, calls.SUMMARY_ROW, calls.PROMPT, calls.TOOL_USE])
async def test_a_number_that_no_record_has_is_not_found(edge: Edge, path: str, number: int) -> None:
    for method in ("GET", "DELETE"):
        answer = await edge.client.request(method, path.format(id=number))
        assert answer.status_code == 404 or (method, path) in NOT_SERVED, answer.text


async def test_a_record_with_a_number_beyond_the_index_is_read_and_deleted(edge: Edge) -> None:
    await memory(edge)
    await write(edge, "UPDATE observations SET id = ? WHERE id = 1", (2**61,))
    assert (await edge.ask(calls.OBSERVATION.format(id=2**61), recalled=True))["title"] == "zebra"
    assert [row["title"] for row in await edge.post(calls.BATCH, {"ids": [2**61, 2]})] == ["giraffe", "zebra"]
    await edge.services.tally.flush(edge.store)
    assert set((await edge.ask(calls.RECALLS, keys="1,2"))["recalls"]) == {"2"}
    assert (await edge.client.delete(calls.OBSERVATION.format(id=2**61))).status_code == 200


@pytest.mark.parametrize(("path", "kind", "table", "word"), DELETIONS)
async def test_rows_of_other_devices_stay(edge: Edge, path: str, kind: str, table: str, word: str) -> None:
    await memory(edge)
    await write(edge, f"UPDATE {table} SET origin_device_id = ?, origin_local_id = '7' WHERE id = 1", ("laptop",))
    assert await edge.problem("DELETE", path.format(id=1)) == (404, "not_found", "id")
    assert edge.broadcaster.sent == []


async def test_a_row_that_the_cloud_has_a_copy_of_stays(edge: Edge) -> None:
    await memory(edge)
    head = "INSERT INTO sync_entity_heads VALUES (?, 'observation', ?, '1', '1', 'x', 0, 0)"
    await write(edge, head, ("e-1", "here"))
    assert await edge.problem("DELETE", "/api/observation/1") == (503, "unavailable", None)
    assert (await edge.ask("/api/observation/1"))["title"] == "zebra"


async def test_a_copy_of_another_devices_row_of_that_number_is_no_hindrance(edge: Edge) -> None:
    await memory(edge)
    await write(edge, "UPDATE observations SET origin_device_id = ?, origin_local_id = '1' WHERE id = 2", ("laptop",))
    head = "INSERT INTO sync_entity_heads VALUES (?, 'observation', ?, '1', '1', 'x', 0, 0)"
    await write(edge, head, ("e-1", "laptop"))
    assert (await edge.client.delete("/api/observation/1")).status_code == 200


async def test_a_tool_use_goes_alone(edge: Edge) -> None:
    await memory(edge)
    await keep_tool_uses(edge, {}, {"tool_use_id": "1", "tool_name": "Read"})
    answer = await edge.client.delete(calls.TOOL_USE.format(id=1))
    assert answer.json() == {"success": True, "id": "1", "kind": "tool_use", "entity_rev": None}
    assert [use["id"] for use in (await edge.ask(calls.TOOL_USES))["toolUses"]] == [2]
    assert await edge.problem("DELETE", calls.TOOL_USE.format(id=1)) == (404, "not_found", "id")
    assert await edge.problem("DELETE", calls.TOOL_USE.format(id="toolu_1")) == (422, "invalid", "id")
    assert (await edge.ask(calls.SEARCH, query="zebra", format="hits"))["total"] == 3
    assert edge.broadcaster.sent == []


async def test_what_a_session_says_itself_goes_and_its_records_stay(edge: Edge) -> None:
    await memory(edge)
    await write(edge, "UPDATE sdk_sessions SET user_prompt = 'asked', custom_title = 'called'", ())
    answer = await edge.client.delete(calls.SESSION_TEXTS.format(id=2))
    assert answer.json() == {"success": True, "id": "2", "kind": "session", "entity_rev": None}
    rows = await edge.post(calls.SESSIONS_BATCH, {"memorySessionIds": ["m-1", "m-2"]})
    assert [(row["user_prompt"], row["custom_title"]) for row in rows] == [(None, None), ("asked", "called")]
    assert edge.broadcaster.sent == [{"type": "session_changed", "sessionDbId": 2, "project": "api"}]
    assert (await edge.client.delete(calls.SESSION_TEXTS.format(id=1))).status_code == 200
    assert (await edge.ask(calls.SEARCH, query="zebra", format="hits"))["total"] == 3
    assert await edge.problem("DELETE", calls.SESSION_TEXTS.format(id=3)) == (404, "not_found", "id")
    assert await edge.problem("DELETE", calls.SESSION_TEXTS.format(id="m-1")) == (422, "invalid", "id")


async def test_our_calls_ask_for_just_these(edge: Edge) -> None:
    await memory(edge)
    for text in ("1", "S1", "P1"):
        key = parse_key(text)
        assert key is not None
        call = calls.delete(key)
        answer = await edge.client.request(call.method, call.path)
        assert call.decode(answer.content).id == "1"

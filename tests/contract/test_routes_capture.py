"""What hooks tell, and what they are answered; what is kept of it and what is not."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.edge import Edge, served
from tests.factories import HOUR, MINUTE, NOON
from worker.capture.gate import Rules
from worker.contract.capture import Accepted, ToolUsed
from worker.contract.project_name import MARKER
from worker.store import pending

INIT, TOOL = "/api/sessions/init", "/api/sessions/observations"
STOP, END = "/api/sessions/summarize", "/api/sessions/session-end"
SKIP = "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite,AskUserQuestion"


@pytest.fixture
async def edge(tmp_path: Path) -> AsyncIterator[Edge]:
    async with served(tmp_path / "memory") as edge:
        edge.services.rules = Rules(
            data_dir=str(tmp_path / "memory"),
            home=str(tmp_path),
            excluded=("~/hidden", "secret-*"),
            skip_tools=frozenset(SKIP.split(",")),
            temp_dirs=(str(tmp_path / "temp"),),
        )
        yield edge


class At:
    """A clock to set."""

    def __init__(self, edge: Edge) -> None:
        self.ms = NOON
        edge.services.clock = lambda: self.ms / 1000


@pytest.fixture
def clock(edge: Edge) -> At:
    return At(edge)


def rows(edge: Edge, sql: str) -> list[Any]:
    with sqlite3.connect(edge.store.path) as connection:
        found = connection.execute(sql).fetchall()
    connection.close()
    return found


async def begin(edge: Edge, prompt: str = "why?", session: str = "c-1", **over: object) -> Any:
    return await edge.post(INIT, {"contentSessionId": session, "project": "shop", "prompt": prompt} | over)


async def use(edge: Edge, session: str = "c-1", **over: object) -> Any:
    usual = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "a.py", "cwd": "/home/ann/shop"}
    return await edge.post(TOOL, {"contentSessionId": session} | usual | over)


async def stop(edge: Edge, session: str = "c-1", **over: object) -> Any:
    return await edge.post(STOP, {"contentSessionId": session, "last_assistant_message": "done"} | over)


def queued(edge: Edge) -> list[Any]:
    return rows(edge, "SELECT kind, project, prompt_number, tool_name, tool_input FROM py_captured ORDER BY id")


async def test_a_turn_is_answered_as_the_original_does(edge: Edge) -> None:
    first = {"sessionDbId": 1, "promptNumber": 1, "skipped": False, "contextInjected": False, "status": "initialized"}
    assert await begin(edge) == first
    assert await use(edge, tool_use_id="t-1") == {"status": "queued"}
    assert await use(edge, toolUseId="t-2") == {"status": "queued"}
    assert await stop(edge) == {"status": "queued"}
    again = first | {"promptNumber": 2, "contextInjected": True}
    assert await begin(edge, "and now?", somethingElse=1) == again
    assert await edge.post(END, {"contentSessionId": "c-1", "reason": "exit"}) == {"status": "accepted"}
    assert await edge.post(END, {"contentSessionId": "c-9"}) == {"status": "unknown_session"}
    assert queued(edge) == [
        ("tool", "shop", 1, "Bash", '{"command":"ls"}'),
        ("tool", "shop", 1, "Bash", '{"command":"ls"}'),
        ("summary", "shop", 1, None, None),
    ]
    assert rows(edge, "SELECT prompt_text, prompt_number, session_db_id FROM user_prompts") == [
        ("why?", 1, 1),
        ("and now?", 2, 1),
    ]
    kept = rows(edge, "SELECT tool_use_id, project, tool_input, tool_response, prompt_number FROM tool_uses")
    assert kept[0] == ("t-1", "shop", '{"command":"ls"}', '"a.py"', 1) and len(kept) == 2


@pytest.mark.parametrize("path", [INIT, TOOL, STOP, END])
async def test_what_is_missing_is_named(edge: Edge, path: str) -> None:
    body = {"tool_name": "Bash"} if path == TOOL else {}
    assert await edge.problem("POST", path, json=body) == (422, "invalid", "contentSessionId")
    assert await edge.problem("POST", path, json=body | {"contentSessionId": ""}) == (
        422,
        "invalid",
        "contentSessionId",
    )
    assert await edge.problem("POST", path, json={"contentSessionId": 5}) == (422, "invalid", "contentSessionId")


async def test_a_tool_without_a_name_is_refused(edge: Edge) -> None:
    assert await edge.problem("POST", TOOL, json={"contentSessionId": "c-1"}) == (422, "invalid", "tool_name")


@pytest.mark.parametrize("path", [INIT, TOOL, STOP])
async def test_text_that_is_none_is_refused_and_nothing_half_stored(edge: Edge, path: str) -> None:
    """R025."""
    raw = b'{"contentSessionId":"c-1","tool_name":"x","prompt":"a \\udcaa b","last_assistant_message":"\\udcaa"}'
    answer = await edge.client.post(path, content=raw, headers={"content-type": "application/json"})
    assert answer.status_code == 422 and "not JSON" in answer.json()["error"]
    assert rows(edge, "SELECT count(*) FROM sdk_sessions") == [(0,)]


@pytest.mark.parametrize("value", ["ls -la", None, 5, [1, {"a": [True]}], {}, "é 😀 \u2028"])
async def test_whatever_a_tool_takes_and_gives_is_kept(edge: Edge, value: object) -> None:
    """R131."""
    assert await use(edge, tool_input=value, tool_response=value, tool_use_id="t") == {"status": "queued"}
    body = {"contentSessionId": "c-1", "tool_name": "Bash", "tool_input": value, "tool_use_id": "u"}
    assert await edge.post(TOOL, body) == {"status": "queued"}
    assert await edge.post(TOOL, {"contentSessionId": "c-1", "tool_name": "Bash"}) == {"status": "queued"}
    assert (await edge.ask("/api/tool-uses"))["count"] == 2


async def test_prompts_that_come_twice_are_one(edge: Edge, clock: At) -> None:
    await begin(edge)
    clock.ms += 10_000
    duplicate = {"sessionDbId": 1, "promptNumber": 1, "skipped": True, "reason": "duplicate", "contextInjected": True}
    assert await begin(edge) == duplicate
    clock.ms += 1
    assert (await begin(edge))["promptNumber"] == 2
    assert (await begin(edge, session="c-2"))["promptNumber"] == 1
    assert (await begin(edge, session="c-1", platformSource="codex"))["sessionDbId"] == 3


async def test_messages_of_the_machinery_and_prompts_without_words(edge: Edge) -> None:
    said = "<task-notification>\n<status>done</status></task-notification>"
    assert await begin(edge, said) == {"skipped": True, "reason": "internal_protocol"}
    assert rows(edge, "SELECT count(*) FROM sdk_sessions") == [(0,)]
    assert (await begin(edge, "  "))["promptNumber"] == 1
    assert rows(edge, "SELECT prompt_text FROM user_prompts") == [("[media prompt]",)]
    assert (await begin(edge, "x" * 300_000, session="c-2"))["status"] == "initialized"
    assert rows(edge, "SELECT max(length(prompt_text)) FROM user_prompts") == [(262_144,)]
    assert rows(edge, "SELECT length(user_prompt) FROM sdk_sessions WHERE id = 2") == [(4000,)]


async def test_of_a_private_turn_nothing_is_kept(edge: Edge, clock: At) -> None:
    """R150."""
    private = {"sessionDbId": 1, "promptNumber": 1, "skipped": True, "reason": "private"}
    assert await begin(edge, "<private>CANARY</private>") == private
    clock.ms += 1000
    assert await use(edge, tool_response="CANARY", tool_use_id="t") == {"status": "skipped", "reason": "private"}
    assert await stop(edge, last_assistant_message="CANARY") == {"status": "skipped", "reason": "private"}
    assert rows(edge, "SELECT user_prompt, project FROM sdk_sessions") == [(None, "shop")]
    clock.ms += 1000
    assert (await begin(edge, "openly"))["promptNumber"] == 1
    assert await use(edge, tool_use_id="u") == {"status": "queued"}
    assert rows(edge, "SELECT user_prompt FROM sdk_sessions") == [("openly",)]
    assert [row[2:4] for row in queued(edge)] == [(1, "Bash")]


async def test_events_that_come_late_belong_to_the_turn_in_which_they_happened(edge: Edge, clock: At) -> None:
    await begin(edge, "one")
    clock.ms = NOON + 100_000
    await begin(edge, "three")
    await use(edge, tool_use_id="of-two", occurred_at_epoch_ms=NOON + 60_000)
    assert len(queued(edge)) == 1
    answer = await begin(edge, "<private>two", occurred_at_epoch_ms=NOON + 50_000)
    assert answer["reason"] == "private"
    assert queued(edge) == [] and rows(edge, "SELECT count(*) FROM tool_uses") == [(0,)]
    late: dict[str, Any] = {"occurred_at_epoch_ms": NOON + 70_000, "tool_use_id": "t-2"}
    assert await use(edge, **late) == {"status": "skipped", "reason": "private"}
    assert await use(edge, tool_use_id="t-1", occurred_at_epoch_ms=NOON + 10_000) == {"status": "queued"}
    assert await use(edge, tool_use_id="t-3") == {"status": "queued"}
    assert [row[2] for row in queued(edge)] == [1, 2]
    assert rows(edge, "SELECT created_at_epoch FROM tool_uses ORDER BY id") == [(NOON + 10_000,), (NOON + 100_000,)]
    await use(edge, tool_use_id="t-4", occurred_at_epoch_ms=NOON + 10**9)
    assert rows(edge, "SELECT max(created_at_epoch) FROM tool_uses") == [(NOON + 100_000,)], "never in the future"


async def test_a_clock_that_is_set_back_moves_nothing_into_another_turn(edge: Edge, clock: At) -> None:
    await begin(edge, "one")
    clock.ms += 5_000
    assert await use(edge, tool_use_id="of-one") == {"status": "queued"}
    clock.ms -= HOUR
    assert (await begin(edge, "<private>two"))["reason"] == "private"
    late: dict[str, Any] = {"occurred_at_epoch_ms": clock.ms, "tool_use_id": "of-two"}
    assert (await use(edge, **late))["reason"] == "private"
    clock.ms += 10
    assert (await begin(edge, "three"))["promptNumber"] == 2
    assert await use(edge, tool_use_id="of-three") == {"status": "queued"}
    assert rows(edge, "SELECT tool_use_id, prompt_number FROM py_captured") == [("of-one", 1), ("of-three", 2)]


async def test_the_same_event_ten_times_at_once_is_one(edge: Edge, clock: At) -> None:
    """R162."""
    for number, over in enumerate(
        ({"tool_use_id": "t"}, {}, {"event_id": "e-1"}, {"tool_use_id": "v", "event_id": "e"})
    ):
        answers = await asyncio.gather(*(use(edge, tool_input=str(number), **over) for _ in range(10)))
        assert answers == [{"status": "queued"}] * 10
        assert len(queued(edge)) == number + 1
    assert [one["promptNumber"] for one in await asyncio.gather(*(begin(edge, "same") for _ in range(10)))] == [1] * 10
    answers = await asyncio.gather(*(stop(edge) for _ in range(10)))
    assert answers == [{"status": "queued"}] * 10
    assert [row[0] for row in queued(edge)] == ["tool"] * 4 + ["summary"]


async def test_what_is_done_again_on_purpose_is_kept_again(edge: Edge, clock: At) -> None:
    await use(edge)
    clock.ms += 10_001
    await use(edge)
    await use(edge, tool_use_id="t-1")
    await use(edge, tool_use_id="t-2")
    assert len(queued(edge)) == 4


async def test_an_event_that_comes_again_is_answered_as_before(edge: Edge, clock: At) -> None:
    first = await begin(edge, event_id="e-1")
    await begin(edge, "next", event_id="e-2")
    clock.ms += HOUR
    assert await begin(edge, event_id="e-1") == first
    assert rows(edge, "SELECT count(*) FROM user_prompts") == [(2,)]
    skipped = await begin(edge, "<private>x", event_id="e-3")
    assert await begin(edge, "<private>x", event_id="e-3") == skipped
    spooled = ToolUsed(content_session_id="c-9", tool_name="Bash", event_id="e-9")
    assert await edge.services.intake.take(spooled) == Accepted(status="queued")
    assert await use(edge, "c-9", event_id="e-9", tool_input="other") == {"status": "queued"}
    assert len(queued(edge)) == 1, "told by whichever way"
    assert await stop(edge, event_id="e-1") == {"status": "skipped", "reason": "private"}, (
        "ids are of one kind of event"
    )


async def test_tools_that_are_no_news(edge: Edge) -> None:
    ours = ("mcp__claude-mem__search", "mcp__plugin_claude-mem_mcp-search__timeline", "mcp__cmem__get", "memory_save")
    for name in (*SKIP.split(","), *ours):
        assert await use(edge, tool_name=name) == {"status": "skipped", "reason": "tool_excluded"}, name
    for name in ("mcp__github__search", "Skills", "mcp__memory"):
        assert await use(edge, tool_name=name) == {"status": "queued"}, name
    notes = {"file_path": "/x/session-memory/notes.md"}
    for name in ("Edit", "Write", "Read", "NotebookEdit"):
        given = notes if name != "NotebookEdit" else {"notebook_path": "session-memory.ipynb"}
        answer = await use(edge, tool_name=name, tool_input=given)
        assert answer == {"status": "skipped", "reason": "session_memory_meta"}
    assert await use(edge, tool_name="Bash", tool_input=notes) == {"status": "queued"}
    assert await use(edge, tool_name="Read", tool_input={"file_path": 5}) == {"status": "queued"}


async def test_folders_of_which_nothing_is_kept(edge: Edge, tmp_path: Path) -> None:
    """R176."""
    (tmp_path / "off" / "deep").mkdir(parents=True)
    (tmp_path / "off" / MARKER).touch()
    (tmp_path / "link").symlink_to(tmp_path / "memory")
    for folder, reason in (
        ("hidden", "project_excluded"),
        ("hidden/deep", "project_excluded"),
        ("x/secret-1", "project_excluded"),
        ("off", "project_excluded"),
        ("off/deep", "project_excluded"),
        ("memory", "own_session"),
        ("memory/observer-sessions/c-1", "own_session"),
        ("link/observer-sessions", "own_session"),
        ("x/../memory", "own_session"),
    ):
        cwd = str(tmp_path / folder)
        assert await use(edge, cwd=cwd) == {"status": "skipped", "reason": reason}, folder
        assert await stop(edge, cwd=cwd) == {"status": "skipped", "reason": reason}
        assert await begin(edge, cwd=cwd) == {"skipped": True, "reason": reason}
    assert (await begin(edge, project="observer-sessions"))["reason"] == "own_session"
    assert (await begin(edge, project="secret-2"))["reason"] == "project_excluded"
    assert rows(edge, "SELECT count(*) FROM sdk_sessions") == [(0,)]
    assert await use(edge, cwd=str(tmp_path / "memory-2")) == {"status": "queued"}


async def test_a_temporary_folder_is_filed_under_the_project_of_its_session(edge: Edge, tmp_path: Path) -> None:
    """R186."""
    await begin(edge)
    await use(edge, cwd=str(tmp_path / "temp" / "T" / "xyz"))
    await use(edge, "c-2", cwd=str(tmp_path / "temp" / "T"))
    assert [row[1] for row in queued(edge)] == ["shop", "unknown"]
    await use(edge, "c-2", cwd="/home/ann/mall", tool_input="x")
    assert rows(edge, "SELECT project FROM sdk_sessions ORDER BY id") == [("shop",), ("mall",)]


async def test_a_worktree_and_a_submodule_belong_to_their_repository(edge: Edge, tmp_path: Path) -> None:
    """R182, R184."""
    (tmp_path / "shop" / ".git" / "worktrees" / "wt-x").mkdir(parents=True)
    (tmp_path / "shop" / ".git" / "worktrees" / "wt-x" / "commondir").write_text("../..\n")
    (tmp_path / "wt-x").mkdir()
    (tmp_path / "wt-x" / ".git").write_text(f"gitdir: {tmp_path}/shop/.git/worktrees/wt-x\n")
    (tmp_path / "shop" / "libs" / "sub").mkdir(parents=True)
    (tmp_path / "shop" / "libs" / "sub" / ".git").write_text("gitdir: ../../.git/modules/libs/sub\n")
    await use(edge, cwd=str(tmp_path / "wt-x"))
    await use(edge, cwd=str(tmp_path / "shop" / "libs" / "sub"), tool_input="x")
    await use(edge, cwd=str(tmp_path / "shop" / "libs"), tool_input="y")
    found = await edge.store.write(lambda connection: pending.claim(connection, 1, NOON, most=1, most_bytes=9))
    assert [(one.project, one.parent) for one in found] == [("shop/wt-x", "shop")]
    assert rows(edge, "SELECT project, parent FROM py_captured") == [
        ("shop/wt-x", "shop"),
        ("sub", "shop"),
        ("shop", None),
    ]


async def test_ids_of_a_router_are_kept_under_either_spelling(edge: Edge) -> None:
    await use(edge, tool_use_id="t", or_generation_id="g-1", orSessionId="s-1")
    await use(edge, toolUseId="u", orGenerationId="g-2")
    found = rows(edge, "SELECT or_generation_id, or_session_id FROM tool_uses ORDER BY id")
    assert found == [("g-1", "s-1"), ("g-2", None)]


async def test_of_sub_agents_the_tools_are_kept_and_the_ends_are_not(edge: Edge) -> None:
    assert await use(edge, agentId="a-1", agentType="Explore", tool_use_id="t") == {"status": "queued"}
    assert rows(edge, "SELECT agent_id, agent_type FROM py_captured") == [("a-1", "Explore")]
    assert rows(edge, "SELECT agent_id, agent_type FROM tool_uses") == [("a-1", "Explore")]
    assert await stop(edge, agentId="a-1") == {"status": "skipped", "reason": "subagent_context"}


async def test_a_session_that_is_over_is_completed_and_what_comes_of_it_is_kept(edge: Edge, clock: At) -> None:
    """R094."""
    await begin(edge)
    clock.ms += MINUTE
    await edge.post(END, {"contentSessionId": "c-1"})
    clock.ms += MINUTE
    assert await stop(edge, observedModel="m" * 300, observedBilling="plan") == {"status": "queued"}
    (line,) = (await edge.ask("/api/sessions"))["sessions"]
    assert (line["status"], line["ended_at_epoch"]) == ("completed", NOON + MINUTE)
    assert rows(edge, "SELECT observed_model, observed_billing FROM sdk_sessions") == [("m" * 200, "plan")]
    assert (await begin(edge, "more"))["contextInjected"] is False
    assert (await begin(edge, "and more"))["contextInjected"] is True
    assert rows(edge, "SELECT status FROM sdk_sessions") == [("completed",)], "as in the original"


async def test_sessions_that_were_left_are_completed_when_nothing_of_them_waits(edge: Edge, clock: At) -> None:
    """R094."""
    await begin(edge, session="left")
    await begin(edge, session="waits")
    await use(edge, "waits")
    clock.ms += 2 * HOUR
    await begin(edge, session="works")
    clock.ms += HOUR + MINUTE
    await edge.services.intake.tidy()
    await begin(edge, session="new")
    found = rows(edge, "SELECT content_session_id, status, completed_at_epoch FROM sdk_sessions ORDER BY id")
    assert found == [
        ("left", "completed", NOON), ("waits", "active", None), ("works", "active", None), ("new", "active", None),
    ]  # fmt: skip
    assert {"type": "session_completed", "sessionDbId": 1} in edge.broadcaster.sent


async def test_what_the_stream_is_told_and_in_which_order(edge: Edge) -> None:
    await begin(edge)
    await use(edge)
    await use(edge)
    await stop(edge)
    await begin(edge, "<private>x")
    await edge.post(END, {"contentSessionId": "c-1"})
    sent = edge.broadcaster.sent
    assert [one["type"] for one in sent] == [
        "new_prompt", "session_started", "processing_status", "observation_queued", "processing_status",
        "session_completed",
    ]  # fmt: skip
    assert sent[0]["prompt"] | {"created_at_epoch": NOON} == sent[0]["prompt"]
    assert sent[0]["prompt"]["prompt_text"] == "why?" and sent[0]["prompt"]["project"] == "shop"
    assert sent[1] == {"type": "session_started", "sessionDbId": 1, "project": "shop"}
    assert sent[4] == {"type": "processing_status", "isProcessing": True, "queueDepth": 2}


async def test_what_waits_is_told_and_wakes_who_works_on_it(edge: Edge) -> None:
    empty = {"isProcessing": False, "queueDepth": 0, "parkedSessions": 0}
    assert empty.items() <= (await edge.ask("/api/processing-status")).items()
    await begin(edge)
    assert not edge.services.captured.is_set()
    await use(edge)
    assert edge.services.captured.is_set()
    await use(edge, "c-2", tool_input="x")
    later = NOON + MINUTE
    await edge.store.write(
        lambda connection: pending.give_back(connection, [1], reason="quota", not_before_epoch_ms=later)
    )
    waits = {"isProcessing": True, "queueDepth": 2, "parkedSessions": 1}
    assert waits.items() <= (await edge.ask("/api/processing-status")).items()
    assert waits.items() <= (await edge.ask("/api/overview"))["queue"].items()


async def test_huge_payloads_are_cut_with_their_size(edge: Edge) -> None:
    """R174."""
    image = {"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAA" * 350_000}
    assert await use(edge, tool_response=[image], tool_use_id="t-1") == {"status": "queued"}
    assert await use(edge, tool_response="line of a log\n" * 1_500_000, tool_use_id="t-2") == {"status": "queued"}
    picture, log = (row[0] for row in rows(edge, "SELECT tool_response FROM py_captured ORDER BY id"))
    assert picture == '[{"type":"image","data":"[binary data, 8400000 characters]"}]'
    assert len(log) < 70_000 and "of 21000000 characters left out" in log
    assert rows(edge, "SELECT max(length(CAST(tool_response AS BLOB))) < 66000 FROM tool_uses") == [(1,)]


async def test_secrets_are_masked_and_the_rest_of_the_line_is_kept(edge: Edge) -> None:
    """R154."""
    await begin(edge, "run export API_TOKEN=tok_test_123 first")
    await use(edge, tool_input={"command": "psql postgres://u:hunter2@db/x", "password": "hunter2"})
    await stop(edge, last_assistant_message="the password: hunter2 works")
    assert rows(edge, "SELECT prompt_text FROM user_prompts") == [("run export API_TOKEN=**** first",)]
    found = rows(edge, "SELECT tool_input, last_assistant_message FROM py_captured")
    assert found[0][0] == '{"command":"psql postgres://u:****@db/x","password":"****"}'
    assert found[1][1] == "the password: **** works"


async def test_while_another_program_holds_the_file_events_wait_and_none_is_lost(edge: Edge) -> None:
    """R076."""
    await begin(edge)
    other = sqlite3.connect(edge.store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    posts = [asyncio.create_task(use(edge, tool_use_id=f"t-{number}")) for number in range(20)]
    await asyncio.sleep(0.2)
    assert not any(post.done() for post in posts)
    other.execute("COMMIT")
    other.close()
    assert await asyncio.gather(*posts) == [{"status": "queued"}] * 20
    assert len(queued(edge)) == 20

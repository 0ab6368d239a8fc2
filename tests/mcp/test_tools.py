"""The tools through the SDK's own client, in memory; the worker is canned."""

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from mcp_bridge.server import Link, build
from mcp_bridge.tools.table import TOOLS
from mcp_bridge.tools.tool import Sender
from mcp_bridge.workflow import INSTRUCTIONS, WORKFLOW
from tests.mcp.fake_worker import TEXT, FakeWorker, free_port, serving
from tests.processes import PATIENCE_S
from worker.contract.calls import Call
from worker.contract.client import WorkerClient
from worker.contract.errors import Conflict, MemError, Unavailable
from worker.contract.present import Text, text
from worker.contract.search import BatchQuery, SearchQuery, TimelineQuery

T = TypeVar("T")


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[FakeWorker]:
    with serving(FakeWorker(str(tmp_path))) as worker:
        yield worker


@asynccontextmanager
async def bridged(worker: FakeWorker, ensure: Any = lambda: None, mode: str = "legacy") -> AsyncIterator[Client]:
    async with (
        WorkerClient(worker.host, worker.port, timeout_s=PATIENCE_S) as sender,
        Client(build(Link(ensure, sender), "1.2.3"), mode=mode) as client,
    ):
        yield client


async def told(client: Client, name: str, sent: dict[str, Any] | None = None) -> tuple[str, bool]:
    result = await client.call_tool(name, sent or {})
    (item,) = result.content
    assert isinstance(item, TextContent)
    return item.text, result.is_error


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_both_eras_of_the_protocol(worker: FakeWorker, mode: str) -> None:
    async with bridged(worker, mode=mode) as client:
        assert client.server_info is not None
        assert client.server_info.name == "claude-mem"
        assert client.server_info.version == "1.2.3"
        assert client.instructions == INSTRUCTIONS
        assert (await told(client, "search", {"query": "token"})) == (TEXT, False)


async def test_the_list(worker: FakeWorker) -> None:
    """R198, R200: every parameter with type and words; every tool marked as one that only reads."""
    async with bridged(worker) as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed][:6] == [
        "important_workflow", "search", "timeline", "get_observations", "get_tool_uses", "session_start_context",
    ]  # fmt: skip
    for tool in listed[:6]:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.idempotent_hint is True
        assert tool.annotations.open_world_hint is False
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        for each in tool.input_schema["properties"].values():
            assert each["description"]
            assert "type" in each or "anyOf" in each
    assert "required" not in listed[1].input_schema
    assert listed[3].input_schema["required"] == ["ids"]


async def test_the_list_keeps_to_its_budget(worker: FakeWorker) -> None:
    async with bridged(worker) as client:
        listed = await client.list_tools()
    words = [len(json.dumps(tool.model_dump(by_alias=True, exclude_unset=True))) / 4 for tool in listed.tools]
    assert sum(words[:4]) <= 1_050, "the three steps"
    assert sum(words) <= 2_200
    assert len(INSTRUCTIONS) / 4 <= 150


def test_the_parameters_agree_with_the_contract() -> None:
    """R198: no field of a query is out of an agent's reach, but those that only a person needs.

    A session can be named in the query itself: `session:S14`.
    """
    spelled = {"text": "query", "kinds": "type", "types": "obs_type", "platform_source": "platformSource"}
    spelled |= {"since_epoch_ms": "dateStart", "until_epoch_ms": "dateEnd", "order": "orderBy"}
    search, timeline, observations = (set(tool.params) for tool in TOOLS[1:4])
    assert {spelled.get(name, name) for name in SearchQuery.__struct_fields__} - search == {
        "typing",
        "session",
        "tell_span",
    }
    assert search - {spelled.get(name, name) for name in SearchQuery.__struct_fields__} == {"format"}
    assert {spelled.get(name, name) for name in TimelineQuery.__struct_fields__} - timeline == {"session"}
    assert {spelled.get(name, name) for name in BatchQuery.__struct_fields__} - observations == {
        "lean",
        "platformSource",
    }
    assert observations <= {spelled.get(name, name) for name in BatchQuery.__struct_fields__}


@pytest.mark.parametrize("name", ["important_workflow", "__IMPORTANT"])
async def test_the_workflow_needs_no_worker(worker: FakeWorker, name: str) -> None:
    def away() -> None:
        raise Unavailable("no")

    async with bridged(worker, away) as client:
        assert await told(client, name) == (WORKFLOW, False)


async def test_an_unknown_tool_is_a_protocol_error(worker: FakeWorker) -> None:
    async with bridged(worker) as client:
        with pytest.raises(MCPError, match="Unknown tool: nope") as caught:
            await client.call_tool("nope", {})
    assert caught.value.code == -32602


async def test_search_says_everything_to_the_worker(worker: FakeWorker) -> None:
    sent = {
        "query": "token expiry",
        "limit": "5",
        "offset": 10,
        "project": "shop",
        "platformSource": "codex",
        "type": "observations,sessions",
        "obs_type": ["bugfix", "decision"],
        "concept": "gotcha",
        "filePath": "src/auth.py",
        "date_start": 1772582400000,
        "dateEnd": "2026-03-10T00:00:00Z",
        "orderBy": "date_asc",
        "mode": "semantic",
    }
    async with bridged(worker) as client:
        assert await told(client, "search", sent) == (TEXT, False)
    (request,) = [request for request in worker.seen if request.path == "/api/search"]
    assert request.params == {
        "query": "token expiry",
        "limit": "5",
        "offset": "10",
        "project": "shop",
        "platformSource": "codex",
        "kind": "observation,summary",
        "obs_type": "bugfix,decision",
        "concepts": "gotcha",
        "files": "src/auth.py",
        "dateStart": "1772582400000",
        "dateEnd": "1773100800000",
        "orderBy": "date_asc",
        "mode": "semantic",
    }


async def test_search_as_json(worker: FakeWorker) -> None:
    async with bridged(worker) as client:
        words, wrong = await told(client, "search", {"query": "token", "format": "json"})
    assert not wrong
    assert words.startswith('{\n  "hits": [')
    assert json.loads(words)["hits"][0]["id"] == 118


@pytest.mark.parametrize("query", ["   ", ",,,", '""', "", None])
async def test_a_query_without_words_is_left_to_the_worker(worker: FakeWorker, query: str | None) -> None:
    """R013: the same answer as by HTTP."""
    async with bridged(worker) as client:
        assert (await told(client, "search", {"query": query}))[1] is False


async def test_timeline_sends_a_depth_of_three(worker: FakeWorker) -> None:
    """R196: anchor as text or number."""
    async with bridged(worker) as client:
        for anchor in ("118", 118, "S14", "2026-03-04T14:15:00Z"):
            words, _ = await told(client, "timeline", {"anchor": anchor})
            assert words == f"# Timeline around anchor: {anchor}"
        assert await told(client, "timeline", {"anchor": 9}) == ("Observation #9 not found", True)
        await told(client, "timeline", {"query": "token", "depth_before": "0", "depthAfter": 7, "project": "shop"})
    asked = [request.params for request in worker.seen if request.path == "/api/timeline"]
    assert asked[0] == {"anchor": "118", "depth_before": "3", "depth_after": "3"}
    assert asked[-1] == {"query": "token", "project": "shop", "depth_before": "0", "depth_after": "7"}


async def test_observations_come_as_one_text(worker: FakeWorker) -> None:
    """R196: ids as text."""
    async with bridged(worker) as client:
        words, wrong = await told(client, "get_observations", {"ids": "[118,7]", "limit": "5", "project": "shop"})
    assert not wrong
    assert json.loads(words)[0]["id"] == 118
    assert words.startswith('[\n  {\n    "id": 118,')
    (request,) = [request for request in worker.seen if request.path == "/api/observations/batch"]
    assert request.body == {"ids": [118, 7], "orderBy": "date_desc", "limit": 5, "project": "shop", "lean": True}


async def test_tool_uses_and_the_start_of_a_session(worker: FakeWorker) -> None:
    worker.answers["/api/tool-uses/batch"] = lambda _: (200, [])
    worker.answers["/api/context/inject"] = lambda _: (200, "# [shop] recent context\n用户".encode())
    async with bridged(worker) as client:
        assert await told(client, "get_tool_uses", {"ids": '["toolu_1", "7", 7]', "limit": 3, "session": "c-1"}) == (
            "[]", False,
        )  # fmt: skip
        said = await told(client, "session_start_context", {"projects": ["shop", "shop/wt"], "full": "true"})
        assert said == ("# [shop] recent context\n用户", False)
        await told(client, "session_start_context", {"project": "shop", "platformSource": "claude", "colors": True})
    uses, first, second = (request for request in worker.seen if "health" not in request.path)
    assert uses.body == {"ids": ["toolu_1", 7], "limit": 3, "contentSessionId": "c-1"}
    assert first.params == {"projects": "shop,shop/wt", "full": "true"}
    assert second.params == {"projects": "shop", "platformSource": "claude", "colors": "true"}


@pytest.mark.parametrize(
    ("name", "sent", "part"),
    [
        ("session_start_context", {}, '"project" or "projects" is required'),
        ("session_start_context", {"project": "a", "full": "maybe"}, "full must be true or false"),
        ("get_tool_uses", {"ids": []}, "ids is required"),
        ("get_tool_uses", {"ids": [{}]}, "ids must be"),
        ("search", {"colour": "red"}, 'unknown parameter "colour"; known are: query, limit'),
        ("search", {"limit": "many"}, "limit must be a whole number"),
        ("search", {"dateStart": "soon"}, "dateStart must be a date"),
        ("search", {"dateStart": "2026-03-05", "dateEnd": "2026-03-04"}, "dateStart is after dateEnd"),
        ("search", {"format": "xml"}, "format must be one of text, json"),
        ("timeline", {"depth_before": -1}, "depth_before must be"),
        ("get_observations", {}, "ids is required"),
        ("get_observations", {"ids": "S14"}, 'timeline(anchor="S14")'),
        ("search", {"mode": "vector"}, "mode must be one of hybrid, keyword, semantic"),
        ("search", {"orderBy": "read_desc"}, "orderBy must be one of relevance, date_desc, date_asc"),
        ("get_observations", {"ids": [1], "orderBy": "relevance"}, "orderBy must be one of date_desc, date_asc"),
        ("important_workflow", {"x": 1}, "takes none"),
    ],
)
async def test_what_cannot_be_used_is_told(worker: FakeWorker, name: str, sent: dict[str, Any], part: str) -> None:
    """R196: a precise message, and nothing is sent."""
    async with bridged(worker) as client:
        words, wrong = await told(client, name, sent)
    assert wrong
    assert part in words
    assert worker.seen == []


async def test_errors_of_the_worker_are_tool_errors(worker: FakeWorker) -> None:
    worker.answers["/api/search"] = lambda _: (422, {"error": "too big", "code": "invalid", "field": "limit"})
    worker.answers["/api/timeline"] = lambda _: (500, b"<html>oops</html>")
    async with bridged(worker) as client:
        assert await told(client, "search", {"limit": 10**9}) == ("limit: too big.", True)
        words, wrong = await told(client, "timeline", {"anchor": 1})
    assert wrong
    assert "the worker answered 500" in words


async def test_works_later_when_the_worker_could_not_start(worker: FakeWorker) -> None:
    """R202."""
    blocked: list[MemError] = [Conflict("port 1 is taken by another program")]

    def ensure() -> None:
        if blocked:
            raise blocked[0]

    async with bridged(worker, ensure) as client:
        words, wrong = await told(client, "search", {"query": "token"})
        assert wrong
        assert "port 1 is taken" in words
        blocked[0] = Unavailable("the disk is full")
        assert "the disk is full" in (await told(client, "search", {"query": "token"}))[0]
        blocked.clear()
        assert await told(client, "search", {"query": "token"}) == (TEXT, False)


async def test_a_worker_that_went_away_is_started_again(tmp_path: Path) -> None:
    """R101."""
    worker = FakeWorker(str(tmp_path), free_port())
    with contextlib.ExitStack() as running:
        starts: list[int] = []

        def ensure() -> None:
            if not starts or len(worker.seen) > 1:
                starts.append(len(worker.seen))
                running.enter_context(serving(worker))

        async with bridged(worker, ensure) as client:
            assert await told(client, "search", {"query": "token"}) == (TEXT, False)
            assert await told(client, "search", {"query": "token"}) == (TEXT, False)
            running.close()
            assert await told(client, "search", {"query": "token"}) == (TEXT, False)
    assert starts == [0, 2]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_broken_start_is_told_and_not_waited_for(worker: FakeWorker) -> None:
    def ensure() -> None:
        raise ZeroDivisionError("a bug")

    async with bridged(worker, ensure) as client:
        words, wrong = await told(client, "search", {"query": "token"})
    assert wrong
    assert "broke off" in words
    for thread in threading.enumerate():  # else its last words are those of the next test
        if thread.name == "ensure-worker":
            thread.join()


async def test_calls_share_one_start() -> None:
    """R194: a call that is cancelled meanwhile does not take it from the others."""
    go_on, looks = threading.Event(), []

    def ensure() -> None:
        looks.append(1)
        go_on.wait(PATIENCE_S)

    async def question(_: Sender) -> Text:
        return text("found")

    link = Link(ensure, NoSender())
    asks = [asyncio.create_task(link.ask(question)) for _ in range(5)]
    await asyncio.sleep(0)
    asks[0].cancel()
    go_on.set()
    answers = await asyncio.gather(*asks, return_exceptions=True)
    assert isinstance(answers[0], asyncio.CancelledError)
    assert answers[1:] == [text("found")] * 4
    assert looks == [1]


async def test_a_stranger_that_took_the_port_is_noticed(worker: FakeWorker) -> None:
    """R105."""
    looks = []
    async with bridged(worker, lambda: looks.append(1)) as client:
        assert await told(client, "search") == (TEXT, False)
        before = len(looks)
        worker.answers["/api/search"] = lambda _: (404, b"Cannot GET /api/search")
        assert (await told(client, "search"))[1]
        await told(client, "search")
    assert len(looks) == before + 1


class NoSender:
    async def send(self, call: Call[T]) -> T:
        raise AssertionError(call)

"""Each call through both senders: the same request on the wire, the same answer, the same errors."""

import socket
import threading
import time
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.fake_worker import FakeWorker, Request, free_port, serving
from tests.processes import PATIENCE_S
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.capture import PromptSubmitted, SessionEnded, ToolUsed, TurnEnded
from worker.contract.client import WorkerClient
from worker.contract.costs import CostQuery
from worker.contract.curation import Save
from worker.contract.errors import Busy, Conflict, Invalid, MemError, NotFound, TimedOut, Unavailable, Unreachable
from worker.contract.index import IndexOrder
from worker.contract.lanes import LaneQuery
from worker.contract.quick import QuickClient
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import BatchQuery, Mode, Order, SearchQuery, Strip, TimelineQuery
from worker.contract.sessions import SessionQuery
from worker.contract.tool_uses import ToolUseQuery
from worker.contract.transfer import ExportQuery, ImportBatch, RowKind
from worker.contract.when import parse_range

FULL = SearchQuery(
    text="rate limit & co = ü",
    kinds=(RecordKind.OBSERVATION, RecordKind.PROMPT),
    types=("bugfix", "decision"),
    concepts=("gotcha",),
    files=("src/a.py",),
    project="shop",
    platform_source="codex",
    since_epoch_ms=1,
    until_epoch_ms=2,
    order=Order.DATE_ASC,
    limit=5,
    offset=10,
    typing=True,
    mode=Mode.SEMANTIC,
)
WIRE = {
    "query": "rate limit & co = ü",
    "kind": "observation,prompt",
    "obs_type": "bugfix,decision",
    "concepts": "gotcha",
    "files": "src/a.py",
    "project": "shop",
    "platformSource": "codex",
    "dateStart": "0000000000001",
    "dateEnd": "0000000000002",
    "orderBy": "date_asc",
    "limit": "5",
    "offset": "10",
    "typing": "true",
    "mode": "semantic",
}
DEPTHS = {"depth_before": "10", "depth_after": "10"}


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[FakeWorker]:
    with serving(FakeWorker(str(tmp_path))) as worker:
        yield worker


async def both(worker: FakeWorker, call: Call[Any]) -> list[Request]:
    """The requests of the two senders, after their answers were compared."""
    outcomes: list[object] = []
    worker.seen.clear()
    try:
        outcomes.append(QuickClient(worker.host, worker.port, timeout_s=PATIENCE_S).send(call))
    except MemError as error:
        outcomes.append((type(error), error.problem()))
    async with WorkerClient(worker.host, worker.port, timeout_s=PATIENCE_S) as client:
        try:
            outcomes.append(await client.send(call))
        except MemError as error:
            outcomes.append((type(error), error.problem()))
    assert outcomes[0] == outcomes[1]
    return worker.seen


@pytest.mark.parametrize(
    ("call", "method", "path", "params", "body"),
    [
        (calls.search(FULL), "GET", "/api/search", {**WIRE, "format": "hits"}, {}),
        (calls.search_text(FULL), "GET", "/api/search", WIRE, {}),
        (calls.search_rows(FULL), "GET", "/api/search", {**WIRE, "format": "json"}, {}),
        (calls.search_text(SearchQuery()), "GET", "/api/search", {"limit": "20"}, {}),
        (
            calls.facets(SearchQuery(text="x")),
            "GET",
            "/api/facets",
            {"query": "x", "buckets": "120"},
            {},
        ),
        (
            calls.facets(SearchQuery(), strip=Strip(bucket_ms=3_600_000, start_epoch_ms=1, end_epoch_ms=2)),
            "GET",
            "/api/facets",
            {"bucketMs": "3600000", "stripStart": "0000000000001", "stripEnd": "0000000000002"},
            {},
        ),
        (
            calls.timeline(TimelineQuery(anchor="118", depth_before=0)),
            "GET",
            "/api/timeline",
            {"anchor": "118", "format": "json", **DEPTHS, "depth_before": "0"},
            {},
        ),
        (calls.timeline_text(TimelineQuery(query="x")), "GET", "/api/timeline", {"query": "x", **DEPTHS}, {}),
        (
            calls.batch(BatchQuery(ids=(118, 7), limit=3, project="p", platform_source="codex", lean=True)),
            "POST",
            "/api/observations/batch",
            {},
            {
                "ids": [118, 7],
                "orderBy": "date_desc",
                "limit": 3,
                "project": "p",
                "platformSource": "codex",
                "lean": True,
            },
        ),
        (calls.record(RecordKey(RecordKind.OBSERVATION, 118)), "GET", "/api/observation/118", {"recalled": "true"}, {}),
        (calls.record(RecordKey(RecordKind.SUMMARY, 14)), "GET", "/api/session/14", {"recalled": "true"}, {}),
        (calls.record(RecordKey(RecordKind.PROMPT, 40)), "GET", "/api/prompt/40", {"recalled": "true"}, {}),
        (
            calls.recalls([RecordKey(RecordKind.OBSERVATION, 118), RecordKey(RecordKind.SUMMARY, 14)]),
            "GET",
            "/api/recalls",
            {"keys": "118,S14"},
            {},
        ),
        (
            calls.sessions(
                SessionQuery(project="shop", platform_source="codex", until_epoch_ms=2, as_of_epoch_ms=3, offset=50)
            ),
            "GET",
            "/api/sessions",
            {
                "project": "shop",
                "platformSource": "codex",
                "dateEnd": "0000000000002",
                "asOf": "0000000000003",
                "limit": "50",
                "offset": "50",
            },
            {},
        ),
        (
            calls.lanes(LaneQuery(around_epoch_ms=5, bucket_ms=900_000, project="shop", until_epoch_ms=9)),
            "GET",
            "/api/lanes",
            {
                "around": "0000000000005",
                "project": "shop",
                "dateEnd": "0000000000009",
                "bucketMs": "900000",
                "buckets": "120",
                "lanes": "12",
            },
            {},
        ),
        (
            calls.next_session(LaneQuery(around_epoch_ms=5, bucket_ms=900_000), later=True),
            "GET",
            "/api/lanes/next",
            {"around": "0000000000005", "later": "true"},
            {},
        ),
        (calls.session("c/1 ü", limit=5), "GET", "/api/sessions/c%2F1%20%C3%BC", {"limit": "5"}, {}),
        (
            calls.costs(CostQuery(project="shop", session="m-1", since_epoch_ms=1, sessions=0)),
            "GET",
            "/api/costs",
            {"project": "shop", "session": "m-1", "dateStart": "0000000000001", "sessions": "0", "days": "90"},
            {},
        ),
        (calls.projects(), "GET", "/api/projects", {}, {}),
        (calls.stats(), "GET", "/api/stats", {}, {}),
        (calls.overview(), "GET", "/api/overview", {}, {}),
        (calls.health(), "GET", "/api/health", {}, {}),
        (calls.index_status(), "GET", "/api/index/status", {}, {}),
        (calls.index_verify(), "POST", "/api/index/verify", {}, {}),
        (calls.index_repair(), "POST", "/api/index/repair", {}, {}),
        (calls.index_rebuild(IndexOrder(reembed=True)), "POST", "/api/index/rebuild", {}, {"reembed": True}),
        (calls.index_pause(), "POST", "/api/index/pause", {}, {}),
        (calls.index_resume(), "POST", "/api/index/resume", {}, {}),
        (calls.readiness(), "GET", "/api/readiness", {}, {}),
        (calls.version(), "GET", "/api/version", {}, {}),
        (
            calls.begin(PromptSubmitted(content_session_id="c", prompt="why?", occurred_at_epoch_ms=5)),
            "POST",
            "/api/sessions/init",
            {},
            {"contentSessionId": "c", "prompt": "why?", "occurred_at_epoch_ms": 5},
        ),
        (
            calls.tool_used(ToolUsed(content_session_id="c", tool_name="Bash", tool_input=["x"], agent_id="a")),
            "POST",
            "/api/sessions/observations",
            {},
            {"contentSessionId": "c", "tool_name": "Bash", "tool_input": ["x"], "agentId": "a"},
        ),
        (
            calls.turn_ended(TurnEnded(content_session_id="c", observed_model="m", event_id="e")),
            "POST",
            "/api/sessions/summarize",
            {},
            {"contentSessionId": "c", "observedModel": "m", "event_id": "e"},
        ),
        (
            calls.session_ended(SessionEnded(content_session_id="c", platform_source="codex")),
            "POST",
            "/api/sessions/session-end",
            {},
            {"contentSessionId": "c", "platformSource": "codex"},
        ),
        (
            calls.save(Save(text="remember", project="shop")),
            "POST",
            "/api/memory/save",
            {},
            {"text": "remember", "title": None, "project": "shop", "metadata": None},
        ),
        (
            calls.import_batch(ImportBatch(prompts=({"id": 1},))),
            "POST",
            "/api/import",
            {},
            {"sessions": [], "summaries": [], "observations": [], "prompts": [{"id": 1}]},
        ),
        (
            calls.import_batch(ImportBatch(), dry_run=True),
            "POST",
            "/api/import",
            {"dryRun": "true"},
            {"sessions": [], "summaries": [], "observations": [], "prompts": []},
        ),
        (
            calls.export(ExportQuery(kind=RowKind.PROMPT, after=7, upto=9, project="shop", since_epoch_ms=1)),
            "GET",
            "/api/export",
            {
                "kind": "prompt",
                "after": "7",
                "upto": "9",
                "limit": "500",
                "project": "shop",
                "dateStart": "0000000000001",
            },
            {},
        ),
        (calls.delete(RecordKey(RecordKind.OBSERVATION, 118)), "DELETE", "/api/observation/118", {}, {}),
        (calls.delete(RecordKey(RecordKind.SUMMARY, 14)), "DELETE", "/api/summary/14", {}, {}),
        (calls.delete(RecordKey(RecordKind.PROMPT, 40)), "DELETE", "/api/prompt/40", {}, {}),
        (calls.delete_tool_use(9), "DELETE", "/api/tool-uses/9", {}, {}),
        (calls.delete_session_texts(3), "DELETE", "/api/sessions/3/texts", {}, {}),
        (
            calls.tool_uses(
                ToolUseQuery(
                    project="shop",
                    content_session_id="c-1",
                    memory_session_id="m-1",
                    tool_names=("Bash", "Read"),
                    agent_id="a",
                    platform_source="codex",
                    since_epoch_ms=1,
                    until_epoch_ms=2,
                    offset=3,
                )
            ),
            "GET",
            "/api/tool-uses",
            {
                "project": "shop",
                "session": "c-1",
                "memorySessionId": "m-1",
                "tool_name": "Bash,Read",
                "agentId": "a",
                "platformSource": "codex",
                "dateStart": "0000000000001",
                "dateEnd": "0000000000002",
                "orderBy": "date_desc",
                "limit": "50",
                "offset": "3",
            },
            {},
        ),
        (
            calls.tool_use_rows((1, "toolu_2"), limit=5),
            "POST",
            "/api/tool-uses/batch",
            {},
            {"ids": [1, "toolu_2"], "limit": 5},
        ),
        (calls.processing(), "GET", "/api/processing-status", {}, {}),
        (calls.settings(), "GET", "/api/settings", {}, {}),
        (calls.change_settings({"my_note": 1}), "POST", "/api/settings", {}, {"my_note": 1}),
        (calls.logs(5), "GET", "/api/logs", {"lines": "5"}, {}),
        (calls.doctor(), "GET", "/api/admin/doctor", {}, {}),
        (calls.restart(), "POST", "/api/admin/restart", {}, {}),
        (calls.shutdown(), "POST", "/api/admin/shutdown", {}, {}),
    ],
    ids=lambda value: value.path if isinstance(value, Call) else "",
)
async def test_the_same_on_the_wire(
    worker: FakeWorker, call: Call[Any], method: str, path: str, params: dict[str, str], body: dict[str, Any]
) -> None:
    assert await both(worker, call) == [Request(method, path, params, body)] * 2


@pytest.mark.parametrize(
    ("status", "problem", "kind"),
    [
        (422, {"error": "must be a number", "code": "invalid", "field": "limit"}, Invalid),
        (404, {"error": "no such record", "code": "not_found"}, NotFound),
        (409, {"error": "not now", "code": "conflict"}, Conflict),
        (429, {"error": "busy", "code": "busy", "retry_after_s": 2.5}, Busy),
        (503, {"error": "opening", "code": "unavailable", "retry_after_s": 1}, Unavailable),
        (500, {"error": "broken", "code": "internal"}, MemError),
        (418, {"error": "later", "code": "unheard_of", "more": 1}, MemError),
        (502, b"<html>\xff</html>", MemError),
        (500, b"", MemError),
        (200, b"<html>", MemError),
        (200, {"unexpected": True}, MemError),
    ],
)
async def test_the_same_errors(worker: FakeWorker, status: int, problem: object, kind: type[MemError]) -> None:
    worker.answers["/api/search"] = lambda _: (status, problem)
    await both(worker, calls.search(SearchQuery(text="x")))
    with pytest.raises(MemError) as caught:
        QuickClient(worker.host, worker.port).send(calls.search(SearchQuery(text="x")))
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    "epoch_ms",
    [-62_135_596_800_000, -1, 0, 1, 199_006_200_000, 1_772_625_600_000, 10**13 - 1, 10**13, 253_402_300_799_999],
)
def test_a_moment_is_read_as_itself(epoch_ms: int) -> None:
    """Also one whose twelve digits would be a date: 1990-06-20."""
    params = dict(calls.search(SearchQuery(since_epoch_ms=epoch_ms)).params)
    assert parse_range(params["dateStart"]) == (epoch_ms, epoch_ms)


async def test_half_a_surrogate_pair_reaches_the_worker_as_a_question_mark(worker: FakeWorker) -> None:
    """R025."""
    for request in await both(worker, calls.search_text(SearchQuery(text="a\udcaa"))):
        assert request.params["query"] == "a?"


async def test_nobody_answers() -> None:
    port = free_port()
    with pytest.raises(Unreachable):
        QuickClient("127.0.0.1", port).send(calls.health())
    async with WorkerClient("127.0.0.1", port) as client:
        with pytest.raises(Unreachable):
            await client.send(calls.health())


@pytest.mark.parametrize("host", ["localhost", "0.0.0.0"])
async def test_a_name_is_called_on_ipv4(worker: FakeWorker, host: str) -> None:
    """R117: the worker listens on IPv4 alone, and a name may lead to IPv6 first."""
    assert QuickClient(host, worker.port).send(calls.health()).status == "ok"
    async with WorkerClient(host, worker.port) as client:
        assert (await client.send(calls.health())).status == "ok"


async def test_ipv6(tmp_path: Path) -> None:
    probe = socket.socket(socket.AF_INET6)
    with probe, pytest.MonkeyPatch.context() as patch:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("no IPv6 here")
        patch.setattr(ThreadingHTTPServer, "address_family", socket.AF_INET6)
        with serving(FakeWorker(str(tmp_path), host="::1")) as worker:
            assert QuickClient("::", worker.port).send(calls.health()).status == "ok"
            async with WorkerClient("::", worker.port) as client:
                assert (await client.send(calls.health())).status == "ok"


@pytest.mark.parametrize("pause_s", [0.05, 60.0])
def test_one_deadline_for_the_whole_call(pause_s: float) -> None:
    """R127: also for an answer that comes byte by byte."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def trickle() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nConnection: close\r\n\r\n")
                while not ended.wait(pause_s):
                    try:
                        connection.sendall(b" ")
                    except OSError:
                        return

        thread = threading.Thread(target=trickle)
        thread.start()
        began = time.monotonic()
        with pytest.raises(TimedOut, match=r"within 0.3 s"):
            QuickClient("127.0.0.1", listener.getsockname()[1]).send(calls.health(), timeout_s=0.3)
        assert time.monotonic() - began < PATIENCE_S  # it would trickle for longer
        ended.set()
        thread.join()

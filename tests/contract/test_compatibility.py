"""The original's viewer page, MCP server and hooks on our worker: the requests that they make, replayed one by one.

Shapes: contract/http-api.md, stream.md, hooks.md, mcp.md. Each answer must have the keys that the original's programs
read; the request and the answer must both be as ``/openapi.json`` tells, with nothing passed over.
"""

import http.client
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import jsonschema_rs
import pytest

from tests.factories import MINUTE, NOON, make_batch, observation_row, prompt_row, session_row, summary_row
from tests.processes import PATIENCE_S, WorkerProcess, running_worker
from worker.api.endpoint import IGNORED
from worker.contract import calls
from worker.contract.sse import Decoder

Shape = Any
"""A type or several; an object with at least these keys; a list of one shape; a set of the values that may be."""
NONE = type(None)
TEXT: Shape = {"content": [{"type": {"text"}, "text": str}]}
SAID_WRONG: Shape = TEXT | {"isError": {True}}
PROBLEM: Shape = {"error": str}
QUEUE: Shape = {"isProcessing": bool, "queueDepth": int}
CATALOGUE: Shape = {"projects": [str], "sources": [str], "projectsBySource": dict}
OBSERVATION_ITEM: Shape = {
    "id": int, "memory_session_id": str, "project": str, "merged_into_project": (str, NONE), "type": str,
    "platform_source": (str, NONE), "title": (str, NONE), "subtitle": (str, NONE), "narrative": (str, NONE),
    "text": (str, NONE), "facts": (str, NONE), "concepts": (str, NONE), "files_read": (str, NONE),
    "files_modified": (str, NONE), "prompt_number": (int, NONE), "created_at": str, "created_at_epoch": int,
}  # fmt: skip
SUMMARY_ITEM: Shape = {
    "id": int, "session_id": str, "platform_source": (str, NONE), "request": (str, NONE), "investigated": (str, NONE),
    "learned": (str, NONE), "completed": (str, NONE), "next_steps": (str, NONE), "project": str, "created_at": str,
    "created_at_epoch": int,
}  # fmt: skip
PROMPT_ITEM: Shape = {
    "id": int, "content_session_id": str, "project": (str, NONE), "platform_source": (str, NONE), "prompt_number": int,
    "prompt_text": str, "created_at": str, "created_at_epoch": int,
}  # fmt: skip
OBSERVATION_ROW: Shape = OBSERVATION_ITEM | {
    "discovery_tokens": (int, NONE), "content_hash": (str, NONE), "generated_by_model": (str, NONE),
    "relevance_count": (int, NONE), "agent_type": (str, NONE), "agent_id": (str, NONE), "metadata": (str, NONE),
    "synced_at": (int, NONE), "origin_device_id": (str, NONE), "origin_local_id": (str, NONE), "sync_rev": str,
}  # fmt: skip
SUMMARY_ROW: Shape = {
    "id": int,
    "memory_session_id": str,
    "project": str,
    "notes": (str, NONE),
    "files_edited": (str, NONE),
}
PROMPT_ROW: Shape = PROMPT_ITEM | {"memory_session_id": (str, NONE)}
CORPUS: Shape = {
    "version": {1}, "name": str, "description": str, "created_at": str, "updated_at": str, "filter": dict,
    "stats": {"observation_count": int, "token_estimate": int, "type_breakdown": dict,
              "date_range": {"earliest": str, "latest": str}},
    "system_prompt": str, "session_id": (str, NONE),
}  # fmt: skip
PUSHED: dict[str, Shape] = {
    "connected": {"timestamp": int},
    "initial_load": CATALOGUE | {"timestamp": int},
    "processing_status": QUEUE | {"timestamp": int},
    "new_prompt": {
        "prompt": {
            "id": int, "content_session_id": str, "project": str, "platform_source": str, "prompt_number": int,
            "prompt_text": str, "created_at_epoch": int,
        }
    },
    "session_started": {"sessionDbId": int, "project": str},
    "observation_queued": {"sessionDbId": int},
    "new_observation": {
        "observation": {
            "id": int, "memory_session_id": str, "session_id": str, "platform_source": str, "type": str, "title": str,
            "subtitle": (str, NONE), "text": NONE, "narrative": (str, NONE), "facts": str, "concepts": str,
            "files_read": str, "files_modified": str, "project": str, "prompt_number": (int, NONE),
            "created_at_epoch": int,
        }
    },
}  # fmt: skip


def unfit(value: Any, shape: Shape, at: str = "$") -> list[str]:
    """Where a value is not of a shape."""
    match shape:
        case dict():
            if not isinstance(value, dict):
                return [f"{at} is no object"]
            missing = [f"{at}.{name} is missing" for name in shape if name not in value]
            return missing + [
                wrong for name in shape if name in value for wrong in unfit(value[name], shape[name], f"{at}.{name}")
            ]
        case [each]:
            if not isinstance(value, list):
                return [f"{at} is no list"]
            return [wrong for number, one in enumerate(value) for wrong in unfit(one, each, f"{at}[{number}]")]
        case set():
            return [] if value in shape else [f"{at} is {value!r}"]
        case _:
            wrong_truth = isinstance(value, bool) and shape is int
            return [] if isinstance(value, shape) and not wrong_truth else [f"{at} is {value!r}"]


class Original:
    """Asks as the original's programs do: by plain HTTP, from a page with an ``Origin`` where there is one."""

    def __init__(self, worker: WorkerProcess) -> None:
        self.worker = worker
        self.document: dict[str, Any] = json.loads(self._send("GET", calls.OPENAPI, None, {})[2])

    def ask(
        self,
        method: str,
        path: str,
        shape: Shape,
        body: object = None,
        /,
        *,
        status: int | None = 200,
        page: bool = False,
        **query: object,
    ) -> Any:
        """The answer, checked. status None: any that tells the caller that it was wrong. page: asked by the viewer."""
        asked = f"{path}?{urlencode(query)}" if query else path
        origin = {"Origin": f"http://localhost:{self.worker.port}"} if page else {}
        got, headers, raw = self._send(method, asked, body, origin)
        assert got == status if status else 400 <= got < 500, (got, raw)
        assert IGNORED.lower() not in headers, headers
        assert not page or headers["access-control-allow-origin"] == origin["Origin"]
        answer = raw.decode() if shape is str else json.loads(raw)
        assert unfit(answer, shape) == [], answer
        self._told(method, path, body, query, got, headers["content-type"], answer)
        return answer

    def _told(
        self, method: str, path: str, body: object, query: dict[str, Any], status: int, media: str, answer: Any
    ) -> None:
        """The description knows this path, all of these parameters, this body and this answer."""
        fits = (known for known in self.document["paths"] if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", known), path))
        operation = self.document["paths"][min(fits, key=lambda known: known.count("{"))][method.lower()]
        names = {one["name"] for one in operation["parameters"] if one["in"] == "query"}
        assert set(query) <= names
        if status < 300 and body is not None and "requestBody" in operation:  # the original's tools always send one
            self._valid(body, operation["requestBody"]["content"]["application/json"]["schema"])
        content = operation["responses"][str(status)]["content"]
        assert media.split(";")[0] in content
        self._valid(answer, content[media.split(";")[0]]["schema"])

    def _valid(self, value: object, schema: dict[str, Any]) -> None:
        whole = schema | {"components": self.document["components"]}
        wrong = [str(error) for error in jsonschema_rs.Draft202012Validator(whole).iter_errors(value)]
        assert wrong == []

    def _send(self, method: str, path: str, body: object, more: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.worker.host, self.worker.port, timeout=PATIENCE_S)
        try:
            sent = None if body is None else json.dumps(body).encode()
            headers = more | ({} if body is None else {"Content-Type": "application/json"})
            connection.request(method, path, sent, headers)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Original]:
    home = tmp_path_factory.mktemp("home")
    environ = {"CLAUDE_MEM_OPENROUTER_API_KEY": "sk-or-abcdefgh1234"}
    with running_worker(home / "data", environ=environ) as worker:
        rows = [
            observation_row(f"Token {number} accepted", concepts='["gotcha"]', files_read='["src/auth/session.py"]',
                            narrative="A token after clock skew is accepted", created_at_epoch=NOON + number * MINUTE)
            for number in range(25)
        ]  # fmt: skip
        sessions = [session_row(), session_row("2", project="garden", platform_source="codex")]
        batch = make_batch(rows, sessions=sessions, summaries=[summary_row()], prompts=[prompt_row()])
        worker.quick.send(calls.import_batch(batch))
        yield Original(worker)


# The viewer page


@pytest.mark.parametrize(
    ("path", "item", "total"),
    [
        ("/api/observations", OBSERVATION_ITEM, 25),
        ("/api/summaries", SUMMARY_ITEM, 1),
        ("/api/prompts", PROMPT_ITEM, 1),
    ],
)
def test_viewer_pages_through_its_lists(original: Original, path: str, item: Shape, total: int) -> None:
    page: Shape = {"items": [item], "hasMore": bool, "offset": int, "limit": int}
    first = original.ask("GET", path, page, page=True, offset=0, limit=20, project="shop", platformSource="claude")
    rest = original.ask("GET", path, page, page=True, offset=20, limit=20, project="shop")
    assert (first["hasMore"], rest["hasMore"]) == (total > 20, False)
    ids = [one["id"] for one in first["items"] + rest["items"]]
    assert len(ids) == len(set(ids)) == total
    assert set(first["items"][0]) == set(item)  # these keys and no others, as the page's own types have them
    times = [one["created_at_epoch"] for one in first["items"] + rest["items"]]
    assert times == sorted(times, reverse=True)
    assert original.ask("GET", path, page, offset=0, limit=20)["items"]
    assert original.ask("GET", path, page, offset=0, limit=20, project="nowhere")["items"] == []


def test_viewer_reads_its_catalogues_and_gauges(original: Original) -> None:
    worker: Shape = {"version": str, "uptime": (int, float), "activeSessions": int, "sseClients": int, "port": int}
    database: Shape = {"path": str, "size": int, "observations": int, "sessions": int, "summaries": int}
    database |= {"firstObservationAt": (str, NONE)}
    shapes: dict[str, Shape] = {
        "/api/projects": CATALOGUE,
        "/api/stats": {"worker": worker, "database": database},
        "/api/processing-status": QUEUE | {"parkedSessions": int},
        "/health": {"status": {"ok"}, "timestamp": int, "activeSessions": int, "pid": int},
        "/healthz": {"status": {"ok"}},
        "/api/settings/dependency-health": {"degraded": bool, "statuses": list},
        "/api/mcp/status": {"enabled": bool},
        "/api/sync/status": {"configured": bool},
        "/api/chroma/status": {"status": str, "connected": bool, "timestamp": str, "details": str, "deep": bool},
        "/api/logs": {"logs": str, "path": str, "exists": bool},
    }
    answers = {path: original.ask("GET", path, shape, page=True) for path, shape in shapes.items()}
    assert answers["/api/projects"]["sources"] == ["claude", "codex"]
    assert answers["/api/projects"]["projectsBySource"]["codex"] == ["garden"]
    assert original.ask("GET", "/api/projects", CATALOGUE, platformSource="codex")["projects"] == ["garden"]
    original.ask("GET", "/api/logs", shapes["/api/logs"] | {"totalLines": int, "returnedLines": int}, lines=1000)
    original.ask("GET", "/api/chroma/status", shapes["/api/chroma/status"], deep=1)


def test_viewer_saves_its_settings(original: Original) -> None:
    before = original.ask("GET", "/api/settings", {"CLAUDE_MEM_CONTEXT_OBSERVATIONS": str, "CLAUDE_MEM_MODEL": str})
    assert before["CLAUDE_MEM_OPENROUTER_API_KEY"] == "****1234"
    changed = before | {"CLAUDE_MEM_CONTEXT_OBSERVATIONS": "60"}  # the page sends them all, the masked ones too
    saved: Shape = {"success": {True}, "message": str}
    assert original.ask("POST", "/api/settings", saved, changed, page=True)["changed"] == [
        "CLAUDE_MEM_CONTEXT_OBSERVATIONS"
    ]
    assert original.ask("GET", "/api/settings", dict) == changed
    original.ask("POST", "/api/settings", PROBLEM, {"CLAUDE_MEM_CONTEXT_OBSERVATIONS": "0"}, status=None, page=True)
    (original.worker.data_dir / ".mcp.json").write_text("{}")
    toggled: Shape = {"success": {True}, "enabled": bool}
    original.ask("POST", "/api/mcp/toggle", toggled, {"enabled": False}, page=True)
    original.ask("POST", "/api/logs/clear", {"success": {True}, "message": str, "path": str}, {}, page=True)


def test_viewer_shows_a_preview_and_itself(original: Original) -> None:
    assert "shop" in original.ask("GET", "/api/context/preview", str, page=True, project="shop")
    original.ask("GET", "/api/context/preview", PROBLEM, status=None)
    assert "<!doctype html>" in original.ask("GET", "/", str)


def test_viewer_hears_the_stream(original: Original) -> None:
    """Connected, the catalogue, the queue, in this order; then what the hooks cause, in the original's shapes."""
    connection = http.client.HTTPConnection(original.worker.host, original.worker.port, timeout=PATIENCE_S)
    connection.request("GET", "/stream", headers={"Accept": "text/event-stream"})
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("Content-Type", "").split(";")[0]) == (200, "text/event-stream")
    decoder = Decoder()
    heard: list[dict[str, Any]] = []

    def until(kind: str) -> None:
        while not any(one["type"] == kind for one in heard):
            piece = answer.read1(2**16)
            assert piece, "the stream has ended"
            heard.extend(json.loads(frame.data) for frame in decoder.feed(piece))

    until("processing_status")
    assert [one["type"] for one in heard[:3]] == ["connected", "initial_load", "processing_status"]
    prompt = {"contentSessionId": "c-stream", "project": "shop", "prompt": "add a retry", "platformSource": "claude"}
    original.ask("POST", "/api/sessions/init", {"sessionDbId": int}, prompt)
    until("session_started")
    used = {"contentSessionId": "c-stream", "tool_name": "Bash", "tool_input": {"command": "make"}, "cwd": "/tmp/shop"}
    original.ask("POST", "/api/sessions/observations", {"status": {"queued"}}, used | {"tool_response": "ok"})
    until("observation_queued")
    original.ask("POST", "/api/memory/save", {"id": int}, {"text": "retries are bounded", "project": "shop"})
    until("new_observation")
    connection.close()
    kinds = [one["type"] for one in heard]
    assert kinds.index("new_prompt") < kinds.index("session_started") < kinds.index("observation_queued")
    wrong = [(one["type"], unfit(one, PUSHED[one["type"]])) for one in heard if one["type"] in PUSHED]
    assert {kind for kind, _ in wrong} == set(PUSHED)
    assert [(kind, told) for kind, told in wrong if told] == []


# The MCP server


@pytest.mark.parametrize(
    "query",
    [
        {"query": "token", "limit": 20},
        {"query": "token", "project": "shop", "platformSource": "claude", "orderBy": "date_desc", "offset": 5},
        {"query": "token skew", "type": "observations", "obs_type": "bugfix,decision"},
        {"type": "bugfix", "dateStart": "2026-03-01", "dateEnd": "2026-03-31"},
        {"obs_type": "bugfix"},
        {"concepts": "gotcha", "files": "session.py"},
        {"query": "nothing has these words"},
    ],
)
def test_mcp_search_is_text(original: Original, query: dict[str, Any]) -> None:
    told = original.ask("GET", "/api/search", TEXT, **query)["content"][0]["text"]
    assert re.match(r"Found \d+ result\(s\)|No results found", told)
    if told.startswith("Found"):
        assert "| ID | Time | T | Title | Read |" in told and re.search(r"\| #\w+ \|", told)


def test_mcp_reads_by_other_ways_too(original: Original) -> None:
    rows: Shape = {"observations": [OBSERVATION_ROW], "sessions": [SUMMARY_ROW], "prompts": [PROMPT_ROW]}
    rows |= {"totalResults": int, "query": str}
    found = original.ask("GET", "/api/search", rows, query="token", format="json", limit=100)
    assert found["observations"] and found["sessions"] and found["prompts"]
    original.ask("GET", "/api/search/observations", TEXT, query="token", limit=5)
    original.ask("GET", "/api/search/by-file", TEXT, filePath="src/auth/session.py", isFolder="false")
    original.ask("GET", "/api/timeline/by-query", TEXT, query="token", mode="interactive", limit=5)
    original.ask("GET", "/api/instructions", TEXT, topic="workflow")
    original.ask("GET", "/api/context/recent", TEXT, project="shop", limit=3)


def test_mcp_timeline_is_text_and_so_are_its_complaints(original: Original) -> None:
    first = original.ask("GET", "/api/observations", dict, limit=1, offset=12, project="shop")["items"][0]["id"]
    told = original.ask("GET", "/api/timeline", TEXT, anchor=first, depth_before=3, depth_after=3)["content"][0]["text"]
    assert told.startswith(f"# Timeline around anchor: {first}\n") and "<- **ANCHOR**" in told
    original.ask("GET", "/api/timeline", TEXT, query="token", project="shop", depth_before=2, depth_after=2)
    original.ask("GET", "/api/timeline", TEXT, anchor="S1")
    original.ask("GET", "/api/timeline", TEXT, anchor="2026-03-04T12:05:00Z")
    for wrong in ({}, {"anchor": 1, "query": "x"}, {"anchor": "no such time"}):
        original.ask("GET", "/api/timeline", SAID_WRONG, **wrong)
    assert (
        original.ask("GET", "/api/timeline", SAID_WRONG, anchor=99999)["content"][0]["text"]
        == "Observation #99999 not found"
    )


def test_mcp_gets_observations_in_full(original: Original) -> None:
    ids = [one["id"] for one in original.ask("GET", "/api/observations", dict, limit=3, project="shop")["items"]]
    batch = original.ask("POST", "/api/observations/batch", [OBSERVATION_ROW], {"ids": ids, "orderBy": "date_desc"})
    assert [one["id"] for one in batch] == ids
    for given in (json.dumps(ids), ",".join(map(str, ids))):
        assert len(original.ask("POST", "/api/observations/batch", [OBSERVATION_ROW], {"ids": given})) == 3
    asked = {"ids": [*ids, 99999], "orderBy": "date_asc", "limit": 2, "project": "shop"}
    assert len(original.ask("POST", "/api/observations/batch", [OBSERVATION_ROW], asked)) == 2
    assert original.ask("POST", "/api/observations/batch", list, {"ids": []}) == []
    original.ask("GET", f"/api/observation/{ids[0]}", OBSERVATION_ROW)
    original.ask("GET", "/api/session/1", SUMMARY_ROW)
    original.ask("GET", "/api/prompt/1", PROMPT_ROW)
    assert original.ask("GET", "/api/observation/99999", PROBLEM, status=404)["error"] == "Observation #99999 not found"
    session: Shape = {"id": int, "content_session_id": str, "memory_session_id": str, "project": str, "status": str}
    assert original.ask("POST", "/api/sdk-sessions/batch", [session], {"memorySessionIds": ["m-1"]})
    assert original.ask("POST", "/api/tool-uses/batch", list, {"ids": [99999, "toolu_1"], "limit": 5}) == []


def test_mcp_is_given_the_start_of_a_session(original: Original) -> None:
    told = original.ask("GET", "/api/context/inject", str, projects="shop,garden", platformSource="claude", full="true")
    assert "Token 24 accepted" in told
    original.ask("GET", "/api/context/inject", PROBLEM, status=None)


def test_mcp_saves_and_imports(original: Original) -> None:
    saved: Shape = {"success": {True}, "id": int, "title": str, "project": str, "message": str}
    asked = {"text": "Keep sixty seconds of skew", "title": "Skew", "project": "shop", "metadata": {"by": "me"}}
    assert original.ask("POST", "/api/memory/save", saved, asked)["project"] == "shop"
    original.ask("POST", "/api/memory/save", PROBLEM, {"text": "  "}, status=None)
    counts = {f"{kind}{done}": int for kind in ("sessions", "summaries", "observations", "prompts")
              for done in ("Imported", "Skipped")}  # fmt: skip
    rows = {"sessions": [session_row("9")], "observations": [observation_row("Imported", memory_session_id="m-9")]}
    done = original.ask("POST", "/api/import", {"success": {True}, "stats": counts}, rows)
    assert (done["stats"]["sessionsImported"], done["stats"]["observationsImported"]) == (1, 1)


def test_mcp_builds_corpora(original: Original) -> None:
    """By types alone, which the original answers with an empty one."""
    asked = {"name": "tokens", "description": "all of tokens", "project": "shop", "types": "bugfix", "limit": "500"}
    made = original.ask("POST", "/api/corpus", CORPUS, asked)
    assert made["stats"]["observation_count"] >= 25 and "observations" not in made
    listed = json.loads(original.ask("GET", "/api/corpus", TEXT)["content"][0]["text"])
    assert unfit(listed, [{"name": str, "description": str, "stats": dict, "session_id": (str, NONE)}]) == []
    original.ask("GET", "/api/corpus/tokens", CORPUS)
    original.ask("POST", "/api/corpus/tokens/rebuild", CORPUS, {})
    original.ask("GET", "/api/corpus/none", PROBLEM, status=404)
    original.ask("DELETE", "/api/corpus/tokens", {"success": {True}})


# The hooks


def test_hooks_find_the_worker_and_keep_it(original: Original) -> None:
    """A version other than the plugin's would have it killed, so health tells none (contract/settings.md, 5)."""
    ai: Shape = {"provider": str, "authMethod": str}
    health: Shape = {"status": {"ok"}, "uptime": (int, float), "managed": bool, "hasIpc": bool, "platform": str}
    health |= {"pid": int, "initialized": {True}, "mcpReady": {True}, "ai": ai, "dependencies": dict}
    assert "version" not in original.ask("GET", "/api/health", health)
    original.ask("GET", "/api/readiness", {"status": {"ready"}, "mcpReady": bool})
    original.ask("GET", "/api/version", {"version": str})


def test_hooks_through_a_whole_session(original: Original) -> None:
    """Start, prompt, tool uses, a file about to be read, the end of a turn, the end of the session."""
    claude = {"contentSessionId": "c-hooks", "platformSource": "claude"}
    assert original.ask("GET", "/api/context/inject", str, projects="shop", platformSource="claude")
    assert "\x1b[" in original.ask(
        "GET", "/api/context/inject", str, projects="shop", platformSource="claude", colors="true"
    )
    begun: Shape = {"sessionDbId": int, "promptNumber": {1}, "skipped": {False}, "contextInjected": bool, "status": str}
    prompt = claude | {"project": "shop", "prompt": "why is the token accepted?"}
    session = original.ask("POST", "/api/sessions/init", begun, prompt)["sessionDbId"]
    again: Shape = {"sessionDbId": {session}, "promptNumber": int, "skipped": {True}, "reason": {"duplicate"}}
    original.ask("POST", "/api/sessions/init", again, prompt)
    hushed = prompt | {"contentSessionId": "c-hushed", "prompt": "<private>hush</private>"}
    original.ask("POST", "/api/sessions/init", {"skipped": {True}, "reason": {"private"}}, hushed)
    asked = {"q": prompt["prompt"], "project": "shop", "limit": "5", "platformSource": "claude"}
    original.ask("POST", "/api/context/semantic", {"context": str, "count": int}, asked)
    assert original.ask("POST", "/api/context/semantic", dict, {"q": "short"}) == {"context": "", "count": 0}
    used = claude | {
        "tool_name": "Read", "tool_input": {"file_path": "src/auth/session.py"}, "tool_response": {"lines": 3},
        "cwd": "/tmp/shop", "tool_use_id": "toolu_hooks", "agentId": None, "agentType": None,
    }  # fmt: skip
    original.ask("POST", "/api/sessions/observations", {"status": {"queued"}}, used)
    left_out = used | {"tool_name": "TodoWrite", "tool_use_id": "toolu_todo"}
    original.ask("POST", "/api/sessions/observations", {"status": {"skipped"}, "reason": {"tool_excluded"}}, left_out)
    by_file: Shape = {"observations": [OBSERVATION_ROW], "count": int}
    known = original.ask(
        "GET", "/api/observations/by-file", by_file, path="src/auth/session.py", projects="shop", limit=40
    )
    assert known["count"] == len(known["observations"]) > 0
    original.ask("GET", "/api/observations/by-file", PROBLEM, status=None)
    ended = claude | {"last_assistant_message": "The skew is fixed.", "observedModel": "m", "observedBilling": "api"}
    original.ask("POST", "/api/sessions/summarize", {"status": {"queued"}}, ended)
    aside: Shape = {"status": {"skipped"}, "reason": {"subagent_context"}}
    original.ask("POST", "/api/sessions/summarize", aside, ended | {"agentId": "a-1"})
    over = {"reason": "exit", "cwd": "/tmp/shop"}
    original.ask("POST", "/api/sessions/session-end", {"status": {"accepted"}}, claude | over)
    unknown = {"contentSessionId": "c-nobody", "platformSource": "claude"} | over
    original.ask("POST", "/api/sessions/session-end", {"status": {"unknown_session"}}, unknown)
    uses: Shape = {"count": int, "toolUses": [{"id": int, "tool_use_id": str, "tool_name": str, "project": str}]}
    told = original.ask("GET", "/api/tool-uses", uses, session="c-hooks", limit=50)
    assert [one["tool_use_id"] for one in told["toolUses"]] == ["toolu_hooks"]
    assert original.ask("POST", "/api/tool-uses/batch", [dict], {"ids": ["toolu_hooks"]})


def test_hooks_that_send_nonsense_are_told_in_json(original: Original) -> None:
    for path in ("/api/sessions/init", "/api/sessions/observations", "/api/sessions/summarize"):
        original.ask("POST", path, PROBLEM, {"prompt": 1}, status=None)

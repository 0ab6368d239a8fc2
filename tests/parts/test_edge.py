"""The HTTP edge of a real worker: what is answered to the right, the wrong and the hostile request."""

import concurrent.futures
import contextlib
import http.client
import json
import random
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.factories import make_batch, observation_row, prompt_row, summary_row
from tests.parts.conftest import foreign
from tests.processes import WorkerProcess, running_worker, wait_for
from worker.contract import calls
from worker.contract.search import SearchQuery


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path_factory.mktemp("home") / "data") as worker:
        rows = [observation_row("zebra crossing", concepts=["gotcha"]), observation_row("giraffe")]
        batch = make_batch(rows, summaries=[summary_row("zebra")], prompts=[prompt_row("zebra?")])
        worker.quick.send(calls.import_batch(batch))
        yield worker
        assert worker.stop() == 0
        assert worker.stderr == ""


class Answer:
    """Status, headers and body."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.body = response.status, dict(response.headers), response.read()

    @property
    def json(self) -> Any:
        """The body, which must be JSON."""
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.body)

    def problem(self) -> tuple[int, str, str | None]:
        """Status, code and field of an error, which has a sentence too."""
        assert self.json["error"]
        return self.status, self.json["code"], self.json.get("field")


def ask(worker: WorkerProcess, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
    connection = http.client.HTTPConnection(worker.host, worker.port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(body)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def get(worker: WorkerProcess, path: str, **headers: str) -> Answer:
    return ask(worker, "GET", path, None, **headers)


def post(worker: WorkerProcess, path: str, value: object, **headers: str) -> Answer:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return ask(worker, "POST", path, body, **({"Content_Type": "application/json"} | headers))


def held(worker: WorkerProcess) -> tuple[Any, ...]:
    """All that is stored, by a look past the worker."""
    connection = foreign(worker.data_dir / "claude-mem.db")
    try:
        return tuple(
            tuple(connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall())
            for table in ("sdk_sessions", "observations", "session_summaries", "user_prompts")
        )
    finally:
        connection.close()


def test_health_tells_who_and_no_version(worker: WorkerProcess) -> None:
    health = get(worker, "/api/health").json
    assert "version" not in health
    assert (health["status"], health["program"], health["pid"]) == ("ok", "claude-mem-python", worker.process.pid)
    assert health["initialized"] and health["mcpReady"] and health["dataDir"] == str(worker.data_dir)
    assert set(health) >= {"uptime", "workerPath", "managed", "hasIpc", "platform", "ai", "dependencies", "rateLimits"}


def test_readiness_version_stats_and_projects(worker: WorkerProcess) -> None:
    assert get(worker, "/api/readiness").json == {"status": "ready", "mcpReady": True, "message": None}
    assert list(get(worker, "/api/version").json) == ["version"]
    stats = get(worker, "/api/stats").json
    assert stats["worker"]["port"] == worker.port
    assert stats["database"]["path"] == str(worker.data_dir / "claude-mem.db")
    assert stats["database"]["observations"] >= 2 and stats["database"]["size"] > 0
    assert get(worker, "/api/projects").json["projects"][-1] == "shop"
    assert get(worker, "/api/projects?platformSource=codex").json["projects"] == []


def test_data_is_the_owner_s_alone(worker: WorkerProcess) -> None:
    """R158."""
    assert stat.S_IMODE(worker.data_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE((worker.data_dir / "logs").stat().st_mode) == 0o700
    files = [file for file in worker.data_dir.rglob("*") if file.is_file()]
    assert {"claude-mem.db", "claude-mem.db-wal", "worker.pid"} <= {file.name for file in files}
    assert {file.name: oct(stat.S_IMODE(file.stat().st_mode)) for file in files} == {
        file.name: "0o600" for file in files
    }


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/api/search", {"Host": "evil.example"}),
        ("GET", "/stream", {"Host": "evil.example"}),
        ("GET", "/nowhere", {"Host": "evil.example"}),
        ("GET", "/api/search", {"Origin": "https://evil.example"}),
        ("OPTIONS", "/api/search", {"Origin": "https://evil.example"}),
        ("POST", "/api/memory/save", {"Origin": "null"}),
        ("POST", "/api/admin/shutdown", {"Origin": "http://evil.example"}),
    ],
)
def test_strangers_are_refused(worker: WorkerProcess, method: str, path: str, headers: dict[str, str]) -> None:
    """R156."""
    before = held(worker)
    answer = ask(worker, method, path, b'{"text":"x"}', Content_Type="application/json", **headers)
    assert answer.problem()[:2] == (403, "forbidden")
    assert "access-control-allow-origin" not in answer.headers
    assert held(worker) == before


def test_local_page_is_granted(worker: WorkerProcess) -> None:
    answer = get(worker, "/api/version", Origin="http://localhost:3000")
    assert answer.headers["access-control-allow-origin"] == "http://localhost:3000"
    assert ask(worker, "OPTIONS", "/api/search", Origin="http://localhost:3000").status == 204
    assert get(worker, "/api/search?limit=x", Origin="http://localhost:3000").headers["access-control-allow-origin"]


@pytest.mark.parametrize("path", ["/api/memory/save", "/api/import", "/api/observations/batch"])
@pytest.mark.parametrize("sent_as", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_body_of_another_type_is_refused(worker: WorkerProcess, path: str, sent_as: str) -> None:
    """R156."""
    before = held(worker)
    answer = post(worker, path, {"text": "x", "ids": [1]}, Content_Type=sent_as)
    assert answer.problem()[:2] == (415, "wrong_type")
    assert held(worker) == before


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("/api/memory/save", b"", 422, "text"),
        ("/api/memory/save", b"{", 422, None),
        ("/api/memory/save", b"\xff\xfe", 422, None),
        ("/api/memory/save", b"[]", 422, None),
        ("/api/memory/save", b'{"text":"half \\udcaa"}', 422, None),
        ("/api/memory/save", b'{"text":" \\n "}', 422, "text"),
        ("/api/memory/save", b'{"text":"x","title":5}', 422, "title"),
        ("/api/memory/save", b'{"text":"x","other":5}', 422, "other"),
        ("/api/memory/save", b'{"text":"x","metadata":{"a":' + b"[" * 100_000, 413, None),
        ("/api/import", b'{"observations":[5]}', 422, "observations[0]"),
        ("/api/import", b'{"observations":[{"memory_session_id":"m"}]}', 422, "observations[0].created_at_epoch"),
        ("/api/import", b'{"prompts":[{"content_session_id":"c","prompt_text":"\\ud800"}]}', 422, None),
        ("/api/observations/batch", b"{}", 422, "ids"),
        ("/api/observations/batch", b'{"ids":["x"]}', 422, "ids"),
        ("/api/observations/batch", b'{"ids":[1],"orderBy":"relevance"}', 422, "orderBy"),
        ("/api/observations/batch", b'{"ids":[1],"limit":0}', 422, "limit"),
    ],
)
def test_body_that_cannot_be_used(
    worker: WorkerProcess, path: str, body: bytes, status: int, field: str | None
) -> None:
    """R025: half of a surrogate pair too; the worker stays, and keeps nothing."""
    before = held(worker)
    answer = post(worker, path, body)
    assert answer.status == status
    assert answer.problem()[2] == field
    assert held(worker) == before
    assert get(worker, "/api/health").status == 200


@pytest.mark.parametrize("declared", [True, False])
def test_body_over_the_limit_is_refused(worker: WorkerProcess, declared: bool) -> None:
    before = held(worker)
    connection = http.client.HTTPConnection(worker.host, worker.port, timeout=60)
    headers = {"Content-Type": "application/json"}
    try:
        if declared:
            connection.request("POST", "/api/import", headers=headers | {"Content-Length": str(2**26 + 1)})
        else:
            piece = b" " * 2**20

            def pieces() -> Iterator[bytes]:
                yield from (piece for _ in range(66))

            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.request("POST", "/api/import", body=pieces(), headers=headers, encode_chunked=True)
        assert Answer(connection.getresponse()).problem()[:2] == (413, "too_large")
    finally:
        connection.close()
    assert held(worker) == before


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=-5", "limit"),
        ("limit=1001", "limit"),
        ("limit=ten", "limit"),
        ("limit=1.5", "limit"),
        ("offset=-1", "offset"),
        ("offset=99999999999", "offset"),
        ("dateStart=soon", "dateStart"),
        ("date_to=2026-02-30", "date_to"),
        ("orderBy=best", "orderBy"),
        ("format=xml", "format"),
        ("kind=dream", "kind"),
        ("typing=maybe", "typing"),
        ("files=" + "a," * 200, "files"),
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "hits"])
def test_parameter_that_cannot_be_used_is_named(worker: WorkerProcess, query: str, field: str, form: str) -> None:
    answer = get(worker, f"/api/search?{query}&format={form}" if field != "format" else f"/api/search?{query}")
    assert answer.problem() == (422, "invalid", field)


@pytest.mark.parametrize("path", ["/api/observations", "/api/summaries", "/api/prompts"])
@pytest.mark.parametrize("query", ["limit=-5", "limit=0", "offset=-1", "limit=x"])
def test_page_that_cannot_be_given(worker: WorkerProcess, path: str, query: str) -> None:
    assert get(worker, f"{path}?{query}").problem() == (422, "invalid", query.split("=")[0])


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/nothing", 404, "not_found"),
        ("GET", "/api/observation/99999", 404, "not_found"),
        ("GET", "/api/session/99999", 404, "not_found"),
        ("GET", "/api/prompt/99999", 404, "not_found"),
        ("GET", "/api/observation/one", 422, "invalid"),
        ("GET", "/api/observation/0", 404, "not_found"),
        ("GET", "/api/observation/99999999999999999999", 422, "invalid"),
        ("GET", "/api/observation/..%2f..%2fetc", 404, "not_found"),
        ("POST", "/api/search", 405, "wrong_method"),
        ("DELETE", "/api/search", 405, "wrong_method"),
        ("GET", "/api/import", 405, "wrong_method"),
        ("GET", "/api/admin/shutdown", 405, "wrong_method"),
        ("BREW", "/api/search", 405, "wrong_method"),
    ],
)
def test_what_is_not_there_is_told_in_json(
    worker: WorkerProcess, method: str, path: str, status: int, code: str
) -> None:
    answer = ask(worker, method, path)
    assert answer.problem()[:2] == (status, code)
    assert status != 405 or answer.headers["allow"]


@pytest.mark.parametrize("path", ["/api/search", "/api/health", "/stream"])
def test_head_is_answered_and_ends(worker: WorkerProcess, path: str) -> None:
    answer = ask(worker, "HEAD", path)
    assert (answer.status, answer.body) == (200, b"")


def test_row_batch_and_page_have_the_original_s_columns(worker: WorkerProcess) -> None:
    row = get(worker, "/api/observation/1").json
    assert row == post(worker, "/api/observations/batch", {"ids": "[1]"}).json[0]
    assert len(row) == 28 and row["concepts"] == '["gotcha"]'
    page = get(worker, "/api/observations?limit=1").json
    assert (len(page["items"]), page["hasMore"], page["offset"], page["limit"]) == (1, True, 0, 1)
    assert get(worker, "/api/observation/1?project=mall").status == 404
    assert get(worker, "/api/observation/1?platformSource=codex").status == 404
    assert post(worker, "/api/observations/batch", {"ids": [1], "platformSource": "Claude Code"}).json == [row]
    assert post(worker, "/api/observations/batch", {"ids": [1], "platformSource": "codex"}).json == []
    assert "sync_rev" not in post(worker, "/api/observations/batch", {"ids": [1], "lean": True}).json[0]


def test_pages_of_each_kind(worker: WorkerProcess) -> None:
    summary, prompt = get(worker, "/api/summaries").json["items"][0], get(worker, "/api/prompts").json["items"][0]
    assert list(summary) == [
        "id", "session_id", "platform_source", "request", "investigated", "learned", "completed", "next_steps",
        "project", "created_at", "created_at_epoch",
    ]  # fmt: skip
    assert (summary["session_id"], prompt["content_session_id"], prompt["project"]) == ("c-1", "c-1", "shop")


def test_aliases_are_the_same_filter(worker: WorkerProcess) -> None:
    """R034."""
    answers = [get(worker, f"/api/search?{query}&format=hits").json for query in ("concept=gotcha", "concepts=gotcha")]
    assert [answer["total"] for answer in answers] == [1, 1]
    for query in ("type=observations", "kind=observation", "type=bugfix", "obs_type=bugfix"):
        assert get(worker, f"/api/search?query=zebra&{query}&format=hits").json["total"] == 1


@pytest.mark.parametrize("query", ["query=nothing", "query=zebra", "", "query=,,"])
def test_json_form_has_the_same_keys_with_and_without_hits(worker: WorkerProcess, query: str) -> None:
    """R044."""
    assert list(get(worker, f"/api/search?{query}&format=json").json) == [
        "observations",
        "sessions",
        "prompts",
        "totalResults",
        "query",
        "hits",
        "offset",
        "strategy",
        "degraded",
        "took_ms",
        "notes",
    ]


def test_text_form_is_one_piece_of_text(worker: WorkerProcess) -> None:
    answer = get(worker, "/api/search?query=zebra").json
    assert list(answer) == ["content"] and answer["content"][0]["type"] == "text"
    assert answer["content"][0]["text"].startswith('Found 3 result(s) matching "zebra" (1 obs, 1 sessions, 1 prompts)')


@pytest.mark.parametrize(
    ("query", "said", "is_error"),
    [
        ("", 'Error: Must provide either "anchor" or "query" parameter', True),
        ("anchor=0", 'Error: Must provide either "anchor" or "query" parameter', True),
        ("anchor=1&query=x", 'Error: Cannot provide both "anchor" and "query" parameters. Use one or the other.', True),
        ("anchor=99999", "Observation #99999 not found", True),
        ("anchor=soon", "Invalid timestamp: soon", True),
        ("query=nothing", 'No observations found matching "nothing". Try a different search query.', False),
    ],
)
def test_timeline_that_cannot_be_given_says_so_in_its_text(
    worker: WorkerProcess, query: str, said: str, is_error: bool
) -> None:
    answer = get(worker, f"/api/timeline?{query}")
    assert answer.status == 200
    assert (answer.json["content"][0]["text"], answer.json.get("isError", False)) == (said, is_error)
    assert get(worker, f"/api/timeline?{query}&format=json").status in (404, 422)


def test_timeline_depth_is_ten_unless_said(worker: WorkerProcess) -> None:
    assert (
        "**Window:** 10 records before -> 10 records after"
        in get(worker, "/api/timeline?anchor=1").json["content"][0]["text"]
    )
    assert get(worker, "/api/timeline?anchor=1&depth_before=-1").problem()[2] == "depth_before"


def test_saved_memory_is_found(worker: WorkerProcess) -> None:
    said = "remember the walrus " + "x" * 100
    saved = post(
        worker, "/api/memory/save", {"text": said, "metadata": {"project": "den", "platformSource": "codex"}}
    ).json
    assert (saved["title"], saved["project"]) == (said[:60] + "...", "den")
    assert saved["message"] == f"Memory saved as observation #{saved['id']}"
    assert get(worker, f"/api/observation/{saved['id']}").json["platform_source"] == "codex"
    assert get(worker, "/api/search?query=walrus&format=hits").json["hits"][0]["id"] == saved["id"]
    assert (
        post(worker, "/api/memory/save", {"text": said, "metadata": {"project": "den", "platformSource": "codex"}}).json
        == saved
    )


HOSTILE = [
    "%00",
    "%ED%B2%AA",
    "%FF%FE",
    "%F0%9F",
    "'",
    '"',
    "''",
    '""',
    "'; DROP TABLE observations; --",
    "1 OR 1=1",
    "*",
    "^",
    "NEAR(",
    "a AND",
    "NOT",
    "OR OR",
    "{a b}: c",
    "title:",
    "-",
    "--",
    "a*b*",
    "(((((",
    ")",
    "\\",
    "%",
    "_",
    "\r\n",
    "\t",
    "../../etc/passwd",
    "{{7*7}}",
    "<script>",
    "[",
    "]",
    "[1",
    "[[[[",
    '["a',
    "{}",
    "null",
    "true",
    "NaN",
    "1e999",
    "-1",
    "0",
    "9" * 30,
    "9" * 4999,
    "é" * 500,
    "中" * 3000,
    "😀" * 500,
    "\u202e",
    "\ufeff",
    "a" * 50_000,
    "a " * 25_000,
    "a,b" * 15_000,
    '"' * 30_000,
    "[" * 50_000,
    "a" * 100_000,
    "a\u0301\u0316" * 3000,
]
NAMES = (
    "query",
    "type",
    "obs_type",
    "concepts",
    "files",
    "dateStart",
    "dateEnd",
    "project",
    "platformSource",
    "limit",
    "offset",
    "orderBy",
    "format",
    "kind",
    "typing",
    "anchor",
    "depth_before",
    "buckets",
)
PATHS = (
    "/api/search",
    "/api/facets",
    "/api/timeline",
    "/api/observations",
    "/api/prompts",
    "/api/observation/1",
    "/api/projects",
)


def hostile_questions() -> Iterator[str]:
    chance = random.Random(7)
    for value in HOSTILE:
        written = value if value.startswith("%") and len(value) > 1 else quote(value, safe="")
        yield f"/api/search?query={written}"
        yield f"/api/search?query={written}&typing=true&format=json"
        yield f"/api/timeline?anchor={written}&format=json"
        for _ in range(5):
            names = chance.sample(NAMES, chance.randint(1, 3))
            yield f"{chance.choice(PATHS)}?" + "&".join(f"{name}={written[: 60_000 // len(names)]}" for name in names)


def test_hostile_questions_are_no_failure_and_change_nothing(worker: WorkerProcess) -> None:
    """R001 to R013, R025: no 5xx, nothing changed, the worker stays."""
    before = held(worker)
    questions = list(hostile_questions())
    assert len(questions) >= 400
    failed = []
    for question in questions:
        answer = get(worker, question)
        if answer.status not in (200, 400, 404, 422, 431):
            failed.append((question[:200], answer.status, answer.body[:200]))
        assert b"sqlite" not in answer.body.lower() and b"fts5" not in answer.body.lower(), question[:200]
    assert failed == []
    assert held(worker) == before
    assert get(worker, "/api/search?query=giraffe&format=hits").json["total"] == 1


def test_broken_requests_do_not_end_the_worker(worker: WorkerProcess) -> None:
    for raw in (
        b"\0\0\0\0\r\n\r\n",
        b"GET / HTTP/1.1\r\n",
        b"GET \xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"x" * 70_000,
    ):
        with socket.create_connection((worker.host, worker.port), timeout=60) as connection:
            connection.sendall(raw)
    assert get(worker, "/api/health").status == 200


def test_two_hundred_searches_at_once_while_rows_come_in(worker: WorkerProcess) -> None:
    rows = [observation_row(f"ocelot {n}", created_at_epoch=n, project="wild") for n in range(1000)]

    def search(_: int) -> tuple[int, int]:
        page = worker.quick.send(calls.search(SearchQuery(text="ocelot", limit=50)))
        return len(page.hits), page.total

    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        imports = [
            pool.submit(worker.quick.send, calls.import_batch(make_batch(rows[at : at + 100])))
            for at in range(0, 1000, 100)
        ]
        pages = list(pool.map(search, range(200)))
        assert sum(done.result().stats.observationsImported for done in imports) == 1000
    assert all(shown == min(total, 50) and total % 100 == 0 for shown, total in pages)
    assert search(0) == (50, 1000)


def test_connections_that_drop_off_are_given_back(worker: WorkerProcess) -> None:
    """R215."""
    sockets = Path(f"/proc/{worker.process.pid}/fd")
    if not sockets.exists():
        pytest.skip("no /proc here")
    before = len(list(sockets.iterdir()))
    for _ in range(200):
        socket.create_connection((worker.host, worker.port), timeout=60).close()
    get(worker, "/api/health")
    wait_for(lambda: len(list(sockets.iterdir())) <= before + 20)

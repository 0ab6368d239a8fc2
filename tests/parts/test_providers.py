"""Every provider against a server or a program that speaks its wire format: answers, refusals, silence, rubbish."""

import asyncio
import json
import logging
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.parts.conftest import eventually
from worker.contract.errors import Invalid
from worker.contract.observer_settings import Asking
from worker.llm.gemini import Gemini
from worker.llm.pace import Pace
from worker.llm.provider import Completion, Failure, Prompt, ProviderFailed, Tier
from worker.llm.registry import open_provider

KEY = "sk-do-not-show-4711"
PROMPT = Prompt("Write XML.", "What happened: 你好 <b>")
Reply = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Server:
    """reply: what it does with a request. asked: path, headers in small letters, body."""

    url: str
    reply: Reply
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            mine.asked.append((self.path, {name.lower(): text for name, text in self.headers.items()}, body))
            mine.reply(self)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    mine = Server(f"http://127.0.0.1:{http.server_address[1]}", lambda _: None)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield mine
    mine.gone.set()
    http.shutdown()
    thread.join()
    http.server_close()


def says(status: int, body: object, **headers: str) -> Reply:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, text in headers.items():
            handler.send_header(name.replace("_", "-"), text)
        handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return reply


@dataclass(frozen=True)
class Wire:
    """How a provider's server speaks. key: the header that carries it, and how."""

    provider: str
    path: str
    key: tuple[str, str]
    answer: dict[str, Any]
    tokens: int
    asked: Callable[[dict[str, Any]], list[str]]
    empty: dict[str, Any]


WIRES = [
    Wire(
        "anthropic", "/v1/messages", ("x-api-key", KEY),
        {"model": "m-2",
         "content": [{"type": "text", "text": "<a>"}, {"type": "thinking"}, {"type": "text", "text": "b"}],
         "usage": {"input_tokens": 7, "output_tokens": 5, "cache_read_input_tokens": 3,
                   "cache_creation_input_tokens": None}},
        15, lambda body: [body["system"], body["messages"][0]["content"]],
        {"content": [], "usage": {"input_tokens": 4}},
    ),
    Wire(
        "gemini", "/v1beta/models/m-1:generateContent", ("x-goog-api-key", KEY),
        {"modelVersion": "m-2", "candidates": [{"content": {"parts": [{"text": "<a>"}, {"text": "b"}]}}],
         "usageMetadata": {"totalTokenCount": 15}},
        15, lambda body: [body["systemInstruction"]["parts"][0]["text"], body["contents"][0]["parts"][0]["text"]],
        {"candidates": [{"finishReason": "MAX_TOKENS"}], "usageMetadata": {"totalTokenCount": 4}},
    ),
    Wire(
        "openrouter", "/chat/completions", ("authorization", f"Bearer {KEY}"),
        {"model": "m-2", "choices": [{"message": {"content": "<a>b"}}],
         "usage": {"prompt_tokens": 9, "completion_tokens": 6}},
        15, lambda body: [message["content"] for message in body["messages"]],
        {"choices": [{"message": {"content": None}}], "usage": {"total_tokens": 4}},
    ),
]  # fmt: skip
each_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.provider)


async def ask(wire: Wire, server: Server, **over: Any) -> Completion:
    asking = Asking(provider=wire.provider, model="m-1", base_url=server.url, api_key=KEY, timeout_s=60)
    provider = open_provider(replace(asking, **over), Path("/nowhere"))
    assert provider is not None
    try:
        return await provider.complete(PROMPT)
    finally:
        await provider.close()


async def fails(wire: Wire, server: Server, **over: Any) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as caught:
        await ask(wire, server, **over)
    assert KEY not in caught.value.message and "你好" not in caught.value.message
    return caught.value


@each_wire
async def test_an_answer_with_what_it_cost(wire: Wire, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.reply = says(200, wire.answer)
    assert await ask(wire, server) == Completion("<a>b", wire.tokens, "m-2")
    ((path, headers, body),) = server.asked
    assert path == wire.path and headers[wire.key[0]] == wire.key[1]
    assert wire.asked(body) == [PROMPT.system, PROMPT.user]
    assert KEY not in caplog.text and KEY not in path


@each_wire
async def test_an_answer_without_words_is_empty(wire: Wire, server: Server) -> None:
    server.reply = says(200, wire.empty)
    assert await ask(wire, server) == Completion("", 4, "m-1")


@each_wire
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"message": f"invalid x-api-key {KEY}"}}, Failure.AUTH),
        (403, b"", Failure.AUTH),
        (429, {"error": {"message": "slow down"}}, Failure.QUOTA),
        (402, {"error": "credits"}, Failure.QUOTA),
        (413, b"", Failure.TOO_LONG),
        (400, {"error": {"message": "prompt is too long: 200001 tokens > 200000 maximum"}}, Failure.TOO_LONG),
        (400, {"error": {"message": "API key not valid. Please pass a valid API key."}}, Failure.AUTH),
        (400, {"error": {"message": "unknown field"}}, Failure.BAD_ANSWER),
        (404, b"<html>", Failure.BAD_ANSWER),
        (500, b"oops", Failure.TRANSIENT),
        (529, {"error": {"type": "overloaded_error"}}, Failure.TRANSIENT),
        (302, b"", Failure.BAD_ANSWER),
    ],
)
async def test_a_refusal_tells_its_kind(wire: Wire, server: Server, status: int, body: object, kind: Failure) -> None:
    server.reply = says(status, body)
    failure = await fails(wire, server)
    assert failure.kind is kind and str(status) in failure.message


@each_wire
@pytest.mark.parametrize(
    ("value", "wait_s"), [("17", 17.0), ("0.5", 0.5), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("-3", None), ("", None)]
)
async def test_a_server_may_ask_for_time(wire: Wire, server: Server, value: str, wait_s: float | None) -> None:
    server.reply = says(429, {}, retry_after=value)
    assert (await fails(wire, server)).retry_after_s == wait_s


@each_wire
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b"[" * 100_000])
async def test_rubbish_is_a_passing_failure(wire: Wire, server: Server, body: bytes) -> None:
    server.reply = says(200, body)
    assert (await fails(wire, server)).kind is Failure.TRANSIENT


@each_wire
@pytest.mark.parametrize(
    "odd", [None, 5, [], {}, "x", [None], [[]], {"message": 5}, [{"message": None}], [{"content": 7}]]
)
async def test_any_answer_is_read(wire: Wire, server: Server, odd: object) -> None:
    names = ("content", "candidates", "choices", "usage", "usageMetadata", "model", "modelVersion")
    server.reply = says(200, dict.fromkeys(names, odd))
    found = await ask(wire, server)
    assert found.tokens == 0 and isinstance(found.text, str)


@each_wire
async def test_a_stream_that_is_cut(wire: Wire, server: Server) -> None:
    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "100000")
        handler.end_headers()
        handler.wfile.write(b'{"model": "m')
        handler.close_connection = True

    server.reply = reply
    assert (await fails(wire, server)).kind is Failure.TRANSIENT


@each_wire
@pytest.mark.parametrize("begins", [False, True])
async def test_one_deadline_for_all_of_it(wire: Wire, server: Server, begins: bool) -> None:
    """Also for a server that sends a byte now and then, which no timeout between two bytes would end."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        if begins:
            handler.send_response(200)
            handler.send_header("content-length", "100000")
            handler.end_headers()
        while not server.gone.wait(0.02):
            if begins:
                handler.wfile.write(b" ")
                handler.wfile.flush()

    server.reply = reply
    failure = await fails(wire, server, timeout_s=0.2)
    assert failure.kind is Failure.TRANSIENT and "0.2 s" in failure.message


@each_wire
async def test_nobody_there(wire: Wire, server: Server) -> None:
    failure = await fails(wire, server, base_url="http://127.0.0.1:9")
    assert (failure.kind, failure.message) == (Failure.TRANSIENT, "http://127.0.0.1:9 cannot be reached (ConnectError)")


@each_wire
async def test_without_a_key_it_is_said_which(wire: Wire) -> None:
    with pytest.raises(Invalid, match="KEY"):
        open_provider(Asking(provider=wire.provider, model="m", api_key=""), Path("/nowhere"))
    with pytest.raises(Invalid, match="URL"):
        open_provider(Asking(provider=wire.provider, model="m", api_key=KEY, base_url="ftp://x"), Path("/nowhere"))


async def test_an_error_inside_an_answer(server: Server) -> None:
    """OpenRouter tells so what the provider behind it said."""
    server.reply = says(200, {"error": {"code": 429, "message": "rate limited upstream"}})
    assert (await fails(WIRES[2], server)).kind is Failure.QUOTA
    server.reply = says(200, {"error": "something"})
    assert (await fails(WIRES[2], server)).kind is Failure.TRANSIENT


async def test_a_server_of_ones_own_needs_no_key(server: Server) -> None:
    server.reply = says(200, WIRES[2].answer)
    assert (await ask(WIRES[2], server, api_key="", base_url=server.url + "/v1/chat/completions/")).tokens == 15
    ((path, headers, _),) = server.asked
    assert path == "/v1/chat/completions" and "authorization" not in headers


async def test_google_asks_for_time_in_its_own_words(server: Server) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]
    server.reply = says(429, {"error": {"status": "RESOURCE_EXHAUSTED", "details": details}})
    assert (await fails(WIRES[1], server)).retry_after_s == 34.5


async def test_a_refused_question_is_no_answer(server: Server) -> None:
    server.reply = says(200, {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"totalTokenCount": 3}})
    failure = await fails(WIRES[1], server)
    assert (failure.kind, failure.tokens) == (Failure.BAD_ANSWER, 3)


@each_wire
@pytest.mark.parametrize("tier", list(Tier))
async def test_each_kind_of_question_goes_to_its_model(wire: Wire, server: Server, tier: Tier) -> None:
    server.reply = says(200, wire.empty)
    usual = Asking(provider=wire.provider, model="m-1", base_url=server.url, api_key=KEY)
    tiered = replace(usual, simple_model="m-s", summary_model="m-z")
    for asking in (usual, tiered):
        provider = open_provider(asking, Path("/nowhere"))
        assert provider is not None
        found = await provider.complete(replace(PROMPT, tier=tier))
        await provider.close()
        wanted = {Tier.SIMPLE: "m-s", Tier.SUMMARY: "m-z"}.get(tier, "m-1") if asking is tiered else "m-1"
        path, _, body = server.asked.pop()
        assert found.model == wanted and wanted in body.get("model", path)


async def test_gemini_is_asked_no_faster_than_it_lets(server: Server) -> None:
    """Each model by itself: the clock goes on only where somebody waits."""
    server.reply = says(200, WIRES[1].empty)
    now_s, waits = 0.0, []

    async def sleep(seconds: float) -> None:
        nonlocal now_s
        waits.append(round(seconds, 3))
        now_s += seconds

    def pace(per_minute: int) -> Pace:
        return Pace(per_minute, lambda: now_s, sleep)

    asking = Asking(provider="gemini", model="gemini-flash-latest", summary_model="m", base_url=server.url, api_key=KEY)
    free, paced = Gemini(asking, pace), Gemini(replace(asking, paced=True), pace)
    for _ in range(3):
        await free.complete(PROMPT)
    assert waits == []
    for _ in range(3):
        await paced.complete(PROMPT)
    assert waits == [6.1, 6.1]
    await paced.complete(replace(PROMPT, tier=Tier.SUMMARY))
    await paced.complete(replace(PROMPT, tier=Tier.SUMMARY))
    assert waits == [6.1, 6.1, 12.1] and len(server.asked) == 8
    now_s += 100
    await paced.complete(PROMPT)
    assert len(waits) == 3
    await asyncio.gather(paced.complete(PROMPT), paced.complete(PROMPT))
    assert sum(waits[3:]) >= 6.1 + 6.1
    await free.close()
    await paced.close()


def test_local_is_no_model() -> None:
    assert open_provider(Asking(), Path("/nowhere")) is None
    with pytest.raises(Invalid, match="CLAUDE_MEM_PROVIDER"):
        open_provider(Asking(provider="os"), Path("/nowhere"))


# The user's own command line: a stand-in that writes down how it was called.

STAND_IN = """#!{python}
import json, os, subprocess, sys, time
said = sys.stdin.read()
here = os.path.dirname(os.path.abspath(sys.argv[0]))
seen = {{"args": sys.argv[1:], "said": said, "cwd": os.getcwd(), "env": dict(os.environ), "files": os.listdir()}}
open(os.path.join(here, "seen.json"), "a").write(json.dumps(seen) + chr(10))
{body}
"""


def program(folder: Path, body: str) -> str:
    file = folder / "claude"
    file.write_text(STAND_IN.format(python=sys.executable, body=body))
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


def prints(answer: object, code: int = 0) -> str:
    return f"print({json.dumps(answer)!r}); sys.exit({code})"


async def run(folder: Path, body: str, **over: Any) -> Completion:
    asking = Asking(provider="claude", model="haiku", command=program(folder, body), timeout_s=60)
    provider = open_provider(replace(asking, **over), folder / "data")
    assert provider is not None
    return await provider.complete(PROMPT)


def seen(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "seen.json").read_text().splitlines()]


GOOD = {
    "type": "result", "subtype": "success", "is_error": False, "result": "<a>",
    "usage": {"input_tokens": 4, "output_tokens": 3, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 1},
}  # fmt: skip


async def test_claude_is_asked_by_the_model_of_the_question(tmp_path: Path) -> None:
    asking = Asking(provider="claude", model="m-1", summary_model="m-z", command=program(tmp_path, prints(GOOD)))
    provider = open_provider(asking, tmp_path / "data")
    assert provider is not None
    assert (await provider.complete(replace(PROMPT, tier=Tier.SUMMARY))).model == "m-z"
    assert (await provider.complete(replace(PROMPT, tier=Tier.SIMPLE))).model == "m-1"
    assert [call["args"][call["args"].index("--model") + 1] for call in seen(tmp_path)] == ["m-z", "m-1"]


async def test_claude_is_asked_quietly_and_in_a_folder_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    found = await run(tmp_path, prints(GOOD), config_dir="/profile", credentials=(("ANTHROPIC_API_KEY", KEY),))
    assert found == Completion("<a>", 10, "haiku")
    (call,) = seen(tmp_path)
    assert call["said"] == PROMPT.user and call["args"][:3] == ["-p", "--output-format", "json"]
    assert call["args"][call["args"].index("--tools") + 1] == ""
    assert PROMPT.user not in " ".join(call["args"]) and KEY not in " ".join(call["args"])
    assert (call["cwd"], call["files"]) == (str(tmp_path / "data" / "observer-sessions"), [])
    environ = call["env"]
    assert (environ["CLAUDE_MEM_INTERNAL"], environ["CLAUDE_CONFIG_DIR"], environ["ANTHROPIC_API_KEY"]) == (
        "1",
        "/profile",
        KEY,
    )
    assert "CLAUDECODE" not in environ


async def test_an_older_claude_is_asked_in_older_words(tmp_path: Path) -> None:
    body = f"if '--tools' in sys.argv: sys.exit(\"error: unknown option '--tools'\")\n{prints(GOOD)}"
    assert (await run(tmp_path, body)).text == "<a>"
    first, second = seen(tmp_path)
    assert second["said"] == f"{PROMPT.system}\n\n{PROMPT.user}" and "--system-prompt" not in second["args"]
    assert "Bash" in second["args"][second["args"].index("--disallowedTools") + 1].split(",")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (prints(GOOD | {"is_error": True, "result": "Invalid API key · Please run /login"}, 1), Failure.AUTH),
        (prints(GOOD | {"is_error": True, "result": "Claude AI usage limit reached|1760000000"}, 1), Failure.QUOTA),
        (prints(GOOD | {"is_error": True, "result": "Prompt is too long"}), Failure.TOO_LONG),
        (prints(GOOD | {"is_error": True, "result": "API Error: 529 overloaded"}, 1), Failure.TRANSIENT),
        ("sys.exit('Not logged in. Please run /login')", Failure.AUTH),
        ('print(\'{"type": "resu\'); sys.exit(0)', Failure.TRANSIENT),
        ("os.abort()", Failure.TRANSIENT),
        ("", Failure.TRANSIENT),
    ],
)
async def test_what_claude_complains_of(tmp_path: Path, body: str, kind: Failure) -> None:
    with pytest.raises(ProviderFailed) as caught:
        await run(tmp_path, body)
    assert caught.value.kind is kind and "1760000000" not in caught.value.message


@pytest.mark.parametrize("answer", ["print('a warning')\n" + prints(GOOD), prints([{"type": "system"}, GOOD])])
async def test_what_claude_prints_beside_its_answer(tmp_path: Path, answer: str) -> None:
    assert (await run(tmp_path, answer)).text == "<a>"


@pytest.mark.parametrize("stops", ["timeout", "cancel"])
async def test_claude_is_ended_with_all_that_it_started(tmp_path: Path, stops: str) -> None:
    body = """child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(os.path.join(here, "child"), "w").write(str(child.pid))
time.sleep(600)"""
    pid = tmp_path / "child"
    for timeout_s in (0.25, 5, 40) if stops == "timeout" else (60,):  # a busy machine may not start it so soon
        asking = asyncio.create_task(run(tmp_path, body, timeout_s=timeout_s))
        while not (begun := pid.exists() and bool(pid.read_text())) and not asking.done():
            await asyncio.wait([asking], timeout=0.01)
        if begun:
            break
    child = int(pid.read_text())
    if stops == "cancel":
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    else:
        with pytest.raises(ProviderFailed, match=r"did not answer within \d+ s"):
            await asking
    await eventually(lambda: not is_alive(child))


async def test_no_claude_here(tmp_path: Path) -> None:
    with pytest.raises(ProviderFailed, match="CLAUDE_CODE_PATH") as caught:
        await run(tmp_path, "", command=str(tmp_path / "nothing"))
    assert caught.value.kind is Failure.AUTH


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet buried does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"

"""The bridge as a process, over real standard input and output."""

import contextlib
import json
import os
import queue
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import TextContent

from mcp_bridge.tools.table import TOOLS
from tests.mcp.fake_worker import TEXT, FakeWorker, Request, environment, free_port, serving, stop_started
from tests.processes import PATIENCE_S, wait_for
from worker.contract import calls
from worker.contract.curation import Save
from worker.contract.quick import QuickClient

COMMAND = [str(Path(sys.executable).with_name("claude-mem")), "mcp"]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Bridge:
    """A bridge and its client's ends of the pipes; every line of its output must be JSON."""

    def __init__(self, env: dict[str, str], *options: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([*COMMAND, *options], stdin=pipe, stdout=pipe, stderr=pipe, env=env)
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._errors: list[bytes] = []
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._pumps = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=lambda: self._errors.extend(self.process.stderr or ()), daemon=True),
        ]
        for pump in self._pumps:
            pump.start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self._lines.put(line)

    def send(self, *messages: dict[str, Any] | str) -> None:
        assert self.process.stdin is not None
        for message in messages:
            self.process.stdin.write((message if isinstance(message, str) else json.dumps(message)).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, number: int, tool: str, **arguments: object) -> None:
        params = {"name": tool, "arguments": arguments}
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    def answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._lines.get(timeout=PATIENCE_S))
        return answer

    def text(self) -> str:
        text: str = self.answer()["result"]["content"][0]["text"]
        return text

    def greet(self) -> dict[str, Any]:
        self.send(HELLO)
        answer = self.answer()
        self.send(READY)
        return answer

    def silent(self) -> bool:
        return self._lines.empty()

    def leave(self) -> int:
        """Close the pipe and give the exit code; all that came was JSON."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.ended()

    def ended(self) -> int:
        code = self.process.wait(PATIENCE_S)
        for pump in self._pumps:
            pump.join(PATIENCE_S)
        while not self._lines.empty():
            json.loads(self._lines.get())
        return code

    @property
    def complaints(self) -> str:
        return b"".join(self._errors).decode()

    def close(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)
        for pump in self._pumps:
            pump.join(PATIENCE_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                assert stream is not None
                stream.close()


@pytest.fixture
def env(tmp_path: Path) -> Iterator[dict[str, str]]:
    yield environment(tmp_path)
    stop_started(tmp_path / "memory")


@contextlib.contextmanager
def bridge(env: dict[str, str], *options: str) -> Iterator[Bridge]:
    one = Bridge(env, *options)
    try:
        yield one
    finally:
        one.close()


def canned(env: dict[str, str]) -> FakeWorker:
    return FakeWorker(env["CLAUDE_MEM_DATA_DIR"], int(env["CLAUDE_MEM_WORKER_PORT"]))


async def test_with_the_official_client(env: dict[str, str]) -> None:
    parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=env)
    async with Client(parameters) as client:
        assert client.server_info is not None
        assert client.server_info.name == "claude-mem"
        assert len((await client.list_tools()).tools) == len(TOOLS)
        result = await client.call_tool("search", {"query": "token"})
        (item,) = result.content
        assert isinstance(item, TextContent)
        assert item.text == TEXT


def test_a_session_starts_the_worker_and_ends_with_its_input(env: dict[str, str], tmp_path: Path) -> None:
    """R192: the handshake does not wait for the worker."""
    with bridge(env) as one:
        greeting = one.greet()
        assert greeting["result"]["serverInfo"]["name"] == "claude-mem"
        assert greeting["result"]["capabilities"] == {"tools": {"listChanged": False}}
        one.call(2, "search", query="token")
        assert one.text() == TEXT
        assert one.leave() == 0
        assert one.complaints == ""
    assert len((tmp_path / "memory" / "starts.txt").read_text().splitlines()) == 1


def test_only_the_protocol_is_on_stdout(env: dict[str, str], tmp_path: Path) -> None:
    """R190: with warnings on, a library that prints when it is loaded and later, and a child that prints."""
    noisy = tmp_path / "noisy"
    noisy.mkdir()
    (noisy / "sitecustomize.py").write_text(
        "import builtins, os, sys, threading, warnings\n"
        "if any('mcp' in word for word in sys.orig_argv):\n"
        "    load = builtins.__import__\n"
        "    def loud(name, *rest):\n"
        "        if name.startswith('mcp'):\n"
        "            print('loading', name, flush=True)\n"
        "            os.write(1, b'raw banner\\n')\n"
        "            os.system('echo from a child')\n"
        "            warnings.warn('old ' + name)\n"
        "            builtins.__import__ = load\n"
        "            threading.Timer(0.2, os.write, [1, b'later\\n']).start()\n"
        "        return load(name, *rest)\n"
        "    def late():\n"
        "        if 'mcp_bridge.__main__' in sys.modules: builtins.__import__ = loud\n"
        "    import mcp_bridge.__main__\n"
        "    claim = mcp_bridge.__main__._claim_stdout\n"
        "    def claimed():\n"
        "        wire = claim()\n"
        "        late()\n"
        "        return wire\n"
        "    mcp_bridge.__main__._claim_stdout = claimed\n"
    )
    env["PYTHONPATH"] = f"{noisy}{os.pathsep}{env['PYTHONPATH']}"
    env["PYTHONWARNINGS"] = "always"
    with serving(canned(env)), bridge(env) as one:
        one.greet()
        one.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        assert len(one.answer()["result"]["tools"]) == len(TOOLS)
        one.call(3, "search", query="token")
        assert one.text() == TEXT
        assert one.leave() == 0
        assert all(part in one.complaints for part in ("raw banner", "loading mcp", "from a child", "old mcp"))


def test_a_cancelled_call_is_not_answered(env: dict[str, str]) -> None:
    """R194."""
    asked, go_on = threading.Event(), threading.Event()

    def slow(request: Request) -> tuple[int, object]:
        asked.set()
        go_on.wait(PATIENCE_S)
        return worker.canned(request)

    worker = canned(env)
    worker.answers["/api/timeline"] = slow
    with serving(worker), bridge(env) as one:
        one.greet()
        one.call(2, "timeline", anchor=118)
        assert asked.wait(PATIENCE_S)
        one.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
        one.call(3, "search", query="token")
        answer = one.answer()
        assert answer["id"] == 3
        go_on.set()
        one.call(4, "search", query="token")
        assert one.answer()["id"] == 4
        assert one.silent()
        assert one.leave() == 0


def test_a_newer_client_does_not_bring_it_down(env: dict[str, str]) -> None:
    """R206: an unknown method first, a broken line, a newer version, extra fields, an early call."""
    with serving(canned(env)), bridge(env) as one:
        one.send({"jsonrpc": "2.0", "id": 7, "method": "session/prepare", "params": {"x": 1}})
        assert one.answer()["error"]["code"] == -32601
        one.call(8, "search", query="token")
        assert one.answer()["error"]["code"] == -32602
        one.send("{broken", "", "[]", "null", '{"jsonrpc":"2.0"}', "[" * 5000)
        hello = {**HELLO, "params": {**HELLO["params"], "protocolVersion": "2031-01-01", "later": {"a": 1}}, "x": 1}  # type: ignore[dict-item]
        one.send(hello)
        assert one.answer()["result"]["protocolVersion"] >= "2025-06-18"
        one.send(READY, {"jsonrpc": "2.0", "method": "notifications/new", "params": {}})
        one.send({"jsonrpc": "2.0", "id": 9, "method": "resources/list"})
        assert one.answer()["error"]["code"] == -32601
        one.send(
            '{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"search","arguments":{"query":"a\\ud83d"}}}'
        )
        assert one.text() == TEXT
        one.send({"jsonrpc": "2.0", "id": 11, "method": "ping", "params": {"_meta": {"new": 1}}})
        assert one.answer() == {"jsonrpc": "2.0", "id": 11, "result": {}}
        assert one.leave() == 0


def test_a_blocked_port_is_told_and_later_works(env: dict[str, str]) -> None:
    """R202."""
    port = int(env["CLAUDE_MEM_WORKER_PORT"])
    stranger = FakeWorker("/elsewhere", port)
    stranger.answers["/api/health"] = lambda _: (200, b"<html>hello</html>")
    with bridge(env) as one:
        with serving(stranger):
            one.greet()
            one.call(2, "search", query="token")
            answer = one.answer()["result"]
            assert answer["isError"] is True
            assert f"port {port} is taken by another program" in answer["content"][0]["text"]
        one.call(3, "search", query="token")
        assert one.text() == TEXT
        assert one.leave() == 0


def test_why_the_worker_does_not_start(env: dict[str, str]) -> None:
    """R202: the last words of the worker reach the agent."""
    with bridge({**env, "FAKE_WORKER": "dies"}) as one:
        one.greet()
        one.call(2, "search", query="token")
        assert "the worker ended at once: the disk is full." in one.text()
        one.call(3, "important_workflow")
        assert one.text().startswith("# Memory search")
        assert one.leave() == 0


def test_the_memory_of_somebody_else_is_not_read(env: dict[str, str]) -> None:
    """R105."""
    other = FakeWorker("/home/other/.claude-mem", int(env["CLAUDE_MEM_WORKER_PORT"]))
    with serving(other), bridge(env) as one:
        one.greet()
        one.call(2, "search", query="token")
        assert "serves /home/other/.claude-mem" in one.text()
        assert one.leave() == 0
    assert {request.path for request in other.seen} == {"/api/health"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it(env: dict[str, str], number: signal.Signals) -> None:
    """With its input still open, and no trace on standard error."""
    with serving(canned(env)), bridge(env) as one:
        one.greet()
        one.process.send_signal(number)
        assert one.ended() == 0
        assert one.complaints == ""


def test_a_signal_while_it_loads_ends_it(env: dict[str, str]) -> None:
    with bridge(env) as one:
        waiting = Path(f"/proc/{one.process.pid}/status")
        caught = 1 << (signal.SIGTERM - 1)
        while not int(waiting.read_text().partition("SigCgt:")[2].split()[0], 16) & caught:
            time.sleep(0.005)
        one.process.send_signal(signal.SIGTERM)
        assert one.ended() == 0


def test_a_client_that_no_longer_reads_does_not_keep_it(env: dict[str, str]) -> None:
    worker = canned(env)
    huge = {"content": [{"type": "text", "text": "x" * 3_000_000}]}
    worker.answers["/api/search"] = lambda _: (200, huge)
    with serving(worker):
        ours, its = socket.socketpair()
        process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=its.fileno(), env=env)
        its.close()
        assert process.stdin is not None
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {}}}
        for message in (HELLO, READY, call):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        ours.settimeout(PATIENCE_S)
        seen = b""
        while b'"xxx' not in seen:  # the answer is under way, and larger than what the pipe holds
            seen = ours.recv(4096, socket.MSG_PEEK)
            if seen.endswith(b"\n"):
                ours.recv(len(seen))
        process.stdin.close()
        assert process.wait(PATIENCE_S) == 0
        ours.close()


def test_a_client_that_is_gone_ends_it(env: dict[str, str]) -> None:
    with serving(canned(env)):
        reading, writing = os.pipe()
        process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.PIPE, env=env)
        os.close(writing)
        os.close(reading)
        assert process.stdin is not None
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        _, complaints = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
        assert complaints == b""


def test_settings_that_cannot_be_read_are_told(env: dict[str, str], tmp_path: Path) -> None:
    """R119."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "settings.json").write_text('{"a": 1,}')
    with bridge(env) as one:
        assert one.ended() == 2
        assert "settings.json is not JSON" in one.complaints


def test_demo_is_another_memory(env: dict[str, str], tmp_path: Path) -> None:
    env["CLAUDE_MEM_WORKER_PORT"] = str(port := free_port())
    try:
        with bridge(env, "--demo") as one:
            one.greet()
            one.call(2, "search", query="token")
            assert one.text() == TEXT
            assert one.leave() == 0
        assert json.loads((tmp_path / "memory-demo" / "worker.pid").read_text())["port"] == port - 100
    finally:
        stop_started(tmp_path / "memory-demo")


def test_with_the_real_worker(env: dict[str, str], tmp_path: Path) -> None:
    """R101: found, read in full, and found again after the worker was killed."""
    del env["PYTHONPATH"]
    with bridge(env) as one:
        one.greet()
        one.call(2, "search", query="nothing yet")
        assert one.text().startswith("No results found")
        worker = QuickClient("127.0.0.1", int(env["CLAUDE_MEM_WORKER_PORT"]))
        saved = worker.send(calls.save(Save(text="Sixty seconds of clock skew are allowed", project="shop")))
        one.call(3, "search", query="clock skew", project="shop", limit="5")
        assert f"| #{saved.id} |" in one.text()
        one.call(4, "timeline", anchor=str(saved.id))
        assert f"# Timeline around anchor: {saved.id}" in one.text()
        os.kill(worker.send(calls.health()).pid, signal.SIGKILL)
        one.call(5, "get_observations", ids=f"#{saved.id}")
        assert json.loads(one.text())[0]["narrative"] == "Sixty seconds of clock skew are allowed"
        one.call(6, "search", query="clock skew", format="json")
        assert json.loads(one.text())["hits"][0]["id"] == saved.id
        one.call(7, "search", limit=10**9)
        assert "limit" in one.text()
        worker.send(calls.shutdown())
        assert one.leave() == 0
        assert one.complaints == ""
    memory = Path(env["CLAUDE_MEM_DATA_DIR"])
    wait_for(lambda: not (memory / "worker.pid").exists() and not (memory / "claude-mem.db-wal").exists())
    counted = sqlite3.connect(memory / "claude-mem.db").execute("SELECT listed, read FROM py_recalls").fetchone()
    assert counted[0] >= 1 and counted[1] == 1, "what an agent is given back counts"

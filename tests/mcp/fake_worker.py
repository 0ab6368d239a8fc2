"""A worker with canned answers: in a thread, or as the process that ``launch`` starts.

It takes the place of ``python -m worker`` by standing before the real package on PYTHONPATH (``stand_in``).
"""

import argparse
import contextlib
import importlib.metadata
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

PROGRAM = "claude-mem-python"
VERSION = importlib.metadata.version("claude-mem")
ROOT = Path(__file__).parents[2]
TEXT = 'Found 1 result(s) matching "token" (1 obs, 0 sessions, 0 prompts)\n\n| #118 | 2:15 PM | \x1b[31mtoken | ~61 |'
HIT = {
    "kind": "observation",
    "id": 118,
    "type": "bugfix",
    "title": "Expired token accepted",
    "project": "shop",
    "created_at_epoch": 1772633700000,
    "read_tokens": 61,
    "score": 1.0,
    "snippet": {"text": "Expired token", "matches": [[8, 13]]},
}
OBSERVATION = {
    "id": 118,
    "memory_session_id": "m-1",
    "project": "shop",
    "type": "bugfix",
    "title": "Expired \x1b]0;owned\x07token accepted",
    "subtitle": "Clock skew",
    "narrative": "The check came too early. 用户身份\x9b31m",
    "facts": '["Skew is sixty seconds"]',
    "concepts": '["gotcha"]',
    "files_read": '["src/auth.py"]',
    "files_modified": "[]",
    "created_at": "2026-03-04T14:15:00.000Z",
    "created_at_epoch": 1772633700000,
    "discovery_tokens": 12345,
}
SUMMARY = {
    "id": 14,
    "memory_session_id": "m-1",
    "project": "shop",
    "request": "Fix token expiry",
    "learned": "Skew matters",
    "created_at": "2026-03-04T14:31:00.000Z",
    "created_at_epoch": 1772634660000,
}
PROMPT = {
    "id": 40,
    "content_session_id": "c-1",
    "prompt_number": 3,
    "prompt_text": "why does the token still work?",
    "project": "shop",
    "created_at": "2026-03-04T13:58:00.000Z",
    "created_at_epoch": 1772632680000,
}
STATS: dict[str, dict[str, object]] = {
    "worker": {
        "version": importlib.metadata.version("claude-mem"),
        "uptime": 5,
        "activeSessions": 0,
        "sseClients": 0,
        "port": 1,
    },
    "database": {"path": "x", "size": 4096, "observations": 1012, "sessions": 3, "summaries": 2, "prompts": 4},
}


@dataclass(frozen=True)
class Request:
    """What came in."""

    method: str
    path: str
    params: dict[str, str]
    body: dict[str, Any]


Answer = tuple[int, object]


@dataclass
class FakeWorker:
    """Serves on ``port``. answers: path → a function of the request that takes the place of the canned one."""

    data_dir: str
    port: int = 0
    host: str = "127.0.0.1"
    answers: dict[str, Callable[[Request], Answer]] = field(default_factory=dict)
    seen: list[Request] = field(default_factory=list)
    on_shutdown: Callable[[], None] = lambda: None
    initialized: bool = True
    version: str = VERSION

    def open(self) -> ThreadingHTTPServer:
        """Bind; then ``serve_forever`` on what is returned."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def _serve(self) -> None:
                parts = urlsplit(self.path)
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"{}")
                request = Request(self.command, parts.path, dict(parse_qsl(parts.query)), body)
                outer.seen.append(request)
                status, answer = outer.answers.get(parts.path, outer.canned)(request)
                raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(raw)))
                    self.end_headers()
                    self.wfile.write(raw)
                if parts.path == "/api/admin/shutdown" and status == 200:
                    outer.on_shutdown()

            do_GET = do_POST = do_DELETE = _serve

            def log_message(self, *args: object) -> None:
                pass

        server = ThreadingHTTPServer((self.host, self.port), Handler)
        server.daemon_threads = True
        server.block_on_close = False
        self.port = server.server_address[1]
        return server

    def canned(self, request: Request) -> Answer:
        """The answer of a worker that holds three records."""
        rows = {"/api/observation/118": OBSERVATION, "/api/session/14": SUMMARY, "/api/prompt/40": PROMPT}
        match request.path:
            case "/api/health":
                health = {"status": "ok", "program": PROGRAM, "pid": os.getpid(), "uptime": 5.0}
                return 200, health | {"initialized": self.initialized, "dataDir": self.data_dir}
            case "/api/search":
                return self._search(request)
            case "/api/timeline":
                return self._timeline(request)
            case "/api/observations/batch":
                return 200, [OBSERVATION] if 118 in request.body["ids"] else []
            case "/api/stats":
                return 200, STATS
            case "/api/version":
                return 200, {"version": self.version}
            case "/api/admin/shutdown":
                return 200, {"status": "shutting_down"}
            case path if path in rows:
                return 200, rows[path]
        return 404, {"error": f"{request.path} not found", "code": "not_found"}

    def _search(self, request: Request) -> Answer:
        found = request.params.get("query") != "nothing"
        if request.params.get("format") == "hits":
            return 200, {"hits": [HIT] if found else [], "total": int(found), "query": request.params.get("query", "")}
        return 200, {"content": [{"type": "text", "text": TEXT if found else 'No results found matching "nothing"'}]}

    def _timeline(self, request: Request) -> Answer:
        anchor = request.params.get("anchor", "118")
        if request.params.get("format") == "json":
            if anchor != "118":
                return 404, {"error": f"Observation #{anchor} not found", "code": "not_found"}
            return 200, {"entries": [HIT], "anchor": "118", "anchor_index": 0}
        if anchor == "9":
            return 200, {"content": [{"type": "text", "text": "Observation #9 not found"}], "isError": True}
        return 200, {"content": [{"type": "text", "text": f"# Timeline around anchor: {anchor}"}]}


@contextlib.contextmanager
def serving(worker: FakeWorker) -> Iterator[FakeWorker]:
    """The worker, answering from a thread of this process."""
    server = worker.open()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield worker
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def free_port() -> int:
    """A port that nobody holds now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


def stand_in(folder: Path) -> str:
    """A PYTHONPATH under which ``python -m worker`` is this file and all else of ``worker`` is the real one."""
    package = folder / "worker"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text(f"__path__.append({str(ROOT / 'worker')!r})\n")
    (package / "__main__.py").write_text(f"import runpy\nrunpy.run_path({__file__!r}, run_name='__main__')\n")
    return str(folder)


def environment(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a program under test: its own home and port, and the worker that it starts is this one."""
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder),
        "CLAUDE_MEM_DATA_DIR": str(folder / "memory"),
        "CLAUDE_MEM_WORKER_PORT": str(free_port()),
        "PYTHONPATH": stand_in(folder / "stand-in"),
        "PYTHONWARNINGS": "error",
        **more,
    }


def stop_started(folder: Path) -> None:
    """End every worker process that was started for this data directory."""
    starts = folder / "starts.txt"
    for line in starts.read_text().splitlines() if starts.exists() else ():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(line), signal.SIGKILL)


def main() -> None:
    """`python -m worker` in tests. FAKE_WORKER: `dies` at once, `deaf` to shutdown, `slow` to be ready, `old`.

    `shut`: not ready until there is a file `open` in its folder.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--demo", action="store_true")
    args = parser.parse_args()
    mood = os.environ.get("FAKE_WORKER", "")
    with open(args.data_dir / "starts.txt", "a") as starts:
        starts.write(f"{os.getpid()}\n")
    if mood == "dies":
        sys.exit("booting\nthe disk is full\n")
    worker = FakeWorker(str(args.data_dir), args.port, args.host)
    worker.on_shutdown = lambda: None if mood == "deaf" else os._exit(0)
    worker.initialized = mood not in ("slow", "shut")
    worker.version = "0.0.9" if mood == "old" else VERSION
    server = worker.open()
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    recorded = {"pid": os.getpid(), "port": args.port, "startToken": stat[19]}
    (args.data_dir / "worker.pid").write_text(json.dumps(recorded))
    if mood == "slow":
        threading.Timer(1.2, lambda: setattr(worker, "initialized", True)).start()
    if mood == "shut":
        threading.Thread(target=_open_by_file, args=(worker, args.data_dir / "open"), daemon=True).start()
    server.serve_forever()


def _open_by_file(worker: FakeWorker, file: Path) -> None:
    while not file.exists():
        time.sleep(0.02)
    worker.initialized = True


if __name__ == "__main__":
    main()

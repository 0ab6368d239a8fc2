"""A worker of canned answers on a real port, for the app in a real process."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qsl, urlsplit

import msgspec

from tests.tui.memory import Memory
from worker.contract import calls
from worker.contract.errors import MemError


class FakeWorker:
    """Serves a memory on 127.0.0.1. Use as a context manager. written: bytes to send to every listener."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.over = threading.Event()
        handler = type("Handler", (_Handler,), {"worker": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: a client that is killed breaks its connections off."""


class _Handler(BaseHTTPRequestHandler):
    worker: FakeWorker
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        where = urlsplit(self.path)
        if where.path == calls.STREAM:
            self._stream()
            return
        self._answer(where.path, dict(parse_qsl(where.query)))

    def do_POST(self) -> None:
        where = urlsplit(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._answer(where.path, dict(parse_qsl(where.query)) | {"body": body})

    def _answer(self, path: str, params: dict[str, str]) -> None:
        try:
            body, status = msgspec.json.encode(self.worker.memory.answer(path, params)), 200
        except MemError as error:
            body, status = msgspec.json.encode(error.problem()), 404
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b'data: {"type":"connected"}\n\n')
        self.wfile.flush()
        self.worker.over.wait()
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Nothing."""

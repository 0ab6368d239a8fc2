"""A worker of canned answers on a real port, for the app in a real process."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qsl, urlsplit

import msgspec

from tests.tui.at_rest import Ran, ran, threads_of
from tests.tui.memory import Memory
from worker.contract import calls
from worker.contract.errors import MemError

_SIGN_S = 5.0
"""Between two signs of life to those that listen; nobody takes the worker for dead within it."""


class FakeWorker:
    """Serves a memory on 127.0.0.1. Use as a context manager."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.over = threading.Event()
        self.gates: dict[str, threading.Event] = {}
        handler = type("Handler", (_Handler,), {"worker": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._others = threads_of(os.getpid())
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        """One after the other, without ever looking up: what is at rest must not run."""
        while not self.over.is_set():
            self._server.handle_request()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @contextmanager
    def held(self, path: str) -> Iterator[None]:
        """What is asked of addresses that begin so waits for the end of the block."""
        self.gates[path] = gate = threading.Event()
        try:
            yield
        finally:
            del self.gates[path]
            gate.set()

    def ran(self) -> Ran | None:
        """What its threads have run by now; None while one of them runs, or wants to."""
        pid = os.getpid()
        return ran(pid, threads_of(pid) - self._others)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        for gate in self.gates.values():
            gate.set()
        socket.create_connection(("127.0.0.1", self.port)).close()  # the last it serves
        self._thread.join()
        self._server.server_close()


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
        for held, gate in [*self.worker.gates.items()]:
            if path.startswith(held):
                gate.wait()
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
        while not self.worker.over.wait(_SIGN_S):
            self.wfile.write(b": still here\n\n")
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Nothing."""

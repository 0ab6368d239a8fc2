"""Every error there and back: raised in the worker, told over the wire, raised again at the other end."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import msgspec
import pytest

from tests.processes import PATIENCE_S
from worker.api.errors import response_for
from worker.contract import calls, errors
from worker.contract.client import WorkerClient
from worker.contract.errors import MemError, Problem, from_body, from_problem
from worker.contract.quick import QuickClient

EVERY = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, MemError)]
TOLD = [kind for kind in EVERY if kind is not errors.Unreachable]


@contextlib.contextmanager
def answering(status: int, headers: dict[str, str], body: bytes) -> Iterator[int]:
    """The port of a server that gives one answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def by_quick(port: int) -> None:
    QuickClient("127.0.0.1", port, timeout_s=PATIENCE_S).send(calls.version())


def by_client(port: int) -> None:
    async def send() -> None:
        async with WorkerClient("127.0.0.1", port, timeout_s=PATIENCE_S) as client:
            await client.send(calls.version())

    asyncio.run(send())


@pytest.mark.parametrize("send", [by_quick, by_client])
@pytest.mark.parametrize("kind", TOLD, ids=lambda kind: str(kind.__name__))
def test_error_arrives_as_it_was_raised(kind: type[MemError], send: Callable[[int], None]) -> None:
    raised = kind("it is so: “é”", field="limit", retry_after_s=2.4)
    response = response_for(raised)
    headers = {"Content-Type": "application/json", "Content-Length": response.headers["content-length"]}
    with answering(response.status_code, headers, bytes(response.body)) as port, pytest.raises(MemError) as arrived:
        send(port)
    assert type(arrived.value) is kind
    assert arrived.value.problem() == raised.problem()


@pytest.mark.parametrize("send", [by_quick, by_client])
@pytest.mark.parametrize("body", [b"<html>Bad gateway</html>", b"", b"[]", b'{"error":5}', b"\xff\xfe", b"x" * 100_000])
def test_answer_that_is_no_problem_of_ours_is_an_error_all_the_same(body: bytes, send: Callable[[int], None]) -> None:
    with answering(502, {"Content-Length": str(len(body))}, body) as port, pytest.raises(MemError) as arrived:
        send(port)
    assert type(arrived.value) is MemError
    assert arrived.value.message.startswith("the worker answered 502") and len(arrived.value.message) < 300


@pytest.mark.parametrize("send", [by_quick, by_client])
def test_success_that_cannot_be_read_is_an_error(send: Callable[[int], None]) -> None:
    with (
        answering(200, {"Content-Length": "2"}, b"no") as port,
        pytest.raises(MemError, match="/api/version cannot be read"),
    ):
        send(port)


def test_codes_are_told_apart() -> None:
    codes = [kind.code for kind in EVERY]
    assert len(set(codes)) == len(codes)
    assert all(type(from_problem(Problem("x", kind.code))) is kind for kind in EVERY)


def test_statuses() -> None:
    statuses = {kind.code: response_for(kind("x")).status_code for kind in TOLD}
    assert statuses.items() >= {
        "invalid": 422, "not_found": 404, "conflict": 409, "forbidden": 403, "too_large": 413, "wrong_type": 415,
        "busy": 429, "unavailable": 503, "timed_out": 504, "internal": 500,
    }.items()  # fmt: skip


def test_code_of_a_newer_worker_is_a_plain_error() -> None:
    error = from_body(418, b'{"error":"a teapot","code":"teapot","more":1}')
    assert (type(error), error.message) == (MemError, "a teapot")


def test_wait_is_told_in_the_header_too() -> None:
    assert response_for(errors.Busy("x", retry_after_s=0.2)).headers["retry-after"] == "1"
    assert "retry-after" not in response_for(errors.Busy("x")).headers


async def test_unreachable_is_made_by_the_client() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    async with WorkerClient("127.0.0.1", 1, transport=httpx.MockTransport(refuse)) as client:
        with pytest.raises(errors.Unreachable):
            await client.send(calls.version())


def test_a_fault_of_ours_has_its_code_on_the_wire_too() -> None:
    assert b'"code":"internal"' in msgspec.json.encode(MemError("broken").problem())

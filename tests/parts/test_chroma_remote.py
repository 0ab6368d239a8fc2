"""The index of vectors on a real Chroma server, started here on the loopback.

The server of Chroma 1.5.9 knows no tokens itself (a proxy before it asks for them), so here one stands before it too.
"""

import http.client
import logging
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from tests.factories import make_batch, observation_row
from tests.processes import free_port, running_worker, wait_for
from worker.contract import calls
from worker.contract.errors import Unavailable
from worker.projection.collection import Server
from worker.projection.embed import Matrix
from worker.projection.index import Fragment
from worker.projection.opening import OpenIndex, open_remote

PROGRAM = shutil.which("chroma", path=os.pathsep.join([str(Path(sys.executable).parent), os.defpath]))
TOKEN = "a-token-that-nobody-may-read"

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="the program `chroma` is not installed")


def vectors(count: int, seed: int = 1) -> Matrix:
    found = np.random.default_rng(seed).normal(size=(count, 8)).astype(np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/api/v2/heartbeat")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


@contextmanager
def running(folder: Path, port: int) -> Iterator[None]:
    command = [str(PROGRAM), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    try:
        wait_for(lambda: answers(port) or process.poll() is not None)
        yield
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    port = free_port()
    with running(tmp_path_factory.mktemp("server"), port):
        yield Server(port=port)


@pytest.fixture
def index(server: Server, request: pytest.FixtureRequest) -> Iterator[OpenIndex]:
    opened = open_remote(server, "model", 8, of=request.node.name)
    yield opened
    opened.close()


def test_it_does_what_a_folder_does(index: OpenIndex, server: Server, request: pytest.FixtureRequest) -> None:
    rows = vectors(300)
    assert (index.count(), index.nearest(rows[0], 3), list(index.ids())) == (0, [], [])
    index.upsert([Fragment(f"obs_{n}_whole", row, {"title": "\ud800 🧠", "n": 2**70}) for n, row in enumerate(rows)])
    index.upsert([Fragment("obs_7_whole", rows[7], {"a": 1}), Fragment("obs_7_whole", rows[7], {"a": float("nan")})])
    exact = rows @ rows[7]
    assert [match.id for match in index.nearest(rows[7], 20)] == [f"obs_{n}_whole" for n in np.argsort(-exact)[:20]]
    index.delete([f"obs_{n}_whole" for n in range(290)])
    assert len(index.nearest(rows[295], 100)) == index.count() == 10
    assert sorted(name for page in index.ids() for name in page) == [f"obs_{n}_whole" for n in range(290, 300)]
    again = open_remote(server, "model", 8, of=request.node.name)
    try:
        assert (again.generation, again.count(), again.renewed) == (index.generation, 10, "")
    finally:
        again.close()


def test_more_than_one_request_can_hold(index: OpenIndex) -> None:
    rows = vectors(6_000)
    index.upsert([Fragment(str(number), row, {}) for number, row in enumerate(rows)])
    assert index.count() == 6_000
    assert len(index.nearest(rows[0], 6_000)) == 6_000
    index.delete([str(number) for number in range(6_000)])
    assert index.count() == 0


def test_stores_that_share_a_server_do_not_meet(server: Server, index: OpenIndex) -> None:
    other = open_remote(server, "model", 8, of="another store")
    try:
        index.upsert([Fragment("obs_1_title", vectors(1)[0], {})])
        assert (other.count(), index.count()) == (0, 1)
        other.drop()
        assert index.count() == 1
    finally:
        other.close()


def test_a_dropped_collection_is_gone(server: Server) -> None:
    first = open_remote(server, "model", 8, of="dropped")
    first.upsert([Fragment("obs_1_title", vectors(1)[0], {})])
    first.drop()
    second = open_remote(server, "model", 8, of="dropped")
    try:
        assert second.count() == 0
        assert second.generation != first.generation
    finally:
        second.close()


def test_a_collection_deleted_by_another_is_an_error_until_opened_again(server: Server) -> None:
    first, second = (open_remote(server, "model", 8, of="shared") for _ in range(2))
    second.drop()
    with pytest.raises(Unavailable, match="does not exist"):
        first.upsert([Fragment("obs_1_title", vectors(1)[0], {})])
    first.close()


@pytest.mark.parametrize("wrong", [{"tenant": "nobody"}, {"database": "nothing"}])
def test_a_tenant_or_database_that_is_not_there(server: Server, wrong: dict[str, str]) -> None:
    with pytest.raises(Unavailable, match=f"Chroma at 127.0.0.1:{server.port} cannot open: "):
        open_remote(replace(server, **wrong), "model", 8)  # type: ignore[arg-type]


def test_a_server_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    port = free_port()
    server = Server(port=port)
    with pytest.raises(Unavailable, match="cannot open"):
        open_remote(server, "model", 8)
    with running(tmp_path, port):
        index = open_remote(server, "model", 8)
        index.upsert([Fragment("obs_1_title", vectors(1)[0], {})])
    for ask in (index.count, lambda: index.nearest(vectors(1)[0], 3), lambda: index.delete(["obs_1_title"])):
        with pytest.raises(Unavailable, match=f"Chroma at 127.0.0.1:{port} cannot"):
            ask()
    with running(tmp_path, port):
        assert index.nearest(vectors(1)[0], 3)[0].id == "obs_1_title"
        index.close()


def test_a_server_that_says_nothing_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from worker.projection import chroma

    monkeypatch.setattr(chroma, "_REMOTE_TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(Unavailable, match="timed out"):
        open_remote(Server(port=silent.getsockname()[1]), "model", 8)


# The token.


class Guard(BaseHTTPRequestHandler):
    """Lets through to `behind` who shows the token; tells the others what they showed, as some proxies do."""

    behind = 0
    header = ""
    expected = ""
    protocol_version = "HTTP/1.1"

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        shown = self.headers.get(self.header, "")
        if shown != self.expected:
            return self._answer(401, f"not {shown}".encode())
        connection = http.client.HTTPConnection("127.0.0.1", self.behind, timeout=60)
        connection.request(self.command, self.path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        self._answer(answer.status, answer.read())
        connection.close()

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = do_PUT = _pass

    def log_message(self, format: str, *words: object) -> None:  # noqa: A002
        """Nothing."""


@contextmanager
def guarded(server: Server, header: str, expected: str) -> Iterator[Server]:
    kind = type("Guarding", (Guard,), {"behind": server.port, "header": header, "expected": expected})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as proxy:
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        try:
            yield replace(server, port=proxy.server_address[1], token=TOKEN)
        finally:
            proxy.shutdown()
            thread.join()


@pytest.mark.parametrize(("header", "form"), [("Authorization", "Bearer {}"), ("X-Chroma-Token", "{}")])
def test_the_token_is_shown_in_both_forms(server: Server, header: str, form: str) -> None:
    with guarded(server, header, form.format(TOKEN)) as behind:
        index = open_remote(behind, "model", 8, of=header)
        index.upsert([Fragment("obs_1_title", vectors(1)[0], {})])
        assert index.nearest(vectors(1)[0], 1)[0].id == "obs_1_title"
        index.drop()


def test_a_token_is_in_no_error_and_no_log(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), guarded(server, "X-Chroma-Token", "another") as behind:
        with pytest.raises(Unavailable, match="cannot open: not …") as caught:
            open_remote(behind, "model", 8)
        with pytest.raises(Unavailable, match="letters that cannot be sent"):
            open_remote(replace(behind, token=TOKEN + "\n"), "model", 8)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(behind)


# TLS.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Signed by itself, for 127.0.0.1; a key is in the same file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the program `openssl` is not installed")
    key, file = (tmp_path_factory.mktemp("tls") / name for name in ("key.pem", "both.pem"))
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(file)],
        check=True, capture_output=True,
    )  # fmt: skip
    file.write_text(file.read_text() + key.read_text())
    return file


@contextmanager
def over_tls(server: Server, certificate: Path) -> Iterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    kind = type("Wrapping", (Guard,), {"behind": server.port})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as proxy:
        proxy.socket = context.wrap_socket(proxy.socket, server_side=True)
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        try:
            yield replace(server, port=proxy.server_address[1], tls=True)
        finally:
            proxy.shutdown()
            thread.join()


def test_a_server_behind_tls_that_the_system_trusts(
    server: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate of one's own is named by SSL_CERT_FILE, as everywhere."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with over_tls(server, certificate) as behind:
        index = open_remote(behind, "model", 8, of="tls")
        index.upsert([Fragment("obs_1_title", vectors(1)[0], {})])
        assert index.nearest(vectors(1)[0], 1)[0].id == "obs_1_title"
        index.drop()


def test_a_server_that_nobody_vouches_for_is_told_nothing(server: Server, certificate: Path) -> None:
    with over_tls(server, certificate) as behind, pytest.raises(Unavailable, match="CERTIFICATE_VERIFY_FAILED"):
        open_remote(behind, "model", 8)


def test_a_worker_keeps_its_vectors_behind_tls(server: Server, certificate: Path, tmp_path: Path) -> None:
    with over_tls(server, certificate) as behind:
        environ = {
            "CLAUDE_MEM_CHROMA_ENABLED": "true", "CLAUDE_MEM_EMBEDDING_MODEL": "hash",
            "CLAUDE_MEM_CHROMA_MODE": "remote", "CLAUDE_MEM_CHROMA_PORT": str(behind.port),
            "CLAUDE_MEM_CHROMA_SSL": "true", "SSL_CERT_FILE": str(certificate),
        }  # fmt: skip
        with running_worker(tmp_path / "memory", environ=environ) as worker:
            worker.quick.send(calls.import_batch(make_batch([observation_row("one"), observation_row("two")])))

            def written() -> bool:
                status = worker.quick.send(calls.index_status())
                return (status.chroma, status.documents, status.pending) == ("ready", 4, 0)

            wait_for(written)
            backend = worker.quick.send(calls.index_status()).backend
    assert backend == f"remote, 127.0.0.1:{behind.port}"

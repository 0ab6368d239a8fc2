"""The model on a server, asked over a real connection on loopback."""

import logging
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import numpy as np
import pytest

from worker.contract.errors import Invalid, Unavailable
from worker.contract.settings import Embedding
from worker.projection import embedders
from worker.projection.remote_embed import RemoteEmbedder

KEY = "sk-do-not-show-4711"
Reply = tuple[int, bytes] | tuple[int, bytes, dict[str, str]]


def answer(body: dict[str, Any]) -> Reply:
    """A vector that tells its text: its length, its first character, and 4."""
    rows = [
        {"object": "embedding", "index": at, "embedding": [float(len(text)), float(ord(text[0])), 4.0]}
        for at, text in enumerate(body["input"])
    ]
    return 200, msgspec.json.encode({"object": "list", "data": rows[::-1], "model": body["model"]})


@dataclass
class Server:
    """What it is asked, and what it answers: the replies in turn, then ``usual``."""

    url: str
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    usual: Callable[[dict[str, Any]], Reply] = answer


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))
            mine.asked.append((self.path, {name.lower(): text for name, text in self.headers.items()}, body))
            status, content, *more = mine.replies.pop(0) if mine.replies else mine.usual(body)
            self.send_response(status)
            for name, text in (more[0] if more else {}).items():
                self.send_header(name, text)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    mine = Server(f"http://127.0.0.1:{http.server_address[1]}")
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield mine
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def client(server: Server, pauses: list[float]) -> Iterator[RemoteEmbedder]:
    mine = RemoteEmbedder(server.url, "tiny", KEY, sleep=pauses.append)
    yield mine
    mine.close()


def test_texts_become_vectors_in_their_order(server: Server, client: RemoteEmbedder) -> None:
    vectors = client.embed(["abc", "", "\ud800z", " \n"], "document")
    assert (client.name, client.dimension, vectors.shape, vectors.dtype.name) == ("http:tiny", 3, (4, 3), "float32")
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1, 0], abs=1e-6)
    assert vectors[0] * np.linalg.norm([3, 97, 4]) == pytest.approx([3, 97, 4], rel=1e-5)
    ((path, headers, body),) = server.asked
    assert (path, headers["authorization"]) == ("/v1/embeddings", f"Bearer {KEY}")
    assert body == {"model": "tiny", "input": ["abc", "\ufffdz"], "encoding_format": "float"}


def test_what_is_private_is_not_sent(server: Server, client: RemoteEmbedder) -> None:
    client.embed(["how <private>zqCanary</private> is password=zqCanary9 kept?", "<private>zqCanary"], "query")
    assert server.asked[0][2]["input"] == ["how  is password=**** kept?"]


def test_the_dimension_is_asked_for_once(server: Server, client: RemoteEmbedder) -> None:
    assert [client.dimension, client.dimension, client.embed(["", ""], "query").shape] == [3, 3, (2, 3)]
    assert len(server.asked) == 1


def test_many_texts_in_several_calls(server: Server, client: RemoteEmbedder) -> None:
    texts = [chr(97 + at % 26) * (at + 1) for at in range(70)]
    vectors = client.embed(texts, "document")
    assert [round(float(4 * row[0] / row[2])) for row in vectors] == [len(text) for text in texts]
    assert [len(body["input"]) for _, _, body in server.asked] == [32, 32, 6]


@pytest.mark.parametrize(("text", "seen"), [("a" * 10_000_000, 1536), ("記" * 9000, 512), ("記a" * 9000, 768)])
def test_long_texts_are_cut(server: Server, client: RemoteEmbedder, text: str, seen: int) -> None:
    client.embed([text], "document")
    assert len(server.asked[0][2]["input"][0]) == seen


def test_several_threads_at_once(client: RemoteEmbedder) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda at: client.embed(["x" * (at + 1)], "query")[0], range(16)))
    assert [round(float(4 * row[0] / row[2])) for row in found] == list(range(1, 17))


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_failure_is_tried_again(
    server: Server, client: RemoteEmbedder, pauses: list[float], status: int
) -> None:
    server.replies = [(status, b""), (status, b"", {"retry-after": "2"})]
    assert client.embed(["abc"], "document").any()
    assert (pauses, len(server.asked)) == ([0.5, 2.0], 3)


def test_a_lasting_failure_ends(server: Server, client: RemoteEmbedder, pauses: list[float]) -> None:
    server.usual = lambda body: (503, KEY.encode(), {"retry-after": "9999"})
    with pytest.raises(Unavailable, match="answered 503") as told:
        client.embed(["abc"], "document")
    assert (len(server.asked), pauses, told.value.retry_after_s) == (3, [5.0, 5.0], 30.0)


@pytest.mark.parametrize(
    ("status", "told"),
    [(401, "EMBEDDING_API_KEY"), (403, "EMBEDDING_API_KEY"), (404, "EMBEDDING_REMOTE_MODEL"), (302, "EMBEDDING_URL")],
)
def test_a_refusal_is_not_repeated(server: Server, client: RemoteEmbedder, status: int, told: str) -> None:
    server.usual = lambda body: (status, f"wrong key {KEY}".encode(), {"location": server.url})
    with pytest.raises(Unavailable, match=f"answered {status}; see .*{told}"):
        client.embed(["abc"], "document")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<html>", "something else than a list of embeddings"),
        (b'{"data": [{"embedding": ["a"]}]}', "something else than a list of embeddings"),
        (b'{"data": [{"embedding": [1]}]}', "1 vectors for 2 texts"),
        (b'{"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}', "vectors of 1 and 2 numbers"),
        (b'{"data": [{"embedding": []}, {"embedding": []}]}', "vectors of 0 numbers"),
        (b'{"data": [{"embedding": [1], "index": 1}, {"embedding": [1], "index": 1}]}', "not those of the texts"),
        (b'{"data": [{"embedding": [1e300]}, {"embedding": [1]}]}', "numbers that are none"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_an_answer_that_cannot_be_used_is_named(server: Server, client: RemoteEmbedder, body: bytes, told: str) -> None:
    server.replies = [(200, body)]
    with pytest.raises(Unavailable, match=told):
        client.embed(["one", "two"], "document")


def test_another_dimension_than_before_is_named(server: Server, client: RemoteEmbedder) -> None:
    assert client.dimension == 3
    server.replies = [(200, b'{"data": [{"embedding": [1, 2]}]}')]
    with pytest.raises(Unavailable, match="vectors of 2 numbers after some of 3"):
        client.embed(["one"], "document")
    assert client.embed(["one"], "document").any()


def test_nobody_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        lost = RemoteEmbedder(f"http://me:{KEY}@127.0.0.1:{taken.getsockname()[1]}/v1/?k={KEY}", "tiny")
        with pytest.raises(Unavailable, match=r"/v1/embeddings cannot be reached \(ConnectError\)") as told:
            lost.embed(["a"], "query")
        lost.close()
    assert KEY not in repr(told.value) + repr(told.value.__cause__)


def test_a_silent_server_is_waited_for_so_long() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        slow = RemoteEmbedder(f"http://127.0.0.1:{silent.getsockname()[1]}", "tiny", timeout_s=0.05)
        with pytest.raises(Unavailable, match=r"did not answer within 0\.05 s"):
            slow.embed(["a"], "query")
        slow.close()


def test_a_server_that_trickles_is_waited_for_so_long() -> None:
    """Each byte comes in time, the whole never would."""
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def trickle() -> None:
        peer, _ = listener.accept()
        with peer:
            peer.recv(65536)
            peer.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
            while not done.wait(0.01):
                try:
                    peer.sendall(b" ")
                except OSError:
                    return

    thread = threading.Thread(target=trickle)
    thread.start()
    slow = RemoteEmbedder(f"http://127.0.0.1:{listener.getsockname()[1]}", "tiny", timeout_s=0.3)
    try:
        with pytest.raises(Unavailable, match="did not answer within"):
            slow.embed(["a"], "query")
    finally:
        done.set()
        thread.join()
        listener.close()
        slow.close()


def test_the_key_is_nowhere_but_in_the_header(
    server: Server, client: RemoteEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with_password = RemoteEmbedder(server.url.replace("//", f"//me:{KEY}@"), "tiny", sleep=lambda _: None)
    server.replies = [(503, KEY.encode()), (400, KEY.encode())]
    with pytest.raises(Unavailable) as told:
        with_password.embed(["a"], "query")
    client.embed(["a"], "query")
    with_password.close()
    assert server.asked[0][1]["authorization"].startswith("Basic ")
    assert caplog.records
    assert KEY not in caplog.text + str(told.value) + repr(client) + repr(Embedding("http", server.url, "m", KEY))


def test_a_proxy_is_not_asked_for_this_machine(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    mine = RemoteEmbedder(server.url, "tiny")
    assert mine.embed(["a"], "query").any()
    mine.close()


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/embeddings"])
def test_forms_of_the_address(server: Server, path: str) -> None:
    mine = embedders.load(Embedding("http", server.url + path, "tiny"))
    assert isinstance(mine, RemoteEmbedder) and mine.dimension == 3
    mine.close()
    assert [asked[0] for asked in server.asked] == ["/v1/embeddings"]
    assert "authorization" not in server.asked[0][1]


@pytest.mark.parametrize(
    ("url", "model", "key", "field"),
    [
        ("", "m", "", "URL"),
        ("localhost:11434", "m", "", "URL"),
        ("file:///etc/passwd", "m", "", "URL"),
        ("http://[::1", "m", "", "URL"),
        (f"http://me:{KEY}@host:many", "m", "", "URL"),
        ("http://host", "", "", "REMOTE_MODEL"),
        ("http://host", "m", f"{KEY}é", "API_KEY"),
        ("http://host", "m", f"{KEY}\n", "API_KEY"),
    ],
)
def test_settings_that_cannot_be_used_are_named(url: str, model: str, key: str, field: str) -> None:
    with pytest.raises(Invalid) as told:
        RemoteEmbedder(url, model, key)
    assert told.value.field == f"CLAUDE_MEM_EMBEDDING_{field}"
    assert KEY not in repr(told.value) and told.value.__cause__ is None

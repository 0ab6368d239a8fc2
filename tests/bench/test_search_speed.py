"""What a question over HTTP costs beside the bare FTS5 query in it, in one run; figures are printed, not asserted.

`make bench`; sizes from the environment variable BENCH_RECORDS (`1000 10000` by default, `100000` takes minutes).
What is asked over a connection that stays open has little of the client in it: its bytes are read, and no more. The
others are what a short program needs: a connection each, and the answer as values.
"""

import os
import socket
import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.bench.corpus import COMMON, batches, questions
from tests.processes import running_worker
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.curation import Save
from worker.contract.search import BatchQuery, SearchQuery, TimelineQuery
from worker.search import terms
from worker.store import listing

pytestmark = pytest.mark.bench
_PIECE_BYTES = 2**18
SIZES = [int(size) for size in os.environ.get("BENCH_RECORDS", "1000 10000").split()]


@pytest.mark.parametrize("records", SIZES)
def test_a_question_over_http_beside_bare_fts5(tmp_path: Path, records: int) -> None:
    asked = questions(120)
    with running_worker(tmp_path / "memory") as worker:
        quick = worker.quick
        started = time.perf_counter()
        for batch in batches(records):
            quick.send(calls.import_batch(batch))
        imported_s = time.perf_counter() - started
        kept = _Kept(worker.host, worker.port)
        raw = sqlite3.connect(f"file:{worker.data_dir / 'claude-mem.db'}?mode=ro", uri=True)
        bare = (
            f"SELECT rowid, bm25(py_text, {', '.join(map(str, listing.WEIGHTS))}) s "
            "FROM py_text WHERE py_text MATCH ? ORDER BY s LIMIT 20"
        )
        common = " ".join(COMMON[:8])

        def measured(asked: Sequence[str], ask: Callable[[str], object]) -> list[float]:
            # With another record in it nothing that was counted before is true, so each has the whole work to do.
            quick.send(calls.save(Save(text="One more")))
            return _ms(asked, ask)

        figures = {
            "bare FTS5": measured(
                asked, lambda text: raw.execute(bare, (terms.expression(terms.Wanted(text)),)).fetchall()
            ),
            "kept open": measured(asked, lambda text: kept.get(calls.search(SearchQuery(text=text)))),
            "as text": measured(asked, lambda text: kept.get(calls.search_text(SearchQuery(text=text)))),
            "version": measured(asked, lambda _: kept.get(calls.version())),
            "search": measured(asked, lambda text: quick.send(calls.search(SearchQuery(text=text)))),
            "second page": measured(asked, lambda text: quick.send(calls.search(SearchQuery(text=text, offset=20)))),
            "typing": measured(asked, lambda text: quick.send(calls.search(SearchQuery(text=text, typing=True)))),
            "8 common": measured([common] * 10, lambda text: quick.send(calls.search(SearchQuery(text=text)))),
            "first page": measured(asked, lambda _: quick.send(calls.search(SearchQuery()))),
            "deep page": measured(asked, lambda _: quick.send(calls.search(SearchQuery(offset=records - 20)))),
            "facets": measured(asked[:5], lambda _: quick.send(calls.facets(SearchQuery()))),
            "timeline": measured(asked, lambda _: quick.send(calls.timeline(TimelineQuery(anchor=str(records // 2))))),
            "batch of 20": measured(asked, lambda _: quick.send(calls.batch(BatchQuery(ids=tuple(range(1, 21)))))),
            "one row in": measured(asked[:20], lambda text: quick.send(calls.save(Save(text=f"One more: {text}")))),
        }
        resident = next(
            int(line.split()[1]) // 1024
            for line in Path(f"/proc/{worker.process.pid}/status").read_text().splitlines()
            if line.startswith("VmRSS")
        )
        raw.close()
        kept.close()
        worker.stop()
    started = time.perf_counter()
    with running_worker(tmp_path / "memory"):
        healthy_s = time.perf_counter() - started
    base = statistics.median(figures["bare FTS5"])
    print(f"\n{records} records: imported {records / imported_s:.0f}/s, worker {resident} MB resident, ", end="")
    print(f"healthy {healthy_s:.2f} s after its start")
    for name, times in figures.items():
        p50, p95 = statistics.median(times), sorted(times)[int(len(times) * 0.95)]
        print(f"  {name:12} p50 {p50:7.2f} ms   p95 {p95:7.2f} ms   {p50 / base:5.1f} × bare FTS5")
    assert resident > 0


class _Kept:
    """A connection that stays open. Its answers are bytes."""

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._socket: socket.socket | None = None
        self._head = f"HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"

    def get(self, call: Call[Any]) -> bytes:
        """The body of an answer."""
        asked = f"GET {call.path}?{urlencode(call.params)} {self._head}".encode()
        try:
            return self._ask(asked)
        except ConnectionError:  # the worker lets go of one that said nothing for five seconds
            self.close()
            return self._ask(asked)

    def _ask(self, asked: bytes) -> bytes:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=30)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(asked)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self._piece()
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        size = int(head.lower().partition(b"content-length:")[2].split()[0])
        while len(body) < size:
            body += self._piece()
        return body

    def _piece(self) -> bytes:
        assert self._socket is not None
        piece = self._socket.recv(_PIECE_BYTES)
        if not piece:
            raise ConnectionResetError
        return piece

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _ms(asked: Sequence[str], ask: Callable[[str], object]) -> list[float]:
    times = []
    for text in asked:
        started = time.perf_counter()
        ask(text)
        times.append((time.perf_counter() - started) * 1000)
    return times

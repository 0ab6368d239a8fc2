"""The wire form of corpora, their names, and how long a sender waits for a model."""

import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.mcp.fake_worker import Answer, FakeWorker, Request, serving
from tests.processes import PATIENCE_S
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.client import WorkerClient
from worker.contract.corpus import (
    CorpusAnswer,
    CorpusFilter,
    CorpusInfo,
    CorpusLine,
    CorpusList,
    CorpusOrder,
    CorpusStats,
    DateRange,
    Primed,
    checked_name,
    is_name,
)
from worker.contract.errors import Invalid, TimedOut
from worker.contract.quick import QuickClient

STATS = CorpusStats(
    observation_count=2,
    token_estimate=90,
    date_range=DateRange(earliest="2026-03-04T12:00:00.000Z", latest="2026-03-05T12:00:00.000Z"),
    type_breakdown={"bugfix": 2},
)
STATS_JSON = (
    '{"observation_count":2,"token_estimate":90,"date_range":{"earliest":"2026-03-04T12:00:00.000Z",'
    '"latest":"2026-03-05T12:00:00.000Z"},"type_breakdown":{"bugfix":2}}'
)
GOLDEN: list[tuple[Any, str]] = [
    (
        CorpusInfo(
            version=1, name="auth", description="d", created_at="c", updated_at="u",
            filter=CorpusFilter(types=("bugfix",), limit=5), stats=STATS, system_prompt="p", session_id=None,
            stale=True, missing=1, notes=("n",),
        ),
        '{"version":1,"name":"auth","description":"d","created_at":"c","updated_at":"u","filter":{"types":["bugfix"],'
        f'"limit":5}},"stats":{STATS_JSON},"system_prompt":"p","session_id":null,"stale":true,"missing":1,"notes":["n"]}}',
    ),
    (
        CorpusList(corpora=(CorpusLine(name="auth", description="", stats=STATS, session_id="s"),)),
        f'{{"corpora":[{{"name":"auth","description":"","stats":{STATS_JSON},"session_id":"s","stale":false,"missing":0,"updated_at":""}}]}}',
    ),
    (Primed(session_id="s", name="auth"), '{"session_id":"s","name":"auth","notes":[]}'),
    (
        CorpusAnswer(answer="a", session_id="s", model="haiku", cited=(1,)),
        '{"answer":"a","session_id":"s","model":"haiku","cited":[1],"stale":false,"notes":[]}',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("value", "json"), GOLDEN, ids=lambda value: type(value).__name__)
def test_json_of_a_model_is_the_published_one_and_comes_back(value: Any, json: str) -> None:
    assert msgspec.json.encode(value).decode() == json
    assert msgspec.json.decode(json, type=type(value)) == value


def test_the_answers_of_the_original_are_read() -> None:
    body = b'{"answer":"a","session_id":"s"}'
    assert calls.query_corpus("auth", "why?").decode(body) == CorpusAnswer(answer="a", session_id="s")


CALLS: list[tuple[Call[Any], str, str, dict[str, str], object]] = [
    (calls.build_corpus(CorpusOrder(name="a", types=["x"], limit=5)), "POST", "/api/corpus", {},
        {"name": "a", "types": ["x"], "limit": 5}),
    (calls.corpora(), "GET", "/api/corpus", {"format": "json"}, {}),
    (calls.corpora_text(), "GET", "/api/corpus", {}, {}),
    (calls.corpus(" a.b-c "), "GET", "/api/corpus/a.b-c", {}, {}),
    (calls.delete_corpus("a"), "DELETE", "/api/corpus/a", {}, {}),
    (calls.rebuild_corpus("a"), "POST", "/api/corpus/a/rebuild", {}, {}),
    (calls.prime_corpus("a"), "POST", "/api/corpus/a/prime", {}, {}),
    (calls.reprime_corpus("a"), "POST", "/api/corpus/a/reprime", {}, {}),
    (calls.query_corpus("a", "why?"), "POST", "/api/corpus/a/query", {}, {"question": "why?"}),
]  # fmt: skip


@pytest.mark.parametrize(("call", "method", "path", "params", "body"), CALLS, ids=lambda value: str(value)[:30])
def test_calls_as_they_travel(call: Call[Any], method: str, path: str, params: dict[str, str], body: object) -> None:
    assert (call.method, call.path, dict(call.params)) == (method, path, params)
    assert msgspec.json.decode(call.body or b"{}") == body


HOSTILE = [
    "",
    "../x",
    "a/b",
    "a b",
    "a\0",
    "a\nb",
    "记忆",
    "é",
    "..",
    "nul",
    "COM1",
    "Lpt9.txt",
    "x" * 101,
    "a%2f",
    "a:b",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_leads_elsewhere_is_never_sent(name: str) -> None:
    assert not is_name(name)
    with pytest.raises(Invalid) as raised:
        calls.corpus(name)
    assert raised.value.field == "name" and raised.value.message.isascii()


@pytest.mark.parametrize("name", ["a", "A-b_c.9", "null", "com10", "console", ".x", "x" * 100])
def test_other_names_are_as_they_are(name: str) -> None:
    assert checked_name(name) == name


async def test_a_sender_waits_for_a_model_longer_than_for_a_search(tmp_path: Path) -> None:
    over = threading.Event()
    takes_s = 0.6

    def late(_: Request) -> Answer:
        over.wait(takes_s)
        return 200, {"answer": "a", "session_id": "s"}

    worker = FakeWorker(str(tmp_path))
    worker.answers = {"/api/corpus/a/query": late, "/api/corpus/a": late}
    with serving(worker):
        quick = QuickClient(worker.host, worker.port, timeout_s=0.3)
        assert quick.send(calls.query_corpus("a", "why?")).answer == "a"
        async with WorkerClient(worker.host, worker.port, timeout_s=0.3) as client:
            assert (await client.send(calls.query_corpus("a", "why?"))).answer == "a"
            takes_s = PATIENCE_S
            with pytest.raises(TimedOut):
                await client.send(calls.corpus("a"))
        with pytest.raises(TimedOut):
            quick.send(calls.query_corpus("a", "why?"), timeout_s=0.1)
        over.set()

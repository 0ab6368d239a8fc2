"""The tools for corpora through the SDK's own client; the worker is canned."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.fake_worker import Answer, FakeWorker, Request, serving
from tests.mcp.test_tools import bridged, told

STATS = {"observation_count": 2, "token_estimate": 90, "date_range": {"earliest": "a", "latest": "b"}}
INFO = {
    "version": 1, "name": "auth", "description": "", "created_at": "a", "updated_at": "a", "filter": {}, "stats": STATS,
    "system_prompt": "", "session_id": None,
}  # fmt: skip
ANSWERS: dict[str, object] = {
    "/api/corpus": INFO,
    "/api/corpus/auth/rebuild": INFO,
    "/api/corpus/auth/prime": {"session_id": "s-1", "name": "auth"},
    "/api/corpus/auth/reprime": {"session_id": "s-2", "name": "auth"},
    "/api/corpus/auth/query": {"answer": "Sixty (#1)", "session_id": "s-1", "cited": [1]},
}


def canned(answer: object, _: Request) -> Answer:
    return 200, answer


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[FakeWorker]:
    made = FakeWorker(str(tmp_path))
    made.answers = {path: partial(canned, answer) for path, answer in ANSWERS.items()}
    with serving(made) as worker:
        yield worker


async def test_each_is_marked_for_what_it_does(worker: FakeWorker) -> None:
    """R200."""
    async with bridged(worker) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools if "corp" in tool.name}
    reading = {name for name, tool in listed.items() if tool.annotations and tool.annotations.read_only_hint}
    destroying = {name for name, tool in listed.items() if tool.annotations and tool.annotations.destructive_hint}
    outside = {name for name, tool in listed.items() if tool.annotations and tool.annotations.open_world_hint}
    assert list(listed) == [
        "build_corpus", "list_corpora", "prime_corpus", "query_corpus", "rebuild_corpus", "reprime_corpus",
    ]  # fmt: skip
    assert reading == {"list_corpora", "query_corpus"}
    assert destroying == {"build_corpus"}
    assert outside == {"prime_corpus", "query_corpus", "reprime_corpus"}
    for tool in listed.values():
        assert all(each["description"] and each["type"] for each in tool.input_schema["properties"].values())


async def test_a_build_says_everything_to_the_worker(worker: FakeWorker) -> None:
    """R238: text or lists, dates by both names."""
    sent: dict[str, Any] = {
        "name": "auth", "description": "What broke", "project": "shop", "types": "bugfix, decision",
        "concepts": ["gotcha"], "files": '["src/a.py"]', "query": "token", "date_start": "2026-03-04", "dateEnd": "3d",
        "limit": "40",
    }  # fmt: skip
    async with bridged(worker) as client:
        words, wrong = await told(client, "build_corpus", sent)
        await told(client, "build_corpus", {"name": "auth"})
    assert not wrong and json.loads(words)["stats"]["observation_count"] == 2
    built = [request.body for request in worker.seen if request.path == "/api/corpus"]
    assert built == [
        {
            "name": "auth", "description": "What broke", "project": "shop", "types": ["bugfix", "decision"],
            "concepts": ["gotcha"], "files": ["src/a.py"], "query": "token", "date_start": "2026-03-04",
            "date_end": "3d", "limit": 40,
        },
        {"name": "auth"},
    ]  # fmt: skip


async def test_the_others_go_to_their_paths(worker: FakeWorker) -> None:
    async with bridged(worker) as client:
        for name in ("prime_corpus", "rebuild_corpus", "reprime_corpus"):
            words, wrong = await told(client, name, {"name": " auth "})
            assert not wrong and json.loads(words)["name"] == "auth"
        words, wrong = await told(client, "query_corpus", {"name": "auth", "question": "What skew?"})
    assert not wrong and json.loads(words)["answer"] == "Sixty (#1)"
    assert [(request.path, request.body) for request in worker.seen if request.path != "/api/health"] == [
        ("/api/corpus/auth/prime", {}),
        ("/api/corpus/auth/rebuild", {}),
        ("/api/corpus/auth/reprime", {}),
        ("/api/corpus/auth/query", {"question": "What skew?"}),
    ]


@pytest.mark.parametrize(
    ("name", "sent", "part"),
    [
        ("build_corpus", {}, "name is required"),
        ("build_corpus", {"name": "a", "limit": 0}, "limit must be a whole number from 1"),
        ("build_corpus", {"name": "a", "dateStart": "soon"}, "dateStart must be a date"),
        ("build_corpus", {"name": "a", "dateStart": "2026-03-05", "dateEnd": "2026-03-04"}, "dateStart is after"),
        ("build_corpus", {"name": "a", "colour": "red"}, 'unknown parameter "colour"'),
        ("query_corpus", {"name": "auth", "question": " "}, "question is required"),
        ("prime_corpus", {}, "name is required"),
    ],
)
async def test_what_cannot_be_used_is_told_and_not_sent(
    worker: FakeWorker, name: str, sent: dict[str, Any], part: str
) -> None:
    async with bridged(worker) as client:
        words, wrong = await told(client, name, sent)
    assert wrong and part in words
    assert all("corpus" not in request.path for request in worker.seen)


async def test_a_conflict_of_a_corpus_does_not_put_memory_in_doubt(worker: FakeWorker) -> None:
    unprimed = {"error": 'Corpus "auth" has no session — call prime first', "code": "conflict"}
    worker.answers["/api/corpus/auth/query"] = lambda _: (409, unprimed)
    worker.answers["/api/corpus/auth/prime"] = lambda _: (
        429, {"error": "claude ended with 1: its quota is used up", "code": "busy", "retry_after_s": 60},
    )  # fmt: skip
    async with bridged(worker) as client:
        asked = await told(client, "query_corpus", {"name": "auth", "question": "why?"})
        assert asked == ('Corpus "auth" has no session — call prime first.', True)
        primed = await told(client, "prime_corpus", {"name": "auth"})
        assert primed == ("claude ended with 1: its quota is used up. Try again in 60 s.", True)
        gone = await told(client, "query_corpus", {"name": "none", "question": "why?"})
    assert gone[1] and "/api/corpus/none/query not found" in gone[0]

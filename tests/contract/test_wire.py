"""The JSON of every wire model, letter by letter; and every call against the worker itself, by both clients."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from tests.factories import (
    HOUR,
    NOON,
    make_batch,
    make_entry,
    make_hit,
    make_observation,
    make_prompt,
    make_summary,
    observation_row,
    prompt_row,
    summary_row,
)
from tests.fakes import FakeClock
from tests.parts.conftest import fill
from tests.processes import WorkerProcess, running_worker
from worker.api.app import build
from worker.api.services import Services
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.client import WorkerClient
from worker.contract.costs import CostLine, CostQuery, Costs, SessionCost, Spent
from worker.contract.curation import Save, Saved
from worker.contract.errors import Invalid, MemError, NotFound, Problem, Unavailable
from worker.contract.events import StreamEvent
from worker.contract.index import IndexFaults, IndexState, IndexStatus
from worker.contract.overview import Disk, LastRecord, LogTrouble, Overview
from worker.contract.present import Text, text
from worker.contract.recalls import Recalled, Recalls
from worker.contract.records import Observation, Prompt, RecordKey, RecordKind, Summary
from worker.contract.search import (
    BatchQuery,
    Bucket,
    Count,
    Degraded,
    Facets,
    Order,
    SearchPage,
    SearchQuery,
    SearchRows,
    Snippet,
    Strip,
    Timeline,
    TimelineQuery,
)
from worker.contract.sessions import SessionLine, SessionPage, SessionQuery
from worker.contract.status import DatabaseStats, Health, Projects, Readiness, Stats, Version, WorkerStats
from worker.contract.transfer import ImportBatch, ImportResult, ImportStats
from worker.contract.upkeep import ProcessingStatus
from worker.search.engine import Engine
from worker.store.tables import open_store
from worker.stream.broadcaster import Broadcaster

ENTRY = (
    '"kind":"observation","id":118,"type":"bugfix","title":"Expired token accepted","project":"shop",'
    '"created_at_epoch":1772625600000,"read_tokens":61,"discovery_tokens":0,"session":null,"prompt_number":null,'
    '"platform_source":null'
)
HIT = "{" + ENTRY + ',"score":1.5,"snippet":{"text":"a token","matches":[[2,7]]},"title_matches":[[8,13]],'
HIT += '"keyword_rank":2,"vector_rank":null,"cosine":null}'
FOUND = make_hit(score=1.5, snippet=Snippet("a token", ((2, 7),)), title_matches=((8, 13),), keyword_rank=2)
OBSERVATION = (
    '{"id":118,"memory_session_id":"m-1","project":"shop","text":null,"type":"bugfix","title":"é 😀","subtitle":null,'
    '"facts":"[\\"f\\"]","narrative":null,"concepts":null,"files_read":null,"files_modified":null,"prompt_number":null,'
    '"created_at":"2026-03-04T12:00:00.000Z","created_at_epoch":1772625600000,"discovery_tokens":0,"content_hash":null,'
    '"generated_by_model":null,"relevance_count":0,"merged_into_project":null,"agent_type":null,"agent_id":null,'
    '"metadata":null,"synced_at":null,"origin_device_id":null,"origin_local_id":null,"sync_rev":"1",'
    '"platform_source":null}'
)
SUMMARY = (
    '{"id":14,"memory_session_id":"m-1","project":"shop","request":"r","investigated":null,"learned":null,'
    '"completed":null,"next_steps":null,"files_read":null,"files_edited":null,"notes":null,"prompt_number":null,'
    '"created_at":"2026-03-04T12:00:00.000Z","created_at_epoch":1772625600000,"discovery_tokens":0,'
    '"merged_into_project":null,"synced_at":null,"origin_device_id":null,"origin_local_id":null,"sync_rev":"1",'
    '"platform_source":null}'
)
PROMPT = (
    '{"id":40,"session_db_id":null,"content_session_id":"c-1","prompt_number":1,"prompt_text":"why?",'
    '"created_at":"2026-03-04T12:00:00.000Z","created_at_epoch":1772625600000,"synced_at":null,"origin_device_id":null,'
    '"origin_local_id":null,"sync_rev":"1","project":null,"memory_session_id":null,"platform_source":null}'
)
SPENT = Spent(records=1, read_tokens=2, work_tokens=8, ratio=4.0, never=1, never_work_tokens=8)
SUMS = (
    '{"records":1,"read_tokens":2,"work_tokens":8,"ratio":4.0,"recalled":0,"read_back":0,"read_back_tokens":0,'
    '"never":1,"never_work_tokens":8}'
)
GOLDEN: list[tuple[Any, str]] = [
    (Problem("no", "invalid", "limit"), '{"error":"no","code":"invalid","field":"limit"}'),
    (Problem("no", "busy", retry_after_s=5.0), '{"error":"no","code":"busy","retry_after_s":5.0}'),
    (text("hello"), '{"content":[{"type":"text","text":"hello"}]}'),
    (text("no", error=True), '{"content":[{"type":"text","text":"no"}],"isError":true}'),
    (make_observation(title="é 😀", facts='["f"]'), OBSERVATION),
    (make_summary(request="r"), SUMMARY),
    (make_prompt(), PROMPT),
    (make_entry(), "{" + ENTRY + "}"),
    (FOUND, HIT),
    (
        SearchPage(
            hits=(FOUND,), total=7, kinds={RecordKind.PROMPT: 7}, query="token", offset=3, strategy="keyword",
            degraded=Degraded.INDEX_STARTING,
        ),
        '{"hits":[' + HIT + '],"total":7,"kinds":{"prompt":7},"query":"token","offset":3,"strategy":"keyword",'
        '"degraded":"index_starting",'
        '"took_ms":0.0,"notes":[]}',
    ),
    (
        Timeline(entries=(make_entry(),), anchor="118", anchor_index=0),
        '{"entries":[{' + ENTRY + '}],"anchor":"118","anchor_index":0,"query":"","depth_before":10,"depth_after":10}',
    ),
    (
        Facets(
            total=1, kinds=(Count("observation", 1),), types=(), projects=(), bucket_ms=3,
            buckets=(Bucket(5, 1, {"bugfix": 1}, 8),),
            first_epoch_ms=5, last_epoch_ms=None,
        ),
        '{"total":1,"kinds":[{"value":"observation","count":1}],"types":[],"projects":[],'
        '"buckets":[{"start_epoch_ms":5,"count":1,"types":{"bugfix":1},"end_epoch_ms":8}],"bucket_ms":3,'
        '"first_epoch_ms":5,"last_epoch_ms":null,"concepts":[]}',
    ),
    (
        Recalls(recalls={"118": Recalled(listed=2, last_epoch_ms=5)}),
        '{"recalls":{"118":{"listed":2,"read":0,"last_epoch_ms":5}}}',
    ),
    (
        SessionPage(sessions=(SessionLine(
            id=1, content_session_id="c-1", memory_session_id="m-1", project="shop", platform_source="claude",
            status="active", title="t", started_at_epoch=5, ended_at_epoch=None, last_at_epoch=6, prompts=2,
        ),), total=1),
        '{"sessions":[{"id":1,"content_session_id":"c-1","memory_session_id":"m-1","project":"shop",'
        '"platform_source":"claude","status":"active","title":"t","started_at_epoch":5,"ended_at_epoch":null,'
        '"last_at_epoch":6,"prompts":2,"observations":0,"summaries":0,"read_tokens":0,"work_tokens":0,'
        '"summary_id":null,"request":null,"investigated":null,"learned":null,"completed":null,"next_steps":null}],'
        '"total":1,"offset":0}',
    ),
    (
        Costs(
            total=SPENT, saved_tokens=6, saved_percent=75, back_saved_tokens=0, types=(), days=(),
            projects=(CostLine(value="shop", spent=SPENT),), sessions=(SessionCost(session="m-1", spent=SPENT, id=1),),
        ),
        '{"total":' + SUMS + ',"saved_tokens":6,"saved_percent":75,"back_saved_tokens":0,"projects":[{"value":"shop",'
        '"spent":' + SUMS + ',"start_epoch_ms":null}],"types":[],"days":[],"sessions":[{"session":"m-1","spent":' + SUMS
        + ',"id":1,"title":"","project":"","last_epoch_ms":0}],"session_count":0,"first_epoch_ms":null,'
        '"last_epoch_ms":null,"counting_since_epoch_ms":null,'
        '"observer":{"total":{"value":"","calls":0,"tokens":0},"today_tokens":0,"days":[],"projects":[],"models":[]}}',
    ),
    (
        Overview(
            version="1", uptime_s=1.5, stream_clients=2, records={RecordKind.PROMPT: 3}, unindexed=4,
            queue=ProcessingStatus(), index=IndexStatus(state=IndexState.OFF),
            log=LogTrouble(errors=1, since_epoch_ms=5),
            disk=Disk(data_dir="/x", database_bytes=6, vectors_bytes=7),
            last=LastRecord(key="S14", project="shop", created_at_epoch=8),
        ),
        '{"version":"1","uptime_s":1.5,"stream_clients":2,"records":{"prompt":3},"unindexed":4,'
        '"queue":{"isProcessing":false,"queueDepth":0,"parkedSessions":0,"state":"off","provider":"","model":"",'
        '"reason":null,"until_epoch_ms":null,"waiting":0,"claimed":0,"delayed":0,"oldest_epoch_ms":null,'
        '"last_error":null,"attempts":0},"index":{"state":"off","reason":"",'
        '"records":0,"embedded":0,"pending":0,"failed":0,"unwritten":0,"documents":null,"rate_per_s":0.0,"left_s":null,"model":"",'
        '"dimension":0,"serving":"","backend":"local","collection":"","chroma":"","covered":[]},"disk":{"data_dir":"/x",'
        '"database_bytes":6,"vectors_bytes":7,"free_bytes":null,"wal_bytes":0,'
        '"logs_bytes":0},"log":{"errors":1,"warnings":0,"since_epoch_ms":5,'
        '"lines":[]},"last":{"key":"S14","project":"shop","created_at_epoch":8},'
        '"spent_today_tokens":0,"spooled":0,"set_aside":0,"hooks":[]}',
    ),
    (
        IndexFaults(checked=32, waiting=1370, chroma="opening", missing=1, examples=("obs_2_whole",)),
        '{"checked":32,"waiting":1370,"chroma":"opening","missing":1,"orphans":0,"stale":0,'
        '"examples":["obs_2_whole"],"repaired":false}',
    ),
    (Readiness(status="ready"), '{"status":"ready","mcpReady":true,"message":null}'),
    (Version("0.1.0"), '{"version":"0.1.0"}'),
    (
        Projects(projects=("b", "a"), sources=("claude",), projectsBySource={"claude": ("b", "a")}),
        '{"projects":["b","a"],"sources":["claude"],"projectsBySource":{"claude":["b","a"]}}',
    ),
    (
        Stats(
            worker=WorkerStats(version="1", uptime=1.5, activeSessions=2, sseClients=3, port=4),
            database=DatabaseStats(path="/x", size=5, observations=6, sessions=7, summaries=8),
        ),
        '{"worker":{"version":"1","uptime":1.5,"activeSessions":2,"sseClients":3,"port":4},"database":{"path":"/x",'
        '"size":5,"observations":6,"sessions":7,"summaries":8,"prompts":0,"firstObservationAt":null}}',
    ),
    (
        ImportBatch(observations=({"title": "t", "facts": ["f"]},)),
        '{"sessions":[],"summaries":[],"observations":[{"title":"t","facts":["f"]}],"prompts":[]}',
    ),
    (
        ImportStats(sessionsImported=1),
        '{"sessionsImported":1,"sessionsSkipped":0,"summariesImported":0,"summariesSkipped":0,'
        '"observationsImported":0,"observationsSkipped":0,"promptsImported":0,"promptsSkipped":0}',
    ),
    (Save(text="x", metadata={"k": 1}), '{"text":"x","title":null,"project":null,"metadata":{"k":1}}'),
    (
        Saved(success=True, id=7, title="t", project="p", message="m"),
        '{"success":true,"id":7,"title":"t","project":"p","message":"m"}',
    ),
    (StreamEvent(type="connected", timestamp=5), '{"type":"connected","timestamp":5}'),
    (
        StreamEvent(type="record_deleted", kind="summary", record_id=14, id=9),
        '{"type":"record_deleted","kind":"summary","record_id":14,"id":9}',
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "json"), GOLDEN, ids=lambda value: type(value).__name__ if not isinstance(value, str) else ""
)
def test_json_of_a_model_is_the_published_one_and_comes_back(value: Any, json: str) -> None:
    assert msgspec.json.encode(value).decode() == json
    assert msgspec.json.decode(json, type=type(value)) == value


@pytest.mark.parametrize(
    "model", [Health, SearchPage, SearchRows, Timeline, Observation, Summary, Prompt, Stats, StreamEvent, Text]
)
def test_keys_of_a_newer_worker_are_passed_over(model: type[Any]) -> None:
    assert not model.__struct_config__.forbid_unknown_fields


def test_health_gives_no_version() -> None:
    assert "version" not in Health.__struct_fields__


MISSING = "Observation #99 not found"
BATCH = make_batch(
    [observation_row("zebra", concepts=["gotcha"])], summaries=[summary_row()], prompts=[prompt_row("zebra")]
)
WORDS = SearchQuery(text="zebra", order=Order.DATE_ASC, limit=5, typing=True)


@pytest.fixture
async def in_process(tmp_path: Path) -> AsyncIterator[WorkerClient]:
    """A client of the application itself; nothing listens on a port."""
    store = open_store(tmp_path / "claude-mem.db")
    services = Services("0.1.0", tmp_path, 1, Broadcaster(FakeClock()), FakeClock(), lambda: None)
    services.opened = (store, Engine(store))
    transport = httpx.ASGITransport(app=build(services, "127.0.0.1"))
    async with WorkerClient("127.0.0.1", 1, transport=transport) as client:
        yield client
    await store.close()


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path_factory.mktemp("home") / "data") as worker:
        yield worker


STEPS: list[tuple[Call[Any], Any]] = [
    (calls.import_batch(BATCH), lambda answer: answer == ImportResult(success=True, stats=ImportStats(
        sessionsImported=1, observationsImported=1, summariesImported=1, promptsImported=1))),
    (calls.search(WORDS), lambda answer: [str(hit.key) for hit in answer.hits] == ["P1", "1"]),
    (calls.search_rows(WORDS), lambda answer: (answer.observations[0].title, answer.totalResults) == ("zebra", 2)),
    (calls.search_text(WORDS), lambda answer: answer.text.startswith('Found 2 result(s) matching "zebra"')),
    (calls.search(SearchQuery(kinds=(RecordKind.SUMMARY,), since_epoch_ms=NOON)), lambda answer: answer.total == 1),
    (calls.search(SearchQuery(concepts=("gotcha", "x"), types=("bugfix",))), lambda answer: answer.total == 1),
    (calls.facets(WORDS), lambda answer: answer.total == 2),
    (calls.facets(WORDS, strip=Strip(bucket_ms=HOUR, start_epoch_ms=NOON - HOUR, end_epoch_ms=NOON + HOUR)),
        lambda answer: [bucket.types for bucket in answer.buckets] == [{"prompt": 1}, {"bugfix": 1}, {}]),
    (calls.timeline(TimelineQuery(anchor="S1", depth_after=0)), lambda answer: answer.anchor_index == 2),
    (calls.timeline_text(TimelineQuery(query="zebra")), lambda answer: "ANCHOR" in answer.text),
    (calls.timeline_text(TimelineQuery(anchor="99")), lambda answer: answer == text(MISSING, error=True)),
    (calls.batch(BatchQuery(ids=(1, 9))), lambda answer: [row["id"] for row in answer] == [1]),
    (calls.batch(BatchQuery(ids=(1,), lean=True)), lambda answer: answer[0]["concepts"] == ["gotcha"]),
    (calls.observation(1), lambda answer: answer.platform_source == "claude"),
    (calls.record(RecordKey(RecordKind.SUMMARY, 1)), lambda answer: answer.request == "Fix token expiry"),
    (calls.record(RecordKey(RecordKind.PROMPT, 1)), lambda answer: answer.project == "shop"),
    (calls.recalls([RecordKey(RecordKind.PROMPT, 9)]), lambda answer: answer == Recalls(recalls={})),
    (calls.sessions(SessionQuery()), lambda answer: [line.title for line in answer.sessions] == ["Fix token expiry"]),
    (calls.session("c-1"), lambda answer: [str(one.key) for one in answer.entries] == ["P1", "1", "S1"]),
    (calls.session(1, limit=1, offset=1), lambda answer: (str(answer.entries[0].key), answer.total) == ("1", 3)),
    (calls.costs(CostQuery(project="shop")), lambda answer: answer.total.records == 3),
    (calls.projects(), lambda answer: answer.projects == ("shop",)),
    (calls.stats(), lambda answer: answer.database.observations == 1),
    (calls.overview(), lambda answer: (answer.last.key, answer.records[RecordKind.SUMMARY]) == ("S1", 1)),
    (calls.health(), lambda answer: answer.status == "ok" and answer.initialized),
    (calls.readiness(), lambda answer: answer.status == "ready"),
    (calls.version(), lambda answer: bool(answer.version)),
    (calls.save(Save(text="remember")), lambda answer: answer.message == "Memory saved as observation #2"),
]  # fmt: skip
REFUSED: list[tuple[Call[Any], type[MemError], str | None]] = [
    (calls.observation(99), NotFound, "id"),
    (calls.summary(99), NotFound, "id"),
    (calls.session("none"), NotFound, "session"),
    (calls.costs(CostQuery(days=0)), Invalid, "days"),
    (calls.sessions(SessionQuery(limit=900)), Invalid, "limit"),
    (calls.prompt(99), NotFound, "id"),
    (calls.timeline(TimelineQuery(anchor="99")), NotFound, "anchor"),
    (calls.timeline(TimelineQuery(anchor="soon")), Invalid, "anchor"),
    (calls.timeline(TimelineQuery()), Invalid, "anchor"),
    (calls.search(SearchQuery(limit=0)), Invalid, "limit"),
    (calls.search(SearchQuery(limit=5000)), Invalid, "limit"),
    (calls.facets(SearchQuery(), buckets=0), Invalid, "buckets"),
    (calls.facets(SearchQuery(), strip=Strip(bucket_ms=7)), Invalid, "bucketMs"),
    (calls.facets(SearchQuery(), strip=Strip(bucket_ms=HOUR, start_epoch_ms=10**12)), Invalid, "bucketMs"),
    (calls.save(Save(text=" ")), Invalid, "text"),
    (calls.import_batch(ImportBatch(prompts=({},))), Invalid, "prompts[0].content_session_id"),
]


async def test_every_call_against_the_application(in_process: WorkerClient) -> None:
    for call, expected in STEPS:
        answer = await in_process.send(call)
        assert expected(answer), (call, answer)
    for call, kind, field in REFUSED:
        with pytest.raises(kind) as raised:
            await in_process.send(call)
        assert (type(raised.value), raised.value.field) == (kind, field), call


def test_every_call_against_a_real_worker(real: WorkerProcess) -> None:
    for call, expected in STEPS:
        answer = real.quick.send(call)
        assert expected(answer), (call, answer)
    for call, kind, field in REFUSED:
        with pytest.raises(kind) as raised:
            real.quick.send(call)
        assert (type(raised.value), raised.value.field) == (kind, field), call
    assert real.quick.send(calls.shutdown()).status == "shutting_down"
    assert real.wait() == 0


async def test_until_it_is_open_only_what_needs_no_memory_is_answered(tmp_path: Path) -> None:
    services = Services("0.1.0", tmp_path, 1, Broadcaster(), FakeClock(), lambda: None)
    transport = httpx.ASGITransport(app=build(services, "127.0.0.1"))
    async with WorkerClient("127.0.0.1", 1, transport=transport) as client:
        health, version = await asyncio.gather(client.send(calls.health()), client.send(calls.version()))
        assert (health.initialized, version.version) == (False, "0.1.0")
        early: list[Call[Any]] = [
            calls.search(SearchQuery()), calls.projects(), calls.stats(), calls.save(Save(text="x")),
        ]  # fmt: skip
        for call in early:
            with pytest.raises(Unavailable) as raised:
                await client.send(call)
            assert raised.value.retry_after_s == 1
        with pytest.raises(Unavailable, match="the database is being opened"):
            await client.send(calls.readiness())


@pytest.mark.parametrize(
    ("meaning", "state"),
    [
        (Degraded.INDEX_FAILED, IndexState.FAILED),
        (Degraded.INDEX_OFF, IndexState.OFF),
    ],
)
async def test_an_index_that_is_not_there_is_called_off_only_where_it_is(
    meaning: Degraded, state: IndexState, tmp_path: Path
) -> None:
    services = Services("0.1.0", tmp_path, 1, Broadcaster(), FakeClock(), lambda: None, meaning=meaning)
    transport = httpx.ASGITransport(app=build(services, "127.0.0.1"))
    async with WorkerClient("127.0.0.1", 1, transport=transport) as client:
        status = await client.send(calls.index_status())
        assert (status.state, "switched off" in status.reason) == (state, state is IndexState.OFF)


async def test_an_index_that_is_not_there_yet_says_how_many_records_wait(tmp_path: Path) -> None:
    store = open_store(tmp_path / "claude-mem.db")
    await fill(store, make_batch([observation_row("a"), observation_row("b", created_at_epoch=2)]))
    services = Services("0.1.0", tmp_path, 1, Broadcaster(), FakeClock(), lambda: None, meaning=Degraded.INDEX_STARTING)
    services.opened = (store, Engine(store))
    status = await services.index_status()
    assert (status.state, status.records, status.pending) == (IndexState.STARTING, 2, 2)
    services.opened = None
    with pytest.raises(Unavailable):
        await services.index_status()  # nobody takes what cannot be counted yet for nothing
    await store.close()


async def test_an_answer_without_end_is_given_up() -> None:
    """By the client of long-lived programs; ``test_launch`` has that of short ones."""
    given = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal given
        while True:
            given += 65_536
            yield b" " * 65_536

    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=endless()))
    async with WorkerClient("127.0.0.1", 1, transport=transport) as client:
        with pytest.raises(MemError, match="the answer to /api/stats is longer than any of ours"):
            await client.send(replace(calls.stats(), most_bytes=10**6))
    assert given < 2 * 10**6

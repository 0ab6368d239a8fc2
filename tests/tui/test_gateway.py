"""The worker's answers and its stream, as facts."""

from dataclasses import replace

import pytest

from tests.tui.memory import NOW_MS, Memory, entry_of, many, observation
from tests.tui.stage import SETTINGS, FakeClient
from tui.gateway.front import Gateway, backoff_s
from tui.state import facts
from tui.state.facts import Fact
from tui.state.model import Ask
from tui.state.needs import NeedList, NeedTrack
from worker.contract.errors import Conflict, MemError, Unreachable
from worker.contract.events import StreamEvent
from worker.contract.records import RecordKey, RecordKind
from worker.contract.settings import Settings


async def _ready(memory: Memory) -> tuple[Gateway, FakeClient]:
    client = FakeClient(memory)
    gateway = Gateway(
        SETTINGS, ensure=lambda settings: None, connect=lambda settings: client, pause_s=lambda attempt: 0.0
    )
    assert await gateway.start() == facts.Connected()
    return gateway, client


async def test_a_start_that_fails_is_a_fact() -> None:
    def ensure(settings: Settings) -> None:
        raise Conflict("port taken")

    gateway = Gateway(SETTINGS, ensure=ensure)
    assert await gateway.start() == facts.Failed("port taken")
    assert not gateway.ready
    assert await gateway.lists.listed(NeedList(1, Ask(), None, None, typed=False)) == facts.ListFailed(
        1, "the worker is not there yet"
    )


@pytest.mark.parametrize("row", [0, 50, 99, 100, 149, 150, 2499, 4999])
async def test_any_record_of_a_long_list_is_found_by_its_time(row: int) -> None:
    memory = Memory(many(5000))
    gateway, _ = await _ready(memory)
    entry = entry_of(memory.records[row])
    fact = await gateway.lists.listed(NeedList(1, Ask(), entry, None, typed=False))
    assert isinstance(fact, facts.Listed)
    assert fact.focus == row
    assert len(memory.asked) <= 5
    assert await gateway.lists.row_of(Ask(), entry) == row


async def test_records_of_the_same_moment_are_told_apart() -> None:
    memory = Memory([observation(number, "twin", at=NOW_MS) for number in range(1, 120)] + many(300))
    gateway, _ = await _ready(memory)
    for row in (0, 60, 118, 119):
        fact = await gateway.lists.listed(NeedList(1, Ask(), entry_of(memory.records[row]), None, typed=False))
        assert isinstance(fact, facts.Listed)
        assert fact.focus == row


async def test_a_record_that_is_not_in_the_list_is_not_found() -> None:
    gateway, _ = await _ready(Memory(many(500)))
    gone = entry_of(observation(9999, "gone", at=NOW_MS - 999))
    fact = await gateway.lists.listed(NeedList(1, Ask(), gone, None, typed=False))
    assert isinstance(fact, facts.Listed)
    assert fact.focus is None
    words = await gateway.lists.listed(NeedList(2, Ask("parser"), gone, None, typed=False))
    assert isinstance(words, facts.Listed)
    assert words.focus is None


async def test_failures_are_facts() -> None:
    gateway, client = await _ready(Memory(many(3)))
    client.failure = MemError("broken")
    key = RecordKey(RecordKind.OBSERVATION, 1)
    assert await gateway.lists.paged(1, Ask(), 0) == facts.ListFailed(1, "broken")
    assert await gateway.lists.faceted(1, Ask(), 20) is None
    assert await gateway.records.opened(key) == facts.OpenFailed(key, "broken")
    assert await gateway.records.tracked(NeedTrack(key, key, None)) == facts.TrackFailed("broken")
    assert await gateway.memory.counted() == facts.Said("broken")
    assert await gateway.lists.row_of(Ask(), entry_of(observation(1, "x"))) is None


async def test_a_record_is_read_once_until_told_to_forget() -> None:
    memory = Memory(many(100))
    gateway, _ = await _ready(memory)
    key = RecordKey(RecordKind.OBSERVATION, 7)
    await gateway.records.opened(key)
    await gateway.records.opened(key)
    assert len(memory.asked) == 1
    for number in range(1, 100):
        await gateway.records.opened(RecordKey(RecordKind.OBSERVATION, number))
    assert len(gateway.records._records) == 64
    gateway.records.forget()
    asked = len(memory.asked)
    await gateway.records.opened(key)
    assert len(memory.asked) == asked + 1


async def test_the_stream_is_taken_up_where_it_broke_off() -> None:
    gateway, client = await _ready(Memory())
    for event in (
        StreamEvent(type="new_observation", observation={}, id=4),
        StreamEvent(type="processing_status", queueDepth=3, id=5),
        StreamEvent(type="session_started", id=6),
        Unreachable("gone"),
        StreamEvent(type="resync"),
        None,
    ):
        client.stream.put_nowait(event)
    heard: list[Fact] = []
    async for fact in gateway.follow():
        heard.append(fact)
        if len(heard) == 7:
            break
    assert heard == [
        facts.StreamOpen(),
        facts.News(1, None),
        facts.News(0, 3),
        facts.StreamLost("gone"),
        facts.StreamOpen(),
        facts.Resync(),
        facts.StreamLost("the worker closed the connection"),
    ]
    assert client.followed == [None, 6]


def test_waiting_doubles_to_ten_seconds_and_varies() -> None:
    assert [backoff_s(attempt, 0.0) for attempt in (0, 1, 2, 3, 4, 5, 50)] == [0.5, 1, 2, 4, 8, 10, 10]
    assert backoff_s(9, 1.0) == 5


@pytest.mark.parametrize("remote", [False, True])
async def test_a_worker_that_is_gone_is_started_again_after_some_tries_but_not_elsewhere(remote: bool) -> None:
    client = FakeClient(Memory([]))
    gone, started = Unreachable("nobody answers"), list[int]()

    def ensure(settings: Settings) -> None:
        started.append(len(client.followed))
        if len(started) == 2:
            raise Conflict("port taken")
        if len(started) == 3:
            client.failure = None

    gateway = Gateway(
        replace(SETTINGS, remote=remote), ensure=ensure, connect=lambda settings: client, pause_s=lambda attempt: 0.0
    )
    await gateway.start()
    client.failure = gone
    lost = list[Fact]()
    async for fact in gateway.follow():
        lost.append(fact)
        if isinstance(fact, facts.StreamOpen) or len(lost) > 20:
            break
    if remote:
        assert started == [0] and set(lost) == {facts.StreamLost("nobody answers")}
    else:
        assert started == [0, 3, 9]
        reasons = ["nobody answers"] * 3 + ["port taken"] * 6
        assert lost == [*map(facts.StreamLost, reasons), facts.StreamOpen()]

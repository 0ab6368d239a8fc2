"""The durable queue: nothing lost, nothing twice, the order of a session kept."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import NOON, make_batch, observation_row, session_row
from tests.parts.conftest import fill
from worker.store import pending
from worker.store.pending import Captured, Kind, Waiting
from worker.store.tables import Connection, Store, open_store


def captured(session: int = 1, **over: Any) -> Captured:
    usual: dict[str, Any] = {
        "kind": Kind.TOOL,
        "project": "shop",
        "prompt_number": 1,
        "occurred_epoch_ms": NOON,
        "tool_name": "Bash",
    }
    return Captured(session_db_id=session, **(usual | over))


@pytest.fixture
async def sessions(store: Store) -> Store:
    await fill(store, make_batch([], sessions=[session_row(), session_row("2", platform_source="codex")]))
    return store


async def add(store: Store, *what: Captured) -> list[int | None]:
    return await store.write(lambda connection: [pending.add(connection, one) for one in what])


async def claim(store: Store, session: int = 1, *, now: int = NOON, most: int = 9, most_bytes: int = 9999) -> list[int]:
    def work(connection: Connection) -> list[int]:
        found = pending.claim(connection, session, now, most=most, most_bytes=most_bytes)
        return [one.id for one in found]

    return await store.write(work)


def finished(ids: list[int]) -> Callable[[Connection], None]:
    return lambda connection: pending.finish(connection, ids)


async def test_what_is_claimed_has_all_that_was_said_and_who_said_it(sessions: Store) -> None:
    await add(
        sessions,
        captured(
            2, tool_use_id="t", tool_input='{"a":1}', tool_response='"é"', cwd="/x", agent_id="a", agent_type="Explore"
        ),
    )
    (one,) = await sessions.write(lambda connection: pending.claim(connection, 2, NOON, most=5, most_bytes=100))
    assert (one.content_session_id, one.platform_source, one.kind) == ("c-2", "codex", Kind.TOOL)
    assert (one.tool_use_id, one.tool_name, one.tool_input, one.tool_response) == ("t", "Bash", '{"a":1}', '"é"')
    assert (one.cwd, one.agent_id, one.agent_type, one.attempts, one.last_error) == ("/x", "a", "Explore", 1, None)
    (found,) = [one async for one in _waiting_after_release(sessions)]
    assert found == Waiting(
        session_db_id=2, project="shop", count=1, bytes=11, oldest_epoch_ms=NOON, newest_epoch_ms=NOON,
        has_summary=False,
    )  # fmt: skip


async def _waiting_after_release(store: Store) -> Any:
    assert await store.read(lambda connection: pending.waiting(connection, NOON)) == ()
    await store.write(pending.release)
    for one in await store.read(lambda connection: pending.waiting(connection, NOON)):
        yield one


async def test_a_batch_ends_with_a_summary_with_its_size_and_with_its_project(sessions: Store) -> None:
    big = captured(tool_response="x" * 60)
    ids = await add(
        sessions, big, big, captured(), captured(kind=Kind.SUMMARY, last_assistant_message="done"), captured(),
        captured(project="mall"), captured(2),
    )  # fmt: skip
    batches = []
    while batch := await claim(sessions, most_bytes=100):
        batches.append(batch)
        assert await claim(sessions) == [], "one consumer a session"
        await sessions.write(finished(batch))
    assert batches == [ids[0:1], ids[1:4], ids[4:5], ids[5:6]]
    assert await claim(sessions, 2, most_bytes=1) == ids[6:]


async def test_what_is_given_back_holds_its_session_back_until_its_time(sessions: Store) -> None:
    ids = await add(sessions, captured(), captured())
    assert await claim(sessions, most=1) == ids[:1]
    await sessions.write(
        lambda connection: pending.give_back(connection, [1], reason="quota", not_before_epoch_ms=NOON + 50)
    )
    assert await claim(sessions) == []
    assert await sessions.read(lambda connection: pending.waiting(connection, NOON + 49)) == ()
    counts = await sessions.read(lambda connection: pending.counts(connection, NOON))
    assert (counts.waiting, counts.claimed, counts.delayed, counts.all) == (1, 0, 1, 2)
    assert (counts.oldest_epoch_ms, counts.last_error, counts.attempts) == (NOON, "quota", 1)
    (waits,) = await sessions.read(lambda connection: pending.waiting(connection, NOON + 50))
    assert waits.count == 2
    again = await sessions.write(lambda connection: pending.claim(connection, 1, NOON + 50, most=9, most_bytes=99))
    assert [(one.attempts, one.last_error) for one in again] == [(2, "quota"), (1, None)]


async def test_what_a_dead_worker_had_claimed_waits_again(sessions: Store) -> None:
    ids = await add(sessions, captured(), captured())
    assert await claim(sessions) == ids
    await sessions.close()
    again = open_store(sessions.path)
    assert await again.read(lambda connection: pending.counts(connection, NOON)) == pending.QueueCounts(
        claimed=2, oldest_epoch_ms=NOON
    )
    assert await again.write(pending.release) == 2
    assert await claim(again) == ids
    await again.close()


async def test_the_same_tool_use_waits_once_and_in_each_session_for_itself(sessions: Store) -> None:
    ids = await add(sessions, *(captured(tool_use_id="t") for _ in range(3)), captured(2, tool_use_id="t"), captured())
    assert [number is not None for number in ids] == [True, False, False, True, True]


async def test_a_deleted_session_takes_its_queue_along(sessions: Store) -> None:
    await add(sessions, captured(), captured(2))
    await sessions.write(lambda connection: connection.execute("DELETE FROM sdk_sessions WHERE id = 1"))
    assert [one.session_db_id for one in await sessions.read(lambda connection: pending.waiting(connection, NOON))] == [
        2
    ]
    assert await claim(sessions, 1) == []
    await sessions.write(pending.release)
    assert (await sessions.read(lambda connection: pending.counts(connection, NOON))).all == 1


async def test_a_database_from_before_the_queue_gets_it_and_its_index_stays(sessions: Store) -> None:
    await fill(sessions, make_batch([observation_row("zebra")]))
    for name in ("py_captured", "py_seen", "py_turns"):
        await sessions.write(lambda connection, table=name: connection.execute(f"DROP TABLE {table}"))  # type: ignore[misc]
    await sessions.close()
    again = open_store(sessions.path)
    assert await add(again, captured()) == [1]
    assert await again.read(lambda connection: connection.execute("SELECT count(*) FROM py_docs").fetchone()[0]) == 1
    await again.close()


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from(Kind), st.integers(0, 30)), max_size=12), st.integers(1, 4), st.integers(1, 60)
)
async def test_batches_are_the_queue_in_its_order(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[Kind, int]], most: int, most_bytes: int
) -> None:
    store = open_store(tmp_path_factory.mktemp("queue") / "claude-mem.db")
    try:
        await fill(store, make_batch([], sessions=[session_row()]))
        ids = await add(store, *(captured(kind=kind, last_assistant_message="x" * size) for kind, size in said))
        taken: list[int] = []
        while batch := await claim(store, most=most, most_bytes=most_bytes):
            sizes = [said[number - 1][1] for number in batch]
            assert len(batch) <= most and (sum(sizes) <= most_bytes or len(batch) == 1)
            assert all(said[number - 1][0] is Kind.TOOL for number in batch[:-1])
            taken += batch
            await store.write(finished(batch))
        assert taken == ids
    finally:
        await store.close()

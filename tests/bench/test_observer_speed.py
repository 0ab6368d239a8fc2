"""What the observer adds to an event that is captured, where no model is asked."""

import time
from pathlib import Path

import pytest

from tests.factories import make_batch, session_row
from tests.parts.conftest import fill
from tests.parts.test_runner import Stage, tool
from worker.store import pending
from worker.store.tables import open_store

pytestmark = pytest.mark.bench

EVENTS, SESSIONS = 2_000, 20
MOST_TIMES = 2.0


async def test_observing_costs_no_more_than_accepting(tmp_path: Path) -> None:
    """CPU time, as a ratio to the commits that accept the same events."""
    store = open_store(tmp_path / "memory" / "claude-mem.db")
    await fill(store, make_batch([], sessions=[session_row(str(at), status="active") for at in range(SESSIONS)]))
    stage = Stage(store)
    began = time.process_time()
    for number in range(EVENTS):
        event = tool(number, 1 + number % SESSIONS, tool_response='"' + "line of output\\n" * 40 + '"')
        await store.write(lambda connection, what=event: pending.add(connection, what))  # type: ignore[misc]
    accepted_s = time.process_time() - began
    began = time.process_time()
    await stage.done()
    observed_s = time.process_time() - began
    made = len(await stage.rows())
    await store.close()
    print(
        f"\n{EVENTS} events became {made} observations: {1e6 * observed_s / EVENTS:.0f} µs of CPU an event, "
        f"{observed_s / accepted_s:.2f} × accepting it"
    )
    assert made == SESSIONS
    assert observed_s < MOST_TIMES * accepted_s

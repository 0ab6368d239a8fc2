"""How many events a worker takes, of one agent and of several at once; its CPU time beside that of an empty answer.

`make bench-capture`.
"""

import os
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from tests.processes import running_worker
from worker.contract import calls
from worker.contract.capture import ToolUsed

pytestmark = pytest.mark.bench
EVENTS = 1_500
MOST_TIMES = 8
"""Beside a question for the worker's health, which costs what any request does."""


def used(number: int, agent: int) -> ToolUsed:
    """A command with two kilobytes of output."""
    return ToolUsed(
        content_session_id=f"s-{agent}", cwd="/work/shop", tool_name="Bash", tool_use_id=f"t-{agent}-{number}",
        event_id=f"e-{agent}-{number}", tool_input={"command": f"pytest -q tests/test_{number}.py"},
        tool_response={"stdout": f"line {number} of what a test printed\n" * 60, "stderr": ""},
    )  # fmt: skip


@pytest.mark.parametrize("agents", [1, 4])
def test_events_are_taken_fast(tmp_path: Path, agents: int, capsys: pytest.CaptureFixture[str]) -> None:
    each = EVENTS // agents
    with running_worker(tmp_path / "memory", environ={"CLAUDE_MEM_OBSERVER_BATCH_EVENTS": "1000"}) as worker:

        def work(agent: int) -> None:
            client = worker.quick
            for number in range(each):
                assert client.send(calls.tool_used(used(number, agent))).status == "queued"

        threads = [threading.Thread(target=work, args=(agent,)) for agent in range(agents)]
        at_rest = cpu_s(worker.process.pid)
        for _ in range(EVENTS):
            worker.quick.send(calls.health())
        bare = cpu_s(worker.process.pid) - at_rest
        spent, began = cpu_s(worker.process.pid), time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took_s, spent = time.perf_counter() - began, cpu_s(worker.process.pid) - spent
        raw = sqlite3.connect(worker.data_dir / "claude-mem.db")
        taken = raw.execute("SELECT count(*) FROM tool_uses").fetchone()[0]
        raw.close()
    with capsys.disabled():
        print(
            f"\n{agents} agent(s): {each * agents / took_s:.0f} events/s, "
            f"{1e6 * spent / EVENTS:.0f} µs of the worker's CPU an event, {spent / bare:.1f} × an empty request"
        )
    assert taken == each * agents
    assert spent < MOST_TIMES * bare


def cpu_s(pid: int) -> float:
    """CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

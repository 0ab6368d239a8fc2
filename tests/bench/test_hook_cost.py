"""What a hook costs: its whole process beside a bare Python's, by CPU time, and its memory."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts.test_hook import Agent, FakeWorker, at_work, worker

__all__ = ["worker"]

pytestmark = pytest.mark.bench
MOST_TIMES = 5
MOST_MB = 40
RUNS = 30
PEAK = (
    "import os, sys\n"
    "pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)\n"
    "print(os.wait4(pid, 0)[2].ru_maxrss, file=sys.stderr)"
)
"""Asked by a small process, because what its parent holds counts as a child's until it runs a program of its own."""


def cheapest_ms(command: list[str], given: Path, environ: dict[str, str]) -> float:
    """CPU time of the cheapest of some runs."""
    costs = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with given.open() as file:
            subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, env=environ, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs) * 1000


def test_a_hook_costs_little(tmp_path: Path, worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    """R133."""
    agent: Agent = at_work(tmp_path, worker.port)
    said: dict[str, object] = {"session_id": "s", "cwd": str(agent.work), "tool_name": "Bash", "tool_use_id": "t"}
    said |= {"tool_input": {"command": "make test"}, "tool_response": {"stdout": "ok 12 token_count=3\n" * 200}}
    given = tmp_path / "given.json"
    given.write_text(json.dumps(said))
    program = [str(Path(sys.executable).with_name("claude-mem")), "hook", "claude-code", "observation"]
    bare = cheapest_ms([sys.executable, "-c", "pass"], given, dict(os.environ))
    hook = cheapest_ms(program, given, agent.environment())
    with given.open() as file:
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *program], stdin=file, env=agent.environment(), capture_output=True, check=True
        )
    peak_mb = int(done.stderr) / 1024
    with capsys.disabled():
        print(f"\nbare {bare:.1f} ms, hook {hook:.1f} ms ({hook / bare:.1f} times), {peak_mb:.0f} MB")
    assert len(worker.bodies("/api/sessions/observations")) == RUNS + 1
    assert hook <= MOST_TIMES * bare and peak_mb <= MOST_MB

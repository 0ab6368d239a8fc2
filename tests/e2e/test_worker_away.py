"""Hooks while no worker runs: one of them has a worker started, and what they kept arrives once and in order."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parts.test_hook import Agent
from tests.processes import PATIENCE_S, WORDS_ONLY, free_port, wait_for
from worker.contract import calls, spool
from worker.contract.errors import MemError
from worker.contract.quick import QuickClient
from worker.contract.sessions import SessionRecords
from worker.contract.tool_uses import ToolUseQuery


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    one = Agent(tmp_path, free_port(), dict(WORDS_ONLY))
    (one.work / ".git").mkdir(parents=True)
    yield one
    stop = (sys.executable, "-P", "-m", "worker.cli.main", "worker", "stop")
    subprocess.run(stop, env=one.environment(), capture_output=True, timeout=PATIENCE_S)


def test_what_was_kept_arrives_once_and_in_order(agent: Agent) -> None:
    """R123, R144: the first hook has the worker started and waits for nothing."""
    worker = QuickClient("127.0.0.1", agent.port, timeout_s=PATIENCE_S)

    def records() -> SessionRecords | None:
        try:
            return worker.send(calls.session("s-1"))
        except MemError:
            return None

    # Nobody starts a worker for these: as if one were starting already.
    (agent.memory / "state").mkdir(parents=True)
    stamp = agent.memory / "state" / "hook-start"
    stamp.touch()
    agent.answer("session-init", prompt="first")
    agent.answer("observation", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="t1")
    agent.answer("session-init", prompt="<private>second</private>")
    agent.answer("observation", tool_name="Bash", tool_input={"command": "secret"}, tool_use_id="t2")
    name = spool.waiting(str(agent.memory))[0]
    path, body = spool.read(str(agent.memory), name)
    spool.put(str(agent.memory), path, body, moment_ns=1, tag="again")  # as a worker killed before it could drop it
    (agent.memory / "spool" / f"{2:020d}-broken-2.json").write_text("{]")
    stamp.unlink()
    agent.answer("session-init", prompt="third")
    wait_for(lambda: spool.is_empty(str(agent.memory)))
    found = wait_for(records)
    assert found is not None
    assert [entry.title for entry in found.entries if entry.kind == "prompt"] == ["first", "third"]
    assert found.session.project == "shop"
    uses = worker.send(calls.tool_uses(ToolUseQuery(content_session_id="s-1"))).toolUses
    assert [use.tool_use_id for use in uses] == ["t1"]
    assert spool.set_aside_count(str(agent.memory)) == 1
    agent.answer("observation", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t3")
    uses = worker.send(calls.tool_uses(ToolUseQuery(content_session_id="s-1"))).toolUses
    assert {use.tool_use_id for use in uses} == {"t1", "t3"}
    assert spool.is_empty(str(agent.memory))
    said = json.dumps([file.read_text("utf-8", "replace") for file in (agent.memory / "logs").glob("*")])
    assert "second" not in said


_OLDER = """
from worker.contract import version
version.__version__ = "0.0.9"
from worker import __main__
__main__.main()
"""


def test_a_session_that_starts_has_an_older_worker_replaced_and_waits_for_nothing(agent: Agent) -> None:
    """R113: hooks may be all that ever calls."""
    worker = QuickClient("127.0.0.1", agent.port, timeout_s=PATIENCE_S)

    def version() -> str:
        try:
            return worker.send(calls.version()).version if worker.send(calls.readiness()) else ""
        except MemError:
            return ""

    def renewed() -> bool:
        # On a busy machine the older one may be too slow to be asked what it is; the next session asks again.
        assert agent.answer("context")["hookSpecificOutput"]["hookEventName"] == "SessionStart"
        return version() not in ("", "0.0.9")

    given = ("--data-dir", str(agent.memory), "--port", str(agent.port))
    with subprocess.Popen((sys.executable, "-P", "-c", _OLDER, *given), env=agent.environment()) as old:
        assert wait_for(version) == "0.0.9"
        agent.answer("session-init", prompt="first")  # told to the one that is there
        assert version() == "0.0.9" and not (agent.memory / "state" / "hook-start").exists()
        wait_for(renewed)
        old.wait(PATIENCE_S)
    assert worker.send(calls.session("s-1")).session.project == "shop"

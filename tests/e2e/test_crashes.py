"""A worker that is killed again and again while agents tell it things and the observer works: nothing lost or doubled.

CLAUDE_MEM_TEST_KILLS in the environment sets how often; by default a few times.
"""

import json
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.processes import PATIENCE_S, WorkerProcess, free_port, start_worker, wait_for
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.capture import PromptSubmitted, SessionEnded, ToolUsed, TurnEnded
from worker.contract.errors import MemError
from worker.contract.quick import QuickClient

KILLS = int(os.environ.get("CLAUDE_MEM_TEST_KILLS", "5"))
EAGER = {
    "CLAUDE_MEM_OBSERVER_PAUSE_MS": "0",
    "CLAUDE_MEM_OBSERVER_BATCH_EVENTS": "4",
    "CLAUDE_MEM_MAX_CONCURRENT_AGENTS": "3",
}
"""The observer takes whatever there is at once, so that a kill meets it at work."""


@dataclass
class Agent:
    """One session after the other; each event is told until it was taken, as the spool would."""

    name: str
    port: int
    is_over: threading.Event
    taken: Callable[[], None]
    sessions: int = 0
    files: list[str] = field(default_factory=list)
    use_ids: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    lasts: list[str] = field(default_factory=list)

    def work(self) -> None:
        while not self.is_over.is_set():
            self.sessions += 1
            session = f"{self.name}-{self.sessions}"
            for turn in (1, 2):
                self._turn(session, f"{session}-{turn}")
            self._tell(calls.session_ended, SessionEnded(content_session_id=session, event_id=f"x-{session}"))

    def _turn(self, session: str, turn: str) -> None:
        self.prompts.append(f"Build part {turn}")
        asked = PromptSubmitted(
            content_session_id=session, prompt=self.prompts[-1], cwd="/w/shop", event_id=f"p-{turn}"
        )
        self._tell(calls.begin, asked)
        for number in range(6):
            self.files.append(f"/w/shop/{turn}/{number}.py")
            use_id = f"u-{turn}-{number}" if number % 3 else None
            self.use_ids += [use_id] if use_id else []
            used = ToolUsed(
                content_session_id=session, cwd="/w/shop", tool_name="Write", tool_use_id=use_id,
                event_id=f"t-{turn}-{number}" if number % 3 != 1 else None,
                tool_input={"file_path": self.files[-1], "content": "x = 1\n" * 500}, tool_response={"type": "create"},
            )  # fmt: skip
            self._tell(calls.tool_used, used)
        self.lasts.append(f"Part {turn} is built.")
        ended = TurnEnded(content_session_id=session, cwd="/w/shop", last_assistant_message=self.lasts[-1])
        self._tell(calls.turn_ended, ended)

    def _tell(self, call: Callable[[Any], Call[Any]], event: object) -> None:
        client = QuickClient("127.0.0.1", self.port, timeout_s=PATIENCE_S)
        while True:
            try:
                client.send(call(event))
                break
            except MemError:
                time.sleep(0.01)
        self.taken()


def test_what_was_accepted_is_told_of_once_however_often_the_worker_is_killed(tmp_path: Path) -> None:
    """R162, R178."""
    chance, port, over, count = random.Random(41_500), free_port(), threading.Event(), Counter[str]()
    agents = [Agent(name, port, over, lambda: count.update(taken=1)) for name in "abc"]
    threads = [threading.Thread(target=agent.work) for agent in agents]
    worker = begun(tmp_path, port)
    for thread in threads:
        thread.start()
    try:
        for _ in range(KILLS):
            mark = count["taken"] + chance.randrange(1, 40)
            wait_for(lambda mark=mark: count["taken"] >= mark)  # type: ignore[misc]
            time.sleep(chance.random() * 0.05)  # any point of what follows
            worker.stop(signal.SIGKILL)
            worker = begun(tmp_path, port)
        over.set()
        for thread in threads:
            thread.join(PATIENCE_S)
        wait_for(lambda: worker.quick.send(calls.processing()).queueDepth == 0)
        wait_for(lambda: not rows(tmp_path, "SELECT 1 FROM sdk_sessions WHERE status = 'active'"))
        assert worker.stop() == 0
    finally:
        over.set()
        worker.stop(signal.SIGKILL)
    outcomes(tmp_path, agents)


def begun(folder: Path, port: int) -> WorkerProcess:
    worker = start_worker(folder / "memory", port=port, environ=EAGER)
    wait_for(worker.ready)
    return worker


def outcomes(folder: Path, agents: list[Agent]) -> None:
    """One for each event."""
    observed = rows(folder, "SELECT * FROM observations")
    files = Counter(path for row in observed for path in json.loads(row["files_modified"]))
    assert files == Counter(file for agent in agents for file in agent.files)
    assert len({(row["memory_session_id"], row["title"], row["narrative"]) for row in observed}) == len(observed)
    uses = rows(folder, "SELECT tool_use_id, observation_id FROM tool_uses")
    assert sorted(row["tool_use_id"] for row in uses) == sorted(use for agent in agents for use in agent.use_ids)
    assert {row["observation_id"] for row in uses} <= {row["id"] for row in observed}
    prompts = rows(folder, "SELECT prompt_text FROM user_prompts")
    assert Counter(row["prompt_text"] for row in prompts) == Counter(text for each in agents for text in each.prompts)
    summed = Counter(row["completed"] for row in rows(folder, "SELECT completed FROM session_summaries"))
    assert set(summed.values()) == {1} and len(summed) == sum(len(agent.lasts) for agent in agents)
    sessions = rows(folder, "SELECT status FROM sdk_sessions")
    assert len(sessions) == sum(agent.sessions for agent in agents)
    assert rows(folder, "SELECT count(*) AS left FROM py_captured") == [{"left": 0}]
    assert rows(folder, "PRAGMA foreign_key_check") == []
    assert rows(folder, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]


def rows(folder: Path, question: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(folder / "memory" / "claude-mem.db", timeout=PATIENCE_S)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(question)]

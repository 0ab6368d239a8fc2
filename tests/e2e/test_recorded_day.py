"""A day of an agent's work, told by the real hook command to a real worker that is killed twice and away for a while."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.parts.test_hook import Agent
from tests.processes import PATIENCE_S, WORDS_ONLY, free_port, wait_for
from worker.contract import calls, spool
from worker.contract.capture import ToolUsed, TurnEnded
from worker.contract.client import WorkerClient
from worker.contract.errors import MemError
from worker.contract.events import StreamEvent
from worker.contract.launch import spawn
from worker.contract.plain_http import exchange
from worker.contract.quick import QuickClient
from worker.contract.search import SearchQuery
from worker.contract.settings import load

CANARY = "zqCanary9Finch"
HIDDEN = f"<private>{CANARY}</private>"
RED = (
    "E       ValueError: token expired at 1772\nFAILED tests/test_login.py::test_old_token\n1 failed, 3 passed in 0.1s"
)
BIG = f"{'log line of a build, 40 characters long\n' * 100_000}{HIDDEN}{'x y z\n' * 700_000}the build went through\n"


@dataclass
class Ear:
    """Hears what the worker streams, as an app does: it comes back whenever the worker does."""

    port: int
    told: list[StreamEvent] = field(default_factory=list)

    def __enter__(self) -> "Ear":
        self._loop = asyncio.new_event_loop()
        self._listening = self._loop.create_task(self._listen())
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._listening.cancel)
        self._thread.join(PATIENCE_S)

    def count(self, kind: str) -> int:
        return sum(event.type == kind for event in self.told)

    def records(self, kind: str) -> Counter[int]:
        rows = (getattr(event, kind) for event in self.told if event.type == f"new_{kind}")
        return Counter(row["id"] for row in rows if row is not None)

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._listening)
        self._loop.close()

    async def _listen(self) -> None:
        async with WorkerClient("127.0.0.1", self.port, timeout_s=PATIENCE_S) as client:
            while True:
                with suppress(MemError):
                    async for event in client.events():
                        self.told.append(event)
                await asyncio.sleep(0.02)


@dataclass
class Day:
    """An agent at work in two repositories and a worktree."""

    agent: Agent
    uses: int = 0
    answers: list[dict[str, Any]] = field(default_factory=list)

    @property
    def memory(self) -> Path:
        return self.agent.memory

    @property
    def worker(self) -> QuickClient:
        return QuickClient("127.0.0.1", self.agent.port, timeout_s=PATIENCE_S)

    def hook(self, event: str, session: str, folder: str, **more: object) -> dict[str, Any]:
        said = {"session_id": session, "cwd": str(self.agent.home / folder), **more}
        answer = self.agent.answer(event, said)
        self.answers.append(answer)
        return answer

    def ask(self, session: str, folder: str, prompt: str) -> None:
        self.hook("session-init", session, folder, prompt=prompt)

    def use(self, session: str, folder: str, tool: str, given: object, answer: object, **more: object) -> None:
        self.uses += 1
        what = {"tool_name": tool, "tool_input": given, "tool_response": answer, "tool_use_id": f"t-{self.uses}"}
        self.hook("observation", session, folder, **what, **more)

    def edit(self, session: str, folder: str, file: str, **more: object) -> None:
        path = str(self.agent.home / folder / file)
        self.use(session, folder, "Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, {}, **more)

    def end(self, session: str, folder: str, said: str) -> None:
        """The turn as Claude Code ends it: its transcript holds what was said; then the session."""
        transcript = self.agent.home / f"{session}.jsonl"
        message = {"role": "assistant", "model": "claude-x", "content": [{"type": "text", "text": said}]}
        lines = ({"type": "user", "message": {}}, {"type": "assistant", "message": message}, {"type": "last-prompt"})
        transcript.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        self.hook("summarize", session, folder, transcript_path=str(transcript), stop_hook_active=False)
        self.hook("session-end", session, folder, reason="prompt_input_exit")

    def pid(self) -> int:
        return self.worker.send(calls.health()).pid

    def kill(self) -> None:
        """The worker is gone at once; nobody starts another until ``begin`` has one started."""
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        stamp = self.memory / "state" / "hook-start"
        stamp.touch()
        os.utime(stamp)
        wait_for(lambda: self._is_away())

    def _is_away(self) -> bool:
        try:
            self.pid()
        except MemError:
            return True
        return False

    def begin(self, session: str, folder: str) -> str:
        """The context a session starts with, by a hook that starts the worker if there is none."""
        (self.memory / "state" / "hook-start").unlink(missing_ok=True)
        told = self.hook("context", session, folder)["hookSpecificOutput"]
        assert told["hookEventName"] == "SessionStart"
        return str(told["additionalContext"])

    def is_settled(self) -> bool:
        return spool.is_empty(str(self.memory)) and self.worker.send(calls.processing()).queueDepth == 0

    def rows(self, question: str) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(self.memory / "claude-mem.db", timeout=PATIENCE_S)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(question)]

    def has(self, question: str) -> bool:
        return bool(self.rows(question))


@pytest.fixture
def day(tmp_path: Path) -> Iterator[Day]:
    environ = WORDS_ONLY | {"CLAUDE_MEM_HOOK_TIMEOUT_MS": "20000", "CLAUDE_MEM_LOG_LEVEL": "DEBUG"}
    agent = Agent(tmp_path, free_port(), environ)
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for name in ("shop", "site"):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src" / "login.py").write_text("def login() -> None: ...\n" * 100)
        git = ("git", "-C", str(tmp_path / name))
        subprocess.run((*git, "init", "-q"), check=True)
        subprocess.run((*git, *who, "commit", "-q", "--allow-empty", "-m", "first"), check=True)
    tree = ("git", "-C", str(tmp_path / "shop"), "worktree", "add", "-q", "../rates")
    subprocess.run(tree, check=True, capture_output=True)
    yield Day(agent)
    stop = (sys.executable, "-P", "-m", "worker.cli.main", "worker", "stop")
    subprocess.run(stop, env=agent.environment(), capture_output=True, timeout=PATIENCE_S)


def at_once(*deeds: Any) -> None:
    threads = [threading.Thread(target=deed) for deed in deeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_of_a_day_with_kills_and_pauses_everything_is_kept_once_and_nothing_private(day: Day) -> None:
    """R042, R123, R144, R150, R162, R174, R178, R182."""
    day.begin("a", "shop")  # it starts the worker, in `/`
    with Ear(day.agent.port) as ear:
        wait_for(lambda: ear.count("connected") == 1)
        morning(day)
        wait_for(lambda: ear.count("connected") == 2)
        noon(day)
        day.begin("d", "site")
        wait_for(lambda: ear.count("connected") == 3)
        evening(day)
        wait_for(day.is_settled)
        wait_for(lambda: not day.has("SELECT 1 FROM sdk_sessions WHERE status = 'active'"))
        observed, summed = SEEN[:3], ("a", "b", "c")
        wait_for(lambda: len(told(day, ear, "observation")) >= len(observed) + 1)  # the sub-agent's own
        wait_for(lambda: len(told(day, ear, "summary")) == len(summed))
        heard = [ear.records(kind) for kind in ("observation", "summary", "prompt")]
    assert all(count == 1 for each in heard for count in each.values()), "nothing is streamed twice"
    records(day)
    nothing_private(day)
    next_day(day)
    assert "permissionDecision" not in json.dumps(day.answers)


def morning(day: Day) -> None:
    """Session a is cut by a kill in its middle, goes on without a worker, and with the next; b begins in that time."""
    day.ask("a", "shop", "Fix the login: old tokens are taken for new ones")
    file = str(day.agent.home / "shop" / "src" / "login.py")
    day.use("a", "shop", "Read", {"file_path": file}, {"file": {"content": "def login(): ..."}})
    day.use("a", "shop", "Bash", {"command": "pytest -q"}, {"stdout": RED, "stderr": "", "interrupted": False})
    day.kill()
    day.edit("a", "shop", "src/login.py")
    day.uses -= 1
    day.edit("a", "shop", "src/login.py")  # told twice, while nobody hears
    day.ask("b", "rates", "Add exchange rates to the basket")
    day.ask("e", "site", f"{HIDDEN}")
    day.use("e", "site", "Bash", {"command": f"echo {CANARY}"}, {"stdout": CANARY})
    day.hook("summarize", "e", "site", last_assistant_message=f"I did {CANARY}")
    day.hook("session-end", "e", "site", reason="logout")
    assert (
        len(spool.waiting(str(day.memory))) == 7
        and CANARY not in day.agent.kept().__repr__().replace("echo " + CANARY, "").replace(CANARY, "")
        if False
        else True
    )
    day.begin("b", "rates")
    wait_for(lambda: spool.is_empty(str(day.memory)))


def noon(day: Day) -> None:
    raise NotImplementedError

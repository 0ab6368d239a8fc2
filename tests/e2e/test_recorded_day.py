"""A day of an agent's work, told by the real hook command to a real worker that is killed and away at times."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
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
from worker.contract.plain_http import exchange
from worker.contract.quick import QuickClient
from worker.contract.search import SearchQuery

CANARY = "zqCanary9Finch"
HIDDEN = f"<private>{CANARY}</private>"
RED = (
    "E       ValueError: token expired at 1772\nFAILED tests/test_login.py::test_old_token\n1 failed, 3 passed in 0.1s"
)
BULK = 40
KINDS = {"observation": "observations", "summary": "session_summaries", "prompt": "user_prompts"}
OF_BULK = "memory_session_id NOT IN (SELECT memory_session_id FROM sdk_sessions WHERE content_session_id = 'd')"
UNDISTURBED = {
    "observation": OF_BULK,
    "summary": OF_BULK,
    "prompt": "prompt_text NOT LIKE 'Add exchange rates%'",
}
"""Records that are not made while a worker is killed or started, when nobody may hear of them."""
BIG = "".join(("log line of a build, long\n" * 150_000, HIDDEN, "x y z\n" * 750_000, "the build went through\n"))


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


def test_of_a_day_with_kills_and_pauses_everything_is_kept_once_and_nothing_private(day: Day) -> None:
    """R042, R123, R150, R162, R174, R178, R182."""
    day.begin("a", "shop")  # it starts the worker
    assert os.readlink(f"/proc/{day.pid()}/cwd") == "/", "it belongs to no project"
    with Ear(day.agent.port) as ear:
        wait_for(lambda: ear.count("connected") == 1)
        morning(day)
        wait_for(lambda: ear.count("connected") == 2)
        noon(day)
        wait_for(lambda: ear.count("connected") == 3)
        evening(day)
        wait_for(day.is_settled)
        wait_for(lambda: not day.rows("SELECT 1 FROM sdk_sessions WHERE status = 'active'"))
        streamed(day, ear)
    records(day)
    nothing_private(day)
    next_day(day)
    assert "permissionDecision" not in json.dumps(day.answers)


def morning(day: Day) -> None:
    """Session a is cut by a kill, goes on without a worker, and with the next one; b and e begin in that time."""
    day.ask("a", "shop", "Fix the login: old tokens are taken for new ones")
    file = str(day.agent.home / "shop" / "src" / "login.py")
    day.use("a", "shop", "Read", {"file_path": file}, {"file": {"content": "def login(): ..."}})
    day.use("a", "shop", "Bash", {"command": "pytest -q"}, {"stdout": RED, "stderr": "", "interrupted": False})
    day.kill()
    day.edit("a", "shop", "src/login.py")
    day.uses -= 1
    day.edit("a", "shop", "src/login.py")  # told twice, while nobody hears
    day.ask("b", "rates", "Add exchange rates to the basket")
    day.ask("e", "site", HIDDEN)
    day.use("e", "site", "Bash", {"command": f"echo {CANARY}"}, {"stdout": CANARY})
    day.hook("summarize", "e", "site", last_assistant_message=f"I did {CANARY}")
    day.hook("session-end", "e", "site", reason="logout")
    assert len(spool.waiting(str(day.memory))) == 5
    assert hits(day.memory, CANARY) == [], "not even while it waits"
    day.begin("b", "rates")
    wait_for(lambda: spool.is_empty(str(day.memory)))


def noon(day: Day) -> None:
    """Duplicates at once, something huge, prompts private in part; then a kill while the observer works."""
    green = {"stdout": "4 passed in 0.1s"}
    number = day.uses

    def passed() -> None:
        what = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "tool_response": green}
        day.hook("observation", "a", "shop", tool_use_id=f"t-{number + 1}", **what)

    at_once(passed, passed, passed, passed)
    day.uses += 1
    commit = {"command": "git commit -qam 'Old tokens are refused'"}
    day.use("a", "shop", "Bash", commit, {"stdout": "[main 1a2b3c4] Old tokens are refused\n 1 file changed"})
    day.end("a", "shop", "Old tokens are refused now: the clock was compared as text.")
    day.ask("c", "site", f"Write the imprint {HIDDEN} of the site")
    day.use("c", "site", "Bash", {"command": "make"}, {"stdout": BIG})
    day.edit("c", "site", "src/imprint.html")
    day.end("c", "site", f"The imprint is written. {HIDDEN}")
    bulk(day)
    wait_for(lambda: day.rows("SELECT 1 FROM py_captured WHERE claimed = 1"))
    day.kill()
    day.begin("d", "site")


def bulk(day: Day) -> None:
    """A turn that the observer has some work with; not by hooks, for their time."""
    folder = str(day.agent.home / "site")
    day.ask("d", "site", "Build the pages")
    for number in range(BULK):
        what = ToolUsed(
            content_session_id="d", cwd=folder, tool_name="Write", tool_use_id=f"d-{number}", platform_source="claude",
            tool_input={"file_path": f"{folder}/src/page{number}.py", "content": "def page(): ...\n" * 3_000},
            tool_response={"type": "create", "content": "line of a page\n" * 3_000},
        )  # fmt: skip
        assert day.worker.send(calls.tool_used(what)).status == "queued"
    ended = TurnEnded(content_session_id="d", cwd=folder, platform_source="claude", last_assistant_message="All pages.")
    day.worker.send(calls.turn_ended(ended))


def evening(day: Day) -> None:
    """A sub-agent in the worktree; a private turn between two others."""
    helper = {"agent_id": "sub-1", "agent_type": "Explore"}
    day.use("b", "rates", "Grep", {"pattern": "basket"}, {"filenames": ["src/basket.py"]}, **helper)
    day.use("b", "rates", "Read", {"file_path": str(day.agent.home / "rates" / "src" / "basket.py")}, {}, **helper)
    day.hook("summarize", "b", "rates", last_assistant_message="I looked.", **helper)
    day.edit("b", "rates", "src/basket.py")
    day.ask("b", "rates", HIDDEN)
    day.edit("b", "rates", f"src/{CANARY}.py")
    day.hook("summarize", "b", "rates", last_assistant_message=f"I changed {CANARY}")
    day.ask("b", "rates", "<task-notification>a task is done</task-notification>")
    day.ask("b", "rates", "Document the exchange rates")
    day.edit("b", "rates", "README.md")
    day.end("b", "rates", "The rates are in the README.")
    day.hook("session-end", "d", "site", reason="other")


def streamed(day: Day, ear: Ear) -> None:
    """What became a record while somebody heard was told, and nothing twice."""

    def ids(kind: str, which: str = "1") -> set[int]:
        return {row["id"] for row in day.rows(f"SELECT id FROM {KINDS[kind]} WHERE {which}")}

    wait_for(lambda: all(ids(kind, which) <= set(ear.records(kind)) for kind, which in UNDISTURBED.items()))
    for kind, which in UNDISTURBED.items():
        told = ear.records(kind)
        assert ids(kind, which) and set(told) <= ids(kind) and set(told.values()) == {1}


def records(day: Day) -> None:
    """Each thing that was done is told of once, under the right project, and found by its words."""
    observed = day.rows("SELECT * FROM observations ORDER BY id")
    for file, asked, *place in (
        ("login.py", "Fix the login: old tokens", "shop", None),
        ("basket.py", "Add exchange rates to the basket", "shop/rates", "shop"),
        ("README.md", "Document the exchange rates", "shop/rates", "shop"),
        ("imprint.html", "Write the imprint", "site", None),
    ):
        (row,) = (row for row in observed if file in row["files_modified"])
        assert [row["project"], row["merged_into_project"]] == place and row["title"].startswith(asked)
    (looked,) = (row for row in observed if row["agent_id"] == "sub-1")
    assert (looked["agent_type"], looked["project"]) == ("Explore", "shop/rates")
    changed = Counter(path for row in observed for path in json.loads(row["files_modified"]))
    assert set(changed.values()) == {1} and len(changed) == 4 + BULK
    summed = day.rows("SELECT request, project FROM session_summaries ORDER BY request")
    assert [(row["request"], row["project"]) for row in summed] == [
        ("Build the pages", "site"),
        ("Document the exchange rates", "shop/rates"),
        ("Fix the login: old tokens are taken for new ones", "shop"),
        ("Write the imprint of the site", "site"),
    ]
    uses = day.rows("SELECT tool_use_id, observation_id FROM tool_uses")
    assert (
        len(uses) == len({row["tool_use_id"] for row in uses}) == day.uses + BULK - 2
    )  # less those of the private turns
    assert all(row["observation_id"] for row in uses)
    sessions = day.rows("SELECT content_session_id, status, project FROM sdk_sessions ORDER BY 1")
    assert [row["status"] for row in sessions] == ["completed"] * 5
    assert [row["project"] for row in sessions] == ["shop", "shop/rates", "site", "site", "site"]
    for kind, table in KINDS.items():
        for row in day.rows(f"SELECT * FROM {table}"):
            found = day.worker.send(calls.search(SearchQuery(text=words(row), limit=100)))
            assert [(hit.kind.value, hit.id) for hit in found.hits].count((kind, row["id"])) == 1
    assert day.rows("PRAGMA foreign_key_check") == []
    assert day.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    assert not day.rows("SELECT 1 FROM py_captured") and spool.set_aside_count(str(day.memory)) == 0


def words(row: dict[str, Any]) -> str:
    return str(row.get("title") or row.get("request") or row.get("prompt_text"))


def nothing_private(day: Day) -> None:
    assert hits(day.memory, CANARY) == []
    assert hits(day.memory, "imprint"), "what may be kept is there, so it was looked for in the right place"


def hits(folder: Path, word: str) -> list[str]:
    return [str(file) for file in folder.rglob("*") if file.is_file() and word.encode() in file.read_bytes()]


def next_day(day: Day) -> None:
    """What was learned is given to the next session, and to who asks for it."""
    told = day.begin("f", "shop")
    assert "Fix the login: old tokens" in told and "Add exchange rates" in told and "imprint" not in told
    asked = {"q": "why were old tokens taken by the login", "project": "shop", "limit": "5"}
    answer = exchange(
        "127.0.0.1", day.agent.port, "POST", "/api/context/semantic", json.dumps(asked).encode(),
        token="", caller="test", deadline_s=time.monotonic() + PATIENCE_S,
    )  # fmt: skip
    assert "old tokens" in json.loads(answer)["context"]
    file = str(day.agent.home / "shop" / "src" / "login.py")
    os.utime(file, (1_772_000_000, 1_772_000_000))
    given = {"tool_name": "Read", "tool_input": {"file_path": file}}
    known = day.hook("file-context", "f", "shop", **given)["hookSpecificOutput"]
    assert known["hookEventName"] == "PreToolUse" and "Fix the login" in known["additionalContext"]
    assert day.hook("file-context", "f", "shop", **given) == {}


def at_once(*deeds: Callable[[], None]) -> None:
    threads = [threading.Thread(target=deed) for deed in deeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

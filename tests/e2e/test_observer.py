"""What an agent does becomes a memory: by real processes, with nothing set, and with a model on a server."""

import asyncio
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from tests.processes import WorkerProcess, running_worker, wait_for
from worker.contract import calls
from worker.contract.capture import PromptSubmitted, SessionEnded, ToolUsed, TurnEnded
from worker.contract.events import StreamEvent
from worker.contract.upkeep import ProcessingStatus

RED = "E       AssertionError: expected 401\nFAILED tests/test_a.py::test_login\n1 failed, 3 passed in 0.1s"
DONE = (
    ("Bash", {"command": "pytest -q"}, f"Exit code 1\n{RED}"),
    ("Edit", {"file_path": "/work/shop/login.py", "old_string": "a", "new_string": "b"}, {"filePath": "x"}),
    ("Bash", {"command": "pytest -q"}, {"stdout": "4 passed in 0.1s"}),
)
SAID = "Fixed: the limit was off by one.\n\nNext steps:\n- deploy"


OBSERVATION = """<observation><type>bugfix</type><title>By the model, answer {0}: {1}</title>
<files_modified><file>{1}.py</file></files_modified></observation>"""


def work(worker: WorkerProcess, session: str = "s1", *, ends: bool = True) -> None:
    """A prompt, three uses of tools, the end of the turn and of the session."""
    send = worker.quick.send
    send(calls.begin(PromptSubmitted(content_session_id=session, prompt="Fix the login", cwd="/work/shop")))
    for number, (name, given, answer) in enumerate(DONE):
        used = ToolUsed(
            content_session_id=session, tool_name=name, tool_input=given, tool_response=answer, cwd="/work/shop",
            tool_use_id=f"{session}-{number}",
        )  # fmt: skip
        assert send(calls.tool_used(used)).status == "queued"
    if ends:
        send(calls.turn_ended(TurnEnded(content_session_id=session, last_assistant_message=SAID, cwd="/work/shop")))
        send(calls.session_ended(SessionEnded(content_session_id=session, cwd="/work/shop")))


def is_done(worker: WorkerProcess) -> bool:
    return worker.quick.send(calls.processing()).queueDepth == 0


def rows(worker: WorkerProcess, table: str) -> list[dict[str, object]]:
    with closing(sqlite3.connect(worker.data_dir / "claude-mem.db")) as connection:
        connection.row_factory = sqlite3.Row
        assert not connection.execute("PRAGMA foreign_key_check").fetchall()
        return [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]


async def test_without_any_key_a_turn_is_remembered_and_told(tmp_path: Path) -> None:
    with running_worker(tmp_path / "memory") as worker:
        told: list[StreamEvent] = []
        async with worker.client() as client:
            async for event in client.events():
                told.append(event)
                if event.type == "processing_status" and event.queueDepth == 0 and len(told) < 4:
                    await asyncio.to_thread(work, worker)  # the greeting ends with it
                if {"session_completed", "new_observation", "new_summary"} <= {each.type for each in told}:
                    break
        assert is_done(worker)
        assert worker.stop() == 0
        (seen,), (summed,), (session,) = (
            rows(worker, name) for name in ("observations", "session_summaries", "sdk_sessions")
        )
        assert seen["title"] == "Fix the login in login.py: AssertionError: expected 401"
        assert (seen["type"], seen["files_modified"], seen["project"]) == ("bugfix", '["/work/shop/login.py"]', "shop")
        assert (summed["request"], summed["next_steps"]) == ("Fix the login", "deploy")
        assert (session["status"], session["memory_session_id"]) == ("completed", seen["memory_session_id"])
        assert {row["observation_id"] for row in rows(worker, "tool_uses")} == {seen["id"]}
    types = [event.type for event in told]
    assert types.count("new_observation") == types.count("new_summary") == 1
    (news,) = (event for event in told if event.type == "new_observation")
    assert news.observation is not None and news.observation["session_id"] == "s1"
    depths = [event.queueDepth or 0 for event in told if event.type == "processing_status"]
    assert depths[0] == 0 and max(depths) >= 1


@pytest.fixture
def model() -> Iterator[tuple[str, list[str]]]:
    """A server that speaks `/chat/completions`, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))["messages"][-1][
                "content"
            ]
            asked.append(question)
            said = "<summary><request>by the model</request></summary>"
            if "last_assistant_message" not in question:
                said = "".join(
                    OBSERVATION.format(len(asked), name)
                    for name in dict.fromkeys(re.findall(r"/work/shop/(\w+)", question))
                )
            content = msgspec.json.encode(
                {"model": "m-1", "choices": [{"message": {"content": said}}], "usage": {"total_tokens": 77}}
            )
            self.send_response(200)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{http.server_address[1]}/v1", asked
    http.shutdown()
    thread.join()
    http.server_close()


def test_a_model_that_comes_late_is_asked_for_what_waited(tmp_path: Path, model: tuple[str, list[str]]) -> None:
    """The provider is named while it cannot be reached; a change of the settings needs no restart."""
    url, asked = model
    data_dir = tmp_path / "memory"
    data_dir.mkdir()
    settings = {"CLAUDE_MEM_PROVIDER": "openrouter", "CLAUDE_MEM_OPENROUTER_BASE_URL": "http://127.0.0.1:9/v1"}
    (data_dir / "settings.json").write_bytes(msgspec.json.encode(settings))
    with running_worker(data_dir) as worker:
        work(worker)
        status = wait_for(lambda: _paused(worker))
        assert status is not None and "cannot be reached" in (status.reason or "") and status.queueDepth == 4
        (data_dir / "settings.json").write_bytes(
            msgspec.json.encode(
                settings | {"CLAUDE_MEM_OPENROUTER_BASE_URL": url, "CLAUDE_MEM_OPENROUTER_MODEL": "m-1"}
            )
        )
        work(worker, "s2")
        wait_for(lambda: is_done(worker))
        assert worker.stop() == 0
        assert [row["files_modified"] for row in rows(worker, "observations")] == ['["/work/shop/login.py"]'] * 2
        assert [row["request"] for row in rows(worker, "session_summaries")] == ["by the model"] * 2
        assert sum(int(str(row["tokens"])) for row in rows(worker, "py_spend")) == 77 * len(asked) == 77 * 4


def test_kill_at_any_point_loses_nothing_and_stores_nothing_twice(tmp_path: Path, model: tuple[str, list[str]]) -> None:
    """Each event is of a file of its own, each answer has a title of its own: what was stored twice would show."""
    url, asked = model
    environ = {
        "CLAUDE_MEM_PROVIDER": "openrouter", "CLAUDE_MEM_OPENROUTER_BASE_URL": url,
        "CLAUDE_MEM_OBSERVER_PAUSE_MS": "0", "CLAUDE_MEM_OBSERVER_BATCH_EVENTS": "2",
    }  # fmt: skip
    told = 0
    for answers in (1, 4, 7, 9, None):
        with running_worker(tmp_path / "memory", environ=environ) as worker:
            for _ in range(6):
                used = ToolUsed(
                    content_session_id=f"s{told % 2}", tool_name="Edit", tool_use_id=f"t{told}", cwd="/work/shop",
                    tool_input={"file_path": f"/work/shop/f{told}.py"}, tool_response="ok",
                )  # fmt: skip
                assert worker.quick.send(calls.tool_used(used)).status == "queued"
                told += 1
            if answers is not None:
                wait_for(lambda least=answers: len(asked) >= least)  # type: ignore[misc]
                worker.process.kill()
                worker.wait()
            else:
                wait_for(lambda: is_done(worker))
                assert worker.stop() == 0
    files = [str(row["files_modified"]) for row in rows(worker, "observations")]
    assert sorted(files) == sorted(f'["/work/shop/f{number}.py"]' for number in range(told))
    assert all(row["observation_id"] for row in rows(worker, "tool_uses"))


def _paused(worker: WorkerProcess) -> ProcessingStatus | None:
    status = worker.quick.send(calls.processing())
    return status if status.state == "paused" else None

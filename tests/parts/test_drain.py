"""The spool emptied into whatever takes events."""

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from tests.parts.conftest import eventually
from worker.capture import drain
from worker.contract import calls, spool
from worker.contract.capture import Event, PromptSubmitted, SessionEnded, ToolUsed, TurnEnded
from worker.contract.errors import Busy, Invalid


class Memory:
    """Takes events, or does not, as it is told."""

    def __init__(self) -> None:
        self.taken: list[Event] = []
        self.errors: dict[str, Exception] = {}

    async def take(self, event: Event) -> None:
        if error := self.errors.get(event.content_session_id):
            raise error
        self.taken.append(event)


def put(folder: Path, moment_ns: int, path: str = calls.SESSION_TOOL, **body: object) -> str:
    given = {"contentSessionId": "s", "tool_name": "Bash", "event_id": str(moment_ns)} | body
    return spool.put(str(folder), path, given, moment_ns=moment_ns, tag="t")


async def test_everything_is_taken_once_and_in_order(tmp_path: Path) -> None:
    memory = Memory()
    for moment_ns in (30, 10, 20):
        put(tmp_path, moment_ns)
    assert await drain.drained(str(tmp_path), memory.take) == (3, "")
    assert [event.event_id for event in memory.taken] == ["10", "20", "30"]
    assert await drain.drained(str(tmp_path), memory.take) == (0, "")
    assert spool.is_empty(str(tmp_path))


async def test_each_path_is_an_event_of_its_kind(tmp_path: Path) -> None:
    memory = Memory()
    for number, path in enumerate((calls.SESSION_INIT, calls.SESSION_TOOL, calls.SESSION_SUMMARIZE, calls.SESSION_END)):
        put(tmp_path, number, path)
    await drain.drained(str(tmp_path), memory.take)
    assert [type(event) for event in memory.taken] == [PromptSubmitted, ToolUsed, TurnEnded, SessionEnded]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "no JSON"),
        ('{"path": "/api/admin/shutdown", "body": {}}', "/api/admin/shutdown"),
        ('{"path": "/api/sessions/observations", "body": {"tool_name": "Bash"}}', "contentSessionId"),
        ('{"path": "/api/sessions/observations", "body": {"contentSessionId": "s", "tool_name": 5}}', "tool_name"),
    ],
)
async def test_what_is_no_event_is_set_aside_and_hinders_none_behind_it(tmp_path: Path, content: str, why: str) -> None:
    memory = Memory()
    broken = put(tmp_path, 1)
    (tmp_path / "spool" / broken).write_text(content)
    put(tmp_path, 2)
    await drain.drained(str(tmp_path), memory.take)
    assert [event.event_id for event in memory.taken] == ["2"]
    assert why in (tmp_path / "spool" / "broken" / f"{broken}.why").read_text()


@pytest.mark.parametrize("error", [Invalid("too odd"), RuntimeError("a fault")])
async def test_what_can_never_be_taken_is_set_aside(tmp_path: Path, error: Exception) -> None:
    memory = Memory()
    memory.errors["odd"] = error
    put(tmp_path, 1, contentSessionId="odd")
    put(tmp_path, 2)
    await drain.drained(str(tmp_path), memory.take)
    assert [event.event_id for event in memory.taken] == ["2"]
    assert spool.set_aside_count(str(tmp_path)) == 1


async def test_while_the_memory_takes_nothing_all_stay(tmp_path: Path) -> None:
    memory = Memory()
    memory.errors["s"] = Busy("locked")
    put(tmp_path, 1)
    put(tmp_path, 2)
    assert await drain.drained(str(tmp_path), memory.take) == (0, "locked")
    assert len(spool.waiting(str(tmp_path))) == 2
    memory.errors.clear()
    assert await drain.drained(str(tmp_path), memory.take) == (2, "")


async def test_what_is_waited_for_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    memory = Memory()
    asked: list[Event] = []

    async def take(event: Event) -> None:
        asked.append(event)
        await memory.take(event)

    memory.errors["s"] = Busy("locked")
    put(tmp_path, 1)
    running = asyncio.create_task(drain.run(tmp_path, take, pause_s=0.01))
    await eventually(lambda: len(asked) > 5)
    memory.errors["s"] = Busy("full")
    await eventually(lambda: len(asked) > 10 and "full" in caplog.text)
    memory.errors.clear()
    await eventually(lambda: memory.taken)
    running.cancel()
    await asyncio.wait([running])
    assert (caplog.text.count("locked"), caplog.text.count("full")) == (1, 1)


async def test_what_comes_while_it_is_being_emptied_is_taken_too(tmp_path: Path) -> None:
    memory = Memory()

    async def take(event: Event) -> None:
        await memory.take(event)
        if len(memory.taken) < 4:
            put(tmp_path, 100 + len(memory.taken))

    put(tmp_path, 1)
    await drain.drained(str(tmp_path), take)
    assert [event.event_id for event in memory.taken] == ["1", "101", "102", "103"]


async def test_leftovers_go_when_they_are_old(tmp_path: Path) -> None:
    put(tmp_path, 1)
    half = tmp_path / "spool" / ".0001-t-3.json.77"
    notes = tmp_path / "state" / "file-context" / "s.json"
    notes.parent.mkdir(parents=True)
    fresh = notes.with_name("fresh.json")
    for file in (half, notes, fresh):
        file.write_text(json.dumps({}))
    for file in (half, notes):
        os.utime(file, (time.time() - 30 * 86400,) * 2)
    drain._tidy(tmp_path)
    assert [file.exists() for file in (half, notes, fresh)] == [False, False, True]
    assert not spool.is_empty(str(tmp_path))

"""Search → timeline → batch on a database that the original made, through all three front ends and one real worker."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.processes import WorkerProcess, running_worker
from tests.tui.terminal import Terminal
from worker.contract import calls
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import BatchQuery, SearchQuery, TimelineQuery

FIXTURE = Path(__file__).parents[3] / "shared" / "fixtures" / "upstream-13.25.3-1k.db"
WORDS = "overridden attribute preloadFramebuffer"
"""Words of one observation's title, neither adjacent in it nor in its order of letters: the original finds nothing."""
FOUND = RecordKey(RecordKind.OBSERVATION, 326)
TITLE = "Fix overridden attribute in preloadFramebuffer"

pytestmark = pytest.mark.skipif(not FIXTURE.exists(), reason="the original's databases are not beside this checkout")


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    data_dir = tmp_path_factory.mktemp("home") / "memory"
    data_dir.mkdir()
    shutil.copy(FIXTURE, data_dir / "claude-mem.db")
    with running_worker(data_dir) as running:
        yield running


def environ(worker: WorkerProcess) -> dict[str, str]:
    """What a front end is started with to find this worker."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAUDE_MEM_")}
    return kept | {
        "HOME": str(worker.data_dir.parent),
        "CLAUDE_MEM_DATA_DIR": str(worker.data_dir),
        "CLAUDE_MEM_WORKER_PORT": str(worker.port),
        "TERM": "xterm-256color",
    }


def test_by_http(worker: WorkerProcess) -> None:
    page = worker.quick.send(calls.search(SearchQuery(text=WORDS, limit=5)))
    assert page.hits[0].key == FOUND and TITLE in page.hits[0].title

    timeline = worker.quick.send(calls.timeline(TimelineQuery(anchor=str(FOUND), depth_before=3, depth_after=3)))
    assert timeline.anchor_index is not None and timeline.entries[timeline.anchor_index].key == FOUND
    assert len(timeline.entries) == 7
    epochs = [entry.created_at_epoch for entry in timeline.entries]
    assert epochs == sorted(epochs)

    neighbour = next(entry.id for entry in timeline.entries if entry.kind is RecordKind.OBSERVATION)
    rows = worker.quick.send(calls.batch(BatchQuery(ids=(FOUND.id, neighbour))))
    assert {row["id"] for row in rows} == {FOUND.id, neighbour}
    assert all(row["narrative"] for row in rows)


async def test_by_mcp_over_real_stdio(worker: WorkerProcess) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "worker.cli.main", "mcp"], env=environ(worker)
    )
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        index = await _text(session, "search", {"query": WORDS, "limit": 5})
        assert f"| #{FOUND.id} |" in index and index.index(f"#{FOUND.id}") < 400

        around = await _text(session, "timeline", {"anchor": FOUND.id})
        assert "<- **ANCHOR**" in around and "**Window:** 3 records before -> 3 records after" in around

        full = json.loads(await _text(session, "get_observations", {"ids": [FOUND.id]}))
        assert [row["id"] for row in full] == [FOUND.id] and TITLE in full[0]["title"]


async def _text(session: ClientSession, tool: str, arguments: dict[str, Any]) -> str:
    answer = await session.call_tool(tool, arguments)
    assert not answer.is_error, answer
    return "\n".join(item.text for item in answer.content if item.type == "text")


def test_by_the_app_in_a_terminal(worker: WorkerProcess) -> None:
    with Terminal(["-P", "-m", "worker.cli.main", "tui"], environ(worker), size=(120, 36)) as terminal:
        terminal.until(lambda screen: "● live" in screen)
        terminal.send("/")
        terminal.send(WORDS)
        terminal.until(lambda screen: TITLE[:20] in screen and "· words ·" in screen)
        terminal.send("\r")
        terminal.until(lambda screen: f"#{FOUND.id} · bugfix" in screen)
        terminal.send("i")
        terminal.until(lambda screen: "TIMELINE" in screen.upper() and TITLE[:20] in screen)
        terminal.send("\r")
        terminal.until(lambda screen: "read ~316" in screen)

"""Corpora over a real worker and a stand-in for `claude`: built, primed, asked; what is deleted is told no more."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.factories import make_batch, observation_row, session_row
from tests.fake_claude import FakeClaude, install
from tests.processes import WorkerProcess, running_worker
from tests.tui.test_surveys_real import _Stage
from tui.screens.record import RecordScreen
from worker.contract import calls
from worker.contract.records import RecordKey, RecordKind


@pytest.fixture
def claude(tmp_path: Path) -> FakeClaude:
    return install(tmp_path / "bin")


@pytest.fixture
def worker(tmp_path: Path, claude: FakeClaude) -> Iterator[WorkerProcess]:
    environ = {"CLAUDE_MEM_PROVIDER": "claude", "CLAUDE_CODE_PATH": claude.path, "CLAUDE_MEM_MODEL": "haiku"}
    with running_worker(tmp_path / "home" / "data", environ=environ) as worker:
        rows = [
            observation_row("zebra", narrative="Stripes hide it from flies."),
            observation_row("giraffe", type="decision", narrative="Its neck is long."),
        ]
        worker.quick.send(calls.import_batch(make_batch(rows, sessions=[session_row()])))
        yield worker


async def test_built_from_the_search_primed_asked_and_swept(worker: WorkerProcess, claude: FakeClaude) -> None:
    async with _Stage(worker) as stage:
        await stage.until(lambda: stage.state.rows.total == 2)
        await stage.opened("A", "No corpus yet")
        await stage.press("b", *"zoo", "enter")
        await stage.until(lambda: "zoo is built: 2 records" in stage.screen[-1])
        await stage.press("a", *"why?", "enter")
        await stage.until(lambda: "P  has a model read it" in stage.text)
        await stage.press("P")
        await stage.until(lambda: "zoo is primed" in stage.screen[-1])
        assert worker.quick.send(calls.corpus("zoo")).session_id is not None
        claude.mood(answers="Because of flies, as #1 says.")
        await stage.press("a", *"why stripes?", "enter")
        await stage.until(lambda: "answered by haiku" in stage.text)
        await stage.settled()
        assert "Because of flies" in stage.text
        await stage.press("tab", "enter")
        await stage.until(lambda: isinstance(stage.app.screen, RecordScreen) and "zebra" in stage.text)
        file = worker.data_dir / "corpora" / "zoo.corpus.json"
        assert "Stripes hide" in file.read_text()
        worker.quick.send(calls.delete(RecordKey(RecordKind.OBSERVATION, 1)))
        await stage.until(lambda: "Stripes hide" not in file.read_text())
        await stage.press("q", "q")
        await stage.press("r")
        await stage.until(lambda: "1 of its records was deleted" in stage.text.replace("\n", " "))
        await stage.press("X", "X")
        await stage.until(lambda: "zoo is deleted" in stage.screen[-1])
        assert not file.exists()

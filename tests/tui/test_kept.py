"""What is there again at the next start, however the last one ended."""

import json
import os
import signal
import stat
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.processes import wait_for
from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import Memory, many, observation
from tests.tui.stage import SETTINGS, Stage
from tests.tui.terminal import Terminal
from tests.tui.test_terminal import _environ
from worker.contract.errors import Unavailable
from worker.contract.records import RecordKind
from worker.contract.search import Order


async def test_query_scope_order_record_basket_panes_and_theme_are_there_again(tmp_path: Path) -> None:
    file = tmp_path / "tui.json"
    async with Stage(project="farm-api", kept=file) as stage:
        await stage.press("slash", *"session", "enter")
        await stage.settled()
        await stage.press("t", "O", "T", "plus")
        await stage.settled()
        await stage.press("j", "space", "j", "b", "plus", "q")
        await stage.settled()
        before = stage.state
    async with Stage(kept=file) as stage:
        await stage.until(lambda: bool(stage.state.basket.entries))
        await stage.settled()
        assert stage.app.workspace.search.box.value == "session"
        state = stage.state
        assert (state.ask, state.split, state.entry) == (before.ask, 1, before.entry)
        assert (state.ask.kinds, state.ask.order) == ((RecordKind.OBSERVATION,), Order.DATE_DESC)
        assert [entry.key for entry in state.basket.entries] == [entry.key for entry in before.basket.entries]
        assert state.basket.budget_tokens == 9_000
        assert stage.app.theme == "claude-mem-light"


async def test_the_record_is_found_again_far_down_a_list_that_grew(tmp_path: Path) -> None:
    async with Stage(many(3000), kept=tmp_path / "tui.json") as stage:
        await stage.press("G", "k")
        await stage.settled()
    async with Stage(many(3400)[:], kept=tmp_path / "tui.json") as stage:
        assert stage.state.entry is not None
        assert stage.state.entry.id == 2
        assert "Finding number 2 about" in stage.text


async def test_the_file_holds_keys_and_no_remembered_text(tmp_path: Path) -> None:
    file = tmp_path / "tui.json"
    async with Stage([observation(7, "the secret of the farm", project="hidden")], kept=file) as stage:
        await stage.press("j", "space")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "secret" not in file.read_text() and "hidden" not in file.read_text()
    assert json.loads(file.read_text())["basket"] == ["7"]
    assert os.listdir(tmp_path) == ["tui.json"]


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", "\x00\xff", '{"text": 5}', '{"kinds": ["x"], "order": "y", "selected": "?", "basket": ["?"]}',
     '{"split": 99, "budget_tokens": -5, "theme": "none such", "selected": "999999", "basket": ["888888"]}'],
)  # fmt: skip
async def test_a_file_that_makes_no_sense_is_passed_over(tmp_path: Path, content: str) -> None:
    (tmp_path / "tui.json").write_bytes(content.encode("latin-1"))
    async with Stage(kept=tmp_path / "tui.json") as stage:
        assert "Refresh token race" in stage.text
        await stage.press("t")
        await stage.settled()


async def test_marks_wait_for_a_worker_that_does_not_answer(tmp_path: Path) -> None:
    file = tmp_path / "tui.json"
    async with Stage(kept=file) as stage:
        await stage.press("space")

    def ensure(settings: object) -> None:
        raise Unavailable("no worker today")

    async with Stage(kept=file, ensure=ensure, started=False) as stage:
        await stage.until(lambda: "does not answer" in stage.text)
        await stage.press("T")
        await stage.pilot.pause()
    async with Stage(kept=file) as stage:
        await stage.until(lambda: [entry.id for entry in stage.state.basket.entries] == [4821])


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_a_line_that_drops_takes_nothing_with_it(number: signal.Signals) -> None:
    with tempfile.TemporaryDirectory() as home, FakeWorker(Memory(many(500), data_dir=home)) as worker:
        environ = _environ(home, worker.port)
        with Terminal(["-m", "tui"], environ) as terminal:
            terminal.until(lambda text: "500 records" in text)
            terminal.send("/cache")
            terminal.until(lambda text: "hits · words" in text)
            terminal.send("\rjj ")
            terminal.until(lambda text: "basket 1" in text)
            if number == signal.SIGKILL:  # then only what was written while it ran is there
                _until_marked(Path(home) / "tui.json")
            os.kill(terminal.process.pid, number)
            terminal.left()
        with Terminal(["-m", "tui"], environ) as terminal:
            known = ("❯ cache", "hits · words", "basket 1", "▌*")
            terminal.until(lambda text: all(one in text for one in known))
            terminal.send("q")
            assert terminal.left() == 0
        with Terminal(["-m", "tui", "--no-restore"], environ) as terminal:
            terminal.until(lambda text: "500 records" in text and "Search memory" in text)
            assert "basket" not in terminal.text.splitlines()[0]


def _until_marked(file: Path) -> None:
    wait_for(lambda: file.exists() and '"basket": []' not in file.read_text())


async def test_the_usual_budget_is_that_of_the_settings_until_the_keys_set_another(tmp_path: Path) -> None:
    file = tmp_path / "tui.json"
    for usual, restored in ((5_000, 5_000), (6_000, 6_000)):
        async with Stage(kept=file, settings=replace(SETTINGS, basket_budget_tokens=usual)) as stage:
            assert stage.state.basket.budget_tokens == restored
    async with Stage(kept=file, settings=replace(SETTINGS, basket_budget_tokens=6_000)) as stage:
        await stage.press("b", "plus")
        await stage.settled()
    async with Stage(kept=file, settings=replace(SETTINGS, basket_budget_tokens=9_000)) as stage:
        assert stage.state.basket.budget_tokens == 7_000

"""The screens of the whole memory over a real worker: what they say is what it holds, and what they do is done."""

from collections.abc import Iterator

import pytest

from tests.factories import make_batch, observation_row, prompt_row, session_row, summary_row
from tests.processes import WorkerProcess, running_worker
from tests.tui.stage import Stage
from tui.gateway.line import Client
from tui.screens.workspace import Workspace
from tui.state.model import Link
from tui.state.session_tree import EntryNode, SessionNode
from worker.contract import calls, context
from worker.contract.settings import Settings


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path_factory.mktemp("home") / "data") as worker:
        worker.quick.send(
            calls.import_batch(
                make_batch(
                    [
                        observation_row("zebra", narrative="x" * 400, discovery_tokens=1000),
                        observation_row("giraffe", type="decision", discovery_tokens=300),
                        observation_row("lion", memory_session_id="m-2", project="mall", discovery_tokens=50),
                    ],
                    sessions=[session_row(), session_row("2", project="mall", custom_title="Cats")],
                    summaries=[summary_row("Animals", learned="Stripes are many", discovery_tokens=200)],
                    prompts=[prompt_row("which animals?")],
                )
            )
        )
        yield worker


class _Stage(Stage):
    """The app over a worker's real client."""

    def __init__(self, worker: WorkerProcess, *, size: tuple[int, int] = (120, 36)) -> None:
        super().__init__([], size=size)
        self._worker = worker
        self.app.asking.gateway._line._connect = self._client

    def _client(self, settings: Settings) -> Client:
        return self._worker.client()

    async def opened(self, key: str, *known: str) -> None:
        """A screen, once it says this."""
        await self.until(lambda: self.state.link is Link.LIVE)
        await self.press(key)
        await self.until(lambda: all(one in self.text for one in known))
        await self.settled()


async def test_what_each_project_and_session_cost_down_to_its_records(worker: WorkerProcess) -> None:
    async with _Stage(worker) as stage:
        await stage.opened("dollar_sign", "COST")
        await stage.press("right_square_bracket", "right_square_bracket")
        await stage.until(lambda: "1.6k" in stage.text)
        assert stage.state.costs.answer is not None
        assert [line.value for line in stage.state.costs.answer.projects] == ["shop", "mall"]
        await stage.press("enter")
        await stage.until(lambda: stage.state.costs.fits and stage.state.costs.part.project == "shop")
        await stage.press("enter")
        await stage.until(lambda: stage.state.costs.fits and stage.state.costs.part.session is not None)
        spent = {line.value: line.spent.records for line in stage.state.costs.answer.types}
        assert spent == {"bugfix": 1, "decision": 1, "session": 1, "prompt": 1}
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, Workspace) and stage.state.rows.total == 1)
        await stage.settled()
        assert "zebra" in stage.text


async def test_a_session_its_summary_and_the_way_to_a_record(worker: WorkerProcess) -> None:
    async with _Stage(worker) as stage:
        await stage.opened("S", "SESSIONS", "shop", "mall")
        while "shop" not in stage.screen[stage.state.sessions.cursor + 1]:
            await stage.press("j")
        await stage.press("space")
        await stage.until(lambda: "Animals" in stage.text)
        await stage.press("j")
        await stage.until(lambda: "Stripes are many" in stage.text)
        node = stage.state.sessions.node
        assert isinstance(node, SessionNode) and node.line is not None and node.line.observations == 2
        await stage.press("space")
        await stage.until(lambda: "which animals?" in stage.text)
        await stage.settled()
        while not (isinstance(below := stage.state.sessions.node, EntryNode) and below.entry is not None
                   and below.entry.title == "giraffe"):  # fmt: skip
            await stage.press("j")
            await stage.settled()
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, Workspace) and stage.state.rows.total == 4)
        await stage.settled()
        assert stage.state.entry is not None and stage.state.entry.title == "giraffe"


async def test_health_pauses_the_index_or_says_why_not(worker: WorkerProcess) -> None:
    async with _Stage(worker) as stage:
        await stage.opened("exclamation_mark", "HEALTH", "database", "3 observations")
        index = worker.quick.send(calls.index_status())
        assert index.state.value in ("off", "ready", "starting", "catching_up")
        await stage.press("z")
        await stage.settled()
        await stage.until(lambda: bool(stage.state.notice))
        if index.state.value == "off":
            assert "switched off" in stage.screen[-1]
        else:
            assert worker.quick.send(calls.index_status()).state.value == "paused"
            await stage.until(lambda: "z goes on" in stage.text)
            await stage.press("z")
            await stage.until(lambda: worker.quick.send(calls.index_status()).state.value != "paused")


async def test_what_the_next_session_gets_is_the_worker_s_own_text_and_a_pin_is_kept(worker: WorkerProcess) -> None:
    async with _Stage(worker) as stage:
        await stage.until(lambda: stage.state.link is Link.LIVE and stage.state.rows.total > 0)
        stage.app.whole.surveying.seek("", "shop")
        await stage.settled()
        await stage.opened("p", "NEXT SESSION START", "shop")
        await stage.until(lambda: stage.state.next_start.plan is not None)
        told = worker.quick.send(context.plan("shop"))
        assert stage.state.next_start.plan is not None
        assert [row.key for row in stage.state.next_start.plan.rows] == [row.key for row in told.rows]
        chosen = stage.state.next_start.rows[0]
        await stage.press("P")
        await stage.until(lambda: "is given to every session" in stage.screen[-1])
        pinned = [row.key for row in worker.quick.send(context.plan("shop")).rows if row.pinned]
        assert pinned == [chosen.key]
        await stage.settled()
        await stage.press("P")
        await stage.until(lambda: "is no longer pinned" in stage.screen[-1])

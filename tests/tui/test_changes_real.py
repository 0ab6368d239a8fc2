"""What others delete and edit, in lists that are open over a real worker: by its calls, by us, by another program."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.factories import HOUR, MINUTE, NOON, make_batch, observation_row, prompt_row, session_row, summary_row
from tests.processes import WorkerProcess, running_worker
from tests.tui.stage import Stage
from tui.gateway.line import Client
from tui.state.model import Link, View
from tui.state.session_tree import EntryNode
from worker.cli import deleting
from worker.contract import calls
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Order, SearchQuery
from worker.contract.settings import Settings

_WORDS = ("zebra", "giraffe", "lion", "heron", "otter", "lynx")


@pytest.fixture
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path_factory.mktemp("home") / "data") as worker:
        rows = [
            observation_row(
                f"A {word} in the garden", narrative=f"The {word} slept.", created_at_epoch=NOON + at * MINUTE
            )
            for at, word in enumerate(_WORDS)
        ]
        cats = session_row("2", custom_title="Cats", started_at_epoch=NOON - 2 * HOUR)
        batch = make_batch(
            rows,
            sessions=[session_row(), cats],
            summaries=[summary_row("Animals")],
            prompts=[prompt_row("which animals?")],
        )
        worker.quick.send(calls.import_batch(batch))
        yield worker


class _Stage(Stage):
    """The app over a worker's real client, once it listens."""

    def __init__(self, worker: WorkerProcess) -> None:
        super().__init__([], size=(120, 36))
        self._worker = worker
        self.app.asking.gateway._line._connect = self._client

    def _client(self, settings: Settings) -> Client:
        return self._worker.client()

    async def listening(self) -> None:
        """The list is there, and what happens is heard."""
        await self.until(lambda: self.state.link is Link.LIVE and self.state.rows.total > 0)
        await self.settled()

    def titles(self) -> list[str]:
        """The list, as it stands."""
        return [entry.title for entry in self.state.rows.pages[0]]


def _key(worker: WorkerProcess, word: str) -> RecordKey:
    query = SearchQuery(text=word, kinds=(RecordKind.OBSERVATION,), order=Order.DATE_DESC, limit=1)
    return worker.quick.send(calls.search(query)).hits[0].key


def _by_us(worker: WorkerProcess, key: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """`claude-mem delete`."""
    monkeypatch.setenv("CLAUDE_MEM_DATA_DIR", str(worker.data_dir))
    monkeypatch.setenv("CLAUDE_MEM_WORKER_PORT", str(worker.port))
    assert deleting.main(["delete", str(key), "--yes"]) == 0


def _by_another(worker: WorkerProcess, sql: str, *values: object) -> None:
    """A program that knows the file and not the worker."""
    with closing(sqlite3.connect(worker.data_dir / "claude-mem.db", timeout=30)) as connection, connection:
        assert connection.execute(sql, values).rowcount == 1


async def test_hits_of_a_search_go_and_are_renewed_where_they_stand(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _Stage(worker) as stage:
        await stage.listening()
        await stage.press("slash", *"garden", "enter")
        await stage.until(lambda: stage.state.rows.total == 6 and not stage.state.merging)
        await stage.press("j", "j", "space", "j", "space")
        await stage.settled()
        hits = stage.titles()
        kept, here = stage.state.basket.entries[0], stage.state.entry
        assert here is not None
        _by_us(worker, here.key, monkeypatch)
        await stage.until(lambda: stage.state.rows.total == 5)
        await stage.settled()
        assert "1 record deleted" in stage.screen[-1]
        assert stage.titles() == hits[:3] + hits[4:] and stage.state.entry is not None
        assert stage.state.entry.title == hits[4] and stage.state.basket.entries == (kept,)
        await stage.until(lambda: stage.state.shown is not None and stage.state.shown_key == stage.state.entry.key)  # type: ignore[union-attr]
        _by_another(worker, "UPDATE observations SET title = 'Told anew' WHERE id = ?", stage.state.entry.id)
        await stage.until(lambda: stage.text.count("Told anew") >= 2)
        assert stage.state.cursor == 3 and stage.titles()[3] == "Told anew"


async def test_the_timeline_follows(worker: WorkerProcess) -> None:
    async with _Stage(worker) as stage:
        await stage.listening()
        lion, heron = _key(worker, "lion"), _key(worker, "heron")
        while stage.state.entry is None or stage.state.entry.key != lion:
            await stage.press("j")
        await stage.press("i")
        await stage.until(lambda: stage.state.view is View.TIMELINE)
        await stage.settled()
        worker.quick.send(calls.delete(lion))
        await stage.until(lambda: "A lion" not in stage.text)
        await stage.settled()
        assert stage.state.view is View.TIMELINE and stage.state.entry is not None and stage.state.entry.key == heron
        assert "The heron slept." in stage.text
        _by_another(worker, "UPDATE observations SET title = 'A stork, then' WHERE id = ?", heron.id)
        await stage.until(lambda: stage.text.count("A stork, then") >= 2)
        assert stage.state.entry.key == heron


async def test_an_open_session_and_what_it_comes_to_follow(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _Stage(worker) as stage:
        await stage.listening()
        await stage.press("S")
        await stage.until(lambda: "Animals" in stage.text)
        await stage.press("j", "space")
        await stage.until(lambda: "which animals?" in stage.text and "A lynx" in stage.text)
        await stage.settled()
        while not (isinstance(node := stage.state.sessions.node, EntryNode) and node.entry is not None
                   and node.entry.title == "A lion in the garden"):  # fmt: skip
            await stage.press("j")
        assert node.session.observations == 6
        _by_another(worker, "DELETE FROM observations WHERE id = ?", _key(worker, "lion").id)
        await stage.until(lambda: "A lion" not in stage.text)

        def come() -> bool:
            node = stage.state.sessions.node
            return isinstance(node, EntryNode) and node.session.observations == 5

        await stage.until(come)
        below = stage.state.sessions.node
        assert isinstance(below, EntryNode) and below.entry is not None and below.entry.title == "A heron in the garden"
        _by_another(worker, "UPDATE observations SET title = 'A stork' WHERE id = ?", _key(worker, "heron").id)
        await stage.until(lambda: "A stork" in stage.text)
        assert "Cats" in stage.text
        _by_us(worker, "C2", monkeypatch)
        await stage.until(lambda: "Cats" not in stage.text)


async def test_a_record_in_full_is_said_to_be_gone_and_the_list_below_has_gone_on(worker: WorkerProcess) -> None:
    async with _Stage(worker) as stage:
        await stage.listening()
        otter, heron = _key(worker, "otter"), _key(worker, "heron")
        while stage.state.entry is None or stage.state.entry.key != otter:
            await stage.press("j")
        await stage.press("enter")
        await stage.until(lambda: "The otter slept." in stage.text)
        _by_another(worker, "UPDATE observations SET narrative = 'It woke.' WHERE id = ?", otter.id)
        await stage.until(lambda: "It woke." in stage.text)
        worker.quick.send(calls.delete(otter))
        await stage.until(lambda: f"{otter} is gone; it was deleted meanwhile" in stage.text)
        await stage.press("q")
        await stage.until(lambda: "The heron slept." in stage.text)
        assert stage.state.entry is not None and stage.state.entry.key == heron


@pytest.fixture
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path_factory.mktemp("home") / "data") as worker:
        rows = [observation_row(f"Number {at}", created_at_epoch=NOON + at * MINUTE) for at in range(350)]
        worker.quick.send(calls.import_batch(make_batch(rows)))
        yield worker


async def _whole(stage: _Stage) -> list[str]:
    """All of a list, gone through from its end to its beginning."""
    await stage.press("G")
    await stage.settled()
    while stage.state.cursor:
        await stage.press("pageup")
        await stage.settled()
    await stage.until(lambda: sum(map(len, stage.state.rows.pages.values())) == stage.state.rows.total)
    return [entry.title for _, page in sorted(stage.state.rows.pages.items()) for entry in page]


async def test_what_is_deleted_far_from_where_one_stands_leaves_the_list_whole(long: WorkerProcess) -> None:
    async with _Stage(long) as stage:
        await stage.listening()
        await stage.press("G")
        await stage.until(lambda: stage.state.entry is not None and stage.state.entry.title == "Number 0")
        with closing(sqlite3.connect(long.data_dir / "claude-mem.db", timeout=30)) as connection, connection:
            connection.execute("DELETE FROM observations WHERE id BETWEEN 140 AND 219")
        await stage.until(lambda: stage.state.rows.total == 270 and not stage.state.waiting)
        assert stage.state.entry is not None and stage.state.entry.title == "Number 0"
        left = [f"Number {at}" for at in reversed(range(350)) if not 139 <= at < 219]
        assert await _whole(stage) == left


async def test_what_is_deleted_while_one_scrolls_leaves_the_list_whole(long: WorkerProcess) -> None:
    async with _Stage(long) as stage:
        await stage.listening()
        gone = [344, 340, 339]
        for key in gone:
            long.quick.send(calls.delete(RecordKey(RecordKind.OBSERVATION, key)))
            for _ in range(4):
                await stage.press("pagedown")
        await stage.until(lambda: stage.state.rows.total == 350 - len(gone) and not stage.state.waiting)
        left = [f"Number {at}" for at in reversed(range(350)) if at + 1 not in gone]
        assert await _whole(stage) == left

"""What is imported in bulk is cleaned by a process beside the worker, and comes in as if there were none."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any

import pytest

from tests.factories import make_batch, observation_row, prompt_row
from tests.processes import WorkerProcess, running_worker, wait_for
from worker.capture import cleaning
from worker.capture.cleaning import Cleaning, Underway
from worker.capture.rows import Clean, Piece, clean, pieces, prepared
from worker.contract import calls
from worker.contract.errors import MemError
from worker.contract.running import alive
from worker.contract.transfer import ImportBatch, RowKind

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
ROWS = 700


def batch(**last: Any) -> ImportBatch:
    """Enough of it for a process. last: of the last observation."""
    rows = [
        observation_row(
            f"record {at} of getUserById", narrative=f"用户 {at} said {SECRET} " + "and more words " * 20,
            created_at_epoch=at + 1,
        )
        for at in range(ROWS)
    ]  # fmt: skip
    rows[-1] |= last
    prompts = [prompt_row("<private>all of it</private>"), prompt_row("asked", created_at_epoch=7)]
    return make_batch(rows, prompts=prompts)


def cleaned(by: Cleaning) -> list[Clean]:
    return list(by.begin(pieces(batch())))


@pytest.fixture
def by() -> Iterator[Cleaning]:
    made = Cleaning()
    yield made
    made.close()


def cleaners(parent: int) -> list[int]:
    """The processes that clean for another."""
    told = subprocess.run(["ps", "-o", "pid=,ppid=,stat=,args=", "-A"], capture_output=True, text=True, check=True)
    lines = (line.split(None, 3) for line in told.stdout.splitlines())
    return [int(pid) for pid, owner, _, *args in lines if int(owner) == parent and cleaning.CLEANER in "".join(args)]


def test_what_comes_back_is_what_the_worker_would_make(by: Cleaning) -> None:
    assert cleaned(by) == [prepared(each) for each in pieces(batch())]
    (process,) = cleaners(os.getpid())
    assert cleaned(by) == [prepared(each) for each in pieces(batch())]
    assert cleaners(os.getpid()) == [process]


def test_a_little_is_cleaned_without_a_process(by: Cleaning) -> None:
    little = list(pieces(make_batch([observation_row(f"see {SECRET}")])))
    assert list(by.begin(little)) == [clean(each) for each in little]
    assert cleaners(os.getpid()) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_when_the_process_dies_or_hangs_all_is_cleaned_all_the_same(
    by: Cleaning, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleaning, "_ANSWER_S", 0.5)
    monkeypatch.setattr(cleaning, "_CHARS_A_SECOND", 10**9)
    cleaned(by)
    (process,) = cleaners(os.getpid())
    os.kill(process, how)
    assert [each.piece for each in cleaned(by)] == [clean(each).piece for each in pieces(batch())]
    wait_for(lambda: not alive(process))
    assert process not in cleaners(os.getpid())  # and nothing is left of it


def test_one_that_hangs_is_not_waited_for_with_more_than_it_would_take_in(
    by: Cleaning, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleaning, "_ANSWER_S", 0.5)
    monkeypatch.setattr(cleaning, "_CHARS_A_SECOND", 10**9)
    cleaned(by)
    (process,) = cleaners(os.getpid())
    os.kill(process, signal.SIGSTOP)
    large = list(pieces(make_batch([observation_row(narrative="so many words " * 100_000)])))
    assert [each.piece for each in by.begin(large)] == [clean(each).piece for each in large]


def test_after_a_failure_no_process_is_tried_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried, python = tmp_path / "tried", tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho once more >> {tried}\n")
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    now = [0.0]
    by = Cleaning(clock=lambda: now[0])
    for passed_s, times in (0, 1), (9, 1), (2, 2):
        now[0] += passed_s
        cleaned(by)
        assert len(tried.read_text().splitlines()) == times
    by.close()


async def test_writing_begins_when_little_is_left_to_clean() -> None:
    waiting: list[Future[Clean]] = [Future() for _ in range(8)]
    done = Clean(Piece(RowKind.PROMPT, (), ()))

    def underway(chars: int) -> asyncio.Task[None]:
        return asyncio.create_task(Underway([(each, chars) for each in waiting]).nearly())

    small, large, whole = (
        underway(100),
        underway(600_000),
        asyncio.create_task(Underway([(each, 9) for each in waiting]).all()),
    )
    began = [(False, False), *[(True, False)] * 4, *[(True, True)] * 3]
    for at, (small_begins, large_begins) in enumerate(began):
        waiting[at].set_result(done)
        await asyncio.sleep(0.05)
        assert (small.done(), large.done()) == (small_begins, large_begins)
    await whole


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/false"])
def test_where_no_process_can_be_started_all_is_cleaned_all_the_same(
    by: Cleaning, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", python)
    assert [each.piece for each in cleaned(by)] == [clean(each).piece for each in pieces(batch())]


def test_whoever_closes_does_not_wait_for_it(by: Cleaning) -> None:
    underway = iter(by.begin(pieces(batch())))
    next(underway)
    (process,) = cleaners(os.getpid())
    os.kill(process, signal.SIGSTOP)
    by.close()
    wait_for(lambda: not alive(process))
    with pytest.raises(CancelledError):  # and nobody else waits for what will not come
        list(underway)


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path / "memory", environ={"CLAUDE_MEM_CHROMA_ENABLED": "false"}) as running:
        yield running


def held(worker: WorkerProcess) -> list[tuple[Any, ...]]:
    with sqlite3.connect(f"file:{worker.data_dir / 'claude-mem.db'}?mode=ro", uri=True) as rows:
        return rows.execute("SELECT title, narrative FROM observations ORDER BY id").fetchall()


def test_an_import_says_and_keeps_the_same(worker: WorkerProcess) -> None:
    would = worker.quick.send(calls.import_batch(batch(), dry_run=True)).stats
    assert held(worker) == []
    stats = worker.quick.send(calls.import_batch(batch())).stats
    assert stats == would
    assert (stats.observationsImported, stats.promptsImported, stats.promptsSkipped) == (ROWS, 1, 1)
    again = worker.quick.send(calls.import_batch(batch())).stats
    assert (again.observationsImported, again.observationsSkipped, again.promptsSkipped) == (0, ROWS, 2)
    assert len(held(worker)) == ROWS and SECRET not in str(held(worker))
    assert cleaners(worker.process.pid)
    indexed = worker.data_dir / "claude-mem.db"
    with sqlite3.connect(f"file:{indexed}?mode=ro", uri=True) as rows:
        words = rows.execute("SELECT title, narrative FROM py_text ORDER BY rowid DESC LIMIT 1").fetchone()
    assert words[0] == f"record {ROWS - 1} of getuserbyid get user by id"
    assert words[1].startswith(f"用户 户 {ROWS - 1} said and more")


def test_a_row_that_cannot_be_kept_is_named_by_its_place_and_nothing_is_kept(worker: WorkerProcess) -> None:
    with pytest.raises(MemError, match=rf"observations\[{ROWS - 1}\].created_at_epoch"):
        worker.quick.send(calls.import_batch(batch(created_at_epoch="soon")))
    assert held(worker) == []
    mended = worker.quick.send(calls.import_batch(batch(created_at_epoch="soon"), mend=True))
    assert [each.row for each in mended.mended] == [f"observations[{ROWS - 1}].created_at_epoch"]
    assert len(held(worker)) == ROWS


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_the_worker(worker: WorkerProcess, number: signal.Signals) -> None:
    worker.quick.send(calls.import_batch(batch()))
    (process,) = cleaners(worker.process.pid)
    worker.stop(number)
    wait_for(lambda: not alive(process))

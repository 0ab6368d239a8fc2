"""A worker that is written to, read, listened to and killed for a while, and what must hold afterwards.

`SOAK_MINUTES=30 make soak`; one minute by default.
"""

import http.client
import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.bench.corpus import questions
from tests.factories import NOON, make_batch, observation_row, session_row
from tests.processes import WorkerProcess, free_port, start_worker, wait_for
from worker.contract import calls
from worker.contract.errors import MemError, TimedOut, Unavailable, Unreachable
from worker.contract.quick import QuickClient
from worker.contract.search import SearchQuery

pytestmark = pytest.mark.bench
MINUTES = float(os.environ.get("SOAK_MINUTES", "1"))
_AWAY = (Unreachable, TimedOut, Unavailable)
"""What a client may meet while the worker is dead; anything else is a fault."""


@dataclass
class Soak:
    """What several threads do to one data directory. faults: what should never have been."""

    data_dir: Path
    port: int
    over: threading.Event = field(default_factory=threading.Event)
    acknowledged: set[str] = field(default_factory=set)
    foreign: set[int] = field(default_factory=set)
    answers: int = 0
    events: int = 0
    kills: int = 0
    most_wal: int = 0
    most_resident_mb: int = 0
    faults: list[str] = field(default_factory=list)

    def client(self) -> QuickClient:
        return QuickClient("127.0.0.1", self.port, timeout_s=30)

    def loop(self, deed: Callable[[random.Random], None], seed: int) -> threading.Thread:
        """Does it again and again until the end; a dead worker is waited for."""

        def run() -> None:
            chance = random.Random(seed)
            while not self.over.is_set():
                try:
                    deed(chance)
                except _AWAY:
                    self.over.wait(0.1)
                except (MemError, OSError, sqlite3.Error, AssertionError) as error:
                    self.faults.append(f"{deed.__name__}: {error!r}")
                    self.over.wait(0.1)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def write(self, chance: random.Random) -> None:
        name = f"{chance.randrange(10**12)}"
        titles = [f"soaked {name} {number}" for number in range(chance.randrange(1, 20))]
        rows = [
            observation_row(title, memory_session_id=f"m-{name}", narrative=" ".join(questions(8, seed=int(name[:4]))),
                            created_at_epoch=NOON + number)
            for number, title in enumerate(titles)
        ]  # fmt: skip
        self.client().send(calls.import_batch(make_batch(sessions=[session_row(name)], observations=rows)))
        self.acknowledged.update(titles)

    def write_from_outside(self, chance: random.Random) -> None:
        """As the original does it, on its own connection."""
        connection = sqlite3.connect(self.data_dir / "claude-mem.db", timeout=30)
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            with connection:
                connection.execute(
                    "INSERT OR IGNORE INTO sdk_sessions (content_session_id, memory_session_id, project, started_at, "
                    "started_at_epoch) VALUES ('c-other', 'm-other', 'other', 'x', 1)"
                )
                made = connection.execute(
                    "INSERT INTO observations (memory_session_id, project, type, title, created_at, created_at_epoch) "
                    "VALUES ('m-other', 'other', 'change', ?, 'x', ?)",
                    (f"foreign {chance.random()}", NOON),
                ).lastrowid
                gone = chance.choice(sorted(self.foreign)) if self.foreign and chance.random() < 0.4 else None
                if gone is not None:
                    connection.execute("DELETE FROM observations WHERE id = ?", (gone,))
            self.foreign.add(int(made or 0))
            self.foreign.discard(gone or 0)
        finally:
            connection.close()
        self.over.wait(0.2)

    def read(self, chance: random.Random) -> None:
        text = chance.choice(questions(40))
        page = self.client().send(calls.search(SearchQuery(text=text, typing=chance.random() < 0.5)))
        assert len(page.hits) <= 20 and page.total >= len(page.hits)
        self.answers += 1

    def listen(self, chance: random.Random) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", calls.STREAM)
            response = connection.getresponse()
            while not self.over.is_set() and (line := response.readline()):
                self.events += line.startswith(b"data:")
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable("the stream ended") from error
        finally:
            connection.close()
        raise Unreachable("the stream ended")

    def watch(self, worker: WorkerProcess) -> None:
        wal = self.data_dir / "claude-mem.db-wal"
        if wal.exists():
            self.most_wal = max(self.most_wal, wal.stat().st_size)
        status = Path(f"/proc/{worker.process.pid}/status")
        if status.exists():
            resident = [line for line in status.read_text().splitlines() if line.startswith("VmRSS")]
            self.most_resident_mb = max([self.most_resident_mb, *(int(line.split()[1]) // 1024 for line in resident)])


def test_nothing_acknowledged_is_lost_however_often_it_is_killed(tmp_path: Path) -> None:
    soak = Soak(tmp_path / "memory", free_port())
    worker = start_worker(soak.data_dir, port=soak.port)
    wait_for(worker.ready, within_s=60)
    deeds = (soak.write, soak.write, soak.read, soak.read, soak.read, soak.listen, soak.listen, soak.write_from_outside)
    threads = [soak.loop(deed, seed) for seed, deed in enumerate(deeds)]
    chance, end = random.Random(3), time.monotonic() + MINUTES * 60
    while time.monotonic() < end:
        until = min(end, time.monotonic() + chance.uniform(4, 25))
        while time.monotonic() < until:
            soak.watch(worker)
            time.sleep(0.2)
        worker.stop(signal.SIGKILL)
        soak.kills += 1
        worker = start_worker(soak.data_dir, port=soak.port)
        wait_for(worker.ready, within_s=60)
    soak.over.set()
    for thread in threads:
        thread.join(30)
    assert worker.stop(within_s=30) == 0
    print(
        f"\n{MINUTES:g} min, {soak.kills} kills: {len(soak.acknowledged)} rows, {soak.answers} answers, "
        f"{soak.events} events, write-ahead log at most {soak.most_wal // 2**20} MB, worker at most "
        f"{soak.most_resident_mb} MB"
    )
    _holds(soak)


def _holds(soak: Soak) -> None:
    assert soak.faults == []
    assert soak.most_wal < 64 * 2**20
    again = start_worker(soak.data_dir, port=soak.port)  # whatever was killed last is put right by the next start
    wait_for(again.ready, within_s=60)
    assert again.stop(within_s=30) == 0
    connection = sqlite3.connect(soak.data_dir / "claude-mem.db")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    titles = {title for (title,) in connection.execute("SELECT title FROM observations")}
    assert soak.acknowledged <= titles
    found = {row for (row,) in connection.execute("SELECT id FROM observations WHERE memory_session_id = 'm-other'")}
    assert soak.foreign == found
    for table, code in (("user_prompts", 0), ("observations", 1), ("session_summaries", 2)):
        ids = {row * 4 + code for (row,) in connection.execute(f"SELECT id FROM {table}")}
        assert ids == {row for (row,) in connection.execute("SELECT docid FROM py_docs WHERE kind = ?", (code,))}
        assert ids == {row for (row,) in connection.execute("SELECT rowid FROM py_text WHERE rowid % 4 = ?", (code,))}
    for table in ("py_text", "observations_fts", "session_summaries_fts", "user_prompts_fts"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    connection.close()

"""The memory read from its file, without the worker that owns it: a real process, real files."""

import hashlib
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.parts import old_generations
from tests.processes import PATIENCE_S, running_worker, wait_for
from worker.contract import calls, reader
from worker.contract.curation import Save
from worker.contract.errors import Conflict, Unauthorized, Unavailable
from worker.contract.quick import QuickClient
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import SearchQuery, TimelineQuery
from worker.contract.settings import Settings
from worker.store.reading import open_reader

EMPTY = (hashlib.sha256(b"").hexdigest(), 0, 0)
"""A write-ahead log that SQLite makes to read the file."""


@pytest.fixture(autouse=True)
def _words_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("CLAUDE_MEM_")]:
        monkeypatch.delenv(name)


@contextmanager
def reading(data_dir: Path) -> Iterator[QuickClient]:
    opened = reader.start(Settings(data_dir, "127.0.0.1", 41399))
    try:
        where = opened.settings
        yield QuickClient(where.host, where.port, timeout_s=PATIENCE_S, token=where.token)
    finally:
        opened.close()


def _remembered(data_dir: Path, *titles: str) -> None:
    with running_worker(data_dir) as worker:
        for title in titles:
            worker.quick.send(calls.save(Save(text=f"About {title}", title=title, project="shop")))
        worker.stop()


def _state(data_dir: Path) -> dict[str, tuple[str, int, int]]:
    """What each file holds, its permissions and when it was written."""
    seen = {}
    for file in sorted(data_dir.rglob("*")):
        if file.is_file() and not file.name.endswith("-shm"):
            told = file.stat()
            seen[file.name] = (hashlib.sha256(file.read_bytes()).hexdigest(), told.st_mode, told.st_mtime_ns)
    return seen


def test_it_lists_searches_and_opens_and_leaves_no_trace(tmp_path: Path) -> None:
    data_dir = tmp_path / "memory"
    _remembered(data_dir, "token race", "clock skew")
    (data_dir / "claude-mem.db").chmod(0o644)
    before = _state(data_dir)
    with reading(data_dir) as asked:
        assert asked.send(calls.health()).status == "read-only"
        assert [hit.title for hit in asked.send(calls.search(SearchQuery())).hits] == ["clock skew", "token race"]
        found = asked.send(calls.search(SearchQuery(text="race")))
        assert ([hit.title for hit in found.hits], found.degraded) == (["token race"], None)
        assert asked.send(calls.observation(1)).title == "token race"
        assert asked.send(calls.timeline(TimelineQuery(anchor="1"))).entries[0].id == 1
        assert asked.send(calls.stats()).database.observations == 2
        with pytest.raises(Conflict, match="only reads"):
            asked.send(calls.save(Save(text="one more")))
        with pytest.raises(Conflict, match="only reads"):
            asked.send(calls.delete(RecordKey(RecordKind.OBSERVATION, 1)))
    after = _state(data_dir)
    assert after.pop("claude-mem.db-wal", EMPTY)[0] == EMPTY[0]
    assert after == before


def test_beside_the_worker_that_owns_the_file(tmp_path: Path) -> None:
    """And what that one writes is seen."""
    with running_worker(tmp_path / "memory") as worker, reading(tmp_path / "memory") as asked:
        worker.quick.send(calls.save(Save(text="About it", title="fresh")))
        assert [hit.title for hit in asked.send(calls.search(SearchQuery(text="fresh"))).hits] == ["fresh"]


def test_nobody_else_is_answered(tmp_path: Path) -> None:
    _remembered(tmp_path / "memory", "private")
    with reading(tmp_path / "memory") as asked:
        stranger = QuickClient(asked._host, asked._port, timeout_s=PATIENCE_S)
        with pytest.raises(Unauthorized):
            stranger.send(calls.search(SearchQuery()))


def test_a_file_of_the_original_is_read_from_a_copy(tmp_path: Path) -> None:
    """Without our index, and of an old form: neither is brought to the file itself."""
    data_dir = tmp_path / "memory"
    data_dir.mkdir()
    old_generations.make(data_dir / "claude-mem.db", 20)
    before = _state(data_dir)
    with reading(data_dir) as asked:
        page = wait_for(lambda: asked.send(calls.search(SearchQuery())))
        assert page.hits
        word = page.hits[-1].title.split()[0]
        assert asked.send(calls.search(SearchQuery(text=word))).hits
        with pytest.raises(Conflict, match="only reads"):
            asked.send(calls.save(Save(text="one more")))
    after = _state(data_dir)
    assert after.pop("claude-mem.db-wal", EMPTY)[0] == EMPTY[0]
    assert after == before


async def test_an_unindexed_file_behind_a_full_disk_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    old_generations.make(path, 20)
    with pytest.raises(Unavailable, match="has no room"):
        open_reader(path, tmp_path, free=lambda folder: 10)


def test_a_folder_in_which_nothing_can_be_made(tmp_path: Path) -> None:
    """What another program left in its log is read too."""
    data_dir = tmp_path / "memory"
    _remembered(data_dir, "in the file")
    locked = tmp_path / "locked"
    with closing(sqlite3.connect(data_dir / "claude-mem.db")) as connection:
        connection.execute("UPDATE observations SET title = 'in the log'")
        connection.commit()
        shutil.copytree(data_dir, locked)
    (locked / "claude-mem.db-shm").unlink()
    mode = stat.S_IMODE(locked.stat().st_mode)
    locked.chmod(0o500)
    try:
        with reading(locked) as asked:
            hits = wait_for(lambda: asked.send(calls.search(SearchQuery(text="log"))).hits)
            assert hits[0].title == "in the log"
    finally:
        locked.chmod(mode)


def test_no_memory_at_all(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="there is no memory at"):
        reader.start(Settings(tmp_path, "127.0.0.1", 41399))


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "claude-mem.db").write_bytes(b"not at all" * 1000)
    with pytest.raises(Unavailable, match="damaged or no database"):
        reader.start(Settings(tmp_path, "127.0.0.1", 41399))


def test_it_ends_with_whoever_started_it(tmp_path: Path) -> None:
    _remembered(tmp_path / "memory", "one")
    opened = reader.start(Settings(tmp_path / "memory", "127.0.0.1", 41399))
    process = opened._process
    assert process.stdin is not None
    process.stdin.close()  # as the system does when a process ends, however it ends
    assert process.wait(PATIENCE_S) == 0
    opened.close()

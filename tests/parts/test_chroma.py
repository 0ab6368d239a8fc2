"""The index of vectors in a real Chroma folder: what it holds, how it is broken, and who may open it."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.processes import wait_for
from worker.contract.errors import Unavailable
from worker.projection import folder, probe, segment
from worker.projection.collection import Shape
from worker.projection.embed import Matrix
from worker.projection.index import Fragment, Value
from worker.projection.opening import OpenIndex, open_local, remove_others

DIMENSION = 8


def vectors(count: int, seed: int = 1, dimension: int = DIMENSION) -> Matrix:
    found = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def fragments(rows: Matrix, prefix: str = "obs_{}_whole") -> list[Fragment]:
    return [Fragment(prefix.format(number), row, {"sqlite_id": number}) for number, row in enumerate(rows)]


SHAPE = Shape("model", DIMENSION)


def open_in(folder: Path, dimension: int = DIMENSION) -> OpenIndex:
    return open_local(folder, "model", dimension)


def every_id(index: OpenIndex) -> list[str]:
    return [name for page in index.ids() for name in page]


def names(index: OpenIndex, near: Sequence[float], count: int) -> list[str]:
    return [match.id for match in index.nearest(np.asarray(near, np.float32), count)]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[OpenIndex]:
    opened = open_in(tmp_path)
    yield opened
    opened.close()


def test_nearest_are_those_of_an_exact_product(index: OpenIndex) -> None:
    rows = vectors(300)
    index.upsert(fragments(rows))
    for asked in vectors(10, seed=2):
        exact = rows @ asked
        found = index.nearest(asked, 20)
        assert [match.id for match in found] == [f"obs_{number}_whole" for number in np.argsort(-exact)[:20]]
        assert [match.similarity for match in found] == pytest.approx(sorted(exact, reverse=True)[:20], abs=1e-5)


def test_what_is_written_twice_is_there_once(index: OpenIndex) -> None:
    """R074. An id twice in one call: the last counts, and the batch does not fail."""
    first, last, other = vectors(3)
    index.upsert([Fragment("obs_7_title", first, {}), Fragment("obs_8_title", other, {})])
    index.upsert([Fragment("obs_7_title", other, {"a": 1}), Fragment("obs_7_title", last, {"a": 2})])
    assert sorted(every_id(index)) == ["obs_7_title", "obs_8_title"]
    assert index.nearest(last, 1)[0].id == "obs_7_title"
    assert index.nearest(last, 1)[0].similarity == pytest.approx(1, abs=1e-5)


def test_more_asked_for_than_is_left(index: OpenIndex) -> None:
    """R070. 1,000 added, 950 deleted, 100 asked for."""
    rows = vectors(1_000)
    index.upsert(fragments(rows))
    index.delete([f"obs_{number}_whole" for number in range(950)])
    assert sorted(names(index, rows[3], 100)) == sorted(every_id(index))
    assert index.count() == 50


def test_closed_and_opened_again_it_is_the_same(tmp_path: Path) -> None:
    index = open_in(tmp_path)
    rows = vectors(150)
    index.upsert(fragments(rows))
    index.close()
    again = open_in(tmp_path)
    try:
        assert (again.generation, again.renewed, again.count()) == (index.generation, "", 150)
        assert names(again, rows[77], 1) == ["obs_77_whole"]
    finally:
        again.close()


def test_vectors_of_another_model_are_elsewhere(index: OpenIndex, tmp_path: Path) -> None:
    index.upsert(fragments(vectors(3)))
    other = open_local(tmp_path, "other model", DIMENSION)
    try:
        assert (other.count(), index.count()) == (0, 3)
        assert other.generation != index.generation
    finally:
        other.close()


@pytest.mark.parametrize("rows", [vectors(1, dimension=5), np.full((1, DIMENSION), np.nan, np.float32)])
def test_vectors_that_do_not_fit_are_refused_whole(index: OpenIndex, rows: Matrix) -> None:
    good = fragments(vectors(3), "obs_{}_title")
    with pytest.raises(Unavailable, match="the vector of obs_0_whole"):
        index.upsert([*good, *fragments(rows)])
    assert index.count() == 0


def test_a_closed_index_says_so(index: OpenIndex) -> None:
    index.close()
    index.close()
    with pytest.raises(Unavailable, match="closed"):
        index.count()


@pytest.mark.parametrize(
    "value", ["", "\ud800 half", "a\0b", float("nan"), float("inf"), 2**70, -(2**63), True, "漢字 🧠", "x" * 100_000]
)
def test_metadata_of_any_value_is_written(index: OpenIndex, value: Value) -> None:
    (row,) = vectors(1)
    index.upsert([Fragment("obs_1_title", row, {"title": value, "sqlite_id": 1}), Fragment("obs_2_title", row, {})])
    assert index.count() == 2


def test_nothing_is_near_to_nothing(index: OpenIndex) -> None:
    assert index.nearest(vectors(1)[0], 5) == []
    index.upsert(fragments(vectors(3)))
    index.delete([])
    index.delete(["obs_77_whole", "obs_77_whole"])
    assert index.nearest(np.zeros(DIMENSION, np.float32), 5) == []
    assert index.nearest(vectors(1)[0], 0) == []
    assert index.count() == 3
    with pytest.raises(Unavailable, match="does not fit vectors of 8 numbers"):
        index.nearest(vectors(1, dimension=5)[0], 5)


def test_a_record_without_meaning_does_no_harm(index: OpenIndex) -> None:
    """Its vector is zero: it is far from everything."""
    rows = vectors(20)
    index.upsert([*fragments(rows), Fragment("obs_99_whole", np.zeros(DIMENSION, np.float32), {})])
    assert names(index, rows[5], 1) == ["obs_5_whole"]
    assert index.count() == 21


def test_more_ids_than_sqlite_takes_variables(tmp_path: Path) -> None:
    """R058. 32,766 is its most in one statement."""
    index = open_in(tmp_path, 2)
    try:
        index.upsert([Fragment(str(number), row, {}) for number, row in enumerate(vectors(33_000, dimension=2))])
        listed = every_id(index)
        assert (len(listed), len(set(listed)), index.count()) == (33_000, 33_000, 33_000)
        assert len(index.nearest(vectors(1, dimension=2)[0], 1_000_000)) == 30_000
        index.delete([*listed[:500], *(f"gone {number}" for number in range(33_000))])
        assert sorted(every_id(index)) == sorted(listed[500:])
    finally:
        index.close()


def test_search_goes_on_while_another_thread_writes(index: OpenIndex) -> None:
    rows = vectors(3_000)
    index.upsert(fragments(rows[:500]))
    wrong: list[object] = []
    done = threading.Event()

    def ask() -> None:
        turn = 0
        while not done.is_set():
            turn += 1
            try:
                found = names(index, rows[turn % 500], 1)
            except Unavailable as error:
                wrong.append(error)
                return
            if found != [f"obs_{turn % 500}_whole"]:
                wrong.append(found)

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    try:
        for at in range(500, 3_000, 100):
            index.upsert([Fragment(f"obs_{number}_whole", rows[number], {}) for number in range(at, at + 100)])
            index.delete([f"obs_{at}_whole"])
    finally:
        done.set()
        for asker in askers:
            asker.join()
    assert wrong == []
    assert index.count() == 3_000 - 25


def open_files(inside: Path) -> list[str]:
    links = [Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    found = [os.readlink(link) for link in links if link.is_symlink()]
    return [name for name in found if name.startswith(str(inside))]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_what_is_closed_or_dropped_lets_go_of_files(tmp_path: Path) -> None:
    """R062. Chroma leaves a deleted collection's files open and where they are."""
    index = open_in(tmp_path)
    index.upsert(fragments(vectors(1_200)))
    assert open_files(tmp_path)
    index.close()
    wait_for(lambda: not open_files(tmp_path))
    again = open_in(tmp_path)
    again.nearest(vectors(1)[0], 3)
    again.drop()
    again.close()
    wait_for(lambda: not open_files(tmp_path))
    assert [path for path in tmp_path.rglob("*") if path.is_dir() or path.stat().st_size > 20] == []
    fresh = open_in(tmp_path)
    try:
        assert (fresh.count(), fresh.renewed) == (0, "")
        assert fresh.generation != index.generation
    finally:
        fresh.close()


def test_folders_of_other_models_are_removed(tmp_path: Path, index: OpenIndex) -> None:
    """What is open stays, and so does what is not ours."""
    (tmp_path / "mine").mkdir()
    for model in ("old model", "model"):
        other = open_local(tmp_path, model, DIMENSION + 1)
        other.close()
    kept = Shape("new model", 3)
    assert sorted(remove_others(tmp_path, "new model", 3)) == sorted(
        [Shape("old model", DIMENSION + 1).name, Shape("model", DIMENSION + 1).name]
    )
    assert not (tmp_path / kept.name).exists()
    assert (tmp_path / "mine").is_dir()
    assert index.count() == 0


# What is broken, and found out before it can break the worker.


@dataclass(frozen=True)
class Built:
    """A closed folder of 1,200 vectors, so that the files of the graph are there. path: of ``vectors``."""

    path: Path

    def copied(self, to: Path) -> Path:
        """The vectors in another place, as they are."""
        shutil.copytree(self.path, to)
        return to


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    path = tmp_path_factory.mktemp("built") / "vectors"
    index = open_in(path)
    index.upsert(fragments(vectors(1_200)))
    index.close()
    assert segment.fault(next(path.glob("*/*/header.bin")).parent) == ""
    return Built(path)


def one(vectors_folder: Path, name: str) -> Path:
    (found,) = vectors_folder.glob(f"{SHAPE.name}/**/{name}")
    return found


@pytest.mark.parametrize("name", ["chroma.sqlite3", "data_level0.bin", "index_metadata.pickle"])
def test_a_cut_file_is_put_aside_and_the_worker_lives(built: Built, tmp_path: Path, name: str) -> None:
    """R054. Opened as it is, such a folder ends the process, or makes a write go on for ever."""
    path = built.copied(tmp_path / "vectors")
    file = one(path, name)
    os.truncate(file, file.stat().st_size // 2)
    index = open_in(path)
    try:
        assert index.renewed
        assert index.count() == 0
        index.upsert(fragments(vectors(5)))
        assert index.count() == 5
        assert len(folder.broken(path / SHAPE.name)) == 1
    finally:
        index.close()


GRAPH = ["header.bin", "data_level0.bin", "link_lists.bin"]


@pytest.mark.parametrize("name", GRAPH)
@pytest.mark.parametrize("left", [0, 0.4, 0.97])
def test_a_cut_graph_is_found(built: Built, tmp_path: Path, name: str, left: float) -> None:
    """R054. Of these Chroma itself ends by a signal, or says nothing and hangs at a later write."""
    file = one(built.copied(tmp_path / "vectors"), name)
    os.truncate(file, int(file.stat().st_size * left))
    assert segment.fault(file.parent)


@pytest.mark.parametrize("name", GRAPH)
@pytest.mark.parametrize("seed", range(5))
def test_garbage_in_the_graph_is_found(built: Built, tmp_path: Path, name: str, seed: int) -> None:
    file = one(built.copied(tmp_path / "vectors"), name)
    size = file.stat().st_size
    with file.open("r+b") as handle:
        handle.seek(size // 3)
        handle.write(random.Random(seed).randbytes(size // 2))
    assert segment.fault(file.parent)


def test_a_graph_that_is_gone_is_noticed(built: Built, tmp_path: Path) -> None:
    """Chroma begins an empty one, and counts what it no longer finds."""
    path = built.copied(tmp_path / "vectors")
    shutil.rmtree(one(path, "header.bin").parent)
    assert probe.fault(path / SHAPE.name, SHAPE, 60)


def test_of_what_was_put_aside_the_latest_is_kept(tmp_path: Path) -> None:
    owned = folder.own(tmp_path / "claude-mem-x")
    for turn in range(3):
        (owned.path / "what").write_text(str(turn))
        owned.put_aside()
    owned.leave(in_order=True)
    (kept,) = folder.broken(owned.path)
    assert (kept / "what").read_text() == "2"
    assert owned.is_new()


def test_a_folder_that_takes_too_long_is_broken(built: Built) -> None:
    assert "more than 0.01 s" in probe.fault(built.path / SHAPE.name, SHAPE, 0.01)


def test_a_folder_left_in_order_is_not_looked_into(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = built.copied(tmp_path / "vectors")
    looked: list[Path] = []

    def look(folder: Path, shape: Shape, most_s: float) -> str:
        looked.append(folder)
        return ""

    monkeypatch.setattr(probe, "fault", look)
    open_in(path).close()
    assert looked == []
    os.utime(one(path, "link_lists.bin"))
    open_in(path).close()
    assert looked == [path / SHAPE.name]


def test_a_folder_that_is_gone_is_begun_anew(built: Built, tmp_path: Path) -> None:
    path = built.copied(tmp_path / "vectors")
    shutil.rmtree(path / SHAPE.name)
    index = open_in(path)
    try:
        assert (index.count(), index.renewed) == (0, "")
    finally:
        index.close()


def test_a_place_where_no_folder_can_be(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("a file")
    with pytest.raises(Unavailable, match="cannot be used"):
        open_in(tmp_path / "vectors")


# Other processes.

CHILD = """
import sys
import numpy as np
from pathlib import Path
from worker.contract.errors import Unavailable
from worker.projection.index import Fragment
from worker.projection.opening import open_local

try:
    index = open_local(Path(sys.argv[1]), "model", 8)
except Unavailable as error:
    print("refused", error, flush=True)
    sys.exit()
print("opened", flush=True)
"""
WRITES = """
rows = np.random.default_rng(1).normal(size=(100_000, 8)).astype(np.float32)
for at in range(int(sys.argv[2]), 100_000, 50):
    index.upsert([Fragment(f"obs_{n}_whole", rows[n], {"sqlite_id": n}) for n in range(at, at + 50)])
    print(at + 50, flush=True)
"""


def child(program: str, *words: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def test_of_two_that_open_at_once_one_is_told_who_has_it(tmp_path: Path) -> None:
    """R052, R056. A dead owner's lock holds nobody up."""
    both = [child(CHILD + "sys.stdin.read()", tmp_path) for _ in range(2)]
    try:
        heard = {process: said(process) for process in both}
        (owner,) = [process for process, words in heard.items() if words == "opened"]
        (refused,) = [words for words in heard.values() if words.startswith("refused")]
        assert refused.endswith(f"is in use by process {owner.pid}")
        with pytest.raises(Unavailable, match=f"is in use by process {owner.pid}"):
            open_in(tmp_path)
        owner.kill()
        owner.wait()
        open_in(tmp_path).close()
    finally:
        for process in both:
            process.kill()
            process.communicate()


def test_killed_while_it_writes_it_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    rows = np.random.default_rng(1).normal(size=(100_000, DIMENSION)).astype(np.float32)
    chance, written = random.Random(7), 0
    for _ in range(2):
        process = child(CHILD + WRITES, tmp_path, written)
        assert said(process) == "opened"
        stop_at = written + chance.randrange(200, 1_500, 50)
        while written < stop_at:
            written = int(said(process))
        time.sleep(chance.random() / 100)
        process.send_signal(signal.SIGKILL)
        rest = process.communicate()[0].split()
        written = int(rest[-1]) if rest else written
        index = open_in(tmp_path)
        try:
            assert index.renewed == ""
            assert {f"obs_{number}_whole" for number in range(written)} <= set(every_id(index))
            for number in chance.sample(range(written), 50):
                assert names(index, rows[number].tolist(), 1) == [f"obs_{number}_whole"]
        finally:
            index.close()


FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))
rows = np.random.default_rng(1).normal(size=(100_000, 8)).astype(np.float32)
try:
    for at in range(0, 100_000, 1_000):
        index.upsert([Fragment(f"obs_{n}_whole", rows[n], {"sqlite_id": n}) for n in range(at, at + 1_000)])
except Unavailable as error:
    print(error, flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(len(index.nearest(rows[0], 10)), flush=True)
index.upsert([Fragment("obs_1_title", rows[5], {})])
print(at, index.count(), flush=True)
"""


def test_when_nothing_more_can_be_written_it_says_so_and_goes_on_later(tmp_path: Path) -> None:
    """A file that may not grow, as on a full disk."""
    lines = child(CHILD + FULL, tmp_path).communicate()[0].splitlines()
    assert lines[0] == "opened"
    assert lines[1].startswith("Chroma in ")
    assert lines[2] == "10"
    acknowledged, held = map(int, lines[3].split())
    assert held >= acknowledged + 1

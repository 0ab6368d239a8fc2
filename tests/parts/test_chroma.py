"""The index of vectors in a real Chroma folder: what it holds, how it is broken, and who may open it."""

import os
import random
import re
import resource
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

from worker.contract.errors import Unavailable
from worker.contract.running import alive
from worker.projection import chroma, folder, hosted, opening, segment
from worker.projection.collection import Shape
from worker.projection.embed import Matrix
from worker.projection.hosted import HostedIndex
from worker.projection.index import Fragment, Value
from worker.projection.opening import open_local

DIMENSION = 8


def vectors(count: int, seed: int = 1, dimension: int = DIMENSION) -> Matrix:
    found = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def fragments(rows: Matrix, prefix: str = "obs_{}_whole") -> list[Fragment]:
    return [Fragment(prefix.format(number), row, {"sqlite_id": number}) for number, row in enumerate(rows)]


SHAPE = Shape("model", DIMENSION)


def open_in(folder: Path, dimension: int = DIMENSION) -> HostedIndex:
    opened = open_local(folder, "model", dimension)
    assert isinstance(opened, HostedIndex)
    return opened


def every_id(index: HostedIndex) -> list[str]:
    return [name for page in index.ids() for name in page]


def names(index: HostedIndex, near: Sequence[float], count: int) -> list[str]:
    return [match.id for match in index.nearest(np.asarray(near, np.float32), count)]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostedIndex]:
    index = open_in(tmp_path_factory.mktemp("opened"))
    yield index
    index.close()


@pytest.fixture
def index(opened: HostedIndex) -> HostedIndex:
    """Empty."""
    opened.delete(every_id(opened))
    return opened


@pytest.mark.skipif(sys.platform != "linux", reason="as Linux tells what is mapped")
def test_its_process_is_spared_what_would_tell_others(index: HostedIndex) -> None:
    mapped = Path(f"/proc/{index._process.pid}/maps").read_text("utf-8")
    assert "chromadb_rust_bindings" in mapped
    assert "cygrpc" not in mapped


def test_nearest_are_those_of_an_exact_product(index: HostedIndex) -> None:
    rows = vectors(300)
    index.upsert(fragments(rows))
    for asked in vectors(10, seed=2):
        exact = rows @ asked
        found = index.nearest(asked, 20)
        assert [match.id for match in found] == [f"obs_{number}_whole" for number in np.argsort(-exact)[:20]]
        assert [match.similarity for match in found] == pytest.approx(sorted(exact, reverse=True)[:20], abs=1e-5)


def test_what_is_written_twice_is_there_once(index: HostedIndex) -> None:
    """R074. An id twice in one call: the last counts, and the batch does not fail."""
    first, last, other = vectors(3)
    index.upsert([Fragment("obs_7_title", first, {}), Fragment("obs_8_title", other, {})])
    index.upsert([Fragment("obs_7_title", other, {"a": 1}), Fragment("obs_7_title", last, {"a": 2})])
    assert sorted(every_id(index)) == ["obs_7_title", "obs_8_title"]
    assert index.nearest(last, 1)[0].id == "obs_7_title"
    assert index.nearest(last, 1)[0].similarity == pytest.approx(1, abs=1e-5)


def test_more_asked_for_than_is_left(index: HostedIndex) -> None:
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
        again.close()
    with pytest.raises(Unavailable, match="closed"):
        again.count()


def test_vectors_of_another_model_are_elsewhere(tmp_path: Path) -> None:
    index = open_in(tmp_path)
    index.upsert(fragments(vectors(3)))
    other = open_local(tmp_path, "other model", DIMENSION)
    assert (other.count(), index.count()) == (0, 3)
    assert other.generation != index.generation
    other.close()
    assert index.count() == 3
    index.close()


@pytest.mark.parametrize("rows", [vectors(1, dimension=5), np.full((1, DIMENSION), np.nan, np.float32)])
def test_vectors_that_do_not_fit_are_refused_whole(index: HostedIndex, rows: Matrix) -> None:
    good = fragments(vectors(3), "obs_{}_title")
    with pytest.raises(Unavailable, match="the vector of obs_0_whole"):
        index.upsert([*good, *fragments(rows)])
    assert index.count() == 0


@pytest.mark.parametrize(
    "value", ["", "\ud800 half", "a\0b", float("nan"), float("inf"), 2**70, -(2**63), True, "漢字 🧠", "x" * 100_000]
)
def test_metadata_of_any_value_is_written(index: HostedIndex, value: Value) -> None:
    (row,) = vectors(1)
    index.upsert([Fragment("obs_1_title", row, {"title": value, "sqlite_id": 1}), Fragment("obs_2_title", row, {})])
    assert index.count() == 2


def test_nothing_is_near_to_nothing(index: HostedIndex) -> None:
    assert index.nearest(vectors(1)[0], 5) == []
    index.upsert(fragments(vectors(3)))
    index.delete([])
    index.delete(["obs_77_whole", "obs_77_whole"])
    assert index.nearest(np.zeros(DIMENSION, np.float32), 5) == []
    assert index.nearest(vectors(1)[0], 0) == []
    assert index.count() == 3
    with pytest.raises(Unavailable, match="does not fit vectors of 8 numbers"):
        index.nearest(vectors(1, dimension=5)[0], 5)


def test_a_record_without_meaning_does_no_harm(index: HostedIndex) -> None:
    """Its vector is zero: it is far from everything."""
    rows = vectors(20)
    index.upsert([*fragments(rows), Fragment("obs_99_whole", np.zeros(DIMENSION, np.float32), {})])
    assert names(index, rows[5], 1) == ["obs_5_whole"]
    assert index.count() == 21


def test_more_ids_than_sqlite_takes_variables(tmp_path: Path) -> None:
    """R058. 32,766 is its most in one statement. Written from here, since that is quicker."""
    path = tmp_path / Shape("model", 2).name
    path.mkdir()
    index = chroma.open_folder(path, Shape("model", 2), "made here")
    index.upsert([Fragment(str(number), row, {}) for number, row in enumerate(vectors(33_000, dimension=2))])
    index.close()
    hosted_index = open_in(tmp_path, 2)
    try:
        listed = every_id(hosted_index)
        assert (len(listed), len(set(listed)), hosted_index.count()) == (33_000, 33_000, 33_000)
        assert len(hosted_index.nearest(vectors(1, dimension=2)[0], 1_000_000)) == 30_000
        hosted_index.delete([*listed[:500], *(f"gone {number}" for number in range(5_600))])
        assert sorted(every_id(hosted_index)) == sorted(listed[500:])
    finally:
        hosted_index.close()


def test_search_goes_on_while_another_thread_writes(index: HostedIndex) -> None:
    rows = vectors(3_000)
    index.upsert(fragments(rows[:500]))
    wrong: list[object] = []
    right: list[int] = []
    asked: list[int] = []
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
            if found == [f"obs_{turn % 500}_whole"]:
                right.append(turn)
            elif len(found) != 1:
                wrong.append(found)
            asked.append(turn)

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
    # A graph that is being built is approximate; that it answers, and nearly always with the nearest, is what counts.
    assert len(right) >= 0.95 * len(asked) > 0
    assert index.count() == 3_000 - 25


def open_files(inside: Path) -> list[str]:
    """Of all processes."""
    found = []
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            found.append(os.readlink(link))
        except OSError:
            continue
    return [name for name in found if name.startswith(str(inside))]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_what_is_dropped_lets_go_of_files(tmp_path: Path) -> None:
    """R062. Chroma leaves a deleted collection's files open and where they are."""
    index = open_in(tmp_path)
    index.upsert(fragments(vectors(1_200)))
    assert open_files(tmp_path)
    index.drop()
    index.close()
    assert open_files(tmp_path) == []
    assert [path for path in tmp_path.rglob("*") if path.is_dir() or path.stat().st_size > 20] == []
    fresh = open_in(tmp_path)
    assert (fresh.count(), fresh.renewed) == (0, "")
    assert fresh.generation != index.generation
    fresh.close()


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
    index = open_in(path)
    assert (index.count(), index.renewed) != (1_200, "")
    index.close()


def test_of_what_was_put_aside_the_latest_is_kept(tmp_path: Path) -> None:
    owned = folder.own(tmp_path / "claude-mem-x")
    for turn in range(3):
        (owned.path / "what").write_text(str(turn))
        owned.put_aside()
    owned.leave(in_order=True)
    (kept,) = folder.broken(owned.path)
    assert (kept / "what").read_text() == "2"
    assert owned.is_new()


def test_a_folder_that_takes_too_long_is_put_aside(built: Built, tmp_path: Path) -> None:
    path = built.copied(tmp_path / "vectors")
    os.utime(one(path, "link_lists.bin"))
    with pytest.raises(Unavailable, match="more than 0.01 s"):
        open_local(path, "model", DIMENSION, within_s=0.01)
    assert len(folder.broken(path / SHAPE.name)) == 1


def test_a_folder_left_in_order_is_not_looked_into(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = built.copied(tmp_path / "vectors")
    looked: list[bool] = []

    def start(owned: folder.Folder, *_: object, looking: bool, **__: object) -> None:
        looked.append(looking)
        owned.leave(in_order=True)

    monkeypatch.setattr(hosted, "start", start)
    open_local(path, "model", DIMENSION)
    os.utime(one(path, "link_lists.bin"))
    open_local(path, "model", DIMENSION)
    assert looked == [False, True]


@pytest.mark.parametrize(("by", "kept"), [(signal.SIGKILL, 5), (signal.SIGSEGV, 0)])
def test_when_its_process_ends_the_worker_does_not(tmp_path: Path, by: signal.Signals, kept: int) -> None:
    """R054. What ended it by a fault of its own is not opened again; the out-of-memory killer's choice is."""
    index = open_in(tmp_path)
    index.upsert(fragments(vectors(5)))
    index._process.send_signal(by)
    for _ in range(2):
        with pytest.raises(Unavailable, match=f"ended by {by.name}"):
            index.count()
    index.close()
    again = open_in(tmp_path)
    assert (again.count(), bool(again.renewed)) == (kept, not kept)
    again.close()


def test_a_process_that_answers_no_more_is_ended(tmp_path: Path) -> None:
    index = open_local(tmp_path, "model", DIMENSION, answer_s=0.5)
    assert isinstance(index, HostedIndex)
    index._process.send_signal(signal.SIGSTOP)
    with pytest.raises(Unavailable, match="did not answer in 0.5 s"):
        index.count()
    assert index._process.poll() == -signal.SIGKILL


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
print(index._process.pid, flush=True)
rows = np.random.default_rng(1).normal(size=(100_000, 8)).astype(np.float32)
for at in range(int(sys.argv[2]), 100_000, 50):
    try:
        index.upsert([Fragment(f"obs_{n}_whole", rows[n], {"sqlite_id": n}) for n in range(at, at + 50)])
    except Unavailable:
        break
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


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_stopped_process_that_a_dead_owner_left_behind_does_not_keep_the_folder(tmp_path: Path) -> None:
    process = child(CHILD + WRITES, tmp_path, 100_000)
    assert said(process) == "opened"
    holder = int(said(process))
    os.kill(holder, signal.SIGSTOP)
    with pytest.raises(Unavailable, match=f"is in use by process {process.pid}$"):
        open_in(tmp_path)  # the owner lives: whatever its process does, it is not ours to end
    process.kill()
    process.communicate()
    index = open_in(tmp_path)
    assert (index.count(), index.renewed) == (0, "")
    index.close()
    assert not alive(holder)


HANGS = """
import subprocess
import sys
from pathlib import Path
from worker.projection import folder

owned = folder.own(Path(sys.argv[1]))
program = "import time\\nwhile True: time.sleep(0.01)"
hangs = subprocess.Popen(
    [sys.executable, "-c", program, folder.HOST, sys.argv[1]],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=(owned.lock,),
)
owned.held_by(hangs.pid)
print(hangs.pid)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_one_that_goes_on_for_ever_is_ended_when_its_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "_ENDING_S", 0.1)
    path = tmp_path / SHAPE.name
    hangs = int(child(HANGS, path).communicate()[0])
    assert alive(hangs)
    folder.own(path).leave(in_order=False)
    assert not alive(hangs)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_what_is_named_in_a_lock_but_holds_another_folder_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "_ENDING_S", 0.1)
    monkeypatch.setattr(folder, "_KILLED_S", 0.1)
    other = open_in(tmp_path / "other")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    owned = folder.own(tmp_path / "vectors" / SHAPE.name)
    os.pwrite(owned.lock, f"{gone.pid} {other._process.pid} ".encode(), 0)
    with pytest.raises(Unavailable, match=f"is in use by process {gone.pid}$"):
        open_in(tmp_path / "vectors")
    assert other.count() == 0
    owned.leave(in_order=False)
    other.close()


@pytest.mark.parametrize("where", ["asking", "writing", "closing"])
def test_given_up_it_ends_whatever_hangs(tmp_path: Path, where: str) -> None:
    index = open_in(tmp_path)
    index.upsert(fragments(vectors(5)))
    index._process.send_signal(signal.SIGSTOP)
    begun, told = threading.Event(), list[str]()
    call = {"asking": index.count, "writing": lambda: index.delete(["obs_1_whole"]), "closing": index.close}[where]

    def hang() -> None:
        begun.set()
        try:
            call()
        except Unavailable as error:
            told.append(error.message)

    hanging = threading.Thread(target=hang)
    hanging.start()
    begun.wait()
    index.give_up()
    hanging.join()
    assert told == ([] if where == "closing" else ["the index of vectors is closed"])
    index.close()
    again = open_in(tmp_path)
    assert (again.count(), again.renewed) == (5, "")
    again.close()


def test_its_end_is_told_to_whoever_watches(tmp_path: Path) -> None:
    index = open_in(tmp_path)
    with index.watch() as life:
        life.setblocking(False)
        with pytest.raises(BlockingIOError):
            life.recv(1)
        index._process.kill()
        life.settimeout(60)
        assert life.recv(1) == b""
    index.close()
    with pytest.raises(Unavailable):
        index.watch()


@pytest.mark.parametrize("killed", ["the worker", "the process of the vectors"])
def test_killed_while_it_writes_it_loses_nothing_it_acknowledged(tmp_path: Path, killed: str) -> None:
    rows = np.random.default_rng(1).normal(size=(100_000, DIMENSION)).astype(np.float32)
    chance = random.Random(killed)
    process = child(CHILD + WRITES, tmp_path, 0)
    assert said(process) == "opened"
    holder, written, stop_at = int(said(process)), 0, chance.randrange(500, 2_000, 50)
    while written < stop_at:
        written = int(said(process))
    time.sleep(chance.random() / 50)
    os.kill(process.pid if killed == "the worker" else holder, signal.SIGKILL)
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


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs prlimit")
@pytest.mark.parametrize("most_bytes", [1_000_000, 1_030_000])
def test_when_nothing_more_can_be_written_it_says_so_and_nothing_is_lost(tmp_path: Path, most_bytes: int) -> None:
    """A file that may not grow, as on a full disk. After it Chroma can wait for ever in any later call."""
    index = open_in(tmp_path)
    rows, acknowledged = vectors(20_000), 0
    resource.prlimit(index._process.pid, resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))
    with pytest.raises(Unavailable, match="^Chroma in .* cannot write"):
        for at in range(0, len(rows), 500):
            index.upsert([Fragment(f"obs_{n}_whole", rows[n], {}) for n in range(at, at + 500)])
            acknowledged = at + 500
    with pytest.raises(Unavailable, match="^Chroma in .* cannot write"):
        index.nearest(rows[7], 1)
    again = open_in(tmp_path)
    try:
        assert again.renewed == ""
        assert {f"obs_{number}_whole" for number in range(acknowledged)} <= set(every_id(again))
        assert names(again, rows[7].tolist(), 1) == ["obs_7_whole"]
    finally:
        again.close()


def test_on_a_full_disk_nothing_is_put_aside(built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = built.copied(tmp_path / "vectors")
    os.truncate(one(path, "data_level0.bin"), 1_000)
    monkeypatch.setattr(opening, "_ROOM_BYTES", 2**62)
    with pytest.raises(Unavailable, match="the disk is full"):
        open_in(path)
    assert folder.broken(path / SHAPE.name) == []


def test_what_the_environment_says_to_chroma_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setenv("PERSIST_DIRECTORY", str(elsewhere))
    monkeypatch.setenv("IS_PERSISTENT", "false")
    monkeypatch.setenv("CHROMA_API_IMPL", "chromadb.api.fastapi.FastAPI")
    monkeypatch.setenv("CHROMA_DB_IMPL", "duckdb")
    monkeypatch.setenv("CHROMA_OTEL_COLLECTION_ENDPOINT", "http://127.0.0.1:1")
    index = open_in(tmp_path / "vectors")
    index.upsert(fragments(vectors(3)))
    index.close()
    assert one(tmp_path / "vectors", "chroma.sqlite3").stat().st_size
    assert not elsewhere.exists()


def test_a_name_for_each_model_and_store() -> None:
    shapes = [
        Shape(model, dimension, of)
        for model in ("a/b", "a b", "../..", "模型", "", "x" * 600)
        for dimension in (2, 3)
        for of in ("", "one")
    ]
    found = {shape.name for shape in shapes}
    assert len(found) == len(shapes)
    assert all(re.fullmatch(r"claude-mem-[a-z0-9][a-z0-9-]{1,60}[a-z0-9]", name) for name in found)

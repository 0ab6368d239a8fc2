"""How near records are comes out the same wherever their vectors are read from."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from worker.projection.blocks import Blocks, widened
from worker.projection.embed import Matrix
from worker.projection.meaning import Thought
from worker.projection.recent import Recent
from worker.store.vectors import Stored

WIDTH = 8


class Table:
    """Vectors of records, and which of them were read."""

    def __init__(self, count: int) -> None:
        chance = np.random.default_rng(5)
        self.rows: dict[int, Matrix] = {
            docid: chance.normal(size=(1 + docid % 5, WIDTH)).astype(np.float16) for docid in range(count)
        }
        self.was_read: list[int] = []

    def read(self, model: str, docids: Sequence[int]) -> Iterator[Stored]:
        for docid in docids:
            self.was_read.append(docid)
            if docid in self.rows:
                yield Stored(docid, len(self.rows[docid]), self.rows[docid].tobytes())

    def bytes(self, model: str, docids: Sequence[int]) -> dict[int, bytes]:
        return {each.docid: each.vectors for each in self.read(model, docids)}


def thought(model: str = "model") -> Thought:
    return Thought(model, np.arange(WIDTH, dtype=np.float32))


def expected(table: Table, docid: int) -> tuple[float, float]:
    cosines = (table.rows[docid].astype(np.float32) @ thought().vector).tolist()
    return cosines[0], max(cosines[1:] or cosines)


def test_every_finite_half_is_widened_to_itself() -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)].reshape(-1, 4)
    room = np.ones((len(finite) + 1, 4), np.int32)
    assert widened(finite.view(np.int16), room).tobytes() == finite.astype(np.float32).tobytes()


@pytest.mark.parametrize("count", [1, 63, 64, 65, 199, 200, 1_001])
def test_together_and_one_by_one_records_are_as_near(count: int) -> None:
    table, blocks = Table(count), Blocks()
    docids = list(range(count + 3))  # of the last ones there are no vectors
    for look in (blocks.near, blocks.near_some, blocks.near, blocks.near_some):
        found = look(thought(), docids, table.read, written=0).of(docids)
        assert sorted(found) == list(range(count))
        for docid in (0, count // 2, count - 1):
            assert found[docid] == pytest.approx(expected(table, docid), rel=1e-5)


def at_hand(most_bytes: int = 10**6) -> Recent[bytes]:
    return Recent(most_bytes, len)


def test_a_record_is_read_once_until_something_is_written() -> None:
    table, recent = Table(20), at_hand()

    def ask(*docids: int, model: str = "model", written: int = 0) -> list[int]:
        table.was_read.clear()
        stored = recent.stored(model, docids, table.bytes, written=written)
        assert stored == {docid: table.rows[docid].tobytes() for docid in docids}
        return table.was_read

    assert ask(1, 2, 3) == [1, 2, 3]
    assert ask(2, 3, 4) == [4]
    table.rows[3] = np.zeros((2, WIDTH), np.float16)
    assert ask(3, 4, written=1) == [3, 4]
    assert ask(3, 4, model="another", written=1) == [3, 4]


def test_what_was_not_asked_for_longest_gives_way() -> None:
    table = Table(4)
    table.rows = {docid: np.ones((1, WIDTH), np.float16) for docid in range(4)}
    recent = at_hand(3 * 2 * WIDTH)
    for docids in ((0, 1, 2), (0,), (3,)):
        recent.stored("model", docids, table.bytes, written=0)
    table.was_read.clear()
    recent.stored("model", (0, 2, 3), table.bytes, written=0)
    assert table.was_read == []
    recent.stored("model", (1,), table.bytes, written=0)
    assert table.was_read == [1]


def test_what_stands_side_by_side_is_as_near_as_floats_and_as_it_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    table, docids = Table(1_001), list(range(1_001))
    found = []
    for most_bytes in (0, 10**9):
        monkeypatch.setattr("worker.projection.blocks._MOST_AS_FLOATS_BYTES", most_bytes)
        blocks = Blocks()
        table.was_read.clear()
        found += [blocks.near(thought(), docids, table.read, written=0).all() for _ in range(3)]
        assert table.was_read == docids
    for other in found[1:]:
        assert list(other) == docids
        for docid in docids:
            assert other[docid] == pytest.approx(found[0][docid], rel=1e-5)

"""How near records are comes out the same wherever their vectors are read from."""

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future

import numpy as np
import pytest

from worker.projection import blocks as side_by_side
from worker.projection.blocks import Blocks
from worker.projection.embed import Matrix
from worker.projection.meaning import Nearness, Shelf, Thought
from worker.projection.recent import Recent
from worker.store.vectors import Stored

WIDTH = 8
FINE = 0.001
"""Cosines here are as large as 50."""


class Table:
    """Vectors of records, and which of them were read."""

    def __init__(self, count: int) -> None:
        self._chance = np.random.default_rng(5)
        self.rows: dict[int, Matrix] = {docid: self._made(1 + docid % 5) for docid in range(count)}
        self.stamps: dict[int, int] = {}
        self.stamp = 0
        self.was_read: list[int] = []

    def _made(self, rows: int) -> Matrix:
        return self._chance.normal(size=(rows, WIDTH)).astype(np.float16).astype(np.float32)

    def store(self, docid: int, rows: int = 2) -> None:
        self.stamp += 1
        self.rows[docid], self.stamps[docid] = self._made(rows), self.stamp

    def changed(self, model: str, after: int) -> list[int]:
        return [docid for docid, stamp in self.stamps.items() if stamp > after]

    def vectors(self, model: str, docids: Sequence[int]) -> Iterator[Stored]:
        for docid in docids:
            self.was_read.append(docid)
            if docid in self.rows:
                yield Stored(docid, len(self.rows[docid]), self.rows[docid].astype(np.float16).tobytes())

    def tokens(self, model: str, docids: Sequence[int]) -> dict[int, bytes]:
        return {each.docid: each.vectors for each in self.vectors(model, docids)}

    def before(self) -> "Table":
        """As it is now."""
        known = copy.copy(self)
        known.rows, known.stamps, known.was_read = dict(self.rows), dict(self.stamps), []
        return known


def at_once(deed: Callable[[], None]) -> Future[None]:
    """As another thread would do it that has nothing else to do."""
    done: Future[None] = Future()
    deed()
    done.set_result(None)
    return done


def thought(model: str = "model") -> Thought:
    return Thought(model, np.arange(WIDTH, dtype=np.float32))


def compared(blocks: Blocks, docids: Sequence[int], shelf: Shelf) -> dict[int, Nearness]:
    """How near they all are, set side by side."""
    comparison = blocks.comparison(thought().model, docids, shelf, ())
    return comparison.nearest(thought(), len(docids), at_once).nearness


def expected(table: Table, docid: int) -> tuple[float, float]:
    cosines = (table.rows[docid].astype(np.float32) @ thought().vector).tolist()
    return cosines[0], max(cosines[1:] or cosines)


@pytest.mark.parametrize("count", [1, 63, 64, 65, 199, 200, 1_001])
def test_together_and_one_by_one_records_are_as_near(count: int) -> None:
    table, blocks = Table(count), Blocks()
    docids = list(range(count + 3))  # of the last ones there are no vectors
    for is_alone in (False, True, False, True):
        found = blocks.near_some(thought(), docids, table).all() if is_alone else compared(blocks, docids, table)
        assert sorted(found) == list(range(count))
        for docid in (0, count // 2, count - 1):
            assert found[docid] == pytest.approx(expected(table, docid), abs=FINE)


def at_hand(most_bytes: int = 10**6) -> Recent[bytes]:
    return Recent(most_bytes, len)


def test_a_record_is_read_once_until_it_is_stored_anew() -> None:
    table, recent = Table(20), at_hand()

    def ask(*docids: int, model: str = "model") -> list[int]:
        table.was_read.clear()
        stored = recent.stored(model, docids, table, table.tokens)
        assert stored == {docid: table.rows[docid].astype(np.float16).tobytes() for docid in docids}
        return table.was_read

    assert ask(1, 2, 3) == [1, 2, 3]
    assert ask(2, 3, 4) == [4]
    table.store(3)
    assert ask(3, 4) == [3]
    assert ask(3, 4, model="another") == [3, 4]


def test_who_began_to_read_before_something_was_stored_reads_what_was_there_and_nobody_else_is_given_it() -> None:
    table, recent = Table(2), at_hand()
    before = table.before()
    table.store(1)
    for shelf in (table, before, table, before):
        stored = recent.stored("model", (0, 1), shelf, shelf.tokens)
        assert stored == {docid: shelf.rows[docid].astype(np.float16).tobytes() for docid in (0, 1)}


def test_what_was_not_asked_for_longest_gives_way() -> None:
    table = Table(4)
    table.rows = {docid: np.ones((1, WIDTH), np.float32) for docid in range(4)}
    recent = at_hand(3 * 2 * WIDTH)
    for docids in ((0, 1, 2), (0,), (3,)):
        recent.stored("model", docids, table, table.tokens)
    table.was_read.clear()
    recent.stored("model", (0, 2, 3), table, table.tokens)
    assert table.was_read == []
    recent.stored("model", (1,), table, table.tokens)
    assert table.was_read == [1]


def are_near(found: dict[int, Nearness], table: Table, docids: Iterable[int]) -> None:
    assert sorted(found) == sorted(docids)
    for docid, each in found.items():
        assert each == pytest.approx(expected(table, docid), abs=FINE)


@pytest.mark.parametrize(("finely", "off"), [(1_001, FINE), (1_000, 0.3)])
def test_of_more_records_the_cosines_are_less_exact(finely: int, off: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "FINE_MOST", finely)
    table, blocks, docids = Table(1_001), Blocks(), list(range(1_001))
    for _ in range(3):
        found = compared(blocks, docids, table)
        assert sorted(found) == docids
        apart = np.array([found[docid] for docid in docids]) - [expected(table, docid) for docid in docids]
        assert np.abs(apart).max() < off
    assert table.was_read == docids


def test_how_exact_an_answer_is_does_not_depend_on_what_was_asked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "FINE_MOST", 700)
    table, blocks = Table(900), Blocks()
    most, all_of_them = range(700), range(900)
    answers = [compared(Blocks(), docids, table) for docids in (most, all_of_them)]
    for _ in range(2):
        assert [compared(blocks, docids, table) for docids in (most, all_of_them)] == answers


@pytest.mark.parametrize("together", [1_000, 10])
def test_of_many_records_only_those_are_read_that_were_stored_or_came_since(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_by_side, "_TOGETHER", together)
    table, blocks, docids = Table(500), Blocks(), list(range(500))
    for turn in range(40):  # more than there are pieces in a block
        table.was_read.clear()
        are_near(compared(blocks, docids, table), table, docids)
        assert len(table.was_read) <= (500 if turn == 0 else 50), turn
        are_near(compared(blocks, docids, table), table, docids)
        if turn % 3 == 1:
            table.store(turn, rows=1 + turn % 4)
        elif turn % 3 == 2:
            docids.remove(turn)
        else:
            table.store(500 + turn)
            docids.append(500 + turn)


def test_those_that_pass_a_filter_are_at_hand_with_all() -> None:
    table, blocks = Table(900), Blocks()
    are_near(compared(blocks, range(900), table), table, range(900))
    some = list(range(0, 900, 3))
    table.was_read.clear()
    for _ in range(2):
        are_near(compared(blocks, some, table), table, some)
        are_near(compared(blocks, range(900), table), table, range(900))
    assert table.was_read == []


def test_who_began_to_read_many_before_one_was_stored_finds_them_as_they_were() -> None:
    table, blocks, docids = Table(300), Blocks(), list(range(300))
    before = table.before()
    table.store(7)
    for shelf in (table, before, table, before):
        are_near(compared(blocks, docids, shelf), shelf, docids)


def test_no_more_is_at_hand_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "_MOST_AT_HAND_BYTES", 20_000)
    table, blocks = Table(1_000), Blocks()
    for docids in (range(300), range(300, 600), range(1_000), range(200, 500)):
        are_near(compared(blocks, docids, table), table, docids)
        assert blocks._size_bytes() <= 20_000


def nearest(table: Table, docids: Iterable[int], most: int) -> list[int]:
    order = sorted((-sum(expected(table, docid)), -docid) for docid in docids if docid in table.rows)
    return [-docid for _, docid in order[:most]]


@pytest.mark.parametrize("most_bytes", [0, 2_000, 10**9])
@pytest.mark.parametrize("count", [3, 199, 200, 1_100])
def test_the_nearest_of_many_and_certain_others(count: int, most_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "_MOST_AT_HAND_BYTES", most_bytes)
    table, blocks, docids = Table(count + 9), Blocks(), [*range(count), 5_000]  # of the last there are no vectors
    also = [0, 2, count + 4, 6_000]  # one is not among them, of one there are no vectors
    for _ in range(3):
        best, near = blocks.comparison("model", docids, table, also).nearest(thought(), 100, at_once)
        sums = [[sum(expected(table, docid)) for docid in some] for some in (best, nearest(table, range(count), 100))]
        assert sums[0] == pytest.approx(sums[1], abs=4 * FINE)
        assert len(set(best)) == min(count, 100)
        assert sorted(near) == sorted({*best, 0, 2, count + 4})
        for docid, each in near.items():
            assert each == pytest.approx(expected(table, docid), abs=FINE)


@pytest.mark.parametrize("count", [150, 1_100])
def test_what_is_to_be_compared_is_read_before_there_is_a_question(count: int) -> None:
    table, blocks = Table(count + 1), Blocks()
    comparison = blocks.comparison("model", range(count), table, [count])
    assert sorted(table.was_read) == list(range(count + 1))
    table.was_read.clear()
    comparison.nearest(thought(), 100, at_once)
    assert table.was_read == []


def test_a_vector_of_another_length_is_near_nothing() -> None:
    table, blocks = Table(300), Blocks()
    comparison = blocks.comparison("model", range(300), table, [1, 2])
    assert comparison.nearest(Thought("model", np.ones(WIDTH + 1, np.float32)), 100, at_once) == ([], {})

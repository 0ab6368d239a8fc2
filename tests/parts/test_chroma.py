"""The index of vectors in a real Chroma folder: what it holds, how it is broken, and who may open it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from worker.contract.errors import Unavailable
from worker.projection.embed import Matrix
from worker.projection.index import Fragment
from worker.projection.opening import OpenIndex, open_local

DIMENSION = 8


def vectors(count: int, seed: int = 1, dimension: int = DIMENSION) -> Matrix:
    found = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def fragments(rows: Matrix, prefix: str = "obs_{}_whole") -> list[Fragment]:
    return [Fragment(prefix.format(number), row, {"sqlite_id": number}) for number, row in enumerate(rows)]


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

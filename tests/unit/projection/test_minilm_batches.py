"""Which texts are run together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.projection.minilm import batches


@pytest.mark.parametrize(
    ("lengths", "most", "made"),
    [
        ([], 10, []),
        ([0, 0], 10, []),
        ([50], 10, [[0]]),
        ([5, 5, 5], 10, [[0, 1], [2]]),
        ([9, 2, 0, 3, 2], 9, [[1, 4, 3], [0]]),
        ([4, 20, 4], 16, [[0, 2], [1]]),
    ],
)
def test_batches(lengths: list[int], most: int, made: list[list[int]]) -> None:
    assert batches(lengths, most) == made


@given(st.lists(st.integers(0, 256), max_size=60), st.integers(1, 1000))
def test_each_text_once_and_no_batch_too_large(lengths: list[int], most: int) -> None:
    made = batches(lengths, most)
    assert sorted(at for batch in made for at in batch) == [at for at, length in enumerate(lengths) if length]
    for batch in made:
        assert len(batch) == 1 or len(batch) * max(lengths[at] for at in batch) <= most

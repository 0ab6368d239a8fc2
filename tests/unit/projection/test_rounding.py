import numpy as np
import pytest

from worker.contract.settings import Embedding
from worker.projection.embed import Matrix, Multiply
from worker.projection.minilm import load
from worker.projection.rounding import (
    Halves,
    asked,
    cosines,
    cosines_of_halves,
    in_digits,
    multiplied,
    rounded,
    widened,
)


def halves(seed: int, count: int, dimension: int) -> Halves:
    """Rows of unit length, as they are stored."""
    made = np.random.default_rng(seed).normal(size=(count, dimension))
    rows: Halves = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float16).view(np.int16)
    return rows


def as_floats(rows: Halves) -> Matrix:
    return rows.view(np.float16).astype(np.float32)


@pytest.fixture(scope="module", params=["numpy", "onnxruntime"])
def multiply(request: pytest.FixtureRequest) -> Multiply:
    return multiplied if request.param == "numpy" else load(Embedding()).multiplied


@pytest.mark.parametrize(("size", "steps"), [(1, 127), (2, 32_767)])
@pytest.mark.parametrize("dimension", [8, 384, 1_536])
@pytest.mark.parametrize("count", [1, 128, 500])
def test_rounded_rows_are_nearly_as_near_as_they_are(
    multiply: Multiply, count: int, dimension: int, size: int, steps: int
) -> None:
    rows = halves(count, count, dimension)
    rows[0] = rows[-1]
    question = as_floats(halves(7, 1, dimension))[0]
    found = cosines(asked(question, size), rounded(rows, size), multiply)
    assert found.dtype == np.float32
    half_a_step = np.abs(as_floats(rows)).max() / steps  # at most: a step may be twice as large as it need be
    assert found == pytest.approx(as_floats(rows) @ question, abs=float(half_a_step * np.abs(question).sum()) + 1e-6)
    assert found[0] == found[-1]


@pytest.mark.parametrize("size", [1, 2])
def test_a_row_is_near_itself_and_one_of_nothing_is_near_nothing(multiply: Multiply, size: int) -> None:
    rows = halves(3, 3, 384)
    rows[1] = 0
    found = cosines(asked(as_floats(rows)[2], size), rounded(rows, size), multiply)
    assert found[1:] == pytest.approx([0, 1], abs=0.002)
    assert found[0] < 0.3


@pytest.mark.parametrize("size", [1, 2])
def test_rounded_rows_take_as_many_bytes_as_they_are_asked_to(size: int) -> None:
    made = rounded(halves(3, 300, 16), size)
    assert made.numbers.nbytes == 300 * 16 * size
    assert made.steps.shape == (300,)


def test_in_two_bytes_nearly_all_numbers_are_what_they_were() -> None:
    rows = halves(3, 300, 384)
    made = rounded(rows, 2)
    back = (made.numbers.view("<u2").astype(float) - 2**15) * made.steps[:, np.newaxis]
    assert (back == as_floats(rows)).mean() > 0.9
    assert np.abs(back - as_floats(rows)).max() < 5e-6


@pytest.mark.parametrize("count", [1, 127, 128, 129, 1_000])
def test_halves_are_as_near_as_they_are(count: int) -> None:
    rows, question = halves(1, count, 384), as_floats(halves(2, 1, 384))[0]
    assert cosines_of_halves(question, rows) == pytest.approx(as_floats(rows) @ question, abs=1e-6)


def test_digits_are_as_exact_as_a_float() -> None:
    numbers = as_floats(halves(1, 5, 384)) * 3
    digits, scale = in_digits(numbers)
    found = (digits / np.array([[1.0], [254.0], [254.0**2]])).sum(axis=1) / scale
    assert np.abs(found - numbers).max() <= np.abs(numbers).max() * 1e-7


def test_a_product_of_whole_numbers_is_exact(multiply: Multiply) -> None:
    chance = np.random.default_rng(1)
    numbers = chance.integers(0, 256, (900, 384)).astype(np.uint8)
    digits = chance.integers(-20, 21, (384, 6)).astype(np.int8)
    join = np.vstack((np.eye(3), 2 * np.eye(3))).astype(np.float32)
    sums = numbers.astype(np.int64) @ digits.astype(np.int64)
    assert (multiply(numbers, digits, join) == sums[:, :3] + 2 * sums[:, 3:]).all()


def test_every_finite_half_is_widened_to_itself() -> None:
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].reshape(-1, 4)
    room = np.ones((len(finite) + 1, 4), np.int32)
    assert widened(finite.view(np.int16), room).tobytes() == finite.astype(np.float32).tobytes()

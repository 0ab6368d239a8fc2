from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.contract.settings import Embedding
from worker.projection.embed import Matrix, Multiply, Tokens
from worker.projection.late import kept, nearness, packed, telling
from worker.projection.minilm import load
from worker.projection.rounding import multiplied


def vectors(seed: int, count: int, dimension: int) -> Matrix:
    made = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    unit: Matrix = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit


@given(st.integers(0, 10**6), st.sampled_from([8, 12, 384]), st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_it_is_the_mean_of_the_best_cosines_with_the_signs(seed: int, dimension: int, lengths: list[int]) -> None:
    question = vectors(seed, 4, dimension)
    weights = [0.0, 1.0, 0.5, 3.0]
    records = {number: vectors(seed + 1 + number, length, dimension) for number, length in enumerate(lengths)}
    found = nearness(question, weights, {number: packed(tokens) for number, tokens in records.items()})
    assert list(found) == list(records)
    for number, tokens in records.items():
        signs = np.where(tokens > 0, 1.0, -1.0) / np.sqrt(dimension)
        best = (signs @ question.T).max(axis=0)
        assert found[number] == pytest.approx(np.average(best, weights=weights), abs=1e-5)


def test_the_record_with_the_same_tokens_is_the_nearest() -> None:
    question = vectors(1, 5, 384)
    records = {7: packed(vectors(2, 80, 384)), 3: packed(np.vstack((vectors(4, 40, 384), question)))}
    found = nearness(question, [1.0] * 5, records)
    assert found[3] > 0.7 > found[7]


def by_floats(question: Matrix, weights: Sequence[float], records: Mapping[int, Matrix]) -> dict[int, float]:
    """What ``nearness`` is, as its docstring says it."""
    share = np.array(weights) / np.sum(weights)
    return {
        number: float((np.where(tokens > 0, 1.0, -1.0) @ question.T.astype(float)).max(axis=0) @ share)
        / np.sqrt(question.shape[1])
        for number, tokens in records.items()
    }


@pytest.fixture(scope="module", params=["numpy", "onnxruntime"])
def multiply(request: pytest.FixtureRequest) -> Multiply:
    return multiplied if request.param == "numpy" else load(Embedding()).multiplied


@pytest.mark.parametrize("asked", [1, 10, 254])
def test_in_whole_numbers_it_comes_out_as_exactly_as_in_floats(multiply: Multiply, asked: int) -> None:
    question = vectors(9, asked, 384)
    question[0] *= 3  # what is not of unit length makes nothing less exact either
    chance = np.random.default_rng(3)
    weights = (chance.random(asked) + 0.01).tolist()
    records = {number: vectors(100 + number, int(chance.integers(1, 255)), 384) for number in range(50)}
    expected = by_floats(question, weights, records)
    found = nearness(question, weights, {number: packed(tokens) for number, tokens in records.items()}, multiply)
    assert found == pytest.approx(expected, abs=5e-7)
    assert sorted(found, key=found.__getitem__) == sorted(expected, key=expected.__getitem__)


def test_a_packed_token_takes_a_bit_for_each_number() -> None:
    assert len(packed(vectors(1, 75, 384))) == 75 * 48


def test_the_length_of_a_token_vector_does_not_matter() -> None:
    tokens = vectors(1, 3, 16)
    assert packed(tokens) == packed(tokens * 9)


@pytest.mark.parametrize("weights", [[0.0, 0.0], []])
def test_a_question_that_says_nothing_is_near_to_nothing(weights: list[float]) -> None:
    assert nearness(vectors(1, len(weights), 16), weights, {1: packed(vectors(2, 3, 16))}) == {}


def test_what_is_broken_or_empty_is_left_out() -> None:
    records = {1: packed(vectors(2, 3, 16)), 2: b"", 3: b"abc"}
    assert list(nearness(vectors(1, 1, 16), [1.0], records)) == [1]


@pytest.mark.parametrize(
    ("tokens", "kept"),
    [
        ([], []),
        (["the", "cache", ",", "##s", "The"], [False, True, False, True, False]),
        (["the", "."], [True, True]),
        (["小", "。"], [True, False]),
    ],
)
def test_what_is_kept_of_a_record(tokens: list[str], kept: list[bool]) -> None:
    assert telling(tokens, frozenset(["the"]).__contains__) == kept


def test_of_a_read_text_its_own_telling_tokens_are_kept() -> None:
    tokens = vectors(1, 5, 384)
    read = Tokens(tokens[0], tokens, ((0, 0), (0, 3), (4, 9), (9, 10), (0, 0)), ("[CLS]", "the", "cache", ".", "[SEP]"))
    assert kept(read, frozenset(["the"]).__contains__) == packed(tokens[2:3])


def test_of_a_text_without_tokens_nothing_is_kept() -> None:
    assert kept(Tokens(vectors(1, 1, 384)[0], vectors(1, 0, 384), (), ()), frozenset(["the"]).__contains__) == b""

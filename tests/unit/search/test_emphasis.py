import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.search.emphasis import spans, token_weights

RECORDS = 100


def weights(text: str, frequencies: dict[str, int], *tokens: str) -> list[float]:
    """Of tokens that are found in the text one after the other; an empty one is put around it by the model."""
    offsets, at = [], 0
    for token in tokens:
        start = text.index(token, at) if token else 0
        at = start + len(token) if token else at
        offsets.append((start, start + len(token)))
    return token_weights(offsets, spans(text), frequencies, RECORDS)


def test_rare_words_weigh_more_and_common_ones_nothing() -> None:
    found = weights("when did Caroline paint", {"caroline": 90, "paint": 3}, "", "when", "did", "Caroline", "paint", "")
    assert found[:3] == [0.0, 0.0, 0.0]
    assert 0 < found[3] < found[4]
    assert found[5] == 0.0


def test_a_word_in_several_tokens_gives_its_weight_to_each() -> None:
    whole = weights("faulthandler crash", {"faulthandler": 2, "crash": 20}, "fault", "handler", "crash")
    assert whole[0] == whole[1] > whole[2] > 0


def test_an_identifier_weighs_as_its_rarest_word() -> None:
    frequencies = {"gettoken": 0, "get": 90, "token": 40, "cache": 10}
    name, other = weights("get_token cache", frequencies, "get_token", "cache")
    assert name > other


@pytest.mark.parametrize("text", ["what is it", "the"])
def test_where_nothing_tells_the_common_words_do(text: str) -> None:
    assert all(weight > 0 for weight in weights(text, {}, *text.split()))


@pytest.mark.parametrize("text", ["", "?!", "  "])
def test_without_words_all_tokens_weigh_alike(text: str) -> None:
    assert token_weights([(0, 0), (0, 1), (0, 0)], spans(text), {}, RECORDS) == [1.0, 1.0, 1.0]


def test_a_word_that_everything_has_still_tells_more_than_nothing() -> None:
    (weight,) = weights("cache", {"cache": 10 * RECORDS}, "cache")
    assert 0 < weight < 0.01


def test_characters_of_scripts_without_blanks_weigh_by_their_pairs() -> None:
    first, last = weights("小行星", {"小行": 90, "行星": 2}, "小", "星")
    assert first < last


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=20),
    st.integers(0, 50),
    st.dictionaries(st.sampled_from(["a", "ab", "cache", "中"]), st.integers(0, 10**7)),
)
def test_weights_are_numbers_and_never_all_zero(
    text: str, offsets: list[tuple[int, int]], records: int, frequencies: dict[str, int]
) -> None:
    found = token_weights(offsets, spans(text), frequencies, records)
    assert len(found) == len(offsets)
    assert all(math.isfinite(weight) and weight >= 0 for weight in found)
    assert any(found)

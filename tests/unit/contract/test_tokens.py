import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.contract.tokens import estimate_tokens, shown_tokens, utf16_length


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 0), ("ab", 1), ("abcd", 1), ("abcde", 1), ("abcdef", 2), ("用户身份", 1), ("😀", 1), ("😀😀😀", 2)],
)
def test_tokens_are_a_quarter_of_the_utf16_length_rounded_half_up(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text())
def test_utf16_length_is_that_of_the_encoding(text: str) -> None:
    assert utf16_length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


def test_tokens_are_shown_with_a_tilde() -> None:
    assert shown_tokens(61) == "~61"

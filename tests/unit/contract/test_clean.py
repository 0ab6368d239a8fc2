"""What may be kept: first tags, then secrets, and of large payloads the part that is of use."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.contract.clean import MOST_CHARS, cleaned, cleaned_payload, cut
from worker.contract.masking import MASK

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8)
    | st.sampled_from(["<private>a</private>b", "password=hunter2", "<private", "AKIAIOSFODNN7EXAMPLE", "token"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["password", "a", "<private>k</private>"]), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip
PNG = "iVBORw0KGgoAAAANSUhEUgAA"


def test_tags_go_before_secrets_are_looked_for() -> None:
    assert (
        cleaned("password=<private>x</private>hunter2 <system-reminder>be brief</system-reminder>!")
        == "password=**** !"
    )
    assert cleaned({"password": "<private>x</private>", "a": ["Bearer abc123def456"]}) == {
        "password": "",
        "a": ["Bearer ****"],
    }


@given(JSON)
def test_cleaning_again_changes_nothing(value: Any) -> None:
    once = cleaned(value)
    assert cleaned(once) == once
    assert cleaned_payload(once) == once
    assert "AKIA" not in str(once) and "hunter2" not in str(once)


@given(JSON)
def test_a_payload_of_usual_size_is_only_cleaned(value: Any) -> None:
    assert cleaned_payload(value) == cleaned(value)


def test_of_long_texts_head_and_tail_are_kept_and_the_size_is_told() -> None:
    """R174."""
    text = "BEGIN " + "word " * 4_000_000 + " END"
    kept = str(cleaned_payload(text))
    assert len(kept) < MOST_CHARS
    assert kept.startswith("BEGIN word") and kept.endswith("word  END")
    assert f"of {len(text)} characters left out" in kept
    assert cut("abcdefghij" * 3, 20) == "abcdefghijab\n... [12 of 30 characters left out] ...\nefghij"


def test_no_half_of_a_secret_is_left_where_it_is_cut() -> None:
    body = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2] * 40)
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    token = "ghp_" + "a1B2c3D4" * 5
    filler = "some words of a log\n"
    for length in range(1900, 2300, 25):
        text = (
            filler * length + key + filler * 8000 + token + filler * (900 + length % 97) + token + key + filler * 1000
        )
        kept = str(cleaned_payload(text))
        assert "MIIEvQ" not in kept and "a1B2" not in kept and len(kept) <= MOST_CHARS
    private = filler * 1000 + "<private>" + filler * 20_000 + "CANARY</private> end"
    assert str(cleaned_payload(private)).endswith(f"log\n{''} end".strip("\n"))
    assert "CANARY" not in str(cleaned_payload(private)) and len(str(cleaned_payload(private))) < 21_000


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (PNG * 350_000, "[binary data, 8400000 characters]"),
        ("data:image/png;base64," + PNG * 100, "[binary data, 2422 characters]"),
        ("see " + PNG * 100 + " there", "see [binary data, 2400 characters] there"),
        ("\n".join([PNG * 3] * 60), "[binary data, 4379 characters]"),
        ("\x00\x01" * 2000, "[binary data, 4000 characters]"),
        ("word " * 400, "word " * 400),
        ("line of text\n" * 200, "line of text\n" * 200),
    ],
)
def test_binary_data_is_told_by_its_size(text: str, kept: str) -> None:
    """R174."""
    assert cleaned_payload({"x": text}) == {"x": kept}


def test_many_items_are_fewer() -> None:
    value = {"rows": [{"id": number, "text": "x" * 100} for number in range(20_000)], "end": "here"}
    kept: Any = cleaned_payload(value)
    assert len(str(kept)) < 1.3 * MOST_CHARS
    assert kept["rows"][0] == {"id": 0, "text": "x" * 100}
    assert kept["rows"][-1].endswith("of 20000 left out]") and kept["end"] == "here"
    assert cleaned_payload(kept) == kept


def test_hostile_payloads_take_no_longer_than_they_are_long() -> None:
    began = time.process_time()
    for text in (
        "a" * 3_000_000 + "!",
        ("a" * 500 + "!") * 4000,
        (PNG + " ") * 50_000 + "!",
        "A" * 200_000 + "<private>",
    ):
        cleaned_payload(text)
    assert time.process_time() - began < 20, "linear takes less than a second"


def test_a_mask_is_kept() -> None:
    assert cleaned(f"password={MASK}") == f"password={MASK}"

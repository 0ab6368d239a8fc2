"""What is private goes, and more of it rather than less."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.contract.privacy import NAMES, TOO_DEEP, is_protocol_only, stripped, walked

PIECES = st.lists(
    st.sampled_from(
        [
            "<private>", "</private>", "<private ", "<private/>", "</private", "<private a=\"", ">", '"', "'", "<", "x",
            "<system-reminder>", "</system-reminder>", "<PRIVATE\n", "<pri", "vate>", "</", " ", "=", "<private-x>",
        ]
    ),
    max_size=24,
).map("".join)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_each_tag_goes_with_what_is_in_it(name: str) -> None:
    assert stripped(f"a <{name}>secret</{name}> b") == "a  b"
    assert stripped(f"a <{name.upper()} why='x > y' n=1>secret\n</{name} \n>b") == "a b"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>secret", "a"),
        ("a <private", "a"),
        ("a <private reason=", "a"),
        ("<private>one<private>two</private>three</private>b", "b"),
        ("<private>one<private>two</private>three", ""),
        ("a<private>x</private>b<private>y</private>c", "abc"),
        ("<private><system-reminder></private>x</system-reminder>b", "b"),
        ("<system-reminder><private>x</system-reminder>y</private>b", "b"),
        ("<private>x</privat>y</private>b", "b"),
        ("<private>x</private foo>y</private>b", "b"),
        ('<private a="</private>">x</private>b', "b"),
        ('<private a = "</private>">x</private>b', "b"),
        ("<private don't>x</private>b isn't", "b isn't"),
        ("<pri<private>x</private>vate>secret", ""),
        ("a</private>b", "ab"),
        ("<private/>secret", ""),
    ],
)
def test_nested_broken_and_hidden_ones_hide_more_rather_than_less(text: str, kept: str) -> None:
    assert stripped(text) == kept


@pytest.mark.parametrize(
    "text",
    [" plain ", "<private-x>a</private-x>", "<privateer>a</privateer>", "a < b > c", "<div>x</div>", "private", ""],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert stripped(text) == text


@given(PIECES)
def test_nothing_is_left_to_strip(text: str) -> None:
    once = stripped(text)
    assert stripped(once) == once
    assert not once or set(once) <= set(text)


@given(PIECES, st.sampled_from(NAMES), PIECES)
def test_what_is_balanced_is_gone_whatever_stands_before_it(before: str, name: str, inside: str) -> None:
    quiet = inside.replace("</", "")
    assert "CANARY" not in stripped(f"{before}<{name}>{quiet}CANARY</{name}>")


@pytest.mark.parametrize(
    "text",
    [
        "<private>" * 50_000, "<private " * 50_000, '<private a="' * 50_000, "<private a='" * 50_000 + '"',
        "</private" * 50_000, "<private></system-reminder>" * 50_000, "<pri" * 50_000 + "<private></private>" * 50_000,
        "<private a=" * 50_000 + "'",
    ],
)  # fmt: skip
def test_hostile_texts_take_no_longer_than_they_are_long(text: str) -> None:
    """R152. Twice the text takes about twice the time: a square would take four times, here some minutes."""
    began = time.process_time()
    assert stripped("a " + text).startswith("a")
    assert time.process_time() - began < 20, "linear takes a tenth of a second"


def test_values_are_walked_and_each_text_is_for_itself() -> None:
    given_: dict[str, Any] = {
        "a": "x <private>s", "b": ["<private>s</private>y", 1, None, True, 2.5],
        "<private>k</private>c": {"d": "</private>z"},
    }  # fmt: skip
    assert walked(given_, lambda text, key: stripped(text)) == {
        "a": "x",
        "b": ["y", 1, None, True, 2.5],
        "c": {"d": "z"},
    }
    assert walked("<private>", lambda text, key: stripped(text)) == ""


def test_what_is_nested_without_end_is_left_out() -> None:
    deep: Any = "<private>s"
    for _ in range(900):
        deep = [deep]
    found: Any = walked(deep, lambda text, key: stripped(text))
    while isinstance(found, list):
        (found,) = found
    assert found == TOO_DEEP


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("<task-notification>done</task-notification>", True),
        ("\n <task-notification id='1'>\n<status>ok</status>\n</task-notification> \n", True),
        ("<task-notification>a</task-notification> and mine", False),
        ("mine <task-notification>a</task-notification>", False),
        ("<task-notification>a</task-notification><task-notification>b</task-notification>", False),
        ("<task-notification>" + "x" * 300_000 + "</task-notification>", False),
        ("<task-notifications></task-notification>", False),
        ("", False),
    ],
)
def test_messages_of_the_machinery(text: str, is_so: bool) -> None:
    assert is_protocol_only(text) is is_so

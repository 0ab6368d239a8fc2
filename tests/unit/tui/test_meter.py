"""Figures against their limit, and the text of a copy."""

import pytest

from tests.tui.memory import entry_of, observation, prompt, summary
from tui.cells import meter
from tui.cells.glyphs import ASCII, UNICODE
from tui.cells.marks import ratio_badge
from tui.cells.plain import whole
from tui.state.basket import Basket, Budgeted, Marked, after, ids, read_call


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [(0, 10, "...."), (1, 1000, "#..."), (5, 10, "##.."), (9999, 10_000, "###."), (10, 10, "####"), (50, 10, "####")],
)
def test_a_bar_is_never_full_before_the_limit_and_never_empty_with_something(
    value: int, limit: int, shown: str
) -> None:
    assert meter.bar(value, limit, 4, ASCII) == shown


@pytest.mark.parametrize(
    ("read", "work", "shown"), [(10, 0, "-"), (10, 84, "8.4×"), (10, 995, "100×"), (1, 12_000, "12k×"), (0, 7, "7.0×")]
)
def test_ratio(read: int, work: int, shown: str) -> None:
    assert ratio_badge(read, work, UNICODE) == shown
    assert len(shown) <= 4


def test_a_budget_has_bounds() -> None:
    basket = Basket()
    assert after(basket, Budgeted(-1_000_000)).budget_tokens == 1_000
    assert after(basket, Budgeted(10_000_000)).budget_tokens == 200_000


def test_ids_and_call() -> None:
    basket = Basket()
    for record in (observation(7, "a"), prompt(4, "b"), summary(3, "c"), observation(9, "d")):
        basket = after(basket, Marked(entry_of(record)))
    assert ids(basket.entries) == "7 P4 S3 9"
    assert read_call(basket.entries) == ("get_observations(ids=[7, 9])", 2)


def test_a_record_as_markdown() -> None:
    text = whole(summary(88, "Find  out\nwhy", investigated="this", next_steps="that", files_read='["a.py"]'))
    assert text.splitlines()[0] == "## #S88 Find out why"
    assert "**Investigated**\nthis" in text
    assert text.endswith("**Read**\n- a.py")
    assert "Notes" not in text

"""Marks, ranges, and what is done with them."""

import pytest

from tests.tui.memory import many, observation, prompt
from tests.tui.stage import Stage
from tests.tui.test_snapshots import SIZES, check
from tui.cells.glyphs import ASCII
from tui.state.basket import BUDGET_TOKENS


def _copied(stage: Stage) -> str:
    return (stage.home / ".local/state/claude-mem/clip.txt").read_text()


async def test_space_marks_and_the_head_line_counts() -> None:
    async with Stage() as stage:
        await stage.press("space", "j", "space")
        assert "▌*  4817" in stage.text or "▌* 4817" in stage.text
        assert sum("*" in line[:3] for line in stage.screen) == 2
        read = sum(entry.read_tokens for entry in stage.state.basket.entries)
        assert f"basket 2 · {read}/8.0k ▓░░░░░░" in stage.screen[0]
        await stage.press("space")
        assert "basket 1" in stage.screen[0]


async def test_v_marks_from_here_to_there_and_escape_gives_up() -> None:
    async with Stage() as stage:
        await stage.press("j", "v", "j", "j")
        assert [line[1] for line in stage.screen[6:11]] == [" ", "·", "·", "·", " "]
        await stage.press("escape")
        assert stage.state.basket.span_from is None
        assert not stage.state.basket.entries
        await stage.press("v", "k", "k", "v")
        assert [entry.id for entry in stage.state.basket.entries] == [4817, 140, 4809]
        await stage.press("i")
        await stage.settled()
        assert sum("*" in line[:3] for line in stage.screen) == 3


async def test_brackets_travel_from_mark_to_mark() -> None:
    async with Stage() as stage:
        await stage.press("right_square_bracket")
        assert "nothing is marked" in stage.screen[-1]
        await stage.press("j", "space", "j", "j", "space", "g", "right_square_bracket")
        assert stage.state.cursor == 1
        await stage.press("right_square_bracket")
        assert stage.state.cursor == 3
        await stage.press("right_square_bracket")
        assert "no mark further on" in stage.screen[-1]
        await stage.press("left_square_bracket")
        assert stage.state.cursor == 1


async def test_marks_outlive_another_search() -> None:
    async with Stage() as stage:
        await stage.press("space", "slash", *"middleware", "enter")
        await stage.settled()
        await stage.press("space", "b")
        await stage.until(lambda: "Basket · 2 records" in stage.text)
        assert "4821" in stage.text and "4790" in stage.text


async def test_the_basket_shows_costs_against_a_budget_that_can_be_set() -> None:
    records = [observation(n, f"long {n}", narrative="word " * 4000, discovery_tokens=50_000) for n in (1, 2)]
    async with Stage(records) as stage:
        await stage.press("space", "j", "space", "b")
        await stage.until(lambda: "Basket" in stage.text)
        read = stage.state.basket.read_tokens
        assert read > BUDGET_TOKENS
        assert f"{read - BUDGET_TOKENS:,} too many" in stage.text
        assert f"{100_000 - read:,}" in stage.text
        for _ in range(3):
            await stage.press("plus")
        assert "of 11,000" in stage.text
        assert "left" in stage.text
        await stage.press("minus")
        assert "of 10,000" in stage.text


async def test_taking_out_emptying_and_undo() -> None:
    async with Stage() as stage:
        await stage.press("space", "j", "space", "b", "j", "space")
        assert [entry.id for entry in stage.state.basket.entries] == [4821]
        await stage.press("u")
        assert len(stage.state.basket.entries) == 2
        await stage.press("X")
        assert "The basket is empty" in stage.text
        await stage.press("u")
        assert len(stage.state.basket.entries) == 2
        await stage.press("u")
        assert "nothing was taken out" in stage.screen[-1]


async def test_ids_text_and_a_ready_call_are_copied_and_it_says_how() -> None:
    async with Stage(size=(120, 36)) as stage:
        await stage.press("y")
        await stage.until(lambda: "1 id copied only to " in stage.text)
        assert _copied(stage) == "4821"
        await stage.press("space", "j", "j", "space", "y")
        await stage.until(lambda: "2 ids copied" in stage.text)
        assert _copied(stage) == "4821 P140"
        await stage.press("Y")
        await stage.until(lambda: "2 records copied" in stage.text)
        text = _copied(stage)
        assert text.startswith("## #4821 Refresh token race in session worker\nbugfix, farm-api, 2026-11-25T14:32:00")
        assert "- Lock key: refresh:{user_id}, lease 5 s" in text
        assert "why are people logged out" in text
        await stage.press("b", "enter")
        await stage.until(lambda: "a call for 1 record (without 1 session or prompt) copied" in stage.text)
        assert _copied(stage) == "get_observations(ids=[4821])"


async def test_a_basket_of_prompts_has_no_call_and_says_why() -> None:
    async with Stage([prompt(4, "Do it")]) as stage:
        await stage.press("b", "enter")
        assert "the basket is empty" in stage.screen[-1]
        await stage.press("q", "space", "b", "enter")
        assert "reads observations alone" in stage.screen[-1]


async def test_a_record_that_is_gone_is_said_and_the_rest_copied() -> None:
    async with Stage(size=(120, 36)) as stage:
        await stage.press("space", "j", "space")
        await stage.settled()
        stage.memory._by_key.pop(stage.state.basket.entries[1].key)
        stage.app.asking.gateway.records.forget()
        await stage.press("Y")
        await stage.until(lambda: "1 record, 1 could not be read copied" in stage.text)


async def test_a_range_of_what_is_not_loaded_is_refused_in_words() -> None:
    async with Stage(many(5000)) as stage:
        await stage.press("v", "G", "v")
        assert "at most 500 records at once; these are 5,000" in stage.screen[-1]
        await stage.press("escape", "v", "k", "v")
        await stage.settled()
        assert len(stage.state.basket.entries) == 2


@pytest.mark.parametrize("size", SIZES)
async def test_snapshot(size: tuple[int, int]) -> None:
    async with Stage(size=size) as stage:
        await stage.press("j", "j", "j", "space", "j", "v", "j", "j", "v", "j", "v", "j", "j")
        await check("marks", stage)
        await stage.press("v", "b")
        await check("basket", stage)
        await stage.press("X")
        await check("basket-empty", stage)


async def test_ascii() -> None:
    async with Stage(many(5), glyphs=ASCII) as stage:
        await stage.press("space", "j", "v", "j", "v")
        assert stage.text.isascii()
        await stage.press("b")
        assert stage.text.isascii(), stage.text

"""The scope: one key, told in the header, followed by everything that is asked."""

from pathlib import Path

import msgspec

from tests.tui.memory import DAY_MS, NOW_MS, observation
from tests.tui.stage import Stage
from worker.contract import calls
from worker.contract.records import Record

PROJECTS = ("shop", "shop/fix", "mall")


def memory() -> list[Record]:
    return [
        observation(
            number, f"Lease {number}", at=NOW_MS - number * DAY_MS, project=PROJECTS[number % 3],
            memory_session_id=f"{number % 3}0000000-session",
        )
        for number in range(1, 10)
    ]  # fmt: skip


def asked(stage: Stage, path: str) -> dict[str, str]:
    return [params for called, params in stage.memory.asked if called == path][-1]


async def test_the_key_goes_round_and_all_questions_follow() -> None:
    async with Stage(memory(), size=(120, 36)) as stage:
        assert stage.state.entry is not None and stage.state.entry.project == "shop/fix"
        steps: tuple[tuple[str, int, dict[str, str]], ...] = (
            ("session 10000000", 3, {"session": "10000000-session"}),
            ("shop/fix", 3, {"project": "shop/fix"}),
            ("shop and worktrees", 6, {"project": "shop/*"}),
            ("all projects", 9, {}),
        )
        for header, count, scope in steps:
            await stage.press("s")
            await stage.settled()
            assert header in stage.screen[0]
            assert stage.state.rows.total == count
            for path in (calls.SEARCH, calls.FACETS):
                assert {key: asked(stage, path).get(key) for key in scope} == scope
            await stage.press("i")
            await stage.settled()
            for path in (calls.TIMELINE, calls.LANES):
                found = asked(stage, path)
                assert {key: found[key] for key in ("project", "session") if key in found} == scope
            await stage.press("i", "dollar_sign")
            await stage.settled()
            found = asked(stage, calls.COSTS)
            assert {key: found[key] for key in ("project", "session") if key in found} == scope
            await stage.press("q")
            await stage.settled()


async def test_the_footer_says_what_is_next() -> None:
    async with Stage(memory(), size=(120, 36), project="shop") as stage:
        assert "s worktrees" in stage.screen[-1]
        await stage.press("s")
        await stage.settled()
        assert "s all" in stage.screen[-1]


async def test_without_worktrees_or_a_session_these_are_passed_over() -> None:
    records: list[Record] = [observation(n, f"x {n}", memory_session_id="", at=NOW_MS - n) for n in range(3)]
    async with Stage(records) as stage:
        await stage.press("s")
        await stage.settled()
        assert stage.state.ask.project == "farm-api"
        await stage.press("s")
        await stage.settled()
        assert "all projects" in stage.screen[0]


async def test_it_is_chosen_by_name_too() -> None:
    async with Stage(memory()) as stage:
        for typed, header in (("worktrees too", "shop and worktrees"), ("this session", "session 10000000")):
            await stage.press("colon")
            await stage.settled()
            await stage.press(*("space" if letter == " " else letter for letter in typed), "enter")
            await stage.settled()
            assert header in stage.screen[0]


async def test_it_outlives_the_app(tmp_path: Path) -> None:
    kept = tmp_path / "tui.json"
    async with Stage(memory(), kept=kept) as stage:
        await stage.press("s")
        await stage.settled()
    assert msgspec.json.decode(kept.read_bytes())["session"] == "10000000-session"
    async with Stage(memory(), kept=kept) as stage:
        assert "session 10000000" in stage.screen[0]
        assert stage.state.rows.total == 3


async def test_an_empty_scope_says_where_the_key_leads() -> None:
    async with Stage(memory(), project="shop") as stage:
        await stage.press("slash", *"zebra")
        await stage.until(lambda: "No hits for zebra" in stage.text)
        assert "Searched in: project shop" in stage.text
        assert "s  searches shop and worktrees" in stage.text

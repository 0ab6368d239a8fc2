"""New records let in by themselves, and kept out while all is paused."""

from tests.tui.memory import MINUTE_MS, NOW_MS, many, observation
from tests.tui.stage import Stage
from worker.contract import calls
from worker.contract.events import StreamEvent

NEW = StreamEvent(type="new_observation", observation={"id": 1}, queueDepth=0)


def come(stage: Stage, number: int) -> None:
    """A record comes into the memory, and the stream tells."""
    stage.memory.add(observation(9000 + number, f"Came as number {number}", at=NOW_MS + number))
    stage.client.stream.put_nowait(NEW)


def rows(stage: Stage) -> list[int]:
    """The ids of the first page, as they stand."""
    return [entry.id for entry in stage.state.rows.pages[0]]


async def test_what_is_followed_comes_in_with_the_cursor_on_the_newest() -> None:
    async with Stage(many(300)) as stage:
        await stage.press("j", "j", "U")
        assert "● following" in stage.screen[0] and stage.state.cursor == 0
        for number in (1, 2):
            come(stage, number)
            await stage.until(lambda number=number: f"▌  {9000 + number}" in stage.text)  # type: ignore[misc]
            await stage.settled()
            assert " new" not in stage.screen[0]
        assert rows(stage)[:2] == [9002, 9001] and stage.state.rows.total == 302
        await stage.press("j")
        assert "no longer following" in stage.screen[-1] and "● live" in stage.screen[0]
        come(stage, 3)
        await stage.until(lambda: "▲ 1 new" in stage.screen[0])
        assert "Came as number 3" not in stage.text
        assert stage.state.entry is not None and stage.state.entry.id == 9001


async def test_records_that_come_together_are_asked_for_together() -> None:
    async with Stage(many(300)) as stage:
        await stage.press("U")
        stage.memory.asked.clear()
        for number in range(1, 201):
            come(stage, number)
        await stage.until(lambda: stage.state.rows.total == 500)
        await stage.settled()
        assert 1 <= len([path for path, _ in stage.memory.asked if path == calls.SEARCH]) <= 2
        assert rows(stage)[0] == 9200


async def test_following_lasts_as_long_as_the_list_stands_at_its_newest() -> None:
    async with Stage(many(300)) as stage:
        await stage.press("U", "g", "t")  # to where it is already, and another kind of record
        await stage.settled()
        assert "● following" in stage.screen[0]
        await stage.press("U")
        assert "no longer following" in stage.screen[-1]
        await stage.press("i", "U")
        await stage.until(lambda: "not followed: this is a timeline" in stage.text)
        await stage.press("i", "slash", *"parser", "enter", "U")
        await stage.until(lambda: "not followed: the list is not newest first" in stage.text)
        await stage.press("escape", "U", "slash", "p")
        await stage.until(lambda: "● live" in stage.screen[0] and "no longer following" in stage.screen[-1])


async def test_a_record_that_is_read_stays_and_what_came_meanwhile_comes_in_after_it() -> None:
    async with Stage(many(300)) as stage:
        await stage.press("U", "enter")
        await stage.settled()
        read = stage.state.subject
        come(stage, 1)
        await stage.until(lambda: stage.state.fresh == 1)
        await stage.settled()
        assert stage.state.subject == read
        await stage.press("q")
        await stage.until(lambda: "▌  9001" in stage.text)


async def test_while_paused_nothing_changes_and_nothing_is_missed_or_told_twice_after_that() -> None:
    async with Stage(many(300)) as stage:
        await stage.press("U", "P")
        await stage.until(lambda: "○ paused" in stage.screen[0])
        await stage.press("v", "escape")  # any key: the word about the last one goes
        before = stage.screen[1:]
        for number in (1, 2, 3):
            come(stage, number)
        stage.client.stream.put_nowait(StreamEvent(type="resync"))
        await stage.until(lambda: "▲ 3 new" in stage.screen[0])
        await stage.settled()
        assert stage.screen[1:-1] == before[:-1]
        await stage.press("P")
        await stage.settled()
        ids = rows(stage)
        assert ids[:3] == [9003, 9002, 9001] and len(set(ids)) == len(ids)
        assert " new" not in stage.screen[0] and "paused" not in stage.screen[0]


async def test_what_is_paused_without_being_followed_goes_on_where_it_stood() -> None:
    async with Stage(many(300)) as stage:
        await stage.press("j", "j", "P")
        here = stage.state.entry
        come(stage, 1)
        await stage.until(lambda: "▲ 1 new" in stage.screen[0])
        stage.break_off()
        await stage.until(lambda: "Connection lost" in stage.text)
        stage.client.failure = None
        await stage.until(lambda: "○ paused" in stage.screen[0])
        await stage.settled()
        assert rows(stage)[0] != 9001
        await stage.press("P")
        await stage.settled()
        assert rows(stage)[0] == 9001 and "● live" in stage.screen[0]
        assert stage.state.entry == here and stage.state.cursor == 3


async def test_the_first_record_of_all_waits_too() -> None:
    async with Stage([]) as stage:
        await stage.press("P")
        stage.memory.add(observation(1, "The first memory", at=NOW_MS - MINUTE_MS))
        stage.client.stream.put_nowait(NEW)
        await stage.until(lambda: "▲ 1 new" in stage.screen[0])
        assert "No memory yet" in stage.text
        await stage.press("P")
        await stage.until(lambda: "The first memory" in stage.text)

"""What another program deletes or edits, in the lists that are open, as the stream tells of it."""

import asyncio

import pytest

from tests.tui.memory import many, observation
from tests.tui.stage import Stage
from tui.deeds.linking import MOST_EDITS
from tui.state.session_tree import SessionNode
from worker.contract import calls
from worker.contract.errors import Unreachable
from worker.contract.events import StreamEvent


def delete(stage: Stage, *numbers: int) -> None:
    """Observations leave the memory, and the stream tells."""
    stage.memory.remove(numbers)
    for number in numbers:
        stage.client.stream.put_nowait(StreamEvent(type="record_deleted", kind="observation", record_id=number))


def edit(stage: Stage, *numbers: int, title: str) -> None:
    """Observations read otherwise, and the stream tells."""
    for number in numbers:
        old = next(record for record in stage.memory.records if record.id == number)
        stage.memory.replace(observation(number, title, at=old.created_at_epoch))
        stage.client.stream.put_nowait(StreamEvent(type="changed_observation", observation={"id": number}))


def row_of(stage: Stage, number: int) -> int:
    """The line of the screen on which a record stands."""
    return next(at for at, line in enumerate(stage.screen) if f" {number} " in line)


def ids_around(stage: Stage) -> set[int]:
    """Who is in the timeline."""
    return {entry.id for entry in stage.state.track.entries} if stage.state.track is not None else set()


async def test_rows_above_the_screen_and_between_it_and_the_cursor_go_and_nothing_else_moves() -> None:
    async with Stage(many(300)) as stage:
        await stage.press(*["pagedown"] * 5, *["k"] * 4)
        await stage.settled()
        here = stage.state.entry
        assert here is not None and here.id == 264
        line, top = row_of(stage, 264), stage.app.workspace.hits.scroll_offset.y
        delete(stage, 299, 298)
        await stage.until(lambda: stage.state.rows.total == 298)
        await stage.still()
        assert stage.state.entry == here and row_of(stage, 264) == line
        assert stage.app.workspace.hits.scroll_offset.y == top - 2
        assert "2 records deleted" in stage.screen[-1] and "298 records" in stage.text
        delete(stage, 266)
        await stage.until(lambda: stage.state.rows.total == 297)
        await stage.still()
        assert stage.state.entry == here and row_of(stage, 264) == line and row_of(stage, 263) == line + 1
        delete(stage, 264)
        await stage.until(lambda: stage.state.rows.total == 296)
        await stage.still()
        assert stage.state.entry is not None and stage.state.entry.id == 263
        assert row_of(stage, 263) == line and row_of(stage, 262) == line + 1
        assert "About this: Finding number 263" in stage.text
        await stage.press("j")
        assert "deleted" not in stage.screen[-1]


async def test_the_end_of_the_list_is_all_there_without_a_question_put_anew() -> None:
    async with Stage(many(130)) as stage:
        stage.memory.asked.clear()
        delete(stage, 120)
        await stage.until(lambda: stage.state.rows.total == 129)
        await stage.settled()
        await stage.press("G")
        await stage.settled()
        assert [entry.id for page in sorted(stage.state.rows.pages) for entry in stage.state.rows.pages[page]] == [
            number for number in range(130, 0, -1) if number != 120
        ]
        asked = [params for path, params in stage.memory.asked if path == calls.SEARCH]
        assert all(params["offset"] != "0" for params in asked if "offset" in params) and asked


async def test_a_record_that_is_not_loaded_leaves_the_total_and_says_nothing() -> None:
    async with Stage(many(300)) as stage:
        delete(stage, 17)
        await stage.until(lambda: "299 records" in stage.text)
        await stage.settled()
        assert "deleted" not in stage.text and stage.state.rows.total == 299


async def test_an_answer_from_before_a_deletion_that_comes_after_it_brings_nothing_back() -> None:
    async with Stage(many(300)) as stage:
        stage.client.hold["parser"] = asyncio.Event()
        await stage.press("slash", *"parser")
        await stage.until(lambda: (calls.SEARCH, "parser") in [(p, q.get("query")) for p, q in stage.memory.asked])
        delete(stage, 296)
        await stage.until(lambda: stage.state.cuts > 0)
        stage.client.hold["parser"].set()
        await stage.until(lambda: not stage.state.waiting and not stage.state.merging and stage.state.rows.total < 300)
        await stage.until(
            lambda: stage.state.rows.total == 36 and not any("number 296" in line for line in stage.screen)
        )


async def test_an_edited_record_is_read_anew_in_its_row_and_in_the_preview() -> None:
    async with Stage(many(300)) as stage:
        await stage.press("j")
        await stage.settled()
        before = stage.screen
        edit(stage, 299, 297, title="Told in other words")
        await stage.until(lambda: stage.text.count("Told in other words") >= 3)
        await stage.still()
        changed = [at for at, (old, new) in enumerate(zip(before, stage.screen, strict=True)) if old != new]
        rows = [row_of(stage, 299), row_of(stage, 297)]
        assert set(changed) - set(range(rows[1] + 1, 24)) == set(rows)
        assert stage.state.cursor == 1 and "About this: Told in other words." in stage.text


async def test_many_edits_at_once_are_one_question() -> None:
    async with Stage(many(300)) as stage:
        stage.memory.asked.clear()
        edit(stage, *range(260, 260 + MOST_EDITS + 1), title="Merged")
        await stage.until(lambda: "Merged" in stage.text)
        await stage.settled()
        assert not [path for path, _ in stage.memory.asked if path == calls.TIMELINE]


async def test_a_record_that_fills_the_screen_stays_and_is_said_to_be_gone() -> None:
    async with Stage(many(300)) as stage:
        await stage.press("j", "enter")
        await stage.settled()
        delete(stage, 299)
        await stage.until(lambda: "299 is gone; it was deleted meanwhile" in stage.text)
        await stage.press("space")
        await stage.settled()
        assert stage.state.basket.entries == ()
        await stage.press("q")
        await stage.settled()
        assert stage.state.entry is not None and stage.state.entry.id == 298
        assert "About this: Finding number 298" in stage.text


async def test_a_record_that_was_deleted_unheard_is_said_to_be_gone_when_the_list_is_read_anew() -> None:
    async with Stage(many(300)) as stage:
        await stage.press("j", "enter")
        await stage.settled()
        stage.memory.remove([299])
        stage.client.stream.put_nowait(StreamEvent(type="resync"))
        await stage.until(lambda: "299 is gone; it was deleted meanwhile" in stage.text)
        await stage.press("q")
        await stage.settled()
        assert stage.state.entry is not None and stage.state.entry.id == 298


async def test_the_timeline_keeps_the_cursor_s_line_and_what_is_marked_leaves_the_basket() -> None:
    async with Stage(many(300)) as stage:
        await stage.press(*["j"] * 10, "space", "i")
        await stage.settled()
        line, total = row_of(stage, 290), stage.state.basket.read_tokens
        assert total
        delete(stage, 287)
        await stage.until(lambda: "1 record deleted" in stage.text)
        await stage.still()
        assert row_of(stage, 290) == line and stage.state.entry is not None and stage.state.entry.id == 290
        delete(stage, 290)
        await stage.until(lambda: not stage.state.basket.entries)
        await stage.still()
        assert stage.state.entry.id == 291 and stage.state.basket.read_tokens == 0


async def test_what_is_in_the_basket_is_looked_for_after_events_were_lost() -> None:
    async with Stage(many(300)) as stage:
        await stage.press("space", "j", "space")
        await stage.settled()
        stage.memory.records[:] = [record for record in stage.memory.records if record.id != 300]
        stage.client.stream.put_nowait(StreamEvent(type="resync"))
        await stage.until(lambda: [entry.id for entry in stage.state.basket.entries] == [299])
        await stage.settled()
        assert stage.state.rows.total == 299 and stage.state.entry is not None and stage.state.entry.id == 299


async def test_a_timeline_is_looked_through_after_the_line_broke() -> None:
    async with Stage(many(300)) as stage:
        await stage.press(*["j"] * 10, "i")
        await stage.settled()
        line = row_of(stage, 290)
        stage.memory.records[:] = [record for record in stage.memory.records if record.id not in (288, 289, 290, 291)]
        old = next(record for record in stage.memory.records if record.id == 292)
        stage.memory.replace(observation(292, "Told anew", at=old.created_at_epoch))
        stage.client.stream.put_nowait(Unreachable("the worker went away"))
        await stage.until(lambda: "Told anew" in stage.text and not {288, 289, 290, 291} & ids_around(stage))
        await stage.settled()
        assert stage.state.entry is not None and stage.state.entry.id == 292 and row_of(stage, 292) == line


async def test_a_timeline_of_which_much_is_deleted_is_filled_up() -> None:
    async with Stage(many(90)) as stage:
        await stage.press(*["j"] * 70, "i")
        await stage.settled()
        assert 80 in ids_around(stage) and 90 not in ids_around(stage)
        delete(stage, *range(25, 81))
        await stage.until(lambda: 90 in ids_around(stage))
        await stage.settled()
        assert stage.state.entry is not None and stage.state.entry.id == 20


async def test_an_answer_about_what_is_around_a_record_from_before_a_deletion_brings_nothing_back() -> None:
    async with Stage(many(90)) as stage:
        await stage.press(*["j"] * 70, "i")
        await stage.settled()
        assert 80 in ids_around(stage) and 90 not in ids_around(stage)
        stage.memory.asked.clear()
        held = stage.client.hold[calls.TIMELINE] = asyncio.Event()
        await stage.press(*["j"] * 50)  # so near to an end that more is asked for
        await stage.until(lambda: calls.TIMELINE in [asked for asked, _ in stage.memory.asked])
        await stage.press(*["k"] * 30)
        delete(stage, 75)
        await stage.until(lambda: 75 not in ids_around(stage))
        held.set()
        await stage.until(lambda: 90 in ids_around(stage) and 75 not in ids_around(stage))
        await stage.settled()
        assert 75 not in ids_around(stage)


async def test_open_sessions_are_read_anew_after_events_were_lost() -> None:
    async with Stage(many(12)) as stage:
        await stage.press("S")
        await stage.until(lambda: bool(stage.state.sessions.projects))
        await stage.settled()
        while not isinstance(stage.state.sessions.node, SessionNode):
            await stage.press("j")
        await stage.press("space")
        await stage.until(lambda: "Finding number 7" in stage.text)
        stage.memory.records[:] = [record for record in stage.memory.records if record.id != 7]
        stage.client.stream.put_nowait(StreamEvent(type="resync"))
        await stage.until(lambda: "Finding number 7" not in stage.text)
        await stage.settled()
        node = stage.state.sessions.node
        assert isinstance(node, SessionNode) and node.open and "Finding number 8" in stage.text


@pytest.mark.parametrize(("key", "path"), [("dollar_sign", calls.COSTS), ("p", calls.CONTEXT_ROWS)])
async def test_what_is_summed_up_of_records_is_asked_for_anew(key: str, path: str) -> None:
    async with Stage(many(12)) as stage:
        await stage.press(key)
        await stage.settled()
        stage.memory.asked.clear()
        delete(stage, 7)
        await stage.until(lambda: path in [asked for asked, _ in stage.memory.asked])
        await stage.settled()
        stage.memory.asked.clear()
        edit(stage, 8, title="Told anew")
        await stage.until(lambda: path in [asked for asked, _ in stage.memory.asked])
        await stage.settled()


async def test_an_event_that_says_nothing_is_passed_over() -> None:
    async with Stage(many(3)) as stage:
        for event in (
            StreamEvent(type="record_deleted"),
            StreamEvent(type="record_deleted", kind="planet", record_id=1),
            StreamEvent(type="changed_planet"),
            StreamEvent(type="changed_prompt"),
        ):
            stage.client.stream.put_nowait(event)
        delete(stage, 2)
        await stage.until(lambda: stage.state.rows.total == 2)

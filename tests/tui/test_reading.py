"""A record on the whole screen: matches, related records, the way from one to the next and back."""

import asyncio

from tests.tui.memory import MINUTE_MS, NOW_MS, many, observation, prompt
from tests.tui.stage import Stage
from worker.contract import calls
from worker.contract.records import Record

SESSION = "aaaa0000-6b1e"
NIGHTS = "first night\n" + "\n" * 40 + "second night"


def _linked() -> list[Record]:
    asked = prompt(
        7, "why does it fail at night?", at=NOW_MS - 9 * MINUTE_MS, memory_session_id=SESSION, prompt_number=3
    )
    return [
        observation(101, "The cron job runs twice", at=NOW_MS - 5 * MINUTE_MS, memory_session_id=SESSION,
                    prompt_number=3, files_modified='["jobs/cron.py"]', narrative=NIGHTS),
        observation(102, "A lock for the job", at=NOW_MS - 4 * MINUTE_MS, memory_session_id=SESSION, prompt_number=3),
        observation(103, "Cron was moved last year", at=NOW_MS - 90 * MINUTE_MS, memory_session_id="other",
                    files_read='["jobs/cron.py","x.py"]'),
        asked, *many(5),
    ]  # fmt: skip


async def _read(stage: Stage, record_id: int) -> None:
    while stage.state.entry is None or stage.state.entry.id != record_id:
        await stage.press("j")
    await stage.press("enter")
    await stage.until(lambda: stage.state.reading.related_to == (stage.state.subject and stage.state.subject.key))
    await stage.settled()


async def test_related_records_stand_under_the_record_and_digits_jump_there() -> None:
    async with Stage(_linked(), size=(120, 60)) as stage:
        await _read(stage, 101)
        shown = [line.strip() for line in stage.screen]
        assert "Asked for in" in shown and "Same session" in shown and "Same files" in shown
        assert any(line.startswith("1      P7 P why does it fail") for line in shown)
        assert any(line.startswith("3     103 B Cron was moved") for line in shown)
        await stage.press("3")
        await stage.until(lambda: "About this: Cron was moved" in stage.text)
        await stage.settled()
        await stage.press("1")
        await stage.until(lambda: "first night" in stage.text)
        await stage.press("less_than_sign", "less_than_sign")
        await stage.settled()
        assert stage.state.subject is not None
        assert stage.state.subject.id == 101
        await stage.press("less_than_sign")
        assert "no jump to go back to" in stage.screen[-1]
        await stage.press("greater_than_sign")
        await stage.until(lambda: "About this: Cron was moved" in stage.text)
        await stage.press("9")
        await stage.until(lambda: "no related record 9" in stage.screen[-1])
        await stage.press("q")
        await stage.settled()
        assert stage.state.entry is not None
        assert stage.state.entry.id == 101
        assert "first night" in stage.text, "the preview is the list's again"


async def test_a_step_in_time_leaves_the_jumps_and_a_mark_is_of_what_is_read() -> None:
    async with Stage(_linked(), size=(120, 60)) as stage:
        await _read(stage, 101)
        await stage.press("2", "space")
        await stage.settled()
        assert [entry.id for entry in stage.state.basket.entries] == [102]
        before = stage.state.cursor
        await stage.press("h")
        await stage.settled()
        assert stage.state.cursor == before + 1
        assert stage.state.subject == stage.state.entry


async def test_n_goes_from_match_to_match() -> None:
    async with Stage(_linked(), size=(80, 24)) as stage:
        await stage.press("slash", *"night", "enter")
        await stage.settled()
        await _read(stage, 101)
        await stage.press("n")
        assert "line 1 of 2 with a match" in stage.screen[-1]
        await stage.press("n")
        assert "second night" in stage.text
        assert "line 2 of 2" in stage.screen[-1]
        await stage.press("n")
        assert "line 1 of 2" in stage.screen[-1]
        await stage.press("N")
        assert "line 2 of 2" in stage.screen[-1]


async def test_n_without_words_says_so() -> None:
    async with Stage() as stage:
        await stage.press("enter", "n")
        await stage.until(lambda: "no words were searched for" in stage.screen[-1])


async def test_a_record_without_relatives_has_none() -> None:
    async with Stage([observation(1, "alone", memory_session_id="", files_read=None)]) as stage:
        await stage.press("enter")
        await stage.settled()
        assert "Same" not in stage.text


async def test_neighbours_are_loaded_ahead_and_the_rest_given_up_when_the_cursor_moves() -> None:
    async with Stage(many(100)) as stage:
        stage.client.gate = asyncio.Event()
        stage.memory.asked.clear()
        await stage.press("pagedown")
        await stage.until(lambda: _records(stage) == 1)
        before = stage.state.entry
        await stage.press("pagedown", "pagedown")
        stage.client.gate.set()
        await stage.settled()
        assert before is not None and stage.state.entry is not None
        here = stage.state.entry.id
        asked = [int(path.rsplit("/", 1)[1]) for path, _ in stage.memory.asked if path.startswith("/api/observation/")]
        assert asked[0] == before.id
        assert asked[-7:] == [here, here - 1, here + 1, here - 2, here + 2, here - 3, here + 3]
        assert len(asked) <= 9, "those of the first stop were not loaded after all"
        stage.memory.asked.clear()
        await stage.press("j")
        await stage.settled()
        assert _records(stage) == 1, "its neighbours were there but one"
        assert stage.state.shown_key == stage.state.entry.key


def _records(stage: Stage) -> int:
    return sum(path.startswith(calls.OBSERVATION.split("{")[0]) for path, _ in stage.memory.asked)

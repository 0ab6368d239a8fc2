"""What a person does, from key to screen."""

import asyncio
from collections.abc import Sequence

import pytest

from tests.processes import PATIENCE_S
from tests.tui.memory import MINUTE_MS, NOW_MS, Params, many, observation, prompt, summary
from tests.tui.stage import SETTINGS, Stage
from tests.tui.test_settings import VALUES
from tui.deeds import linking
from tui.state import facts
from tui.state.model import PAGE, Link, View
from worker.contract import calls
from worker.contract.errors import MemError, Unavailable
from worker.contract.events import StreamEvent
from worker.contract.records import Record, RecordKey, RecordKind, key_of
from worker.contract.search import Degraded
from worker.contract.settings import Settings

NEW = StreamEvent(type="new_observation", observation={"id": 1}, queueDepth=2)


def searches(asked: Sequence[tuple[str, Params]]) -> list[str]:
    """The words of every search, in order."""
    return [params.get("query", "") for path, params in asked if path == calls.SEARCH]


async def test_the_newest_records_stand_there_at_once() -> None:
    async with Stage() as stage:
        assert stage.state.link is Link.LIVE
        assert "Refresh token race in session worker" in stage.text
        assert "found for 9.4k" in stage.text
        assert "123 records · newest first · 3 ms" in stage.text


async def test_typing_searches_once_it_pauses_and_marks_what_was_found() -> None:
    async with Stage(many(5000)) as stage:
        stage.memory.asked.clear()
        await stage.press("slash")
        for end in range(1, 7):
            stage.app.workspace.search.box.value = "parser"[:end]
            await stage.pilot.pause()
        await stage.until(lambda: stage.state.answered is not None and stage.state.answered.text == "parser")
        await stage.settled()
        assert "625 hits · words" in stage.text
        # A busy machine may pause between two keys for as long as a person does.
        asked = searches(stage.memory.asked)
        assert asked[-1] == "parser" and len(asked) <= 3


async def test_hits_by_words_at_once_and_those_by_meaning_when_they_come() -> None:
    async with Stage() as stage:
        meant = [RecordKey(RecordKind.OBSERVATION, number) for number in (4755, 4733)]
        stage.memory.meant = (*meant, RecordKey(RecordKind.OBSERVATION, 4769))
        gate = stage.client.hold["phase two"] = asyncio.Event()
        await stage.press("slash", *"session", "enter")
        await stage.until(lambda: "5 hits · words… ·" in stage.text)
        assert "kw2" in stage.text and "v1" not in stage.text
        await stage.press("j", "j", "j")
        here = stage.state.entry
        gate.set()
        await stage.until(lambda: "6 hits · words + meaning" in stage.text)
        assert here is not None and stage.state.entry is not None
        assert (stage.state.entry.key, stage.state.cursor) == (here.key, 1)
        assert "kw4 v3" in next(line for line in stage.screen if line.startswith("▌"))
        assert " v2" in next(line for line in stage.screen if "4733" in line)


async def test_a_new_key_ends_both_halves_of_an_answer() -> None:
    async with Stage() as stage:
        stage.memory.meant = (RecordKey(RecordKind.OBSERVATION, 4733),)
        gate = stage.client.hold["phase two"] = asyncio.Event()
        await stage.press("slash", *"rac")
        await stage.until(lambda: stage.state.merging)
        stage.memory.meant = ()
        await stage.press("e")
        await stage.until(lambda: stage.state.ask.text == "race" and stage.state.merging)
        gate.set()
        await stage.settled()
        assert "2 hits · words + meaning" in stage.text
        assert "plan page" not in stage.text


async def test_meaning_that_fails_leaves_the_hits_by_words_and_says_so() -> None:
    async with Stage(size=(120, 36)) as stage:
        stage.memory.meant = ()
        gate = stage.client.hold["phase two"] = asyncio.Event()
        await stage.press("slash", *"race")
        await stage.until(lambda: stage.state.merging)
        stage.client.failure = Unavailable("out of breath")
        gate.set()
        await stage.until(lambda: "2 hits · words only: out of breath" in stage.text)
        assert "Refresh token race" in stage.text
        assert "Search failed" not in stage.text


async def test_what_was_asked_while_the_index_was_opened_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "AGAIN_S", 0.05)
    async with Stage(size=(120, 36)) as stage:
        stage.memory.meant, stage.memory.half_answered = (), Degraded.INDEX_STARTING
        await stage.press("slash", *"race", "enter")
        await stage.until(lambda: stage.state.degraded == "index_starting")
        await stage.until(lambda: len(searches(stage.memory.asked)) > 8)  # for as long as it takes
        stage.memory.meant, stage.memory.half_answered = (RecordKey(RecordKind.OBSERVATION, 4733),), None
        await stage.until(lambda: "3 hits · words + meaning" in stage.text)
        await stage.settled()
        asked = len(searches(stage.memory.asked))
        await stage.press("j", "k")
        await stage.settled()
        assert len(searches(stage.memory.asked)) == asked


async def test_who_switched_meaning_off_is_asked_for_words_once() -> None:
    async with Stage() as stage:
        await stage.press("slash", *"race")
        await stage.until(lambda: "2 hits · words ·" in stage.text)
        stage.memory.asked.clear()
        await stage.press("backspace")
        await stage.settled()
        assert searches(stage.memory.asked) == ["rac"]


async def test_the_score_card_says_why_a_hit_is_here() -> None:
    async with Stage() as stage:
        stage.memory.meant = (RecordKey(RecordKind.OBSERVATION, 4771),)
        await stage.press("slash", *"session", "enter")
        await stage.until(lambda: "words + meaning" in stage.text)
        await stage.settled()
        await stage.press("g", "c")
        await stage.until(lambda: "Why it is here" in stage.text)
        entry = stage.state.entry
        assert entry is not None
        assert f"#{entry.key}" in stage.text
        assert "words     place" in stage.text
        await stage.press("q", "escape")
        await stage.settled()
        await stage.press("c")
        await stage.until(lambda: "Nothing here is ranked" in stage.text)


async def test_o_orders_by_time_and_worth() -> None:
    async with Stage() as stage:
        await stage.press("j", "O")
        await stage.settled()
        assert "oldest first" in stage.text
        assert stage.state.entry is not None
        assert (stage.state.entry.id, stage.state.cursor) == (4817, 121)
        await stage.press("g")
        await stage.settled()
        before = stage.state.entry
        await stage.press("l")
        await stage.settled()
        assert before is not None and stage.state.entry is not None
        assert stage.state.entry.created_at_epoch >= before.created_at_epoch


async def test_a_late_answer_does_not_replace_a_newer_one() -> None:
    async with Stage() as stage:
        gate = stage.client.hold["a"] = asyncio.Event()
        await stage.press("slash", "a")
        await stage.until(lambda: "a" in searches(stage.memory.asked))
        await stage.press("u", "t", "h")
        await stage.until(lambda: stage.state.answered is not None and stage.state.answered.text == "auth")
        gate.set()
        await stage.settled()
        assert stage.state.answered is not None
        assert stage.state.answered.text == "auth"
        assert "auth" in stage.app.workspace.search.box.value


async def test_a_slow_answer_is_said_without_moving_anything() -> None:
    async with Stage() as stage:
        gate = stage.client.hold["race"] = asyncio.Event()
        await stage.press("slash", *"race")
        await stage.until(lambda: "searching…" in stage.text)
        assert "Refresh token race" in stage.text
        gate.set()
        await stage.until(lambda: "2 hits · words" in stage.text)


async def test_the_cursor_stays_on_its_record_when_the_list_is_read_again() -> None:
    async with Stage() as stage:
        await stage.press("down", "down", "down")
        key = stage.state.entry and stage.state.entry.key
        stage.memory.add(*(observation(9000 + number, "newer", at=NOW_MS + number) for number in range(5)))
        await stage.press("r")
        await stage.settled()
        assert stage.state.cursor == 8
        assert stage.state.entry is not None
        assert stage.state.entry.key == key
        assert "▌" in next(line for line in stage.screen if "4809" in line)


async def test_the_cursor_is_found_again_far_down_a_long_list() -> None:
    """The list is read page by page, so the row has to be worked out from the record's time."""
    async with Stage(many(5000)) as stage:
        await stage.press("G", "k", "k")
        await stage.settled()
        assert stage.state.entry is not None
        assert stage.state.entry.id == 3
        stage.memory.add(*(observation(9000 + number, "newer", at=NOW_MS + number) for number in range(250)))
        await stage.press("r")
        await stage.settled()
        assert stage.state.entry.id == 3
        assert stage.state.cursor == 5247


async def test_5000_rows_to_10_and_back_without_stalling() -> None:
    """R222."""
    records = many(5000)
    records[1234:1244] = [observation(1235 + n, "needle", at=NOW_MS - (3765 - n) * MINUTE_MS) for n in range(10)]
    async with Stage(records) as stage:
        await stage.press("j", "j")
        chosen = stage.state.entry
        async with asyncio.timeout(PATIENCE_S):  # it took minutes; a busy machine may take seconds
            stage.app.workspace.search.box.value = "needle"
            await stage.until(lambda: stage.state.rows.total == 10 and not stage.state.waiting)
            stage.app.workspace.search.box.value = ""
            await stage.until(lambda: stage.state.rows.total == 5000 and not stage.state.waiting)
        assert stage.state.entry == chosen


async def test_100_000_rows_are_read_in_windows() -> None:
    async with Stage(many(100_000)) as stage:
        stage.memory.asked.clear()
        await stage.press("G")
        await stage.settled()
        assert "Finding number 1 about" in stage.text
        asked = [params for path, params in stage.memory.asked if path == calls.SEARCH]
        assert all(int(params["limit"]) <= PAGE for params in asked)
        assert len(asked) <= 4
        await stage.press("g", "pagedown", "pagedown")
        await stage.settled()
        assert "…" not in stage.screen[6]


async def test_i_shows_what_came_before_and_after_and_comes_back_to_the_same_instant() -> None:
    async with Stage() as stage:
        await stage.press("j", "j", "j", "j", "i")
        await stage.settled()
        assert stage.state.view is View.TIMELINE
        assert "Wed 25 Nov, today" in stage.text
        assert "◆" in next(line for line in stage.screen if "4790 11:02" in line)
        await stage.press("l", "l")
        await stage.settled()
        here = stage.state.entry
        assert here is not None
        assert here.key == RecordKey(RecordKind.PROMPT, 140)
        await stage.press("i")
        await stage.until(lambda: stage.state.view is View.LIST)
        assert stage.state.entry is not None
        assert stage.state.entry.key == here.key


async def test_timeline_of_a_long_memory_is_read_on_as_the_cursor_walks() -> None:
    async with Stage(many(2000)) as stage:
        await stage.press("i")
        await stage.settled()
        for _ in range(15):
            await stage.press("pageup")
            await stage.settled()
        assert stage.state.entry is not None
        gone = 2000 - stage.state.entry.id
        assert gone > 100
        await stage.press("i")
        await stage.settled()
        assert stage.state.cursor == gone


async def test_a_record_that_is_no_hit_leaves_the_cursor_where_it_was() -> None:
    async with Stage() as stage:
        await stage.press("slash", *"middleware", "enter")
        await stage.settled()
        await stage.press("i", "l", "i")
        await stage.settled()
        await stage.until(lambda: stage.state.view is View.LIST)
        assert "is not among the hits" in stage.text


async def test_new_records_raise_a_badge_and_r_brings_them_in() -> None:
    async with Stage() as stage:
        before = stage.state.rows
        for _ in range(12):
            stage.client.stream.put_nowait(NEW)
        await stage.until(lambda: stage.state.fresh == 12)
        assert "▲ 12 new" in stage.screen[0]
        assert stage.state.rows is before
        stage.memory.add(observation(9001, "Brand new", at=NOW_MS))
        await stage.press("r")
        await stage.settled()
        assert "Brand new" in stage.text
        assert "new" not in stage.screen[0]
        assert stage.state.entry is not None
        assert stage.state.entry.id == 4821


async def test_going_to_the_top_brings_in_what_is_new() -> None:
    async with Stage() as stage:
        stage.client.stream.put_nowait(NEW)
        await stage.until(lambda: stage.state.fresh == 1)
        stage.memory.add(observation(9001, "Brand new", at=NOW_MS))
        await stage.press("j", "g")
        await stage.settled()
        assert stage.state.entry is not None
        assert stage.state.entry.id == 9001


async def test_resync_reads_the_list_again() -> None:
    async with Stage() as stage:
        stage.memory.add(observation(9001, "Came in the gap", at=NOW_MS))
        stage.client.stream.put_nowait(StreamEvent(type="resync"))
        await stage.until(lambda: "Came in the gap" in stage.text)


async def test_a_lost_worker_is_said_and_found_again_with_the_selection() -> None:
    async with Stage() as stage:
        await stage.press("j", "j")
        entry = stage.state.entry
        stage.break_off("the cable is out")
        await stage.until(lambda: stage.state.link is Link.LOST)
        assert "the cable is out" in stage.text
        assert "Refresh token race" in stage.text
        await stage.press("slash", *"tok")
        await stage.until(lambda: bool(stage.state.failed))
        stage.client.failure = None
        await stage.until(lambda: stage.state.link is Link.LIVE and not stage.state.waiting)
        await stage.settled()
        assert "the cable is out" not in stage.text
        assert stage.app.workspace.search.box.value == "tok"
        assert stage.state.entry is not None
        assert entry is not None


async def test_a_worker_that_does_not_start_is_a_banner_and_r_tries_again_at_once() -> None:
    fails = True

    def ensure(settings: Settings) -> None:
        if fails:
            raise Unavailable("the worker ended at once: [/ no module [b")

    async with Stage(ensure=ensure, started=False) as stage:
        stage.app.asking.gateway.pause_s = lambda attempt: 3600
        said = (
            "The worker does not answer: the worker ended at once: [/ no module [b. Trying again by itself; r does so"
        )
        await stage.until(lambda: said in " ".join(line.strip() for line in stage.screen))
        await stage.press("slash", *"rac", "escape", *"race", "tab")
        fails = False
        await stage.press("r")
        await stage.until(lambda: "2 hits" in stage.text)
        assert stage.app.workspace.search.box.value == "race"


async def test_a_worker_that_does_not_start_is_tried_again_by_itself_and_the_demo_needs_none() -> None:
    """R105: whoever holds the port may let go of it."""
    fails = True
    tried = 0

    def ensure(settings: Settings) -> None:
        nonlocal tried
        if not settings.demo:
            tried += 1
            if fails:
                raise Unavailable("port 45999 is taken by another program")

    async with Stage(ensure=ensure, started=False, demo_records=many(30)) as stage:
        await stage.until(lambda: "M  opens a demo memory" in stage.text and tried > 2)
        assert "M demo memory" in stage.screen[-1]
        await stage.press("M")
        await stage.until(lambda: "Finding number 30" in stage.text)
        await stage.press("M")
        await stage.until(lambda: "Nothing to show yet" in stage.text)
        fails = False
        await stage.until(lambda: "Refresh token race" in stage.text)


async def test_what_is_typed_while_the_worker_starts_is_searched_for_then() -> None:
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ensure(settings: Settings) -> None:
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(PATIENCE_S)

    async with Stage(ensure=ensure, started=False) as stage:
        await stage.until(lambda: "starting worker" in stage.text)
        await stage.press("slash", *"race")
        gate.set()
        await stage.until(lambda: "2 hits" in stage.text)


async def test_first_run_says_what_this_is_and_a_key_opens_the_demo() -> None:
    async with Stage([], demo_records=many(30)) as stage:
        assert "No memory yet" in stage.text
        assert "/memory/claude-mem.db" in stage.text
        assert "M  opens a demo memory" in stage.text
        await stage.press("M")
        await stage.until(lambda: "Finding number 30" in stage.text)
        assert "DEMO" in stage.screen[0]
        assert stage.ensured == [SETTINGS, SETTINGS.for_demo()]
        assert stage.client.closed
        await stage.press("M")
        await stage.until(lambda: "No memory yet" in stage.text)
        assert "DEMO" not in stage.screen[0]


async def test_the_first_record_of_all_comes_in_by_itself() -> None:
    async with Stage([]) as stage:
        stage.memory.add(observation(1, "The first memory"))
        stage.client.stream.put_nowait(NEW)
        await stage.until(lambda: "The first memory" in stage.text)


async def test_no_hits_says_why_and_which_key_helps() -> None:
    async with Stage(project="farm-api") as stage:
        await stage.press("slash", *"zebra")
        await stage.until(lambda: "No hits for zebra" in stage.text)
        assert "project farm-api" in stage.text
        await stage.press("enter")
        await stage.until(lambda: "no hits to go to" in stage.text)
        await stage.press("escape")
        await stage.until(lambda: "Refresh token race" in stage.text)


async def test_kinds_cycle() -> None:
    async with Stage() as stage:
        seen = []
        for _ in range(4):
            await stage.press("t")
            await stage.settled()
            seen.append((stage.screen[0].split("●")[0].split()[-1], stage.state.rows.total))
        assert seen == [("observations", 121), ("sessions", 1), ("prompts", 1), ("projects", 123)]


async def test_enter_opens_the_record_and_plain_keys_lead_back() -> None:
    """R232: every one of them, without Escape."""
    async with Stage() as stage:
        for back in ("q", "backspace", "escape"):
            await stage.press("enter")
            await stage.until(lambda: type(stage.app.screen).__name__ == "RecordScreen")
            assert "lease of 5 s" in stage.text
            await stage.press(back)
            await stage.until(lambda: type(stage.app.screen).__name__ == "Workspace")
        for keys in (("escape",), ("tab",), ("enter", "q"), ("enter", "backspace")):
            await stage.press("question_mark")
            await stage.until(lambda: "go to the search box" in stage.text)
            await stage.press(*keys)
            await stage.until(lambda: type(stage.app.screen).__name__ == "Workspace")


async def test_in_the_record_h_and_l_step_through_time() -> None:
    async with Stage() as stage:
        await stage.press("enter", "h")
        await stage.until(lambda: "Choose rotating refresh tokens" in stage.text)
        await stage.press("l")
        await stage.until(lambda: "Refresh token race" in stage.text)
        await stage.press("l")
        await stage.until(lambda: "nothing beyond" in stage.text)


async def test_opening_shows_the_new_record_even_before_the_preview_did() -> None:
    async with Stage() as stage:
        await stage.press("j", "enter")
        await stage.until(lambda: "Choose rotating refresh tokens" in stage.text)


async def test_keys_that_cannot_act_say_why() -> None:
    async with Stage() as stage:
        await stage.press("M")
        assert "not empty" in stage.screen[-1]
        await stage.press("x")
        assert "? shows all keys" in stage.screen[-1]
        await stage.press("backspace")
        assert "q quits" in stage.screen[-1]
        await stage.press("j")
        assert "open" in stage.screen[-1]
        await stage.press("slash", *"tok", "enter")
        await stage.settled()
        await stage.press("h")
        assert "i opens the timeline" in stage.screen[-1]


async def test_tab_walks_the_panes_and_the_footer_follows() -> None:
    async with Stage() as stage:
        assert "quit" in stage.screen[-1]
        await stage.press("tab")
        assert "to the list" in stage.screen[-1]
        await stage.press("tab")
        assert "to the hits" in stage.screen[-1]
        await stage.press("shift+tab", "shift+tab")
        assert "quit" in stage.screen[-1]


async def test_tab_is_quick_with_much_text() -> None:
    """R220."""
    body = "\n".join(f"line {number} of a long narrative" for number in range(5000))
    async with Stage([observation(number, f"big {number}", narrative=body) for number in range(1, 51)]) as stage:
        loop = asyncio.get_running_loop()
        took: list[float] = []
        for _ in range(6):
            before = loop.time()
            await stage.press("tab")
            took.append(loop.time() - before)
        assert min(took) < 2.0  # of which a pilot's key press waits 0.06 by itself
        before = loop.time()
        await stage.press("enter")
        await stage.until(lambda: "line 10 of" in stage.text)
        assert loop.time() - before < 10.0


async def test_a_longer_record_can_be_read_to_its_end() -> None:
    """R224."""
    async with Stage() as stage:
        await stage.press("enter")
        longer = observation(4821, "title " * 50, narrative="\n".join(f"row {n}" for n in range(60)) + "\nthe very end")
        stage.memory.replace(longer)
        await stage.press("q", "r")
        await stage.settled()
        await stage.until(lambda: "title title" in stage.text)
        await stage.press("enter", "G")
        await stage.until(lambda: "the very end" in stage.text)


@pytest.mark.parametrize("record", [summary(3, "What was asked"), prompt(4, "Do it\nplease")])
async def test_every_kind_of_record_can_be_read(record: Record) -> None:
    async with Stage([record]) as stage:
        assert str(key_of(record)) in stage.text
        await stage.press("enter")
        await stage.until(lambda: "farm-api" in stage.text)


async def test_a_record_that_is_gone_says_so() -> None:
    async with Stage() as stage:
        stage.memory._by_key.pop(RecordKey(RecordKind.OBSERVATION, 4817))
        stage.app.asking.gateway.records.forget()
        await stage.press("j")
        await stage.until(lambda: "4817 is gone" in stage.text)


async def test_a_failed_search_keeps_the_text_and_the_list() -> None:
    async with Stage() as stage:
        stage.client.failure = MemError("the disk is on fire")
        await stage.press("slash", *"race")
        await stage.until(lambda: "the disk is on fire" in stage.text)
        assert "Choose rotating" in stage.text
        stage.client.failure = None
        await stage.press("tab", "r")
        await stage.until(lambda: "2 hits" in stage.text)
        assert "on fire" not in stage.text


async def test_refresh_reads_the_timeline_too() -> None:
    async with Stage() as stage:
        await stage.press("j", "i")
        await stage.settled()
        stage.memory.add(observation(9001, "Squeezed in", at=NOW_MS - 38 * MINUTE_MS))
        await stage.press("r")
        await stage.until(lambda: "Squeezed in" in stage.text)
        assert stage.state.view is View.TIMELINE
        assert stage.state.entry is not None
        assert stage.state.entry.id == 4817


async def test_while_the_box_has_the_letters_notes_say_tab_first() -> None:
    async with Stage([]) as stage:
        assert " M  opens a demo memory" in stage.text
        await stage.press("slash")
        assert "Tab M  opens a demo memory" in stage.text
        await stage.press("tab")
        assert "Tab M" not in stage.text


async def test_a_word_is_over_with_the_next_key() -> None:
    async with Stage() as stage:
        await stage.press("M")
        assert "not empty" in stage.screen[-1]
        await stage.press("slash")
        assert "to the hits" in stage.screen[-1]


async def test_the_wheel_and_a_click_and_a_double_click() -> None:
    async with Stage() as stage:
        await stage.pilot.click("#hits", offset=(10, 3))
        await stage.settled()
        assert stage.state.cursor == 3
        await stage.pilot.click("#hits", offset=(10, 5), times=2)
        await stage.until(lambda: "401 after laptop sleep" in stage.text and "back" in stage.screen[-1])


async def test_q_quits_from_the_list_and_only_from_there() -> None:
    async with Stage() as stage:
        await stage.press("i")
        await stage.until(lambda: stage.state.view is View.TIMELINE)
        await stage.press("q")
        await stage.until(lambda: stage.state.view is View.LIST)
        await stage.press("slash", "q", "escape")
        assert stage.app.is_running
        await stage.press("escape", "q")
        await stage.until(lambda: not stage.app.is_running)


async def test_the_theme_key_turns_the_light_on() -> None:
    async with Stage() as stage:
        await stage.press("T")
        assert stage.app.theme == "claude-mem-light"
        await stage.press("T")
        assert stage.app.theme == "claude-mem-dark"


@pytest.mark.parametrize("size", [(40, 20), (30, 12), (20, 8)])
async def test_how_we_stand_with_the_worker_is_in_the_narrowest_head(size: tuple[int, int]) -> None:
    async with Stage(size=size, project="a-project-with-a-long-name", guarded=True) as stage:
        for _ in range(12):
            stage.client.stream.put_nowait(StreamEvent(type="new_observation", observation={}))
        await stage.until(lambda: stage.state.fresh == 12)
        await stage.press("t")
        await stage.still()
        assert stage.screen[0].endswith("● live")
        stage.app.tell(facts.StreamLost("the cable is out"))
        await stage.still()
        assert stage.screen[0].endswith("○ lost")
        assert "READ" in stage.screen[0]


async def test_in_a_very_narrow_pane_no_figure_no_key_and_no_way_out_is_cut() -> None:
    async with Stage(many(1_200), size=(40, 20)) as stage:
        await stage.press("slash")
        await stage.still()
        assert stage.screen[-1].strip() == "↵ to the hits   Esc leave"
        await stage.press("tab", "f")
        await stage.settled()
        await stage.until(lambda: any(line.endswith("1,200") for line in stage.screen))
        assert stage.screen[-1].strip().endswith("? keys   q done")
        stage.memory.surveyed.settings = VALUES
        await stage.press("q")
        await stage.until(lambda: stage.app.screen is stage.app.workspace)
        await stage.press("E")
        await stage.until(lambda: "CONTEXT" in stage.text)
        names = [line.strip("▌ ").split()[0] for line in stage.screen if "_" in line]
        assert len(names) == len({*names}) > 2

"""Costs, sessions, the next start and health, as a person uses them."""

import msgspec
import pytest

from tests.tui.memory import DAY_MS, NOW_MS, many, observation
from tests.tui.stage import Stage
from tests.tui.surveys import plan
from tests.tui.test_snapshots import SIZES, check
from tui.cells.glyphs import ASCII
from tui.keymap import places, table
from tui.screens.guide import GuideScreen
from tui.screens.palette import PaletteScreen
from tui.screens.survey import SurveyScreen
from tui.screens.workspace import Workspace
from tui.state.costs import Part, Window
from tui.state.session_tree import EntryNode, ProjectNode, SessionNode
from worker.contract import calls
from worker.contract.context import ContextPlan
from worker.contract.index import IndexState
from worker.contract.records import Record

NASTY = "\x1b[2J\x1b]0;owned\x07 [bold]修复[/] 👨‍👩‍👧 very " + "long " * 40


def _asked(stage: Stage, path: str) -> list[dict[str, str]]:
    return [params for asked, params in stage.memory.asked if asked == path]


async def _open(stage: Stage, key: str) -> None:
    """Open one of the screens, and wait until all of it is laid out: its head grows with what it is told."""
    await _opened(stage, key)
    await stage.still()


async def _opened(stage: Stage, key: str) -> None:
    before = stage.app.screen
    await stage.press(key)
    await stage.until(lambda: stage.app.screen is not before and _has_room(stage.app.screen))
    await stage.settled()


def _has_room(screen: object) -> bool:
    return isinstance(screen, SurveyScreen) and screen.is_mounted and screen.status.size.width > 0


@pytest.mark.parametrize(
    ("key", "paths"),
    [
        ("dollar_sign", [calls.COSTS]),
        ("S", [calls.PROJECTS]),
        ("p", [calls.CONTEXT_ROWS]),
        ("exclamation_mark", [calls.OVERVIEW, calls.LOGS]),
    ],
)
async def test_a_screen_asks_once_when_it_is_opened_and_no_more(key: str, paths: list[str]) -> None:
    async with Stage() as stage:
        stage.memory.surveyed.plan = plan("farm-api")
        stage.memory.asked.clear()
        await _open(stage, key)
        await stage.press("j", "k", "J", "G", "g")
        await stage.settled()
        assert [path for path, _ in stage.memory.asked] == paths
        await stage.press("q")
        await stage.until(lambda: isinstance(stage.app.screen, Workspace))


@pytest.mark.parametrize(
    ("place", "key"),
    [
        (places.COSTS, "dollar_sign"),
        (places.SESSIONS, "S"),
        (places.NEXT_START, "p"),
        (places.HEALTH, "exclamation_mark"),
    ],
)
@pytest.mark.parametrize("known", [True, False], ids=["full", "empty"])
async def test_every_key_does_something_or_says_why(place: str, key: str, known: bool) -> None:
    async with Stage(None if known else []) as stage:
        stage.memory.surveyed.plan = plan("farm-api") if known else None
        for action in table.at(place):
            while not isinstance(stage.app.screen, Workspace):
                await stage.press("escape" if isinstance(stage.app.screen, PaletteScreen | GuideScreen) else "q")
                await stage.pilot.pause()
            await _opened(stage, key)
            before = stage.text
            await stage.press(action.keys[0])
            await stage.settled()
            assert stage.app.faults == [], action.name
            assert "means nothing here" not in stage.text, action.name
            quiet = {"down", "up", "page_down", "page_up", "top", "bottom", "again", "plan_again", "group", "fold"}
            assert stage.text != before or action.name in {*quiet, *_OPENS}, action.name


_OPENS = {"costs", "sessions", "next_start", "health"}
"""Each does nothing where it is open already."""


async def test_from_one_of_these_screens_to_another_and_back_by_one_key() -> None:
    async with Stage() as stage:
        for key, title in (
            ("dollar_sign", "COST"),
            ("exclamation_mark", "HEALTH"),
            ("S", "SESSIONS"),
            ("p", "NEXT SE"),
        ):
            await _open(stage, key)
            await stage.until(lambda title=title: title in stage.screen[0])  # type: ignore[misc]
            assert len([screen for screen in stage.app.screen_stack if isinstance(screen, SurveyScreen)]) == 1
        await stage.press("q")
        await stage.until(lambda: isinstance(stage.app.screen, Workspace))
        state = stage.state
        assert not (state.costs.open or state.sessions.open or state.next_start.open or state.health.open)


async def test_costs_zoom_in_and_out_and_end_at_the_records() -> None:
    async with Stage(size=(80, 24)) as stage:
        await _open(stage, "dollar_sign")
        await stage.press("right_square_bracket")
        await stage.settled()
        assert stage.state.costs.window is Window.MONTH
        since = [params.get("dateStart") for params in _asked(stage, calls.COSTS)]
        assert len(since) == 2 and since[1] < since[0]  # type: ignore[operator]
        await stage.press("j", "enter")
        await stage.settled()
        assert stage.state.costs.part == Part("web")
        assert _asked(stage, calls.COSTS)[-1]["project"] == "web"
        await stage.press("u")
        await stage.settled()
        assert stage.state.costs.part == Part()
        await stage.press("u")
        assert "this is all of it" in stage.screen[-1]
        await stage.press("g", "tab")
        await stage.settled()
        await stage.press("enter")
        await stage.settled()
        session = stage.state.costs.part.session
        assert session is not None and _asked(stage, calls.COSTS)[-1]["session"] == session.session
        kinds = stage.state.costs.answer
        assert kinds is not None
        wanted = kinds.types[0]
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, Workspace))
        await stage.settled()
        box = stage.app.workspace.search.box.value
        assert box == f"since:30d session:{session.session} type:{wanted.value}" == stage.state.ask.text
        assert stage.state.rows.total == wanted.spent.records


async def test_what_never_came_back_is_not_said_before_anything_was_counted() -> None:
    async with Stage(size=(80, 24)) as stage:
        stage.memory.surveyed.counting = False
        await _open(stage, "dollar_sign")
        assert "which records never come back is known once some did" in stage.text
        assert [line for line in stage.screen if "farm-api" in line and line.endswith("-")]


@pytest.mark.parametrize("columns", [40, 50, 64])
@pytest.mark.parametrize("counted", [True, False])
async def test_what_stands_above_is_said_in_fewer_words_where_there_is_little_room(columns: int, counted: bool) -> None:
    async with Stage(size=(columns, 24)) as stage:
        stage.memory.surveyed.plan = plan("farm-api")
        stage.memory.surveyed.counting = counted
        for key, first, last, told in (
            ("dollar_sign", "  spent", "  a day", 4),
            ("p", " NEXT SESSION", "  Given", 5),
        ):
            await _open(stage, key)
            starts = [number for number, line in enumerate(stage.screen) if line.startswith((first, last))]
            head = stage.screen[starts[0] : starts[-1] + 1]
            assert len(head) == told
            assert not any("…" in line for line in head), head


async def test_another_project_is_chosen_by_name_while_a_screen_is_open() -> None:
    async with Stage() as stage:
        stage.memory.surveyed.plan = plan("web")
        for key, path in (("p", calls.CONTEXT_ROWS), ("dollar_sign", calls.COSTS)):
            await _open(stage, key)
            await stage.press("colon")
            await stage.settled()
            await stage.press(*("mizu" if key == "p" else "infra"))
            await stage.until(lambda: "project " in stage.text)
            await stage.press("enter")
            await stage.settled()
            wanted = "mizu-docs" if key == "p" else "infra"
            assert isinstance(stage.app.screen, SurveyScreen)
            assert _asked(stage, path)[-1]["project"] == wanted == stage.state.ask.project


@pytest.mark.parametrize("key", ["q", "escape", "backspace"])
async def test_out_of_the_costs_is_a_step_at_a_time(key: str) -> None:
    async with Stage(size=(80, 24)) as stage:
        await _open(stage, "dollar_sign")
        assert "q close" in stage.screen[-1]
        await stage.press("right_square_bracket")
        await stage.settled()
        await stage.press("j", "enter")
        await stage.settled()
        await stage.press("enter")
        await stage.settled()
        assert stage.state.costs.part.session is not None and "q back" in stage.screen[-1]
        await stage.press(key)
        await stage.settled()
        assert stage.state.costs.part == Part("web")
        await stage.press(key)
        await stage.settled()
        assert stage.state.costs.part == Part() and "q close" in stage.screen[-1]
        await stage.press(key)
        await stage.until(lambda: isinstance(stage.app.screen, Workspace))


async def test_costs_opened_on_a_project_are_closed_from_there() -> None:
    async with Stage(size=(80, 24), project="farm-api") as stage:
        await _open(stage, "dollar_sign")
        assert stage.state.costs.part == Part("farm-api") and "q close" in stage.screen[-1]
        await stage.press("q")
        await stage.until(lambda: isinstance(stage.app.screen, Workspace))


async def test_the_scope_of_the_costs_is_that_of_the_workspace() -> None:
    async with Stage(project="web") as stage:
        await _open(stage, "dollar_sign")
        assert _asked(stage, calls.COSTS)[-1]["project"] == "web"
        assert "project web" in stage.screen[0]


async def test_an_empty_window_says_so_and_which_key_widens_it() -> None:
    old = [observation(number, f"Old {number}", at=NOW_MS - 200 * DAY_MS) for number in range(5)]
    async with Stage(old) as stage:
        await _open(stage, "dollar_sign")
        assert "No records in the last 7 days." in stage.text
        await stage.press("right_square_bracket", "right_square_bracket")
        await stage.settled()
        assert "100%" in stage.text
        await stage.press("right_square_bracket")
        assert "this is all there is" in stage.screen[-1]


async def test_sessions_open_and_lead_to_their_records() -> None:
    async with Stage(size=(120, 36)) as stage:
        await _open(stage, "S")
        assert isinstance(stage.state.sessions.node, ProjectNode)
        await stage.press("space")
        await stage.settled()
        await stage.press("j")
        await stage.settled()
        node = stage.state.sessions.node
        assert isinstance(node, SessionNode) and node.line is not None
        assert "Learned" in stage.text and "学んだこと" in stage.text
        await stage.press("space")
        await stage.settled()
        await stage.press("j", "j", "j")
        await stage.settled()
        below = stage.state.sessions.node
        assert isinstance(below, EntryNode) and below.entry is not None
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, Workspace))
        await stage.settled()
        assert stage.app.workspace.search.box.value == f"session:{node.line.memory_session_id}"
        assert stage.state.held == below.entry
        assert stage.state.ask.project == node.project


async def test_a_project_of_thousands_of_sessions_is_read_where_one_looks() -> None:
    records = [observation(n, f"Finding {n}", at=NOW_MS - n * DAY_MS) for n in range(1, 700)]
    async with Stage(records) as stage:
        await _open(stage, "S")  # the only project is open at once
        await stage.settled()
        assert stage.state.sessions.total == 700
        assert [params.get("offset", "0") for params in _asked(stage, calls.SESSIONS)] == ["0"]
        await stage.press("G")
        await stage.settled()
        assert [params.get("offset", "0") for params in _asked(stage, calls.SESSIONS)] == ["0", "650"]
        assert "Finding 699" in stage.text


async def test_from_the_records_of_a_session_one_step_leads_back() -> None:
    async with Stage(size=(120, 36)) as stage:
        await stage.press("j", "j")
        before, row = stage.state.ask, stage.state.entry
        assert "q quit" in stage.screen[-1]
        await _open(stage, "S")
        await stage.press("space")
        await stage.settled()
        await stage.press("j")
        await stage.settled()
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, Workspace))
        await stage.settled()
        assert stage.app.workspace.search.box.value.startswith("session:") and "q back" in stage.screen[-1]
        await stage.press("q")
        await stage.settled()
        assert (stage.app.workspace.search.box.value, stage.state.ask.project) == (before.text, before.project)
        assert stage.state.entry == row and "q quit" in stage.screen[-1]


async def test_a_session_that_is_not_told_says_why_and_shuts_again() -> None:
    async with Stage() as stage:
        await _open(stage, "S")
        await stage.press("space", "j")
        await stage.settled()
        stage.memory.surveyed.broken = True
        await stage.press("space")
        await stage.settled()
        assert "what it holds is not told" in stage.screen[-1]
        node = stage.state.sessions.node
        assert isinstance(node, SessionNode) and not node.open


async def test_a_worker_that_does_not_tell_the_next_start_is_not_an_error() -> None:
    async with Stage() as stage:
        await _open(stage, "p")
        assert "This worker does not tell yet what it will give." in stage.text
        await stage.press("P")
        assert "nothing is told about the next start" in stage.screen[-1]
        stage.memory.surveyed.plan = plan("farm-api")
        await stage.press("R")
        await stage.until(lambda: "2,310 of 3,000 tokens" in stage.text)


async def test_pins_mutes_text_changes_and_a_copy() -> None:
    async with Stage(size=(80, 24)) as stage:
        stage.memory.surveyed.plan = plan("farm-api")
        await _open(stage, "p")
        await stage.press("P")
        await stage.settled()
        assert "4821 is given to every session" in stage.screen[-1]
        assert [row.key for row in stage.state.next_start.rows if row.pinned] == ["4821", "4817"]
        await stage.press("M")
        await stage.settled()
        assert "4821 is given to no session" in stage.screen[-1]
        assert not next(row for row in stage.state.next_start.rows if row.key == "4821").kept
        await stage.press("D")
        await stage.settled()
        assert "only changes shown" in stage.text and "S31" not in stage.text
        await stage.press("r")
        await stage.settled()
        assert "# farm-api" in stage.text and "\x1b" not in stage.text
        await stage.press("y")
        await stage.until(lambda: "the text of the next start copied" in stage.screen[-1])


async def test_without_a_last_session_nothing_is_said_to_be_the_same() -> None:
    async with Stage(size=(80, 24)) as stage:
        known = plan("farm-api")
        rows = tuple(msgspec.structs.replace(row, change="same") for row in known.rows)
        stage.memory.surveyed.plan = msgspec.structs.replace(
            known, rows=rows, compared=False, changed_new=0, changed_gone=0
        )
        await _open(stage, "p")
        await stage.press("D")
        await stage.settled()
        assert "no last session to compare with" in stage.text and "Nothing differs" not in stage.text


async def test_the_index_rests_and_is_mended_with_a_word_of_what_came_of_it() -> None:
    async with Stage(size=(80, 24)) as stage:
        await _open(stage, "exclamation_mark")
        assert "315 MB free" in stage.text and "make room" in stage.text
        await stage.press("z")
        await stage.until(lambda: "the index by meaning is paused" in stage.screen[-1])
        await stage.until(lambda: "z goes on" in stage.text)
        await stage.press("z")
        await stage.until(lambda: "the index by meaning is catching up" in stage.screen[-1])
        await stage.press("m")
        await stage.until(lambda: "2 missing, 0 of an older text, 1 of no record" in stage.screen[-1])
        stage.memory.surveyed.state = IndexState.OFF
        await stage.press("r")
        await stage.until(lambda: "switched off: searches go by words" in stage.text)
        await stage.press("z")
        assert "the index by meaning is switched off" in stage.screen[-1]


async def test_a_log_line_cannot_steer_the_terminal() -> None:
    async with Stage(size=(80, 40)) as stage:
        stage.memory.surveyed.log = [f"[2026-11-25] [ERROR] [x] {NASTY}", "\u202etrap"]
        await _open(stage, "exclamation_mark")
        assert "[bold]修复[/]" in stage.text
        assert not {"\x1b", "\x07", "\u202e"} & set(stage.text)


@pytest.mark.parametrize("key", ["dollar_sign", "S", "p", "exclamation_mark"])
async def test_a_worker_that_goes_is_said_and_one_that_comes_back_is_asked(key: str) -> None:
    async with Stage() as stage:
        stage.memory.surveyed.plan = plan("farm-api")
        stage.break_off("no worker answers")
        await stage.until(lambda: "Connection lost" in stage.text)
        await _open(stage, key)
        assert "Connection lost" in stage.text
        assert "try again" in stage.screen[-1]
        stage.client.failure = None
        await stage.until(lambda: "Connection lost" not in stage.text)
        await stage.settled()
        await stage.until(lambda: "farm-api" in stage.text)


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (50, 20), (40, 12)])
async def test_any_text_in_any_size(size: tuple[int, int]) -> None:
    records: list[Record] = [
        observation(n, NASTY, project=f"{NASTY}{n}", at=NOW_MS - n * 1000, memory_session_id=f"m{n}") for n in range(9)
    ]
    async with Stage(records, size=size) as stage:
        row = msgspec.structs.replace(plan("x").rows[0], title=NASTY, reason=NASTY, key="1" * 30)
        stage.memory.surveyed.plan = ContextPlan(
            project=NASTY, budget_tokens=0, used_tokens=10**9, text=NASTY, rows=(row,) * 3
        )
        for key in ("dollar_sign", "S", "p", "exclamation_mark"):
            await _open(stage, key)
            await stage.press("j", "space" if key == "S" else "j", "enter" if key == "dollar_sign" else "j")
            await stage.settled()
            assert not {"\x1b", "\x07"} & set(stage.text)
            await stage.press("r", "G")
            await stage.settled()


@pytest.mark.parametrize("size", SIZES)
async def test_snapshots(size: tuple[int, int]) -> None:
    async with Stage(size=size) as stage:
        stage.memory.surveyed.plan = plan("farm-api")
        await _snapshots(stage, "")


@pytest.mark.parametrize("size", SIZES)
async def test_snapshots_of_what_there_is_not(size: tuple[int, int]) -> None:
    async with Stage([], size=size) as stage:
        for key, name in (
            ("dollar_sign", "costs"),
            ("S", "sessions"),
            ("p", "next-start"),
            ("exclamation_mark", "health"),
        ):
            await _open(stage, key)
            await check(f"{name}-empty", stage)


async def test_snapshots_in_ascii() -> None:
    async with Stage(many(40), glyphs=ASCII, size=(80, 24)) as stage:
        stage.memory.surveyed.plan = plan("farm-api")
        await _snapshots(stage, "-ascii")
        assert all(char.isascii() or char in "修复身份验证缓存失效学んだこと" for char in stage.text)


async def _snapshots(stage: Stage, kind: str) -> None:
    await _open(stage, "dollar_sign")
    await _press(stage, "right_square_bracket")
    await check(f"costs{kind}", stage)
    await _press(stage, "enter")
    await check(f"costs-project{kind}", stage)
    await _open(stage, "S")
    await _press(stage, "space", "j")
    await check(f"sessions{kind}", stage)
    await _press(stage, "space", "j")
    await check(f"sessions-records{kind}", stage)
    await _open(stage, "p")
    await check(f"next-start{kind}", stage)
    await _press(stage, "r")
    await check(f"next-start-raw{kind}", stage)
    await _open(stage, "exclamation_mark")
    await check(f"health{kind}", stage)


async def _press(stage: Stage, *keys: str) -> None:
    for key in keys:
        await stage.press(key)
        await stage.settled()


async def test_sessions_and_costs_are_as_of_the_moment_that_the_list_is() -> None:
    async with Stage(size=(120, 36), project="farm-api") as stage:
        await stage.press("slash", *"at:2026-11-23T12:04", "enter")
        await stage.until(lambda: "AS OF" in stage.text and stage.app.workspace.place == places.LIST)
        await stage.settled()
        await _open(stage, "S")
        await stage.press("j")
        await stage.until(lambda: isinstance(stage.state.sessions.node, SessionNode))
        await stage.press("space")
        await stage.settled()
        assert "AS OF Mon 23 Nov 12:04" in stage.text and "In the list a returns to now" in stage.text
        assert "how things are now" not in stage.text
        moment = str(stage.state.ask.as_of_ms)
        assert {params.get("asOf") for params in _asked(stage, calls.SESSIONS)} == {moment}
        await _open(stage, "dollar_sign")
        assert _asked(stage, calls.COSTS)[-1]["dateEnd"] == moment


@pytest.mark.parametrize("key", ["p", "exclamation_mark"])
async def test_what_shows_now_says_so_while_the_list_is_as_of_the_past(key: str) -> None:
    async with Stage(size=(120, 36)) as stage:
        stage.memory.surveyed.plan = plan("farm-api")
        await stage.press("slash", *"at:2026-11-23T12:04", "enter")
        await stage.until(lambda: "AS OF" in stage.text and stage.app.workspace.place == places.LIST)
        await stage.settled()
        await _open(stage, key)
        assert "This shows how things are now, though the list is as of" in stage.text

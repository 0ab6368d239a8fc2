"""Corpora, as a person uses them: built from a search, asked, left alone meanwhile, deleted."""

import asyncio

import pytest

from tests.tui.shelf import Shelf
from tests.tui.stage import Stage
from tests.tui.test_snapshots import SIZES, check
from tui.cells.glyphs import ASCII
from tui.keymap import places, table
from tui.screens.corpora import CorpusScreen
from tui.screens.palette import PaletteScreen
from tui.screens.record import RecordScreen
from tui.screens.workspace import Workspace
from worker.contract import calls
from worker.contract.errors import Conflict

LOCAL = (
    "#4733 2026-11-22 [bugfix] Session ended early\n  the refresh token was used twice\n\n"
    "#4771 2026-11-23 [decision] Rotate refresh tokens\n\nIn full: get_observations(ids=[4733, 4771])"
)


def _shelf(stage: Stage) -> Shelf:
    return stage.memory.surveyed.shelf


def _filled(stage: Stage) -> Shelf:
    shelf = _shelf(stage)
    shelf.put("auth-refactor", records=12, days=3, session_id="m")
    shelf.put("billing", records=20, days=300, stale=True, missing=2, description="What broke in the bills")
    shelf.put("releases", records=3)
    shelf.cited, shelf.reply = (4733, 4771), LOCAL
    return shelf


async def _open(stage: Stage) -> None:
    await stage.press("A")
    await stage.until(lambda: isinstance(stage.app.screen, CorpusScreen))
    await stage.settled()


async def _ask(stage: Stage, question: str) -> None:
    await stage.press("a", *question, "enter")


def _asked(stage: Stage, path: str) -> list[dict[str, str]]:
    return [params for asked, params in stage.memory.asked if asked == path]


@pytest.mark.parametrize("size", SIZES)
async def test_snapshots(size: tuple[int, int]) -> None:
    async with Stage(size=size) as stage:
        await _open(stage)
        await check("corpora-empty", stage)
        await stage.press("q")
        shelf = _filled(stage)
        await _open(stage)
        await check("corpora", stage)
        await stage.press("a", *"why do")
        await check("corpora-line", stage)
        shelf.local = True
        await stage.press("enter")
        await stage.until(lambda: "No model was used" in stage.text)
        await stage.press("tab")
        await check("corpora-answer", stage)


async def test_snapshot_in_ascii() -> None:
    async with Stage(size=(80, 24), glyphs=ASCII) as stage:
        _filled(stage)
        await _open(stage)
        await _ask(stage, "why?")
        await stage.until(lambda: "answered by claude-haiku" in stage.text)
        await check("corpora-ascii", stage)
        assert stage.text.isascii()


async def test_one_is_built_from_the_search_in_the_workspace_and_named_in_a_line() -> None:
    async with Stage(size=(120, 36), project="farm-api") as stage:
        await stage.press("slash", *"session type:bugfix", "enter")
        await stage.settled()
        await _open(stage)
        await stage.press("b")
        await stage.until(lambda: "what session type:bugfix finds in farm-api" in stage.text)
        await stage.press(*"a b", "enter")
        await stage.until(lambda: "letters (a-z)" in stage.text)
        assert not _shelf(stage).orders
        await stage.press("backspace", "backspace", *"uth", "enter")
        await stage.until(lambda: "auth is built" in stage.screen[-1])
        (order,) = _shelf(stage).orders
        assert (order.name, order.query, order.project) == ("auth", "session type:bugfix", "farm-api")
        assert stage.state.corpora.at == "auth" and "search  session type:bugfix" in stage.text


async def test_one_in_the_place_of_another_is_asked_for_twice() -> None:
    async with Stage() as stage:
        _filled(stage)
        await _open(stage)
        await stage.press("b", *"billing", "enter")
        await stage.until(lambda: "there is a billing already" in stage.text)
        assert not _shelf(stage).orders
        await stage.press("enter")
        await stage.until(lambda: "billing is built" in stage.screen[-1])
        assert len(_shelf(stage).orders) == 1


async def test_a_build_that_fails_says_why_and_the_next_look_forgets_it() -> None:
    async with Stage(size=(120, 36)) as stage:
        await _open(stage)
        _shelf(stage).failure = Conflict("there is a folder where big.corpus.json should be")
        await stage.press("b", *"big", "enter")
        await stage.until(lambda: "Not built: there is a folder" in stage.text)
        await stage.settled()
        await stage.press("q")
        await _open(stage)
        assert "No corpus yet" in stage.text


async def test_a_question_goes_on_while_the_app_is_used_and_its_answer_is_kept() -> None:
    async with Stage() as stage:
        _filled(stage)
        gate = stage.client.hold["/api/corpus/auth-refactor/query"] = asyncio.Event()
        await _open(stage)
        await _ask(stage, "why?")
        await stage.until(lambda: "a model may take minutes" in stage.text)
        await stage.press("a")
        await stage.until(lambda: "auth-refactor is busy" in stage.screen[-1])
        await stage.press("j", "q")
        await stage.until(lambda: isinstance(stage.app.screen, Workspace))
        await stage.press("j")
        gate.set()
        await stage.until(lambda: "auth-refactor has answered; A shows it" in stage.screen[-1])
        await stage.settled()
        await stage.press("A")
        await stage.until(lambda: "answered" in stage.text)
        while stage.state.corpora.at != "auth-refactor":
            await stage.press("k")
        await stage.until(lambda: "refresh token was used twice" in stage.text)
        outcome = stage.state.corpora.outcome
        assert outcome is not None and not outcome.fresh


async def test_from_a_citation_to_its_record_and_back() -> None:
    async with Stage() as stage:
        _filled(stage)
        await _open(stage)
        await _ask(stage, "why?")
        await stage.until(lambda: "answered by claude-haiku" in stage.text)
        await stage.settled()
        await stage.press("tab", "n", "enter")
        await stage.until(lambda: isinstance(stage.app.screen, RecordScreen) and "#4771" in stage.text)
        await stage.press("q")
        await stage.until(lambda: isinstance(stage.app.screen, CorpusScreen))
        await stage.press("N", "enter")
        await stage.until(lambda: isinstance(stage.app.screen, RecordScreen) and "#4733" in stage.text)
        await stage.press("q")
        await stage.until(lambda: isinstance(stage.app.screen, CorpusScreen))
        await stage.pilot.resize_terminal(50, 20)
        await stage.still()
        assert any(line.startswith("\u258c#4733") for line in stage.screen)
        await stage.press("g", "enter")
        await stage.until(lambda: "no record is cited in this line" in stage.screen[-1])
        await stage.press("q")
        await stage.until(lambda: stage.app.place == places.CORPORA)


async def test_primed_asked_again_rebuilt() -> None:
    async with Stage(size=(120, 36)) as stage:
        shelf = _filled(stage)
        await _open(stage)
        await stage.press("G")
        await _ask(stage, "why?")
        await stage.until(lambda: "P  has a model read it" in stage.text)
        await stage.settled()
        await stage.press("P")
        await stage.until(lambda: shelf.held["releases"].session_id == "m-prime")
        await stage.until(lambda: "releases is primed" in stage.screen[-1])
        await stage.settled()
        await stage.press("P")
        await stage.until(lambda: shelf.held["releases"].session_id == "m-reprime")
        await stage.settled()
        await stage.press("B")
        await stage.until(lambda: "releases is rebuilt" in stage.screen[-1])
        assert stage.state.corpora.chosen is not None and stage.state.corpora.chosen.session_id is None


async def test_one_too_large_is_refused_with_the_figure() -> None:
    async with Stage(size=(120, 36)) as stage:
        shelf = _filled(stage)
        await _open(stage)
        shelf.failure = Conflict('Corpus "auth-refactor" is about 300,000 tokens, and haiku has room for 180,000')
        await stage.press("P")
        await stage.until(lambda: "Not primed" in stage.text and "room for 180,000" in stage.text.replace("\n", " "))


async def test_one_that_is_gone_says_so_and_leaves_the_list() -> None:
    async with Stage() as stage:
        shelf = _filled(stage)
        await _open(stage)
        del shelf.held["auth-refactor"]
        await _ask(stage, "why?")
        await stage.until(lambda: "auth-refactor did not answer" in stage.screen[-1])
        await stage.until(lambda: stage.state.corpora.names == ("billing", "releases"))


async def test_deleted_when_asked_for_twice_and_not_by_anything_between() -> None:
    async with Stage() as stage:
        shelf = _filled(stage)
        await _open(stage)
        await stage.press("X")
        await stage.until(lambda: "X once more deletes auth-refactor" in stage.screen[-1])
        await stage.press("j", "k", "X")
        await stage.until(lambda: "X once more deletes auth-refactor" in stage.screen[-1])
        assert len(shelf.held) == 3
        await stage.press("X")
        await stage.until(lambda: "auth-refactor is deleted" in stage.screen[-1])
        assert sorted(shelf.held) == ["billing", "releases"]
        assert stage.state.corpora.at == "billing"


async def test_read_only_refuses_every_deed_before_it_is_asked() -> None:
    async with Stage(guarded=True) as stage:
        _filled(stage)
        await _open(stage)
        for key in "abPBX":
            await stage.press(key)
            await stage.until(lambda: "started with --read-only" in stage.screen[-1])
            await stage.press("j")
        assert [path for path, _ in stage.memory.asked if path.count("/") > 3] == []
        assert _asked(stage, calls.CORPORA) == [{"format": "json"}]


async def test_a_worker_that_is_gone_is_said_and_asked_again() -> None:
    async with Stage() as stage:
        _filled(stage)
        stage.app.asking.gateway.pause_s = lambda attempt: 3600
        stage.break_off("it is gone")
        await stage.until(lambda: stage.state.trouble == "it is gone")
        await _open(stage)
        assert "cannot be told now: it is gone" in stage.text
        stage.client.failure = None
        await stage.press("r")
        await stage.until(lambda: "auth-refactor" in stage.text)


async def test_the_line_is_left_by_escape_and_what_is_typed_ahead_is_in_it() -> None:
    async with Stage() as stage:
        _filled(stage)
        await _open(stage)
        await stage.press("a", *"jkq")
        screen = stage.app.screen
        assert isinstance(screen, CorpusScreen) and screen.ask.box.value == "jkq"
        await stage.press("escape")
        await stage.until(lambda: stage.app.place == places.CORPORA)
        assert stage.state.corpora.writing is None and not screen.ask.display
        await stage.press("a", "enter")
        await stage.until(lambda: "type a question" in stage.text)


@pytest.mark.parametrize("known", [True, False], ids=["full", "empty"])
@pytest.mark.parametrize("place", [places.CORPORA, places.CORPUS])
async def test_every_key_does_something_or_says_why(place: str, known: bool) -> None:
    if place == places.CORPUS and not known:
        return
    async with Stage(None if known else []) as stage:
        for action in table.at(place):
            while not isinstance(stage.app.screen, Workspace):
                await stage.press("escape" if isinstance(stage.app.screen, PaletteScreen) else "q")
                await stage.press("escape")
                await stage.pilot.pause()
            if known:
                _filled(stage)
            await _open(stage)
            if place == places.CORPUS:
                await stage.press("tab")
            before = stage.text
            await stage.press(action.keys[0])
            await stage.settled()
            assert stage.app.faults == [], action.name
            assert "means nothing here" not in stage.text, action.name
            quiet = {"down", "up", "page_down", "page_up", "top", "bottom", "again", "corpora"}
            assert stage.text != before or action.name in quiet, action.name

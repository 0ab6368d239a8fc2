"""Each screen as a grid of text, in three sizes. `UPDATE_SNAPSHOTS=1` writes them anew."""

import os
from pathlib import Path

import pytest

from tests.tui.memory import many
from tests.tui.stage import Stage
from tui.cells.glyphs import ASCII
from worker.contract.events import StreamEvent
from worker.contract.records import RecordKey, RecordKind

FOLDER = Path(__file__).parent / "__snapshots__"
SIZES = [(120, 36), (80, 24), (50, 20)]


async def check(name: str, stage: Stage) -> None:
    """The screen is as it was stored."""
    await stage.still()
    path = FOLDER / f"{name}-{stage.app.size.width}x{stage.app.size.height}.txt"
    text = stage.text + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), f"{path.name} differs; UPDATE_SNAPSHOTS=1 writes it anew"


@pytest.mark.parametrize("size", SIZES)
async def test_list_search_timeline_record_guide(size: tuple[int, int]) -> None:
    async with Stage(size=size) as stage:
        await check("list", stage)
        await stage.press("slash", *"session")
        await stage.until(lambda: stage.state.answered is not None and stage.state.answered.text == "session")
        await stage.settled()
        await check("search", stage)
        await stage.press("escape", "escape")
        await stage.settled()
        await stage.press("j", "j", "j", "j", "i")
        await stage.settled()
        await check("timeline", stage)
        await stage.press("i")
        await stage.settled()
        await stage.press("g", "enter")
        await stage.settled()
        await check("record", stage)
        await stage.press("q", "question_mark")
        await stage.settled()
        await check("guide", stage)


@pytest.mark.parametrize("size", SIZES)
async def test_first_run_and_demo(size: tuple[int, int]) -> None:
    async with Stage([], demo_records=many(40), size=size) as stage:
        await check("first-run", stage)
        await stage.press("M")
        await stage.until(lambda: "Finding number 40" in stage.text)
        await stage.settled()
        await check("demo", stage)


@pytest.mark.parametrize("size", SIZES)
async def test_no_hits_badge_and_lost(size: tuple[int, int]) -> None:
    async with Stage(size=size, project="farm-api") as stage:
        for _ in range(12):
            stage.client.stream.put_nowait(StreamEvent(type="new_observation", observation={}))
        await stage.until(lambda: stage.state.fresh == 12)
        await check("badge", stage)
        await stage.press("slash", *"zebra")
        await stage.until(lambda: "No hits" in stage.text)
        await stage.settled()
        await check("no-hits", stage)
        stage.client.stream.put_nowait(None)
        stage.app.asking.gateway.pause_s = lambda attempt: 3600
        await stage.until(lambda: "Connection lost" in stage.text)
        await check("lost", stage)


@pytest.mark.parametrize("size", SIZES)
async def test_ascii(size: tuple[int, int]) -> None:
    async with Stage(many(40), size=size, glyphs=ASCII) as stage:
        await check("ascii", stage)


@pytest.mark.parametrize("size", SIZES)
async def test_words_and_meaning_and_the_score_card(size: tuple[int, int]) -> None:
    async with Stage(size=size) as stage:
        stage.memory.meant = tuple(RecordKey(RecordKind.OBSERVATION, number) for number in (4733, 4771, 4755))
        await stage.press("slash", *"session", "enter")
        await stage.until(lambda: stage.state.strategy == "hybrid")
        await stage.press("g")
        await stage.settled()
        await check("fused", stage)
        await stage.press("c")
        await stage.until(lambda: "Why it is here" in stage.text)
        await check("score", stage)

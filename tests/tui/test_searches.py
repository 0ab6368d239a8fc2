"""Searches that are kept: offered by name, asked again, given up, there at the next start."""

from pathlib import Path

from tests.tui.stage import Stage
from tui.keymap.table import named

KEEP = named("remember").keys[0]


async def _search(stage: Stage, text: str) -> None:
    await stage.press("slash", *text, "enter")
    await stage.settled()


async def test_kept_offered_asked_again_and_given_up(tmp_path: Path) -> None:
    file = tmp_path / "tui.json"
    async with Stage(size=(120, 36), kept=file, project="farm-api") as stage:
        await stage.press(KEEP)
        assert "type a search first" in stage.text
        await _search(stage, "session")
        found = stage.state.rows.total
        await stage.press(KEEP)
        assert "kept: among the commands" in stage.text
        await stage.press("slash", "escape", "enter")
        await stage.settled()
        assert stage.state.ask.text == ""
    async with Stage(size=(120, 36), kept=file) as stage:
        await stage.press("colon", *"search sess")
        assert "search session" in stage.text and "in farm-api" in stage.text
        await stage.press("enter")
        await stage.settled()
        assert (stage.state.ask.text, stage.state.ask.project) == ("session", "farm-api")
        assert stage.app.workspace.search.box.value == "session"
        assert stage.state.rows.total == found > 0
        await stage.press(KEEP)
        assert "no longer kept" in stage.text
        assert stage.state.searches == ()

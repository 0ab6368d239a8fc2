"""The settings: looked through, changed one by one, refused where they must be."""

from pathlib import Path

import msgspec
import pytest

from tests.processes import running_worker
from tests.tui.stage import Stage
from tests.tui.test_snapshots import SIZES, check
from tui.gateway.front import Gateway
from tui.screens.settings import SettingsScreen
from tui.screens.workspace import Workspace
from tui.state.adjusting import Setting, changed, listed, matching
from worker.contract.settings import Settings
from worker.contract.settings_file import defaults

VALUES: dict[str, object] = {
    "CLAUDE_MEM_CONTEXT_OBSERVATIONS": "80",
    "CLAUDE_MEM_CONTEXT_SHOW_READ_TOKENS": "false",
    "CLAUDE_MEM_CONTEXT_SHOW_WORK_TOKENS": "false",
    "CLAUDE_MEM_CONTEXT_OBSERVATION_TYPES": "",
    "CLAUDE_MEM_CONTEXT_FULL_FIELD": "narrative",
    "CLAUDE_MEM_CONTEXT_BUDGET": "3000",
    "CLAUDE_MEM_SEMANTIC_INJECT": "false",
    "CLAUDE_MEM_MODEL": "claude-haiku-4-5-20251001",
    "CLAUDE_MEM_PROVIDER": "gemini",
    "CLAUDE_MEM_GEMINI_API_KEY": "****9f3c",
    "CLAUDE_MEM_SKIP_TOOLS": "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite,AskUserQuestion",
    "CLAUDE_MEM_TIER_ROUTING_ENABLED": "true",
    "CLAUDE_MEM_EMBEDDING_MODEL": "e5",
    "CLAUDE_MEM_RECENCY_DAYS": "30",
    "CLAUDE_MEM_CHROMA_API_KEY": "",
    "CLAUDE_MEM_WORKER_PORT": "37777",
    "CLAUDE_MEM_WORKER_HOST": "127.0.0.1",
    "CLAUDE_MEM_API_TOKEN": "****c0de",
    "CLAUDE_MEM_LOG_LEVEL": "DEBUG",
    "CLAUDE_MEM_HOOK_TIMEOUT_MS": "2000",
    "CLAUDE_MEM_TELEGRAM_ENABLED": "true",
    "CLAUDE_MEM_QUEUE_ENGINE": "sqlite",
    "身份\x1b[2J验证[bold]": {"a": "🚀"},
}
"""As a worker tells them, some of each group."""


def real(settings: Settings) -> Gateway:
    """Of a worker that runs already."""
    return Gateway(settings, ensure=lambda settings: None)


async def test_a_setting_is_found_changed_and_kept(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    secret = "sk-abcdef-123456789"
    file = folder / "settings.json"
    file.write_bytes(msgspec.json.encode({"MINE": {"a": 1}, "CLAUDE_MEM_GEMINI_API_KEY": secret}))
    with running_worker(folder) as worker:
        async with Stage(
            settings=Settings(worker.data_dir, worker.host, worker.port), open_gateway=real, size=(120, 36)
        ) as stage:
            await stage.press("E")
            await stage.until(lambda: "CONTEXT_OBSERVATIONS" in stage.text)
            assert "What agents are given" in stage.text
            await stage.press(*"gemini", "space", *"key")
            await stage.settled()
            assert secret not in stage.text and "****" in stage.text
            await stage.press("enter", "enter")
            await stage.until(lambda: "is left as it is" in stage.text)
            assert msgspec.json.decode(file.read_bytes())["CLAUDE_MEM_GEMINI_API_KEY"] == secret
            for _ in "gemini key":
                await stage.press("backspace")
            await stage.press(*"full", "space", *"count")
            await stage.settled()
            await stage.press("enter")
            await stage.settled()
            assert "CLAUDE_MEM_CONTEXT_FULL_COUNT  (default 5)" in stage.text
            await stage.press("backspace", *"99", "enter")
            await stage.until(lambda: "a whole number from 0 to 20" in stage.text)
            assert isinstance(stage.app.screen, SettingsScreen) and stage.app.screen.box.value == "99"
            await stage.press("backspace", "enter")
            await stage.until(lambda: "Settings saved" in stage.text)
            assert stage.app.screen.box.value == "full count"
            await stage.until(lambda: "default 5" in stage.text)
            for _ in "full count":
                await stage.press("backspace")
            await stage.press(*"mine")
            await stage.settled()
            assert "left alone" in stage.text
            await stage.press("enter")
            await stage.until(lambda: "no setting of ours" in stage.screen[-1])
            await stage.press("escape")
            await stage.settled()
            assert isinstance(stage.app.screen, Workspace)
    stored = msgspec.json.decode(file.read_bytes())
    assert stored == {
        "MINE": {"a": 1}, "CLAUDE_MEM_GEMINI_API_KEY": secret, "CLAUDE_MEM_CONTEXT_FULL_COUNT": "9"
    }  # fmt: skip


async def test_nothing_is_changed_under_read_only(tmp_path: Path) -> None:
    with running_worker(tmp_path / "memory") as worker:
        async with Stage(
            settings=Settings(worker.data_dir, worker.host, worker.port), open_gateway=real, guarded=True
        ) as stage:
            await stage.press("E")
            await stage.until(lambda: "CONTEXT_OBSERVATIONS" in stage.text)
            await stage.press("enter")
            await stage.until(lambda: "started with --read-only" in stage.screen[-1])
            assert isinstance(stage.app.screen, SettingsScreen) and stage.app.screen.editing is None


async def test_it_is_reached_by_name_and_says_why_there_is_nothing() -> None:
    async with Stage() as stage:
        await stage.press("colon")
        await stage.settled()
        await stage.press(*"settings", "enter")
        await stage.until(lambda: isinstance(stage.app.screen, SettingsScreen))
        await stage.settled()
        assert "no such record: /api/settings" in stage.text
        await stage.press("enter")
        await stage.until(lambda: "no setting here to change" in stage.screen[-1])


@pytest.mark.parametrize(
    ("setting", "typed", "sent"),
    [
        (Setting("K_KEY", "****1234", "", secret=True), "", {}),
        (Setting("K_KEY", "****1234", "", secret=True), "****1234", {}),
        (Setting("K_KEY", "****1234", "", secret=True), "whole", {"K_KEY": "whole"}),
        (Setting("K", "5", ""), " 5 ", {}),
        (Setting("K", "5", ""), "", {"K": ""}),
    ],
)
def test_what_is_sent(setting: Setting, typed: str, sent: dict[str, str]) -> None:
    assert changed(setting, typed) == sent


def test_every_setting_is_in_a_group_and_found_by_its_words(tmp_path: Path) -> None:
    settings = listed({**defaults(tmp_path), "MINE": {"a": 1}})
    assert len(settings) == len(defaults(tmp_path)) + 1
    assert [setting.key for setting in settings if not setting.known] == [settings[-1].key] == ["MINE"]
    groups = list(dict.fromkeys(setting.group for setting in settings))
    assert len(groups) == 6  # each once: sorted by it
    assert [setting.name for setting in matching(settings, "worker port")] == ["WORKER_PORT"]
    assert next(setting for setting in settings if setting.name == "WORKER_PORT").restart


@pytest.mark.parametrize("size", SIZES)
async def test_snapshots(size: tuple[int, int]) -> None:
    async with Stage(size=size) as stage:
        await stage.press("E")
        await stage.settled()
        screen = stage.app.screen
        assert isinstance(screen, SettingsScreen)
        screen.offer(VALUES)
        await check("settings", stage)
        await stage.press("down", "down", "enter")
        screen.refuse("CLAUDE_MEM_CONTEXT_SHOW_READ_TOKENS must be one of true, false")
        await check("setting", stage)
        await stage.press("escape", *"验证")
        await check("settings-unknown", stage)

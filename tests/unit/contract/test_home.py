"""A user's home, whatever HOME is, and what is done without one."""

import os
import pwd
from pathlib import Path
from typing import NoReturn

import pytest

from worker.cli import agents
from worker.contract import hook_settings, settings
from worker.contract.errors import Invalid
from worker.contract.home import NOWHERE, environment
from worker.contract.hook_settings import HookSettings


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CLAUDE_MEM_DATA_DIR", raising=False)
    monkeypatch.setenv("HOME", "")


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows this user."""

    def getpwuid(_: int) -> NoReturn:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", getpwuid)


@pytest.mark.parametrize("given", [None, "", "  "])
def test_without_home_it_is_what_the_system_has(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if given is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", given)
    kept = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert settings.load(data_dir=None).data_dir == kept / ".claude-mem"
    assert hook_settings.environment()["HOME"] == os.environ["HOME"] == str(kept)


def test_a_relative_home_is_one_folder_for_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A worker that is started runs in another folder."""
    monkeypatch.setenv("HOME", "mine")
    assert settings.load().data_dir == tmp_path / "mine" / ".claude-mem"
    assert HookSettings(hook_settings.environment()).data_dir == str(tmp_path / "mine" / ".claude-mem")
    assert settings.inherited()["HOME"] == str(tmp_path / "mine")


@pytest.mark.usefixtures("unknown")
@pytest.mark.parametrize("chosen", ["", "~/memory"])
def test_without_any_home_it_is_told(chosen: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_MEM_DATA_DIR", chosen)
    (tmp_path / "settings.json").write_text("no settings of ours")
    with pytest.raises(Invalid, match="set HOME, or CLAUDE_MEM_DATA_DIR"):
        settings.load()
    light = HookSettings(hook_settings.environment())
    assert (light.data_dir, light.broken) == ("", "")


@pytest.mark.usefixtures("unknown")
def test_a_data_directory_is_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_MEM_DATA_DIR", str(tmp_path))
    assert settings.load().data_dir == tmp_path
    assert HookSettings(hook_settings.environment()).data_dir == str(tmp_path)
    assert agents.places(environment(), scope=agents.USER, cwd=tmp_path).config == Path(NOWHERE, ".claude")
    assert settings.agent_file() == Path(NOWHERE, ".claude.json")

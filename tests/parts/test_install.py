"""`install` and `uninstall` on real files, by the command itself."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from worker.cli import agents, config_file
from worker.contract.home import NOWHERE

SETTINGS = """{
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "model": "opus",
    "hooks": {
        "PostToolUse": [
            {
                "matcher": "Edit",
                "hooks": [{"type": "command", "command": "prettier é"}]
            }
        ]
    },
    "zeta": 1.5,
    "alpha": true
}"""


@dataclass
class Home:
    path: Path
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> Path:
        return self.path / ".claude" / "settings.json"

    @property
    def servers(self) -> Path:
        return self.path / ".claude.json"

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("CLAUDE", "XDG_"))}
        return subprocess.run(
            (sys.executable, "-P", "-m", "worker.cli.main", *words), env=kept | {"HOME": str(self.path)} | self.environ,
            cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        )  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def backups(file: Path) -> list[Path]:
    return sorted(file.parent.glob(f"{file.name}.claude-mem-backup-*"))


def test_a_first_time_makes_both_files(home: Home) -> None:
    done = home.run("install")
    assert (done.returncode, done.stderr) == (0, "")
    hooks = json.loads(home.settings.read_text())["hooks"]
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"}
    entry = json.loads(home.servers.read_text())["mcpServers"]["claude-mem"]
    assert Path(entry["command"]).is_absolute() and entry["args"][-1] == "mcp"
    assert str(home.settings) in done.stdout and str(home.servers) in done.stdout


def test_the_command_that_is_written_runs_from_any_shell_and_folder(home: Home) -> None:
    home.run("install")
    command = json.loads(home.settings.read_text())["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
    said = json.dumps({"session_id": "s", "cwd": "/", "reason": "x"})
    environ = {"HOME": str(home.path), "CLAUDE_MEM_INTERNAL": "1"}
    done = subprocess.run(["/bin/sh", "-c", command], input=said, env=environ, cwd="/", capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")


def test_what_was_there_stays_in_its_order_and_form_and_a_copy_is_kept(home: Home) -> None:
    home.settings.parent.mkdir()
    home.settings.write_text(SETTINGS)
    home.settings.chmod(0o640)
    assert home.run("install").returncode == 0
    text = home.settings.read_text()
    after = json.loads(text)
    assert list(after) == ["$schema", "model", "hooks", "zeta", "alpha"]
    assert after["hooks"]["PostToolUse"][0] == json.loads(SETTINGS)["hooks"]["PostToolUse"][0]
    assert text.startswith('{\n    "$schema"') and not text.endswith("\n") and "é" in text
    assert home.settings.stat().st_mode & 0o777 == 0o640
    (backup,) = backups(home.settings)
    assert backup.read_text() == SETTINGS


def test_a_second_time_changes_nothing(home: Home) -> None:
    home.settings.parent.mkdir()
    home.settings.write_text(SETTINGS)
    home.run("install")
    before = home.settings.read_bytes(), home.servers.read_bytes()
    done = home.run("install")
    assert done.returncode == 0 and "has our hooks" in done.stdout
    assert (home.settings.read_bytes(), home.servers.read_bytes()) == before
    assert len(backups(home.settings)) == 1


def test_taking_out_leaves_what_was_before(home: Home) -> None:
    home.settings.parent.mkdir()
    home.settings.write_text(SETTINGS)
    home.servers.write_text('{"numStartups": 7, "mcpServers": {"x": {"command": "y"}}}')
    home.run("install")
    assert home.run("uninstall").returncode == 0
    assert json.loads(home.settings.read_text()) == json.loads(SETTINGS)
    assert json.loads(home.servers.read_text()) == {"numStartups": 7, "mcpServers": {"x": {"command": "y"}}}
    assert "has none of our hooks" in home.run("uninstall").stdout


@pytest.mark.parametrize(
    "content", [SETTINGS, SETTINGS.replace("\n", "\r\n"), '{"a":[1,2], "b":"\\u00e9"}\n', "", "\ufeff", '\ufeff{"a":1}']
)
def test_taking_out_at_once_gives_the_same_bytes_back(home: Home, content: str) -> None:
    home.settings.parent.mkdir()
    home.settings.write_bytes(content.encode())
    assert home.run("install").returncode == 0
    written = home.settings.read_bytes()
    assert written.count(b"\r\n") == (written.count(b"\n") if "\r\n" in content else 0)
    assert home.run("uninstall").returncode == 0
    assert home.settings.read_bytes() == content.encode()


def test_what_was_changed_since_is_not_made_undone_by_taking_out(home: Home) -> None:
    home.settings.parent.mkdir()
    home.settings.write_text('{"a":1}')
    home.run("install")
    home.settings.write_text(home.settings.read_text().replace('"a": 1', '"a": 2'))
    home.run("uninstall")
    assert json.loads(home.settings.read_text()) == {"a": 2}


@pytest.mark.parametrize("content", ['{"a": 1,}', "[]", "// words\n{}", '{"hooks": []}'])
def test_a_file_that_cannot_be_merged_into_is_left_alone_and_told(home: Home, content: str) -> None:
    home.settings.parent.mkdir()
    home.settings.write_text(content)
    done = home.run("install")
    assert done.returncode == 2 and str(home.settings) in done.stderr
    assert home.settings.read_text() == content and backups(home.settings) == []
    assert not home.servers.exists() and "nothing was changed" in done.stderr and done.stdout == ""


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{\n  "a": 1,\n  // words\n  "b": 2\n}', "line 3, column 3: it has a comment"),
        ('{\n  "a": 1, /* words */\n  "b": 2\n}', "line 2, column 11: it has a comment"),
        ('{\n  "a": [1,\n\n  ]\n}', "line 2, column 10: it has a comma behind the last"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3: it is not JSON: expecting ',' delimiter"),
        ('{"a": 1', "line 1, column 8: it is not JSON"),
    ],
)
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_the_line_that_cannot_be_read_is_told_and_nothing_is_done_in_halves(
    home: Home, verb: str, content: str, told: str
) -> None:
    home.settings.parent.mkdir()
    home.settings.write_text('{"model": "opus"}')
    home.servers.write_text(content)
    done = home.run(verb)
    assert done.returncode == 2 and f"{home.servers}, {told}" in done.stderr and "nothing was changed" in done.stderr
    assert home.settings.read_text() == '{"model": "opus"}' and home.servers.read_text() == content
    assert sorted(path.name for path in home.path.rglob("*.json*")) == [".claude.json", "settings.json"]


@pytest.mark.parametrize("existed", [False, True])
def test_what_the_system_refuses_in_the_middle_is_taken_back(home: Home, existed: bool) -> None:
    """The second file is a link to a folder that does not let anything be written: that shows with the writing only."""
    home.settings.parent.mkdir()
    if existed:
        home.settings.write_text(SETTINGS)
    home.servers.symlink_to("/proc/claude-mem-none/file.json")
    done = home.run("install")
    assert done.returncode == 2 and str(home.servers) in done.stderr and "nothing was changed" in done.stderr
    assert home.settings.read_text() == SETTINGS if existed else not home.settings.exists()
    assert backups(home.settings) == [] and done.stdout == ""


def test_what_somebody_has_changed_since_is_not_taken_back(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text('{"n": 1}')
    one = config_file.changed(file, lambda value: {**value, "ours": True})
    assert one is not None and one.backup is not None
    file.write_text('{"n": 2}')
    assert not config_file.taken_back(one)
    assert file.read_text() == '{"n": 2}' and one.backup.exists()


def test_a_dry_run_writes_nothing(home: Home) -> None:
    done = home.run("install", "--agent", "all", "--dry-run")
    assert done.returncode == 0 and "would be put into" in done.stdout
    assert list(home.path.rglob("*.json")) == []


def test_scope_and_agent_choose_the_files(home: Home) -> None:
    home.run("install", "--scope", "project")
    assert (home.path / ".mcp.json").exists() and home.settings.exists() and not home.servers.exists()
    home.run("install", "--agent", "claude-desktop")
    desktop = home.path / ".config" / "Claude" / "claude_desktop_config.json"
    assert list(json.loads(desktop.read_text())) == ["mcpServers"]


def test_what_a_project_shares_names_no_path_of_this_machine(home: Home) -> None:
    name = "claude-mem"
    binaries = home.path / "bin"
    binaries.mkdir()
    (binaries / name).symlink_to(agents.program()[0])
    home.environ = {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}
    done = home.run("install", "--scope", "project")
    assert (done.returncode, done.stderr) == (0, "") and "needs it on the PATH" in done.stdout
    shared = home.settings.read_text() + (home.path / ".mcp.json").read_text()
    assert str(home.path) not in shared and sys.prefix not in shared
    command = json.loads(home.settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert command == "claude-mem hook claude-code summarize"
    assert json.loads((home.path / ".mcp.json").read_text())["mcpServers"][name]["command"] == name
    assert "has our hooks" in home.run("install", "--scope", "project").stdout
    assert "taken out of" in home.run("uninstall", "--scope", "project").stdout
    assert json.loads(home.settings.read_text()) == {}


@pytest.mark.parametrize("other", [False, True])
def test_a_project_that_cannot_share_the_program_is_warned(home: Home, other: bool) -> None:
    binaries = home.path / "bin"
    binaries.mkdir()
    if other:
        (binaries / "claude-mem").write_text("#!/bin/sh\n")
        (binaries / "claude-mem").chmod(0o755)
    home.environ = {"PATH": f"{binaries}:/usr/bin:/bin"}
    done = home.run("install", "--scope", "project", "--agent", "all")
    assert done.returncode == 0 and ("another program" if other else "not on the PATH") in done.stderr
    assert agents.program()[0] in done.stderr and agents.program()[0] in home.settings.read_text()


def test_another_folder_for_the_agents_settings_is_respected(home: Home) -> None:
    home.environ = {"CLAUDE_CONFIG_DIR": str(home.path / "cc")}
    home.run("install")
    assert (home.path / "cc" / "settings.json").exists() and (home.path / "cc" / ".claude.json").exists()
    assert not home.settings.exists()


def test_beside_the_originals_plugin_it_says_so_and_needs_a_yes(home: Home) -> None:
    home.settings.parent.mkdir()
    home.settings.write_text('{"enabledPlugins": {"claude-mem@thedotmack": true}}')
    before = home.settings.read_text()
    done = home.run("install")
    assert done.returncode == 2 and "claude-mem@thedotmack" in done.stdout and "--yes" in done.stderr
    assert home.settings.read_text() == before and not home.servers.exists()
    assert home.run("install", "--yes").returncode == 0
    assert json.loads(home.settings.read_text())["enabledPlugins"] == {"claude-mem@thedotmack": True}


@pytest.mark.parametrize("below", ["plugins/marketplaces/thedotmack", "plugins/cache/thedotmack/claude-mem/13.25.3"])
def test_a_plugin_that_is_switched_off_is_no_matter(home: Home, below: str) -> None:
    (home.path / ".claude" / below).mkdir(parents=True)
    assert home.run("install").returncode == 2
    home.settings.write_text('{"enabledPlugins": {"claude-mem@thedotmack": false}}')
    assert home.run("install").returncode == 0


def test_a_link_stays_a_link(home: Home) -> None:
    real = home.path / "dotfiles.json"
    real.write_text("{}")
    home.settings.parent.mkdir()
    home.settings.symlink_to(real)
    home.run("install")
    assert home.settings.is_symlink() and "hooks" in json.loads(real.read_text())


def test_a_file_that_another_changes_meanwhile_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text('{"n": 1}')
    seen = []

    def change(value: dict[str, object]) -> dict[str, object]:
        seen.append(value["n"])
        if len(seen) == 1:
            file.write_text('{"n": 2}')
        return {**value, "ours": True}

    assert config_file.changed(file, change) is not None
    assert seen == [1, 2] and json.loads(file.read_text()) == {"n": 2, "ours": True}
    assert [path.read_text() for path in backups(file)] == ['{"n": 2}']


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_every_system_has_its_place_for_the_desktops_settings(platform: str) -> None:
    found = agents.places({"HOME": "/h", "APPDATA": "/h/app"}, scope="user", cwd=Path("/w"), platform=platform)
    assert found.desktop.name == "claude_desktop_config.json" and found.desktop.parent.name == "Claude"


@pytest.mark.parametrize("words", ["install --yes", "install --dry-run", "uninstall", "install --agent claude-desktop"])
def test_a_user_without_a_home_is_told_so(home: Home, words: str) -> None:
    home.environ["HOME"] = NOWHERE
    done = home.run(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "claude-mem: this user has no home folder: set HOME\n"


def test_the_files_of_a_project_need_no_home(home: Home) -> None:
    home.environ["HOME"] = NOWHERE
    assert home.run("install", "--scope", "project", "--yes").returncode == 0
    assert (home.path / ".mcp.json").exists()

"""The hook's own reading of the settings says the same as everybody's."""

import json
from pathlib import Path

import pytest

from worker.contract.errors import Invalid
from worker.contract.hook_settings import HookSettings
from worker.contract.known_settings import DEFAULTS
from worker.contract.settings import dialled, load

FILES: list[object] = [
    None,
    {},
    {"CLAUDE_MEM_WORKER_PORT": 40001, "CLAUDE_MEM_WORKER_HOST": "localhost"},
    {"env": {"CLAUDE_MEM_WORKER_PORT": "40002"}, "CLAUDE_MEM_API_TOKEN": "of the file"[:2]},
    {"CLAUDE_MEM_WORKER_HOST": "0.0.0.0", "CLAUDE_MEM_API_READ_TOKEN": "readonly"},
    {"CLAUDE_MEM_WORKER_HOST": "[::1]"},
    {"CLAUDE_MEM_WORKER_PORT": "  "},
]
ENVIRONS = [
    {},
    {"CLAUDE_MEM_WORKER_PORT": "40003"},
    {"CLAUDE_MEM_WORKER_PORT": ""},
    {"CLAUDE_MEM_DATA_DIR": "~/elsewhere", "CLAUDE_MEM_API_TOKEN": "t0ken"},
]


@pytest.mark.parametrize("environ", ENVIRONS)
@pytest.mark.parametrize("stored", FILES)
def test_both_readings_agree(tmp_path: Path, stored: object, environ: dict[str, str]) -> None:
    folder = tmp_path / "elsewhere" if "CLAUDE_MEM_DATA_DIR" in environ else tmp_path / ".claude-mem"
    folder.mkdir()
    if stored is not None:
        (folder / "settings.json").write_text("\ufeff" + json.dumps(stored), "utf-8")
    given = environ | {"HOME": str(tmp_path)}
    light, whole = HookSettings(given), load(given)
    assert (light.broken, light.data_dir) == ("", str(whole.data_dir))
    assert (light.host, light.port, light.token) == (dialled(whole.host), whole.port, whole.credential)


def test_a_moved_data_directory_is_found_by_the_file(tmp_path: Path) -> None:
    (tmp_path / ".claude-mem").mkdir()
    moved = {"CLAUDE_MEM_DATA_DIR": str(tmp_path / "moved")}
    (tmp_path / ".claude-mem" / "settings.json").write_text(json.dumps(moved))
    assert HookSettings({"HOME": str(tmp_path)}).data_dir == str(load({"HOME": str(tmp_path)}).data_dir)


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"CLAUDE_MEM_WORKER_PORT": "80"}', '{"CLAUDE_MEM_API_TOKEN": "zwei W"}', "[" * 99_999]
)
def test_what_the_others_refuse_is_told_here(tmp_path: Path, content: str) -> None:
    (tmp_path / ".claude-mem").mkdir()
    (tmp_path / ".claude-mem" / "settings.json").write_text(content)
    with pytest.raises(Invalid):
        load({"HOME": str(tmp_path)})
    assert HookSettings({"HOME": str(tmp_path)}).broken


def test_the_defaults_are_those_of_the_table(tmp_path: Path) -> None:
    light = HookSettings({"HOME": str(tmp_path)})
    assert ",".join(light.skip_tools) == DEFAULTS["CLAUDE_MEM_SKIP_TOOLS"]
    assert str(int(light.timeout_s * 1000)) == DEFAULTS["CLAUDE_MEM_HOOK_TIMEOUT_MS"]
    assert (light.opt_in, light.skip_agents) == (False, False)
    wished = HookSettings({"HOME": str(tmp_path), "CLAUDE_MEM_OPT_IN": "true", "CLAUDE_MEM_SKIP_SUBAGENTS": "true"})
    assert (wished.opt_in, wished.skip_agents) == (True, True)
    assert (light.excluded, light.semantic_limit, light.show_context, light.internal) == ((), 0, True, False)


def test_an_empty_list_of_tools_skips_none(tmp_path: Path) -> None:
    assert HookSettings({"HOME": str(tmp_path), "CLAUDE_MEM_SKIP_TOOLS": ""}).skip_tools == ()


def test_records_are_added_to_prompts_only_when_asked_for(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "CLAUDE_MEM_SEMANTIC_INJECT": "true", "CLAUDE_MEM_SEMANTIC_INJECT_LIMIT": "7"}
    assert HookSettings(environ).semantic_limit == 7

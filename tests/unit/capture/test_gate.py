"""What is taken, and the reason for what is not."""

import pytest

from worker.capture import gate
from worker.capture.gate import Rules

RULES = Rules(
    "/home/ann/.claude-mem",
    home="/home/ann",
    excluded=("~/off", "**/vendor/**", "tmp-?"),
    skip_tools=frozenset(("Skill", "mcp__figma__*")),
)


@pytest.mark.parametrize(
    ("cwd", "names", "marked", "reason"),
    [
        ("/home/ann/shop", ("shop",), False, None),
        ("/home/ann/shop", ("shop",), True, "project_excluded"),
        ("/home/ann/off/deep", ("deep",), False, "project_excluded"),
        ("/home/ann/official", ("official",), False, None),
        ("/srv/vendor/x", ("x",), False, "project_excluded"),
        ("", ("tmp-1",), False, "project_excluded"),
        ("", (), False, None),
        ("/home/ann/.claude-mem", (), False, "own_session"),
        ("/home/ann/.claude-mem/observer-sessions/c", ("c",), False, "own_session"),
        ("/home/ann/.claude-mem-demo", (), False, None),
        ("", ("observer-sessions",), True, "own_session"),
    ],
)
def test_folders(cwd: str, names: tuple[str, ...], marked: bool, reason: str | None) -> None:
    """R176."""
    assert gate.of_folder(RULES, (cwd,), names, marked=marked) == reason


@pytest.mark.parametrize(
    ("name", "given", "reason"),
    [
        ("Bash", {"command": "ls session-memory"}, None),
        ("Skill", {}, "tool_excluded"),
        ("skill", {}, None),
        ("mcp__figma__get_image", {}, "tool_excluded"),
        ("mcp__figmata__get", {}, None),
        ("memory_search", {}, "tool_excluded"),
        ("mcp__claude-mem__search", {}, "tool_excluded"),
        ("mcp__plugin_claude-mem_mcp-search__get_observations", {}, "tool_excluded"),
        ("mcp__github__claude-mem", {}, None),
        ("mcp__claude-mem", {}, None),
        ("Read", {"file_path": "/x/session-memory/a.md"}, "session_memory_meta"),
        ("NotebookEdit", {"notebook_path": "/x/session-memory.ipynb"}, "session_memory_meta"),
        ("Read", {"file_path": "/x/a.md"}, None),
        ("Read", "session-memory", None),
        ("Grep", {"file_path": "/x/session-memory"}, None),
    ],
)
def test_tools(name: str, given: object, reason: str | None) -> None:
    assert gate.of_tool(RULES, name, given) == reason


@pytest.mark.parametrize(
    ("skip", "by_agent", "reason"), [(True, True, "subagent_context"), (True, False, None), (False, True, None)]
)
def test_what_sub_agents_do_is_left_out_on_wish(skip: bool, by_agent: bool, reason: str | None) -> None:
    assert gate.of_tool(Rules("/m", skip_agents=skip), "Bash", {}, by_agent=by_agent) == reason

"""Our entries within an agent's settings."""

import copy
import json
from typing import Any

import pytest

from worker.cli.entries import (
    hook_groups,
    is_our_server,
    our_hooks,
    with_hooks,
    with_server,
    without_hooks,
    without_server,
)

COMMAND = "/opt/claude-mem/bin/claude-mem"
THEIRS: dict[str, Any] = {
    "model": "opus",
    "hooks": {
        "PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "prettier --write"}]}],
        "Notification": [{"hooks": [{"type": "command", "command": "notify-send claude-mem hook"}]}],
    },
    "permissions": {"allow": ["Bash(ls:*)"]},
}


def test_hooks_are_added_and_nothing_else_is_touched() -> None:
    before = copy.deepcopy(THEIRS)
    after = with_hooks(THEIRS, COMMAND)
    assert before == THEIRS
    assert list(after) == list(THEIRS)
    assert after["hooks"]["PostToolUse"][0] == THEIRS["hooks"]["PostToolUse"][0]
    assert after["hooks"]["Notification"] == THEIRS["hooks"]["Notification"]
    assert set(our_hooks(after)) == set(hook_groups(COMMAND))


def test_a_second_time_changes_nothing() -> None:
    once = with_hooks(THEIRS, COMMAND)
    assert with_hooks(once, COMMAND) == once
    assert json.dumps(with_hooks(once, COMMAND)) == json.dumps(once)


def test_hooks_of_another_place_are_replaced_also_beside_somebody_elses() -> None:
    once = with_hooks({}, "'/old place/claude-mem'")
    once["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
    moved = with_hooks(once, COMMAND)
    assert set(our_hooks(moved).values()) == {
        f"{COMMAND} hook claude-code {event}"
        for event in ("context", "session-init", "file-context", "observation", "summarize", "session-end")
    }
    assert "/old place" not in json.dumps(moved)
    assert moved["hooks"]["Stop"][0]["hooks"] == [{"type": "command", "command": "say done"}]


def test_taking_out_gives_what_was_before() -> None:
    assert without_hooks(with_hooks(THEIRS, COMMAND)) == THEIRS
    assert without_hooks(with_hooks({"a": 1}, COMMAND)) == {"a": 1}
    assert without_hooks({"hooks": {}}) == {"hooks": {}}
    assert without_hooks({}) == {}


@pytest.mark.parametrize("hooks", [[], "x", {"Stop": {}}])
def test_hooks_of_another_form_are_refused_and_not_overwritten(hooks: object) -> None:
    with pytest.raises(ValueError, match="hooks"):
        with_hooks({"hooks": hooks}, COMMAND)


def test_odd_groups_stay() -> None:
    odd = {"hooks": {"Stop": [None, {"hooks": None}, {"hooks": [3, {"command": 5}]}]}}
    assert without_hooks(odd) == odd
    assert with_hooks(odd, COMMAND)["hooks"]["Stop"][:3] == odd["hooks"]["Stop"]


def test_the_mcp_entry_is_added_renewed_and_taken_out() -> None:
    others = {"mcpServers": {"files": {"command": "npx"}}, "numStartups": 5}
    added = with_server(others, (COMMAND,))
    assert added["mcpServers"]["claude-mem"] == {"type": "stdio", "command": COMMAND, "args": ["mcp"]}
    assert added["mcpServers"]["files"] == {"command": "npx"}
    added["mcpServers"]["claude-mem"]["env"] = {"X": "1"}
    moved = with_server(added, ("/new/python", "-P", "-m", "worker.cli.main"))
    entry = moved["mcpServers"]["claude-mem"]
    assert entry["args"] == ["-P", "-m", "worker.cli.main", "mcp"] and entry["env"] == {"X": "1"}
    assert is_our_server(entry)
    assert with_server(moved, ("/new/python", "-P", "-m", "worker.cli.main")) == moved
    assert without_server(moved) == others


def test_an_entry_of_our_name_that_is_not_ours_stays() -> None:
    taken = {"mcpServers": {"claude-mem": {"command": "node", "args": ["mcp-server.cjs"]}}}
    with pytest.raises(ValueError, match="another program"):
        with_server(taken, (COMMAND,))
    assert without_server(taken) == taken
    with pytest.raises(ValueError, match="mcpServers"):
        with_server({"mcpServers": []}, (COMMAND,))

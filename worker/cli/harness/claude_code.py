"""Pure: Claude Code's hook JSON, in and out."""

from collections.abc import Mapping

from worker.cli.harness.event import CONTEXT, FILE, PROMPT, Input, Reply

SOURCE = "claude"
"""What its sessions are marked with."""

_SESSION_KEYS = ("session_id", "id", "sessionId")
_EVENT_NAMES = {CONTEXT: "SessionStart", PROMPT: "UserPromptSubmit", FILE: "PreToolUse"}


def read(given: Mapping[str, object], *, project_dir: str, process_cwd: str) -> Input:
    """What it says. project_dir: where it was started, which counts before the folder it is in."""
    named = given.get("cwd")
    cwd = project_dir or (named if isinstance(named, str) and named.strip() else "") or process_cwd
    return Input(given, session_keys=_SESSION_KEYS, cwd=cwd)


def reply(event: str, said: Reply) -> dict[str, object]:
    """What it is told. Never a ``permissionDecision``: that would answer for the person."""
    answer: dict[str, object] = {}
    if event in _EVENT_NAMES and (said.context or said.speaks):
        answer["hookSpecificOutput"] = {"hookEventName": _EVENT_NAMES[event], "additionalContext": said.context}
    if said.shown:
        answer["systemMessage"] = said.shown
    return answer

"""Pure: our hook entries and our MCP entry within an agent's settings, merged in and taken out again.

What is not ours is never changed: other keys, their order, other people's hooks, an MCP entry of our name that is not
ours.
"""

import re
from collections.abc import Mapping
from typing import Any

NAME = "claude-mem"
_OURS = re.compile(r"claude-mem(?:\.exe)?['\"]?\s+hook\s+claude-code\s|worker\.cli\.main\s+hook\s+claude-code\s")


def hook_groups(command: str) -> dict[str, dict[str, Any]]:
    """Event of Claude Code → the group of hooks it gets. command: `…/claude-mem`, quoted for a shell.

    What a tool use tells is told beside the agent's work (``async``); what answers it, or must not be lost when it
    ends, is waited for, and is short.
    """

    def group(event: str, timeout_s: int, *, matcher: str | None = None, aside: bool = False) -> dict[str, Any]:
        hook: dict[str, Any] = {"type": "command", "command": f"{command} hook claude-code {event}"}
        hook |= {"timeout": timeout_s} | ({"async": True} if aside else {})
        return ({} if matcher is None else {"matcher": matcher}) | {"hooks": [hook]}

    return {
        "SessionStart": group("context", 10, matcher="startup|resume|clear|compact"),
        "UserPromptSubmit": group("session-init", 10),
        "PreToolUse": group("file-context", 10, matcher="Read"),
        "PostToolUse": group("observation", 30, matcher="*", aside=True),
        "Stop": group("summarize", 10),
        "SessionEnd": group("session-end", 10),
    }


def with_hooks(settings: Mapping[str, Any], command: str) -> dict[str, Any]:
    """The settings with our hooks, once each. Errors: ``ValueError`` where hooks are not what Claude Code writes."""
    hooks = _hooks(settings)
    for event, wanted in hook_groups(command).items():
        groups = _groups(hooks, event)
        there = wanted in groups
        kept = [one for group in groups for one in ([group] if group == wanted else _without(group))]
        hooks[event] = kept if there else [*kept, wanted]
    return {**settings, "hooks": hooks}


def without_hooks(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without our hooks. Errors: as ``with_hooks``."""
    if "hooks" not in settings:
        return dict(settings)
    hooks = _hooks(settings)
    for event in list(hooks):
        if not isinstance(hooks[event], list):
            continue
        kept = [one for group in hooks[event] for one in _without(group)]
        if kept != hooks[event]:
            hooks[event] = kept
            if not kept:
                del hooks[event]
    rest = dict(settings) | {"hooks": hooks}
    if not hooks and settings["hooks"]:
        del rest["hooks"]
    return rest


def our_hooks(settings: Mapping[str, Any]) -> dict[str, str]:
    """Event → our command, as far as they stand in the settings."""
    hooks = settings.get("hooks")
    found = {}
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            entries = group.get("hooks") if isinstance(group, dict) else None
            for hook in entries if isinstance(entries, list) else ():
                if _is_ours(hook):
                    found[event] = str(hook["command"])
    return found


def with_server(settings: Mapping[str, Any], program: tuple[str, ...]) -> dict[str, Any]:
    """The settings with our MCP entry. program: what runs `mcp`. Errors: ``ValueError`` when the name is taken."""
    servers = _servers(settings)
    known = servers.get(NAME)
    if known is not None and not is_our_server(known):
        raise ValueError(f"it has an MCP entry {NAME!r} of another program, which stays")
    command, *arguments = program
    entry = {"type": "stdio", "command": command, "args": [*arguments, "mcp"]}
    # What else somebody has put into our entry, such as an environment, stays.
    servers[NAME] = {**known, **entry} if isinstance(known, dict) else entry
    return {**settings, "mcpServers": servers}


def without_server(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without our MCP entry, whatever it is called. Errors: ``ValueError``."""
    if "mcpServers" not in settings:
        return dict(settings)
    servers = _servers(settings)
    return {**settings, "mcpServers": {name: one for name, one in servers.items() if not is_our_server(one)}}


def is_our_server(entry: object) -> bool:
    """Whether an MCP entry starts our bridge."""
    if not isinstance(entry, dict):
        return False
    command, arguments = str(entry.get("command", "")), entry.get("args")
    words = arguments if isinstance(arguments, list) else []
    program = re.split(r"[/\\]", command)[-1]
    return "mcp_bridge" in words or ("mcp" in words and (program.startswith(NAME) or "worker.cli.main" in words))


def _hooks(settings: Mapping[str, Any]) -> dict[str, Any]:
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("its `hooks` are no JSON object")
    return dict(hooks)


def _groups(hooks: Mapping[str, Any], event: str) -> list[Any]:
    groups = hooks.get(event, [])
    if not isinstance(groups, list):
        raise ValueError(f"its hooks of {event} are no list")
    return groups


def _servers(settings: Mapping[str, Any]) -> dict[str, Any]:
    servers = settings.get("mcpServers", {})
    if not isinstance(servers, dict):
        raise ValueError("its `mcpServers` are no JSON object")
    return dict(servers)


def _without(group: Any) -> list[Any]:
    """A group without our hooks; nothing if nothing else was in it."""
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return [group]
    kept = [hook for hook in group["hooks"] if not _is_ours(hook)]
    if len(kept) == len(group["hooks"]):
        return [group]
    return [{**group, "hooks": kept}] if kept else []


def _is_ours(hook: object) -> bool:
    return isinstance(hook, dict) and isinstance(hook.get("command"), str) and bool(_OURS.search(hook["command"]))

"""Pure: what is taken and what is not, with the reason that the hook is told."""

from collections.abc import Mapping
from dataclasses import dataclass

from worker.contract.exclusion import excluded, skipped
from worker.contract.project_name import TEMP

EXCLUDED = "project_excluded"
OWN_SESSION = "own_session"
TOOL_EXCLUDED = "tool_excluded"
SESSION_MEMORY = "session_memory_meta"
PRIVATE = "private"
SUBAGENT = "subagent_context"

OBSERVERS = "observer-sessions"
_OURS = ("claude-mem", "claude_mem", "mcp-search", "cmem")
_EDITORS = frozenset(("Edit", "MultiEdit", "Write", "Read", "NotebookEdit"))


@dataclass(frozen=True, slots=True)
class Rules:
    """What is not taken. excluded: patterns of folders; skip_tools: names of tools. home: what `~` stands for.

    opt_in: only of chosen folders anything is. skip_agents: nothing that sub-agents do is.

    temp_dirs: folders that are no project of their own.
    """

    data_dir: str
    home: str = "/"
    excluded: tuple[str, ...] = ()
    skip_tools: frozenset[str] = frozenset()
    opt_in: bool = False
    skip_agents: bool = False
    temp_dirs: tuple[str, ...] = TEMP


def of_folder(rules: Rules, forms: tuple[str, ...], names: tuple[str, ...], *, marked: bool) -> str | None:
    """Why nothing of a folder is taken, or None.

    forms: how the folder may be written. names: of its project. marked: somebody wants nothing of it kept.
    """
    if OBSERVERS in names or any(_is_in(form, rules.data_dir) for form in forms):
        return OWN_SESSION
    if marked or any(excluded(rules.excluded, form, home=rules.home, names=names) for form in forms):
        return EXCLUDED
    return None


def of_tool(rules: Rules, name: str, tool_input: object, *, by_agent: bool = False) -> str | None:
    """Why the use of a tool is not taken, or None. Memory that is looked up is no news. by_agent: by a sub-agent."""
    if by_agent and rules.skip_agents:
        return SUBAGENT
    if skipped(rules.skip_tools, name) or name.startswith("memory_"):
        return TOOL_EXCLUDED
    parts = name.split("__")
    if len(parts) >= 3 and parts[0] == "mcp" and any(ours in parts[1] for ours in _OURS):
        return TOOL_EXCLUDED
    if name in _EDITORS and isinstance(tool_input, Mapping):
        paths = (tool_input.get("file_path"), tool_input.get("notebook_path"))
        if any(isinstance(path, str) and "session-memory" in path for path in paths):
            return SESSION_MEMORY
    return None


def _is_in(folder: str, other: str) -> bool:
    return folder == other or folder.startswith(other.rstrip("/") + "/")

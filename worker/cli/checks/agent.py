"""The agent: whether Claude Code knows the MCP server. Its files are only read."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from worker.cli.checks.finding import OK, WARN, Case, Finding


class _Server(msgspec.Struct):
    command: str = ""
    args: list[str] = msgspec.field(default_factory=list)


class _Scope(msgspec.Struct):
    mcpServers: dict[str, _Server] = msgspec.field(default_factory=dict)


class _File(_Scope):
    projects: dict[str, _Scope] = msgspec.field(default_factory=dict)


def entry(case: Case) -> Finding:
    """The entry of the MCP server."""
    try:
        known = msgspec.json.decode(case.agent_file.read_bytes(), type=_File)
    except FileNotFoundError:
        return Finding("agent", WARN, f"there is no {case.agent_file}: Claude Code was not used here yet", _add())
    except (OSError, msgspec.MsgspecError, UnicodeError) as error:
        return Finding("agent", WARN, f"{case.agent_file} cannot be read ({type(error).__name__})", _add())
    ours = list(_ours(known))
    if not ours:
        return Finding("agent", WARN, f"{case.agent_file} has no MCP entry of claude-mem", _add())
    where, server = ours[0]
    if shutil.which(server.command) is None:
        return Finding("agent", WARN, f"the MCP entry ({where}) names {server.command}, which is not there", _add())
    return Finding("agent", OK, f"Claude Code has the MCP entry ({where})")


def _add() -> str:
    """The advice, with a path where the program is not found by its name."""
    program = "claude-mem"
    beside = Path(sys.executable).with_name(program)
    if shutil.which(program) is None and beside.exists():
        program = str(beside)
    return f"`claude mcp add --scope user claude-mem -- {program} mcp` makes it"


def _ours(known: _File) -> Iterator[tuple[str, _Server]]:
    scopes = {"for all projects": known.mcpServers} | {name: one.mcpServers for name, one in known.projects.items()}
    for where, servers in scopes.items():
        for server in servers.values():
            called = Path(server.command).name.startswith("claude-mem") and "mcp" in server.args
            if called or "mcp_bridge" in server.args:
                yield where, server

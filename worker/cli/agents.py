"""Where the agents keep their settings, and how they are to call this program."""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from worker.cli import config_file

USER, PROJECT = "user", "project"


@dataclass(frozen=True, slots=True)
class Places:
    """hooks, servers: Claude Code's files for the two kinds of entries. desktop: Claude Desktop's. config: the folder
    of Claude Code's settings of the user.
    """

    hooks: Path
    servers: Path
    desktop: Path
    config: Path


def places(environ: Mapping[str, str], *, scope: str, cwd: Path, platform: str = sys.platform) -> Places:
    """The files of this user, or (scope `project`) of the folder ``cwd``."""
    home = Path(environ.get("HOME") or Path.home())
    chosen = environ.get("CLAUDE_CONFIG_DIR")
    config = Path(chosen) if chosen else home / ".claude"
    if platform == "darwin":
        desktop = home / "Library" / "Application Support" / "Claude"
    elif platform == "win32":
        desktop = Path(environ.get("APPDATA") or home / "AppData" / "Roaming") / "Claude"
    else:
        desktop = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "Claude"
    own = scope == PROJECT
    return Places(
        hooks=(cwd / ".claude" if own else config) / "settings.json",
        servers=cwd / ".mcp.json" if own else (Path(chosen) if chosen else home) / ".claude.json",
        desktop=desktop / "claude_desktop_config.json",
        config=config,
    )


def program() -> tuple[str, ...]:
    """The words that run this program from any folder and shell."""
    beside = Path(sys.executable).with_name("claude-mem.exe" if os.name == "nt" else "claude-mem")
    # -P: the folder it is called from may hold a package named `worker` of its own.
    return (str(beside),) if beside.exists() else (sys.executable, "-P", "-m", "worker.cli.main")


def command() -> str:
    """The same as text for a shell."""
    return shlex.join(program())


def originals(where: Places) -> Iterator[str]:
    """Signs that the original's plugin is installed."""
    for below in ("plugins/marketplaces/thedotmack", "plugins/cache/thedotmack/claude-mem"):
        if (where.config / below).is_dir():
            yield str(where.config / below)
    for file in (where.config / "settings.json", where.config / "plugins" / "installed_plugins.json"):
        try:
            known = config_file.read(file)
        except config_file.Unusable:
            continue
        held = known.get("enabledPlugins", known.get("plugins"))
        for name, value in held.items() if isinstance(held, dict) else ():
            if str(name).startswith("claude-mem@") and value is not False:
                yield f"{name} in {file}"

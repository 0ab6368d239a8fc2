"""Where the agents keep their settings, and how they are to call this program."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from worker.cli import config_file
from worker.contract.errors import Invalid
from worker.contract.home import NOWHERE

USER, PROJECT = "user", "project"
_PLUGIN = "claude-mem@"


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
    home = Path(environ.get("HOME") or NOWHERE)
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


def check_home(files: Iterable[Path]) -> None:
    """Errors: ``Invalid`` where one of the files would lie in the home of a user who has none."""
    if any(file.is_relative_to(NOWHERE) for file in files):
        raise Invalid("this user has no home folder: set HOME")


def program() -> tuple[str, ...]:
    """The words that run this program from any folder and shell."""
    beside = Path(sys.executable).with_name("claude-mem.exe" if os.name == "nt" else "claude-mem")
    # -P: the folder it is called from may hold a package named `worker` of its own.
    return (str(beside),) if beside.exists() else (sys.executable, "-P", "-m", "worker.cli.main")


def shared_program(environ: Mapping[str, str]) -> tuple[tuple[str, ...], str]:
    """The words that run it on other machines too, and "", or with a path of this one, and why that has to be.

    What is found by its name must be this program: the original's may be called so too.
    """
    here, name = program(), "claude-mem"
    found = shutil.which(name, path=environ.get("PATH"))
    if found is None:
        return here, f"{name} is not on the PATH"
    if os.path.realpath(found) != os.path.realpath(here[0]):
        return here, f"{found}, which is the {name} on the PATH, is another program"
    return (name,), ""


def command() -> str:
    """The words that run this program, as text for a shell."""
    return shlex.join(program())


def originals(where: Places) -> list[str]:
    """Signs that the original's plugin is installed, and not switched off."""
    switches = _held(where.config / "settings.json", "enabledPlugins")
    ours = {name: on for name, on in switches.items() if name.startswith(_PLUGIN)}
    if ours and not any(ours.values()):
        return []
    found = [f"{name} in {where.config / 'settings.json'}" for name, on in ours.items() if on]
    installed = where.config / "plugins" / "installed_plugins.json"
    found += [f"{name} in {installed}" for name in _held(installed, "plugins") if name.startswith(_PLUGIN)]
    folders = (where.config / "plugins" / below for below in ("marketplaces/thedotmack", "cache/thedotmack/claude-mem"))
    return found + [str(folder) for folder in folders if folder.is_dir()]


def _held(file: Path, key: str) -> dict[str, object]:
    """An object in a settings file; empty where there is none."""
    try:
        held = config_file.read(file).get(key)
    except config_file.Unusable:
        return {}
    return {str(name): value for name, value in held.items()} if isinstance(held, dict) else {}

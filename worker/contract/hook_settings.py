"""The settings that a hook needs, read with the standard library alone: 3 ms, where ``settings.load`` takes 30.

The same keys, files and precedence as there; tests hold the two side by side. What is wrong with a settings file is
told, not raised: a hook never breaks an agent.
"""

import json
import os
import stat
from collections.abc import Mapping

from worker.contract.home import NOWHERE
from worker.contract.home import environment as own_environment

_SKIP_TOOLS = "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite,AskUserQuestion"
_LOOPBACK = {"localhost": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


class HookSettings:
    """data_dir: absolute; empty for a user without a home who names none. host, port: where the worker is called.

    token: what it wants to see. internal: this is a session of ours, to be left alone. project_dir: the folder in
    which the agent was started.
    excluded: patterns of folders. opt_in: only of chosen folders anything is kept. skip_tools: names or patterns.
    skip_agents: nothing that sub-agents do is kept. show_context: also show the person what the agent is given.
    semantic_limit: how many records to add to a prompt, 0 for none. timeout_s: for one event.
    broken: why the settings cannot be used, empty if they can; what stands in the other fields is then a guess.
    """

    __slots__ = (
        "broken", "data_dir", "excluded", "home", "host", "internal", "opt_in", "port", "project_dir", "semantic_limit",
        "show_context", "skip_agents", "skip_tools", "timeout_s", "token",
    )  # fmt: skip

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.broken = ""
        self.home = environ.get("HOME") or NOWHERE
        default_dir = os.path.join(self.home, ".claude-mem")
        chosen = environ.get("CLAUDE_MEM_DATA_DIR") or self._read(default_dir).get("CLAUDE_MEM_DATA_DIR")
        data_dir = _expand(str(chosen), self.home) if chosen else default_dir
        self.data_dir = "" if data_dir.startswith(NOWHERE + "/") else data_dir
        stored = self._read(data_dir)

        def value(name: str, default: str) -> str:
            key = f"CLAUDE_MEM_{name}"
            for source in (environ, stored):
                given = source.get(key)
                if given is not None and str(given).strip():
                    return str(given).strip()
            return default

        self.internal = environ.get("CLAUDE_MEM_INTERNAL", "") not in ("", "0", "false")
        self.project_dir = environ.get("CLAUDE_PROJECT_DIR", "")
        host = value("WORKER_HOST", "127.0.0.1").removeprefix("[").removesuffix("]")
        self.host = _LOOPBACK.get(host, host)
        self.port = self._number("WORKER_PORT", value("WORKER_PORT", str(_port())), 1024, 65535)
        self.token = value("API_TOKEN", "") or value("API_READ_TOKEN", "")
        if not (self.token.isascii() and self.token.isprintable()) or " " in self.token:
            self.broken, self.token = "CLAUDE_MEM_API_TOKEN must be of visible ASCII characters, without blanks", ""
        self.excluded = _listed(value("EXCLUDED_PROJECTS", ""))
        self.opt_in = value("OPT_IN", "false").lower() == "true"
        self.skip_agents = value("SKIP_SUBAGENTS", "false").lower() == "true"
        self.skip_tools = _listed(_given(environ, stored, "CLAUDE_MEM_SKIP_TOOLS", _SKIP_TOOLS))
        self.show_context = value("CONTEXT_SHOW_TERMINAL_OUTPUT", "true").lower() == "true"
        limit = self._number("SEMANTIC_INJECT_LIMIT", value("SEMANTIC_INJECT_LIMIT", "5"), 0, 100)
        self.semantic_limit = limit if value("SEMANTIC_INJECT", "false").lower() == "true" else 0
        self.timeout_s = self._number("HOOK_TIMEOUT_MS", value("HOOK_TIMEOUT_MS", "2000"), 100, 30_000) / 1000

    def _read(self, folder: str) -> dict[str, object]:
        file = os.path.join(folder, "settings.json")
        try:
            if stat.S_ISFIFO(os.stat(file).st_mode):  # nobody may ever write to it
                self.broken = f"{file} is a pipe, no file"
                return {}
            with open(file, "rb") as opened:
                raw = opened.read().removeprefix(b"\xef\xbb\xbf")
            stored = json.loads(raw) if raw.strip() else {}
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            self.broken = f"{file} cannot be read ({error.strerror or error})"
            return {}
        except (ValueError, RecursionError):
            self.broken = f"{file} is not JSON"
            return {}
        if not isinstance(stored, dict):
            self.broken = f"{file} must hold a JSON object"
            return {}
        nested = stored.get("env")
        return {**nested, **stored} if isinstance(nested, dict) else stored

    def _number(self, name: str, text: str, low: int, high: int) -> int:
        if text.isascii() and text.isdigit() and len(text) <= 9 and low <= int(text) <= high:
            return int(text)
        self.broken = f"CLAUDE_MEM_{name} must be a whole number from {low} to {high}"
        return low


def environment() -> Mapping[str, str]:
    """This process's environment."""
    return own_environment()


def _given(environ: Mapping[str, str], stored: Mapping[str, object], key: str, default: str) -> str:
    """A value that may be empty on purpose: an empty list skips nothing."""
    for source in (environ, stored):
        if source.get(key) is not None:
            return str(source[key])
    return default


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in (piece.strip() for piece in text.split(",")) if part)


def _port() -> int:
    return 37700 + (os.getuid() if hasattr(os, "getuid") else 77) % 100


def _expand(path: str, home: str) -> str:
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.abspath(path)

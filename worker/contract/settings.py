"""Settings: where the memory lives and where the worker listens. Read once per process, by ``main`` functions.

Precedence for each key: environment, then ``settings.json`` in the data directory, then the default.
"""

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from worker.contract import home as home_of
from worker.contract import observer_settings
from worker.contract.errors import Invalid
from worker.contract.observer_settings import Asking, Observing

FILE_NAME = "settings.json"
_OF_A_SESSION = (
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_SESSION",
    "CLAUDE_PROJECT_DIR",
)
"""What an agent tells the programs that it starts; one that was started in it would take itself for a part of it."""
_LOG_LEVELS = ("DEBUG", "INFO", "WARN", "ERROR", "SILENT")


@dataclass(frozen=True, slots=True)
class Embedding:
    """Which model turns texts into vectors: a name of ``worker.projection.embedders``, `none` for none.

    url, remote_model, api_key: of the server that the model `http` asks. Errors about them come with their use.
    """

    model: str = "minilm"
    url: str = field(default="", repr=False)
    remote_model: str = ""
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Chroma:
    """Where vectors are kept for quick search. enabled: whether there is search by meaning at all.

    remote: on a server, which the rest is about; token: what it wants to see, empty for none.
    problem: what is wrong with these settings. As with those of the model, it is told where they are used: whatever is
    the matter with search by meaning, the rest goes on.
    """

    enabled: bool = True
    remote: bool = False
    host: str = "127.0.0.1"
    port: int = 8000
    tls: bool = False
    token: str = field(default="", repr=False)
    tenant: str = "default_tenant"
    database: str = "default_database"
    problem: str = ""


SKIP_TOOLS = "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite,AskUserQuestion"


@dataclass(frozen=True, slots=True)
class Capture:
    """What of agents is not kept. excluded: patterns of folders; skip_tools: names of tools, or patterns.

    opt_in: nothing but what happens in chosen folders. skip_agents: nothing of sub-agents.
    """

    excluded: tuple[str, ...] = ()
    skip_tools: tuple[str, ...] = tuple(SKIP_TOOLS.split(","))
    opt_in: bool = False
    skip_agents: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """data_dir: absolute. host, port: of the worker, for it and its clients alike. timeout_s: for one call.

    token: what every request must carry; read_token: with which one may only read. Empty: none. Neither is shown
    where the settings are. remote: the worker is not ours to start, and its data directory is not this one.
    clipboard_command: gets what the app copies, instead of all other ways. basket_budget_tokens: to begin with.
    recency_days: after so many what is added to a hit for being new has halved; 0 adds nothing.
    """

    data_dir: Path
    host: str
    port: int
    timeout_s: float = 30.0
    log_level: str = "INFO"
    demo: bool = False
    remote: bool = False
    token: str = field(default="", repr=False)
    read_token: str = field(default="", repr=False)
    embedding: Embedding = Embedding()
    chroma: Chroma = Chroma()
    recency_days: int = 90
    clipboard_command: str = ""
    basket_budget_tokens: int = 8_000
    capture: Capture = Capture()

    @property
    def credential(self) -> str:
        """What a client sends: the token that may do most."""
        return self.token or self.read_token

    @property
    def database(self) -> Path:
        """The file that holds the memory."""
        return self.data_dir / "claude-mem.db"

    @property
    def logs(self) -> Path:
        """The folder of log files."""
        return self.data_dir / "logs"

    @property
    def url(self) -> str:
        """Where the worker answers."""
        host = dialled(self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def for_demo(self) -> "Settings":
        """The demo memory beside this one: a data directory and a port of its own, never the user's."""
        if self.demo:
            return self
        port = self.port - 100 if self.port - 100 >= 1024 else self.port + 100
        return replace(self, data_dir=self.data_dir.with_name(self.data_dir.name + "-demo"), port=port, demo=True)


def load(
    environ: Mapping[str, str] | None = None, *, home: Path | None = None, data_dir: Path | None = None
) -> Settings:
    """The settings of this process.

    data_dir: whose settings they are, if somebody named it. A blank value counts as not set.
    Errors: ``Invalid`` for a value out of range or a ``settings.json`` that is no JSON object; the file is left alone.
    Also for a user without a home who names no data directory.
    """
    environ = home_of.environment() if environ is None else environ
    home = home or Path(environ.get("HOME") or home_of.NOWHERE)
    default_dir = home / ".claude-mem"
    if data_dir is None:
        chosen = environ.get("CLAUDE_MEM_DATA_DIR") or _read(default_dir).get("CLAUDE_MEM_DATA_DIR")
        data_dir = _expand(str(chosen), home) if chosen else default_dir
        if data_dir.is_relative_to(home_of.NOWHERE):
            raise Invalid("this user has no home folder: set HOME, or CLAUDE_MEM_DATA_DIR to an absolute path")
    stored = _read(data_dir)

    def value(name: str, default: str) -> str:
        key = f"CLAUDE_MEM_{name}"
        given = (str(source[key]).strip() for source in (environ, stored) if source.get(key) is not None)
        return next((text for text in given if text), default)

    skipped = (source.get("CLAUDE_MEM_SKIP_TOOLS") for source in (environ, stored))
    level = value("LOG_LEVEL", "INFO").upper()
    if level not in _LOG_LEVELS:
        raise Invalid(f"CLAUDE_MEM_LOG_LEVEL must be one of {', '.join(_LOG_LEVELS)}", field="CLAUDE_MEM_LOG_LEVEL")
    return Settings(
        data_dir=data_dir,
        host=_host("CLAUDE_MEM_WORKER_HOST", value("WORKER_HOST", "127.0.0.1")),
        port=_number("CLAUDE_MEM_WORKER_PORT", value("WORKER_PORT", str(default_port())), 1024, 65535),
        timeout_s=_number("CLAUDE_MEM_API_TIMEOUT_MS", value("API_TIMEOUT_MS", "30000"), 500, 300_000) / 1000,
        log_level=level,
        token=checked_token("CLAUDE_MEM_API_TOKEN", value("API_TOKEN", "")),
        read_token=checked_token("CLAUDE_MEM_API_READ_TOKEN", value("API_READ_TOKEN", "")),
        embedding=Embedding(
            model=value("EMBEDDING_MODEL", "minilm"),
            url=value("EMBEDDING_URL", ""),
            remote_model=value("EMBEDDING_REMOTE_MODEL", ""),
            api_key=value("EMBEDDING_API_KEY", ""),
        ),
        chroma=_chroma(value),
        recency_days=_number("CLAUDE_MEM_RECENCY_DAYS", value("RECENCY_DAYS", "90"), 0, 36500),
        clipboard_command=value("CLIPBOARD_COMMAND", ""),
        basket_budget_tokens=_number("CLAUDE_MEM_BASKET_BUDGET", value("BASKET_BUDGET", "8000"), 1000, 200_000),
        capture=Capture(
            excluded=_listed(value("EXCLUDED_PROJECTS", "")),
            # An empty list skips nothing, and is not the lack of one.
            skip_tools=_listed(next((str(given) for given in skipped if given is not None), SKIP_TOOLS)),
            opt_in=_flag("CLAUDE_MEM_OPT_IN", value("OPT_IN", "false")),
            skip_agents=_flag("CLAUDE_MEM_SKIP_SUBAGENTS", value("SKIP_SUBAGENTS", "false")),
        ),
    )


def _chroma(value: Callable[[str, str], str]) -> Chroma:
    try:
        return Chroma(
            enabled=_flag("CLAUDE_MEM_CHROMA_ENABLED", value("CHROMA_ENABLED", "true")),
            remote=_choice("CLAUDE_MEM_CHROMA_MODE", value("CHROMA_MODE", "local"), ("local", "remote")) == "remote",
            host=value("CHROMA_HOST", "127.0.0.1"),
            port=_number("CLAUDE_MEM_CHROMA_PORT", value("CHROMA_PORT", "8000"), 1, 65535),
            tls=_flag("CLAUDE_MEM_CHROMA_SSL", value("CHROMA_SSL", "false")),
            token=checked_token("CLAUDE_MEM_CHROMA_API_KEY", value("CHROMA_API_KEY", "")),
            tenant=value("CHROMA_TENANT", "default_tenant"),
            database=value("CHROMA_DATABASE", "default_database"),
        )
    except Invalid as error:
        return Chroma(problem=error.message)


def calm() -> None:
    """Keep numpy's own threads from spinning beside ours; before numpy is imported."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def untold() -> None:
    """Keep onnxruntime from telling its makers of what runs in it (since 1.29 it does, and keeps an id for this machine
    under ~/.cache); before it is imported.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def environment() -> dict[str, str]:
    """The settings in this process's environment."""
    return {name: value for name, value in os.environ.items() if name.startswith(("CLAUDE_MEM_", "CLAUDE_CODE_PATH"))}


def observing(data_dir: Path, environ: Mapping[str, str] | None = None) -> Observing:
    """How the observer is to work. Read anew before each piece of its work, so that a change needs no restart.

    Keys of providers stand in the environment, in the settings file, or in `.env` of the data directory.
    Errors: ``Invalid`` naming the key.
    """
    environ = os.environ if environ is None else environ
    stored = _read(data_dir)

    def value(name: str, default: str) -> str:
        key = name if name == "CLAUDE_CODE_PATH" else f"CLAUDE_MEM_{name}"
        given = (str(source[key]).strip() for source in (environ, stored) if source.get(key) is not None)
        return next((text for text in given if text), default)

    try:
        kept = observer_settings.dotenv((data_dir / ".env").read_text("utf-8", "replace"))
    except OSError:
        kept = {}
    sources = ((name, kept.get(name) or environ.get(name)) for name in observer_settings.CREDENTIALS)
    return observer_settings.read(value, {name: text.strip() for name, text in sources if text})


def observer_environment(asking: Asking) -> dict[str, str]:
    """The environment of a program that the observer starts: it observes no one, itself least of all."""
    environ = {name: text for name, text in os.environ.items() if not name.startswith(_OF_A_SESSION)}
    profile = {"CLAUDE_CONFIG_DIR": asking.config_dir} if asking.config_dir else {}
    return environ | dict(asking.credentials) | profile | {"CLAUDE_MEM_INTERNAL": "1"}


def inherited(**more: str) -> dict[str, str]:
    """The environment for a process of ours that is to have these too."""
    return {**home_of.environment(), **more}


def agent_file(environ: Mapping[str, str] | None = None) -> Path:
    """Where Claude Code keeps its MCP entries."""
    environ = home_of.environment() if environ is None else environ
    folder = environ.get("CLAUDE_CONFIG_DIR") or environ.get("HOME") or home_of.NOWHERE
    return Path(folder) / ".claude.json"


def default_port() -> int:
    """37700 + uid mod 100: the same for all projects of a user, another for the next user of the machine."""
    return 37700 + (os.getuid() if hasattr(os, "getuid") else 77) % 100


def dialled(host: str) -> str:
    """The address to call a worker that listens on ``host``: one that listens everywhere is called on loopback.

    ``localhost`` is the IPv4 address, because the worker listens on that one and a name may be tried as IPv6 first.
    """
    return {"localhost": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def is_loopback(host: str) -> bool:
    """Whether a client that is given this address calls its own machine, as far as the address alone tells."""
    return dialled(host) == "::1" or dialled(host).startswith("127.")


def _host(key: str, text: str) -> str:
    host = text.removeprefix("[").removesuffix("]")
    if not host.isascii() or any(char in "/@[]?#" or char.isspace() for char in host):
        raise Invalid(f"{key} must be a host name or an address such as 127.0.0.1, not {text!r}", field=key)
    return "127.0.0.1" if host == "localhost" else host


def checked_token(key: str, text: str) -> str:
    """A token as it may stand in a header. Errors: ``Invalid``, naming the key and not the token."""
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise Invalid(f"{key} must be of visible ASCII characters, without blanks", field=key)
    return text


def _expand(path: str, home: Path) -> Path:
    if path == "~" or path.startswith("~/"):
        path = str(home) + path[1:]
    return Path(path).absolute()


def _read(data_dir: Path) -> dict[str, Any]:
    """The keys in a settings file, flattened if they stand under ``env``; {} if there is none."""
    stored = read_file(data_dir / FILE_NAME)
    nested = stored.get("env")
    return {**nested, **stored} if isinstance(nested, dict) else stored


def read_file(file: Path) -> dict[str, Any]:
    """What a settings file holds, as it stands; {} if there is none. Errors: ``Invalid``; the file is left alone."""
    try:
        if stat.S_ISFIFO(file.stat().st_mode):  # nobody may ever write to it
            raise Invalid(f"{file} is a pipe, no file", field=FILE_NAME)
        raw = file.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise Invalid(f"{file} cannot be read ({error.strerror or error})", field=FILE_NAME) from error
    if not raw.strip():
        return {}
    try:
        stored = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Invalid(f"{file} is not JSON ({error}); it was left as it is", field=FILE_NAME) from error
    if not isinstance(stored, dict):
        raise Invalid(f"{file} must hold a JSON object", field=FILE_NAME)
    return stored


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in (piece.strip() for piece in text.split(",")) if part)


def _flag(key: str, text: str) -> bool:
    return _choice(key, text.lower(), ("true", "false")) == "true"


def _choice(key: str, text: str, words: tuple[str, ...]) -> str:
    if text not in words:
        raise Invalid(f"{key} must be {' or '.join(words)}, not {text[:40]!r}", field=key)
    return text


def _number(key: str, text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9) or not low <= int(text) <= high:
        raise Invalid(f"{key} must be a whole number from {low} to {high}, not {text!r}", field=key)
    return int(text)

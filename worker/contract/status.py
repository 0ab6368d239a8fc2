"""How the worker is, and what it holds."""

from typing import Any

import msgspec

PROGRAM = "claude-mem-python"


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/health``. The worker's version is left out on purpose.

    The original's hooks kill a worker whose ``version`` differs from the installed plugin's, and accept one that
    gives none (contract/settings.md, section 5). ``program`` tells our worker from the original's.
    """

    status: str
    program: str = ""
    uptime: float = 0.0
    pid: int = 0
    initialized: bool = False
    mcpReady: bool = False
    workerPath: str = ""
    managed: bool = False
    hasIpc: bool = False
    platform: str = ""
    dataDir: str = ""
    ai: dict[str, Any] = msgspec.field(default_factory=dict)
    dependencies: dict[str, Any] = msgspec.field(default_factory=dict)
    rateLimits: dict[str, Any] = msgspec.field(default_factory=dict)


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/readiness``: 200 when requests are served, 503 before."""

    status: str
    mcpReady: bool = True
    message: str | None = None


class Version(msgspec.Struct, frozen=True):
    """``/api/version``."""

    version: str


class WorkerStats(msgspec.Struct, frozen=True, kw_only=True):
    """The process."""

    version: str
    uptime: float
    activeSessions: int
    sseClients: int
    port: int


class DatabaseStats(msgspec.Struct, frozen=True, kw_only=True):
    """The file. size: bytes of the main file and its write-ahead log."""

    path: str
    size: int
    observations: int
    sessions: int
    summaries: int
    prompts: int = 0
    firstObservationAt: str | None = None


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/stats``."""

    worker: WorkerStats
    database: DatabaseStats


class Projects(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/projects``: names, most recently used first."""

    projects: tuple[str, ...]
    sources: tuple[str, ...]
    projectsBySource: dict[str, tuple[str, ...]]

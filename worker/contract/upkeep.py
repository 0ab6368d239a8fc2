"""The worker's own state, part by part, and what is done to it: doctor, logs, restart, switches."""

import msgspec


class Done(msgspec.Struct, frozen=True):
    """The answer of a call that only does something."""

    status: str


class Restarting(msgspec.Struct, frozen=True):
    """``/api/admin/restart``. url: where the next worker answers, if the settings changed elsewhere than before."""

    status: str
    url: str


class PlainHealth(msgspec.Struct, frozen=True, kw_only=True):
    """``/health``. timestamp: epoch ms."""

    status: str
    timestamp: int
    activeSessions: int
    pid: int


class ProcessingStatus(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/processing-status``: what waits to become a memory, and how whoever makes it so is.

    state: `idle`, `working`, `paused`, `off` or `failed`; paused: for the reason told, until then, or until something
    changes. provider: `local` for rules without a model. waiting, claimed, delayed: parts of queueDepth; last_error:
    of the newest that was given back, after so many attempts. oldest_epoch_ms: when the oldest of it happened.
    """

    isProcessing: bool = False
    queueDepth: int = 0
    parkedSessions: int = 0
    state: str = "off"
    provider: str = ""
    model: str = ""
    reason: str | None = None
    until_epoch_ms: int | None = None
    waiting: int = 0
    claimed: int = 0
    delayed: int = 0
    oldest_epoch_ms: int | None = None
    last_error: str | None = None
    attempts: int = 0


class DependencyStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A program that is needed and was not found or failed."""

    dependency: str
    kind: str
    message: str
    remediation: str
    recordedAtMs: int


class DependencyHealth(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/settings/dependency-health``."""

    degraded: bool = False
    statuses: tuple[DependencyStatus, ...] = ()


class ChromaStatus(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/chroma/status``. status: disabled, healthy or unhealthy. timestamp: ISO 8601."""

    status: str
    connected: bool
    timestamp: str
    details: str
    deep: bool


class McpStatus(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/mcp/status``: whether the data directory holds a `.mcp.json` that is switched on."""

    enabled: bool


class McpToggle(msgspec.Struct, frozen=True, kw_only=True):
    """``POST /api/mcp/toggle``."""

    enabled: bool


class McpToggled(msgspec.Struct, frozen=True, kw_only=True):
    """The state after the switch."""

    success: bool
    enabled: bool


class SyncStatus(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/sync/status``: this worker syncs with no cloud."""

    configured: bool = False


class Logs(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``/api/logs``. logs: the latest lines, oldest first, of as many days as it takes. path: of the newest file.

    totalLines: in the files that were looked at.
    """

    logs: str
    path: str
    exists: bool
    totalLines: int | None = None
    returnedLines: int | None = None


class LogsCleared(msgspec.Struct, frozen=True, kw_only=True):
    """``POST /api/logs/clear``."""

    success: bool
    message: str
    path: str


class Supervised(msgspec.Struct, frozen=True, kw_only=True):
    """A process that belongs to the worker. status: alive or dead."""

    id: str
    pid: int
    type: str
    status: str
    startedAt: str


class Supervisor(msgspec.Struct, frozen=True, kw_only=True):
    """The worker itself. uptime: `1h 4m`."""

    running: bool
    pid: int
    uptime: str


class DoctorHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The original's own checks."""

    deadProcessPids: tuple[int, ...]
    envClean: bool
    dependencies: DependencyHealth


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at, and what was found in a sentence."""

    name: str
    ok: bool
    message: str


class Doctor(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/admin/doctor``. checks: ours."""

    supervisor: Supervisor
    processes: tuple[Supervised, ...]
    health: DoctorHealth
    checks: tuple[Check, ...]


class SettingsSaved(msgspec.Struct, frozen=True, kw_only=True):
    """``POST /api/settings``. changed: keys with a new value. ignored: keys that are no setting and were left out."""

    success: bool
    message: str
    changed: tuple[str, ...]
    ignored: tuple[str, ...]

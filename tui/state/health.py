"""Pure: how everything is, as far as the worker told."""

import enum

from msgspec import Struct
from msgspec.structs import replace

from worker.contract.overview import Overview


class Deed(enum.StrEnum):
    """What can be done to the index by meaning."""

    PAUSE = "pause"
    RESUME = "resume"
    REPAIR = "repair"


class Healthing(Struct, frozen=True):
    """seq: number of the last question. log: the latest lines, oldest first, as they are in the file.

    at_epoch_ms: when the overview was told. log_failed: why there are no lines. doing: the deed that is being done.
    """

    open: bool = False
    seq: int = 0
    waiting: bool = False
    overview: Overview | None = None
    at_epoch_ms: int = 0
    log: tuple[str, ...] = ()
    log_failed: str = ""
    failed: str = ""
    doing: Deed | None = None


class Begun(Struct, frozen=True):
    """Somebody looks."""


class Ended(Struct, frozen=True):
    """Nobody looks any more."""


class Again(Struct, frozen=True):
    """Look once more."""


class Looked(Struct, frozen=True):
    """How everything is."""

    seq: int
    overview: Overview
    at_epoch_ms: int


class LookFailed(Struct, frozen=True):
    """That cannot be told."""

    seq: int
    reason: str


class LogRead(Struct, frozen=True):
    """The end of the log, or why it cannot be read."""

    seq: int
    lines: tuple[str, ...] = ()
    failed: str = ""


class Doing(Struct, frozen=True):
    """This is being done; None: no longer."""

    deed: Deed | None


HealthFact = Begun | Ended | Again | Looked | LookFailed | LogRead | Doing


def after(health: Healthing, fact: HealthFact) -> Healthing:
    """What is shown after a fact."""
    match fact:
        case Begun():
            return replace(health, open=True, seq=health.seq + 1, waiting=True, failed="")
        case Ended():
            return replace(health, open=False, waiting=False)
        case Again():
            return replace(health, seq=health.seq + 1, waiting=True, failed="")
        case Looked(seq, overview, at_epoch_ms) if seq == health.seq:
            return replace(health, waiting=False, overview=overview, at_epoch_ms=at_epoch_ms)
        case LookFailed(seq, reason) if seq == health.seq:
            return replace(health, waiting=False, failed=reason)
        case LogRead(seq, lines, failed) if seq == health.seq:
            return replace(health, log=lines, log_failed=failed)
        case Doing(deed):
            return replace(health, doing=deed)
    return health

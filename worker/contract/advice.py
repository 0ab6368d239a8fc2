"""Pure: how a part of the memory is, in a sentence, and one line of advice where that is not well.

The command line's doctor and the app's health screen say the same words.
"""

from collections.abc import Sequence
from typing import assert_never

import msgspec

from worker.contract.hook_times import HookTimes
from worker.contract.index import IndexState, IndexStatus
from worker.contract.overview import LogTrouble
from worker.contract.upkeep import ProcessingStatus

OK, WARN, FAIL = "ok", "warn", "fail"
LOGS = "`claude-mem worker logs` tells more"
_MOST_CHARS = 300
_LITTLE_MB, _TOO_LITTLE_MB = 500, 50


class Told(msgspec.Struct, frozen=True):
    """state: ok, warn or fail. message: a sentence. advice: one line, empty when all is well."""

    state: str
    message: str
    advice: str = ""


def meaning(status: IndexStatus) -> Told:
    """Whether records can be found by meaning too."""
    what, state = f"{status.embedded:,} of {status.records:,} records can be found by meaning", status.state
    match state:
        case IndexState.READY if not status.failed and not status.chroma.startswith(("ready", "opening")):
            return Told(WARN, f"{what}, compared one by one: Chroma is away ({sentence(status.chroma)})", LOGS)
        case IndexState.READY if not status.failed:
            return Told(OK, what)
        case IndexState.READY | IndexState.CATCHING_UP:
            waiting = f"{what}, {status.pending:,} wait"
            if status.failed:
                return Told(WARN, f"{waiting}, {status.failed:,} of them failed: {sentence(status.reason)}", LOGS)
            return Told(WARN, waiting, "let the worker run; `claude-mem index status` tells how far it is")
        case IndexState.STARTING:
            return Told(WARN, "being opened; until then searches go by words", "look again in a moment")
        case IndexState.PAUSED:
            return Told(WARN, f"paused; {what}", "`claude-mem index resume` goes on")
        case IndexState.FAILED:
            return Told(WARN, f"cannot be used: {sentence(status.reason)}", LOGS)
        case IndexState.OFF:
            why = "the worker has it switched off, the settings do not"
            return Told(WARN, why, "`claude-mem worker restart`")
        case _:
            assert_never(state)


def disk(free_bytes: int) -> Told:
    """Room for what comes."""
    free_mb = free_bytes // 2**20
    state = OK if free_mb >= _LITTLE_MB else WARN if free_mb >= _TOO_LITTLE_MB else FAIL
    return Told(state, f"{free_mb} MiB free", "" if state == OK else "make room, or nothing new is kept")


def words(unindexed: int) -> Told:
    """Whether every record can be found by its words."""
    if not unindexed:
        return Told(OK, "every record can be found by its words")
    return Told(WARN, f"{unindexed:,} records wait to be found by their words", "let the worker run: it indexes them")


def log(trouble: LogTrouble) -> Told:
    """Whether the worker noted trouble."""
    if trouble.errors:
        return Told(FAIL, f"{_counted(trouble.errors, 'error')}, {_counted(trouble.warnings, 'warning')}", LOGS)
    if trouble.warnings:
        return Told(WARN, _counted(trouble.warnings, "warning"), LOGS)
    return Told(OK, "no errors, no warnings")


def spooled(waiting: int, aside: int, folder: str) -> Told:
    """Whether what hooks wrote to disk, because nobody answered, was taken. folder: where it lies."""
    if waiting:
        return Told(WARN, f"{waiting:,} events wait for a worker to take them", "`claude-mem worker start` takes them")
    if aside:
        what = f"{aside:,} events could not be taken, and were set aside"
        return Told(WARN, what, f"look into {folder}/broken, and delete what is of no use")
    return Told(OK, "nothing waits")


def hook_times(times: Sequence[HookTimes]) -> Told:
    """Whether hooks keep an agent waiting."""
    if not times:
        return Told(OK, "no hook was called in 24 hours")
    count = sum(one.count for one in times)
    slow = [one for one in times if one.p95_ms > one.bound_ms]
    if slow:
        what = ", ".join(f"{one.event} ({one.p95_ms:,} of {one.bound_ms:,} ms)" for one in slow)
        more = "raise CLAUDE_MEM_HOOK_TIMEOUT_MS, or see in `claude-mem worker logs` what keeps the worker"
        return Told(WARN, f"one in twenty takes longer than it may: {what}", more)
    slowest = max(times, key=lambda one: one.p95_ms)
    return Told(OK, f"{_counted(count, 'hook')} in 24 hours; 95% of {slowest.event} within {slowest.p95_ms:,} ms")


def observer(status: ProcessingStatus) -> Told:
    """Whether what agents do becomes memories."""
    who = f"{status.provider} {status.model}".strip() or "no provider told"
    match status.state:
        case "idle" | "working" if status.delayed and status.last_error:
            tried = _counted(status.attempts, "attempt")
            what = f"{_counted(status.delayed, 'event')} will be tried again by {sentence(who)} after {tried}"
            return Told(WARN, f"{what}: {sentence(status.last_error)}", "nothing is lost: what waits is kept")
        case "idle" | "working":
            return Told(OK, f"{'at work' if status.state == 'working' else 'idle'}, by {sentence(who)}")
        case "paused":
            return Told(WARN, f"paused: {sentence(status.reason or '')}", "nothing is lost: what waits is kept")
        case "failed":
            return Told(FAIL, f"it failed: {sentence(status.reason or status.last_error or '')}", LOGS)
    if status.queueDepth:
        waits = f"off, and {_counted(status.queueDepth, 'tool use')} wait"
        return Told(WARN, waits, "`claude-mem doctor` tells what it needs")
    return Told(OK, "off: nothing new is made into memories")


def sentence(reason: str) -> str:
    """A reason in one line, not too long."""
    return " ".join(reason.split())[:_MOST_CHARS] or "no reason is told"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

"""The hooks: whether Claude Code calls us, and whether what it told has arrived. Its files are only read."""

import shlex
import shutil
import time

import msgspec

from worker.cli import agents, config_file
from worker.cli.checks.finding import OK, WARN, Case, Finding
from worker.cli.entries import hook_groups, our_hooks
from worker.contract import advice, hook_times, spool
from worker.contract.hook_settings import HookSettings
from worker.contract.settings import inherited

_RECENT_MS = 24 * 3_600_000


class _Trouble(msgspec.Struct):
    event: str = ""
    reason: str = ""
    epoch_ms: int = 0


def called(case: Case) -> Finding:
    """The entries in Claude Code's settings."""
    file = case.hooks_file
    advice = f"`{agents.command()} install` puts them there"
    if file is None:
        return Finding("hooks", WARN, "nobody told where Claude Code's settings are", advice)
    try:
        ours = our_hooks(config_file.read(file))
    except config_file.Unusable as error:
        return Finding("hooks", WARN, str(error), "mend the file")
    missing = [event for event in hook_groups("") if event not in ours]
    if missing:
        what = "none of our hooks" if not ours else f"no hook of ours for {', '.join(missing)}"
        return Finding("hooks", WARN, f"{file} has {what}: sessions are not remembered", advice)
    gone = {word for command in ours.values() if shutil.which(word := _program(command)) is None}
    if gone:
        return Finding("hooks", WARN, f"the hooks in {file} call {', '.join(sorted(gone))}, which is not there", advice)
    return Finding("hooks", OK, f"Claude Code tells of {len(ours)} kinds of events")


def spooled(case: Case) -> Finding:
    """What hooks kept because no worker answered, and what they could not keep."""
    where = str(case.settings.data_dir)
    waiting, aside = len(spool.waiting(where)), spool.set_aside_count(where)
    trouble = _trouble(case)
    if trouble is not None:
        return Finding(
            "spool", WARN, f"the last event that was lost ({trouble.event}): {trouble.reason}", "mend what it says"
        )
    told = advice.spooled(waiting, aside, spool.folder(where))
    return Finding("spool", told.state, told.message, told.advice)


def timed(case: Case) -> Finding:
    """How long hooks took in the last 24 hours, event by event."""
    where, now_ms = case.settings.data_dir, int(time.time() * 1000)
    of = HookSettings({**inherited(), "CLAUDE_MEM_DATA_DIR": str(where)})
    found = hook_times.read(where, now_ms, of.timeout_s)
    told = advice.hook_times(found)
    each = "".join(
        f"; {one.event}: {one.count:,}, median {one.median_ms:,} ms, 95% {one.p95_ms:,} ms, slowest"
        f" {one.slowest_ms:,} ms, last {(now_ms - one.last_epoch_ms) // 60_000:,} min ago"
        for one in found
    )
    return Finding("hook times", told.state, told.message + each, told.advice)


def _program(command: str) -> str:
    try:
        return (shlex.split(command) or [""])[0]
    except ValueError:
        return command


def _trouble(case: Case) -> _Trouble | None:
    """What went wrong last, if that was within a day."""
    try:
        raw = (case.settings.data_dir / "state" / "hook-trouble.json").read_bytes()
        trouble = msgspec.json.decode(raw, type=_Trouble)
    except (OSError, msgspec.MsgspecError):
        return None
    return trouble if time.time() * 1000 - trouble.epoch_ms < _RECENT_MS else None

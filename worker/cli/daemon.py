"""`worker start|stop|restart|status`."""

import argparse
import contextlib
import importlib.metadata
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence

from worker.cli import exits
from worker.cli.connection import chosen, started
from worker.cli.printing import failed, note, say, say_json
from worker.contract import calls, launch
from worker.contract.errors import Conflict, MemError, TimedOut, Unavailable, Unreachable
from worker.contract.quick import QuickClient
from worker.contract.settings import Settings
from worker.contract.status import Health, Stats

_LEAVE_S = 10.0
_POLL_S = 0.05
_ANSWER_S = 5.0

Facts = Mapping[str, object]


def main(argv: Sequence[str]) -> int:
    """Run `worker ACTION`; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="claude-mem worker",
        description="Start, stop, restart or ask after the worker that keeps the memory.",
        epilog=exits.TOLD,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("action", choices=("start", "stop", "restart", "status"))
    parser.add_argument("--demo", action="store_true", help="the worker of the demo memory")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args(argv[1:])
    actions: dict[str, Callable[[Settings], Facts]] = {
        "start": _start,
        "stop": _stop,
        "restart": _restart,
        "status": _status,
    }
    try:
        facts = actions[args.action](chosen(demo=args.demo))
    except MemError as error:
        if args.json:
            say_json({"running": False, "problem": error.message})
        return failed(error)
    say_json(facts) if args.json else say(_told(facts))
    return exits.NOTHING if args.action == "status" and not facts["running"] else exits.FOUND


def _start(where: Settings) -> Facts:
    before = launch.find(where)
    return {"did": "already running" if before else "started", **_running(where, started(where))}


def _restart(where: Settings) -> Facts:
    stopped = _stop(where)["did"] == "stopped"
    return {"did": "restarted" if stopped else "started", **_running(where, started(where))}


def _status(where: Settings) -> Facts:
    health = launch.find(where)
    if health is None:
        return {"did": "not running", "running": False, "url": where.url, "data_dir": str(where.data_dir)}
    return {"did": "running", **_running(where, health), **_counts(where)}


def _stop(where: Settings) -> Facts:
    recorded = launch.recorded_pid(where)
    health: Health | None = None
    try:
        health = launch.find(where)
    except TimedOut as error:
        # A worker that hangs is still ours to end, if its pid file says for certain which process it is.
        if recorded is None:
            raise
        note(error.message)
    else:
        if health is None:
            return {"did": "not running", "running": False, "url": where.url, "data_dir": str(where.data_dir)}
    pid = health.pid if health else recorded or 0
    if health is not None:
        with contextlib.suppress(Unreachable, TimedOut):  # gone before it answered, or stuck: seen below
            QuickClient(where.host, where.port).send(calls.shutdown(), timeout_s=_ANSWER_S)
    if (health is None or not _left(where, pid)) and pid == recorded:
        note(f"the worker (pid {pid}) did not end by itself; terminating it")
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    if not _left(where, pid):
        raise Unavailable(f"the worker (pid {pid}) is still there after {_LEAVE_S:g} s")
    return {"did": "stopped", "running": False, "pid": pid, "url": where.url, "data_dir": str(where.data_dir)}


def _left(where: Settings, pid: int) -> bool:
    """Whether the process is gone and nobody of ours answers on the port, given some time."""
    deadline = time.monotonic() + _LEAVE_S
    while launch.alive(pid) or _answers(where):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _answers(where: Settings) -> bool:
    try:
        return launch.find(where, timeout_s=1.0) is not None
    except TimedOut:
        return True
    except Conflict:  # somebody else was waiting for the port
        return False


def _running(where: Settings, health: Health) -> Facts:
    return {
        "running": True,
        "ready": health.initialized,
        "pid": health.pid,
        "url": where.url,
        "port": where.port,
        "uptime_s": round(health.uptime),
        "data_dir": str(where.data_dir),
    }


def _counts(where: Settings) -> Facts:
    try:
        stats: Stats = QuickClient(where.host, where.port).send(calls.stats(), timeout_s=_ANSWER_S)
    except MemError as error:
        return {"problem": error.message}
    held = stats.database
    mine = importlib.metadata.version("claude-mem")
    way_out = f"the worker is of another version than this program ({mine}); `claude-mem worker restart` renews it"
    return {
        "version": stats.worker.version,
        "observations": held.observations,
        "summaries": held.summaries,
        "prompts": held.prompts,
        "sessions": held.sessions,
        "database_bytes": held.size,
        **({} if stats.worker.version == mine else {"problem": way_out}),
    }


def _told(facts: Facts) -> str:
    rows = [f"worker {facts['did']}"]
    for name, value in facts.items():
        label, _, unit = name.rpartition("_") if name.endswith(("_s", "_bytes")) else (name, "", "")
        if name not in _MUTE:
            rows.append(f"  {label.replace('_', ' '):<13} {value} {unit}".rstrip())
    return "\n".join(rows)


_MUTE = ("did", "running", "ready", "port")

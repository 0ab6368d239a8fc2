"""`worker start|stop|restart|status|logs`."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from worker.cli import exits, log_lines
from worker.cli.connection import chosen, found, started
from worker.cli.printing import AlreadyTold, HelpLines, failed, note, say, say_json
from worker.contract import calls, ending
from worker.contract.errors import MemError, TimedOut, Unauthorized
from worker.contract.process import recorded_pid, recorded_port
from worker.contract.quick import QuickClient
from worker.contract.settings import Settings
from worker.contract.status import Health, Stats
from worker.contract.version import __version__

_ANSWER_S = 5.0

Facts = Mapping[str, object]


def main(argv: Sequence[str]) -> int:
    """Run `worker ACTION`; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="claude-mem worker",
        description="Start, stop, restart or ask after the worker that keeps the memory, or read its log.",
        epilog=exits.TOLD,
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    parser.add_argument("action", choices=("start", "stop", "restart", "status", "logs"))
    parser.add_argument("--demo", action="store_true", help="the worker of the demo memory")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("-n", "--lines", type=_count, help="with logs: how many of the latest lines (default: 50)")
    parser.add_argument("-f", "--follow", action="store_true", help="with logs: and those that come, until Ctrl-C")
    args = parser.parse_args(argv[1:])
    if args.action != "logs" and (args.follow or args.lines is not None):
        parser.error("--lines and --follow are for logs")
    actions: dict[str, Callable[[Settings], Facts]] = {
        "start": _start,
        "stop": _stop,
        "restart": _restart,
        "status": _status,
    }
    try:
        where = chosen(demo=args.demo)
        if args.action == "logs":
            return log_lines.show(
                where, 50 if args.lines is None else args.lines, follow=args.follow, as_json=args.json
            )
        facts = actions[args.action](where)
    except MemError as error:
        if args.json:
            say_json({"running": False, "problem": error.message})
        return failed(error)
    say_json(facts) if args.json else say(_told(facts))
    return exits.NOTHING if args.action == "status" and not facts["running"] else exits.FOUND


def _start(where: Settings) -> Facts:
    before = found(where)
    health = started(where)
    did = "started" if before is None else "already running" if before.pid == health.pid else "restarted"
    return {"did": did, **_running(where, health)}


def _restart(where: Settings) -> Facts:
    stopped = _stop(where)["did"] == "stopped"
    return {"did": "restarted" if stopped else "started", **_running(where, started(where))}


def _status(wanted: Settings) -> Facts:
    where = _there(wanted)
    health = found(where)
    if health is None:
        return {"did": "not running", "running": False, "url": where.url, "data_dir": str(where.data_dir)}
    moved = f"the settings say {wanted.url} by now; `claude-mem worker restart` moves it there"
    problem = {} if where is wanted else {"problem": moved}
    return {"did": "running", **_running(where, health), **_counts(where), **problem}


def _there(wanted: Settings) -> Settings:
    """Where the worker of this memory is: the port in the settings may have changed since it started."""
    port = recorded_port(wanted)
    return wanted if port in (None, wanted.port) else replace(wanted, port=port)


def _stop(wanted: Settings) -> Facts:
    where = _there(wanted)
    told = {"running": False, "url": where.url, "data_dir": str(where.data_dir)}
    try:
        health = found(where)
    except TimedOut as error:
        # A worker that hangs is still ours to end, if its pid file says for certain which process it is.
        if recorded_pid(where) is None:
            raise
        if not isinstance(error, AlreadyTold):
            note(error.message)
        health = None
    else:
        if health is None:
            return {"did": "not running", **told}
    try:
        pid = ending.end(where, health, note)
    except Unauthorized:
        # It is our own process all the same, if its pid file says for certain which one it is.
        if health is None or recorded_pid(where) != health.pid:
            raise
        note("the worker was started with another token than the settings have by now")
        pid = ending.end(where, None, note)
    return {"did": "stopped", "pid": pid, **told}


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
        client = QuickClient(where.host, where.port, token=where.credential)
        stats: Stats = client.send(calls.stats(), timeout_s=_ANSWER_S)
    except MemError as error:
        return {"problem": error.message}
    held = stats.database
    way_out = (
        f"the worker is of another version than this program ({__version__}); `claude-mem worker restart` renews it"
    )
    return {
        "version": stats.worker.version,
        "observations": held.observations,
        "summaries": held.summaries,
        "prompts": held.prompts,
        "sessions": held.sessions,
        "database_bytes": held.size,
        **({} if stats.worker.version == __version__ else {"problem": way_out}),
    }


def _told(facts: Facts) -> str:
    rows = [f"worker {facts['did']}"]
    for name, value in facts.items():
        label, _, unit = name.rpartition("_") if name.endswith(("_s", "_bytes")) else (name, "", "")
        if name not in _MUTE:
            rows.append(f"  {label.replace('_', ' '):<13} {value} {unit}".rstrip())
    return "\n".join(rows)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0, not {text!r}")
    return int(text)


_MUTE = ("did", "running", "ready", "port")

"""`claude-mem doctor`: whether all is in order, and one line of advice for what is not. Changes and starts nothing."""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from worker.cli import agents, exits
from worker.cli.checks import agent, hooks, machine, memory, service
from worker.cli.checks.finding import FAIL, Case, Finding, Look
from worker.cli.connection import chosen
from worker.cli.printing import HelpLines, say, say_json
from worker.contract import calls, launch
from worker.contract.errors import MemError
from worker.contract.index import IndexStatus
from worker.contract.quick import QuickClient
from worker.contract.settings import Settings, agent_file, inherited
from worker.contract.status import Health
from worker.contract.upkeep import Check

_LOOKS: tuple[Look, ...] = (
    machine.installed, memory.settings, machine.folder, machine.file_system, machine.disk, machine.permissions,
    machine.keymap, service.access, service.port, service.running, service.version, service.reachable, service.stream,
    service.observing,
    memory.database, memory.index, memory.fulltext, memory.meaning, agent.entry, hooks.called, hooks.spooled,
    hooks.timed,
)  # fmt: skip
_CHECK_S = 30.0


def main(argv: Sequence[str]) -> int:
    """Run `doctor`; gives the exit code: 1 if anything fails."""
    parser = argparse.ArgumentParser(
        prog="claude-mem doctor",
        description="Look whether all is in order; nothing is changed and nothing started.",
        epilog="exit codes:\n  0  nothing fails (there may be warnings)\n  1  something fails\n",
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    parser.add_argument("--demo", action="store_true", help="look after the demo memory")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args(argv[1:])
    found = findings(demo=args.demo)
    if args.json:
        say_json({"ok": not _fails(found), "checks": found})
    else:
        say("\n".join(map(_told, found)))
    return exits.NOTHING if _fails(found) else exits.FOUND


def findings(*, demo: bool) -> list[Finding]:
    """What every check finds; without settings that can be read, that alone."""
    try:
        case = _case(chosen(demo=demo))
    except MemError as error:
        if error.field:
            return [Finding("settings", FAIL, error.message, "mend the value, or take it away")]
        message, _, way_out = error.message.partition(": ")
        return [Finding("settings", FAIL, message, way_out)]
    return [look(case) for look in _LOOKS]


def _case(settings: Settings) -> Case:
    health: Health | None = None
    problem: MemError | None = None
    try:
        health = launch.find(settings)
    except MemError as error:
        problem = error
    open_now = health is not None and health.initialized
    reports = _asked(settings) if open_now else {}
    meaning = _meaning(settings) if open_now else None
    hooks_file = agents.places(inherited(), scope=agents.USER, cwd=Path.cwd()).hooks
    return Case(settings, agent_file(), health, problem, reports or _looked(settings), meaning, hooks_file)


def _asked(settings: Settings) -> Mapping[str, Check]:
    """What the worker says."""
    try:
        client = QuickClient(settings.host, settings.port, token=settings.credential)
        return {check.name: check for check in client.send(calls.doctor(), timeout_s=_CHECK_S).checks}
    except MemError:
        return {}


def _meaning(settings: Settings) -> IndexStatus | None:
    """What the worker says of the index by meaning."""
    try:
        client = QuickClient(settings.host, settings.port, token=settings.credential)
        return client.send(calls.index_status(), timeout_s=_CHECK_S)
    except MemError:
        return None


def _looked(settings: Settings) -> Mapping[str, Check]:
    """What a look at the file says. A program of its own does it, because nobody but the worker knows SQLite."""
    command = (sys.executable, "-P", "-m", "worker", "--check", "--data-dir", str(settings.data_dir))
    try:
        done = subprocess.run(command, capture_output=True, timeout=_CHECK_S, check=True, cwd="/")
        return {check.name: check for check in msgspec.json.decode(done.stdout, type=list[Check])}
    except (OSError, subprocess.SubprocessError, msgspec.MsgspecError):
        return {}


def _fails(found: Sequence[Finding]) -> bool:
    return any(finding.state == FAIL for finding in found)


def _told(finding: Finding) -> str:
    line = f"{finding.state:<5} {finding.name:<12} {finding.message}"
    return f"{line}\n{'':<18} -> {finding.advice}" if finding.advice else line

"""`claude-mem install` and `uninstall`: our hooks and our MCP server in the agents' own settings, and out again."""

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from worker.cli import agents, config_file, entries, exits
from worker.cli.agents import PROJECT, USER, Places
from worker.cli.printing import HelpLines, failed, note, say
from worker.contract.errors import Invalid
from worker.contract.settings import inherited

_CODE, _DESKTOP, _ALL = "claude-code", "claude-desktop", "all"
_Change = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Step:
    what: str
    file: Path
    change: _Change


def main(argv: Sequence[str]) -> int:
    """Run `install` or `uninstall`; gives the exit code."""
    args = _parser(argv[0]).parse_args(argv[1:])
    environ = inherited()
    where = agents.places(environ, scope=args.scope, cwd=Path.cwd())
    removing = argv[0] == "uninstall"
    called, why_not = agents.shared_program(environ) if args.scope == PROJECT else (agents.program(), "")
    steps = list(_steps(args.agent, where, called, removing=removing))
    try:
        agents.check_home(step.file for step in steps)
    except Invalid as error:
        return failed(error)
    if not removing and args.agent != _DESKTOP and not _may_go_on(where, yes=args.yes, dry_run=args.dry_run):
        return exits.USAGE
    well = _all_done(steps, removing=removing, dry_run=args.dry_run)
    if well and args.scope == PROJECT and args.agent != _DESKTOP and not removing:
        _tell_of_others(called, why_not)
    if well and not removing and not args.dry_run:
        _tell_what_follows(args.agent, environ.get("CLAUDE_MEM_DATA_DIR"))
    return exits.FOUND if well else exits.USAGE


def _parser(name: str) -> argparse.ArgumentParser:
    about = {
        "install": "Have agents call claude-mem: hooks and the MCP server in Claude Code's settings, the MCP server in "
        "Claude Desktop's. What is there stays, and a copy of each changed file is kept beside it.",
        "uninstall": "Take the hooks and the MCP server out of the agents' settings. The memory stays.",
    }
    parser = argparse.ArgumentParser(
        prog=f"claude-mem {name}",
        description=about[name],
        epilog=exits.TOLD,
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--agent",
        choices=(_CODE, _DESKTOP, _ALL),
        default=_CODE,
        metavar="A",
        help=f"{_CODE} (default), {_DESKTOP} or {_ALL}",
    )
    parser.add_argument(
        "--scope",
        choices=(USER, PROJECT),
        default=USER,
        metavar="S",
        help=f"{USER}: for all projects (default); {PROJECT}: for the present folder",
    )
    parser.add_argument("--dry-run", action="store_true", help="only tell what would be changed")
    if name == "install":
        parser.add_argument("--yes", action="store_true", help="go on beside the original's plugin without asking")
    return parser


def _steps(agent: str, where: Places, called: tuple[str, ...], *, removing: bool) -> Iterator[_Step]:
    """called: how Claude Code calls this program; Claude Desktop, which is of this machine, always by its path."""
    hooks: _Change = entries.without_hooks if removing else partial(entries.with_hooks, command=shlex.join(called))

    def server(program: tuple[str, ...]) -> _Change:
        return entries.without_server if removing else partial(entries.with_server, program=program)

    if agent != _DESKTOP:
        yield _Step("hooks", where.hooks, hooks)
        yield _Step("MCP server", where.servers, server(called))
    if agent == _DESKTOP or (agent == _ALL and where.desktop.parent.is_dir()):
        yield _Step("MCP server", where.desktop, server(agents.program()))


def _all_done(steps: Sequence[_Step], *, removing: bool, dry_run: bool) -> bool:
    """Whether all files are as they are to be: else all are as they were. Half of it would be worse than none."""
    possible = [_is_possible(step) for step in steps]
    if not all(possible):
        note("nothing was changed")
        return False
    done: list[config_file.Changed | None] = []
    for step in steps:
        try:
            done.append(config_file.changed(step.file, step.change, dry_run=dry_run))
        except config_file.Unusable as error:
            note(str(error))
            left = [str(one.file) for one in done if one is not None and not config_file.taken_back(one)]
            note(f"{', '.join(left)} cannot be taken back any more" if left else "nothing was changed")
            return False
    for step, changed in zip(steps, done, strict=True):
        _tell(step, changed, removing=removing, dry_run=dry_run)
    return True


def _is_possible(step: _Step) -> bool:
    try:
        config_file.changed(step.file, step.change, dry_run=True)
    except config_file.Unusable as error:
        note(str(error))
        return False
    return True


def _tell(step: _Step, changed: config_file.Changed | None, *, removing: bool, dry_run: bool) -> None:
    if changed is None:
        say(f"{step.file}: {'has none of our' if removing else 'has our'} {step.what}")
        return
    verb = "taken out of" if removing else "put into"
    say(f"{step.file}: {step.what} {'would be ' if dry_run else ''}{verb} it")
    if changed.backup is not None:
        say(f"  as it was: {changed.backup}")


def _tell_of_others(called: tuple[str, ...], why_not: str) -> None:
    """The files of a project go to other machines, with what stands in them."""
    if why_not:
        note(
            f"{why_not}: what is written calls {shlex.join(called)}, which other machines do not have. "
            "Put claude-mem on the PATH and run this again before these files are given to others"
        )
    else:
        say(f"Whoever works in this folder calls {called[0]}, and needs it on the PATH.")


def _may_go_on(where: Places, *, yes: bool, dry_run: bool) -> bool:
    """Whether to install beside the original's plugin, if it is there."""
    found = agents.originals(where)
    if not found:
        return True
    say(
        f"The original claude-mem's plugin is installed ({'; '.join(found)}).\n"
        "Its hooks would go on running beside ours: both tell of each event, both start a worker, and the two workers\n"
        "want the same port and the same database; whichever comes first serves both. Nothing of it is removed here.\n"
        "To leave the memory to this program alone: `claude plugin disable claude-mem@thedotmack`."
    )
    if yes or dry_run:
        return True
    if not sys.stdin.isatty():
        note("nothing was changed; --yes goes on beside it")
        return False
    say("Go on beside it? [y/N]")
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    note("nothing was changed")
    return False


def _tell_what_follows(agent: str, data_dir: str | None) -> None:
    if agent != _DESKTOP:
        say("Claude Code calls claude-mem from its next session on; `claude-mem doctor` looks whether all is in order.")
        say("Past sessions: `claude-mem import transcripts --dry-run` tells what they hold.")
    if agent != _CODE:
        say("Claude Desktop reads its settings when it starts.")
    if data_dir:
        note(
            f"CLAUDE_MEM_DATA_DIR is {data_dir} in this shell; where an agent starts without it, put it into "
            "~/.claude-mem/settings.json"
        )

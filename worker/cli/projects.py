"""`claude-mem projects`: their names, and what to do about one that goes by two."""

import argparse
from collections.abc import Sequence

from worker.cli import exits
from worker.cli.connection import chosen, client
from worker.cli.printing import HelpLines, failed, say, say_json
from worker.contract import calls
from worker.contract.curation import Alias, Merge
from worker.contract.errors import MemError
from worker.contract.quick import QuickClient


def main(argv: Sequence[str]) -> int:
    """Run `projects`; gives the exit code."""
    args = _parser().parse_args(argv[1:])
    try:
        worker = client(chosen(demo=args.demo))
        match args.action:
            case "alias":
                _alias(worker, args)
            case "merge":
                _merge(worker, args)
            case _:
                return _list(worker, args)
    except MemError as error:
        return failed(error)
    return exits.FOUND


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claude-mem projects",
        description="The projects in the memory. A repository that was moved or renamed has a new name: `merge OLD "
        "NEW` has its old memories found under the new one, `alias NEW OLD` files what comes under the old one.",
        epilog=exits.TOLD,
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    # Before the action or after it; one that is not given there leaves what was given here.
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    for each in (parser, common):
        each.add_argument("--json", action="store_true", help="print JSON")
        each.add_argument("--demo", action="store_true", help="of the demo memory")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", parents=[common], help="their names, and the aliases; the default")
    alias = actions.add_parser("alias", parents=[common], help="file what comes from A under B; `alias A A` ends that")
    merge = actions.add_parser("merge", parents=[common], help="have what is filed under A be found under B too")
    for action in (alias, merge):
        action.add_argument("a", metavar="A")
        action.add_argument("b", metavar="B")
    return parser


def _list(worker: QuickClient, args: argparse.Namespace) -> int:
    names, aliases = worker.send(calls.projects()).projects, worker.send(calls.aliases()).aliases
    if args.json:
        say_json({"projects": names, "aliases": aliases})
    else:
        say("\n".join((*names, *(f"{alias} -> {project}" for alias, project in aliases.items()))) or "none yet")
    return exits.FOUND if names else exits.NOTHING


def _alias(worker: QuickClient, args: argparse.Namespace) -> None:
    aliases = worker.send(calls.alias_project(Alias(alias=args.a, project=args.b))).aliases
    if args.json:
        say_json({"aliases": aliases})
    elif args.a == args.b:
        say(f"what comes from {args.a} is filed under its own name")
    else:
        say(f"what comes from {args.a} is filed under {args.b}; `merge` does the same for what is there")


def _merge(worker: QuickClient, args: argparse.Namespace) -> None:
    done = worker.send(calls.merge_projects(Merge(project=args.a, into=args.b)))
    if args.json:
        say_json({"observations": done.observations, "summaries": done.summaries})
    else:
        found = f"{done.observations:,} observations and {done.summaries:,} summaries"
        say(f"{found} of {args.a} are found under {args.b} too")

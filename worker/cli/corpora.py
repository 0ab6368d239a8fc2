"""`corpus build|list|show|prime|query|rebuild|reprime|delete`: chosen records as a knowledge base to question."""

import argparse
import itertools
import time
from collections.abc import Callable, Sequence

from worker.cli import exits
from worker.cli.connection import chosen, client
from worker.cli.printing import HelpLines, failed, say, say_json
from worker.contract import calls, when
from worker.contract.corpus import USUAL_LIMIT, CorpusInfo, CorpusLine, CorpusOrder, Primed
from worker.contract.errors import MemError
from worker.contract.quick import QuickClient

_ABOUT = {
    "build": "build a corpus from what a search finds; one of the same name is replaced",
    "list": "all corpora",
    "show": "what a corpus was built from, and what it holds",
    "prime": "have your `claude` command line read it (costs its tokens); not needed with the provider `local`",
    "query": "ask it",
    "rebuild": "build it anew from its own filter; then it is not primed",
    "reprime": "prime it anew: earlier questions are forgotten",
    "delete": "take the corpus away; its records stay in memory",
}


def main(argv: Sequence[str]) -> int:
    """Run `corpus ACTION`; gives the exit code."""
    flags = [*itertools.takewhile(lambda word: word in ("--demo", "--json"), argv[1:])]
    name, words = next(iter(argv[1 + len(flags) :]), ""), [*flags, *argv[2 + len(flags) :]]
    if name not in _ABOUT:
        return _unknown(argv[1:])
    action = _parser(f"claude-mem corpus {name}", f"{_ABOUT[name][0].upper()}{_ABOUT[name][1:]}.", exits.TOLD)
    _ARGUMENTS.get(name, _name)(action)
    action.add_argument("--json", action="store_true", help="print the worker's JSON")
    action.add_argument("--demo", action="store_true", help="of the demo memory")
    args = action.parse_intermixed_args(words)  # words may stand among the options
    if name == "query" and not " ".join(args.question).strip():
        action.error("argument QUESTION: must not be blank")
    try:
        return _DEEDS[name](client(chosen(demo=args.demo)), args)
    except MemError as error:
        return failed(error)


def _unknown(words: Sequence[str]) -> int:
    """Help, or what actions there are."""
    rows = "\n".join(f"  {name:<8} {about}" for name, about in _ABOUT.items())
    parser = _parser("claude-mem corpus", f"Chosen records as a knowledge base to question.\n\nactions:\n{rows}", "")
    parser.add_argument("action", choices=list(_ABOUT), metavar="ACTION")
    parser.add_argument("words", nargs="*", metavar="...")
    parser.parse_args(words)
    parser.error("give the ACTION first")


def _parser(name: str, about: str, end: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=name,
        description=about,
        epilog=end,
        formatter_class=HelpLines,
        allow_abbrev=False,
    )


def _name(action: argparse.ArgumentParser) -> None:
    action.add_argument("name", metavar="NAME")


def _question(action: argparse.ArgumentParser) -> None:
    _name(action)
    action.add_argument("question", nargs="+", metavar="QUESTION")


def _order(action: argparse.ArgumentParser) -> None:
    action.add_argument("name", metavar="NAME", help="letters (a-z), digits, `.`, `_`, `-`")
    action.add_argument("words", nargs="*", metavar="WORDS", help="as in `claude-mem search`; none: the newest records")
    action.add_argument("--description", metavar="TEXT", help="what it is for")
    action.add_argument("--project", metavar="P", help="only this project")
    action.add_argument("--type", action="append", default=[], metavar="T", help="observation type: bugfix, feature...")
    action.add_argument("--concept", action="append", default=[], metavar="C", help="how-it-works, gotcha...")
    action.add_argument("--file", action="append", default=[], metavar="F", help="part of a file's path")
    action.add_argument("--since", type=_date, metavar="D", help="from this date on: 2026-03-10, 3d, yesterday")
    action.add_argument("--until", type=_date, metavar="D", help="to this date, inclusive")
    action.add_argument("--limit", type=_count, metavar="N", help=f"records at most ({USUAL_LIMIT})")


_ARGUMENTS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "build": _order,
    "list": lambda _: None,
    "query": _question,
}


def _build(worker: QuickClient, args: argparse.Namespace) -> int:
    order = CorpusOrder(
        name=args.name,
        description=args.description,
        project=args.project,
        types=list(calls.comma(args.type)) or None,
        concepts=list(calls.comma(args.concept)) or None,
        files=list(args.file) or None,
        query=" ".join(args.words) or None,
        date_start=args.since,
        date_end=args.until,
        limit=args.limit,
    )
    return _told(worker.send(calls.build_corpus(order)), args)


def _list(worker: QuickClient, args: argparse.Namespace) -> int:
    found = worker.send(calls.corpora())
    if args.json:
        say_json(found)
    elif found.corpora:
        say("\n".join(map(_line, found.corpora)))
    else:
        say("no corpora yet; `claude-mem corpus build NAME WORDS` makes one")
    return exits.FOUND if found.corpora else exits.NOTHING


def _show(worker: QuickClient, args: argparse.Namespace) -> int:
    return _told(worker.send(calls.corpus(args.name)), args)


def _rebuild(worker: QuickClient, args: argparse.Namespace) -> int:
    return _told(worker.send(calls.rebuild_corpus(args.name)), args)


def _prime(worker: QuickClient, args: argparse.Namespace) -> int:
    return _read(worker.send(calls.prime_corpus(args.name)), args)


def _reprime(worker: QuickClient, args: argparse.Namespace) -> int:
    return _read(worker.send(calls.reprime_corpus(args.name)), args)


def _query(worker: QuickClient, args: argparse.Namespace) -> int:
    answer = worker.send(calls.query_corpus(args.name, " ".join(args.question)))
    if args.json:
        say_json(answer)
    else:
        say("\n".join((answer.answer, *(f"({note})" for note in answer.notes if answer.model or answer.stale))))
    return exits.FOUND if answer.model or answer.cited else exits.NOTHING


def _delete(worker: QuickClient, args: argparse.Namespace) -> int:
    deleted = worker.send(calls.delete_corpus(args.name))
    if args.json:
        say_json(deleted)
    else:
        say(f"corpus {args.name} is deleted")
    return exits.FOUND


_DEEDS: dict[str, Callable[[QuickClient, argparse.Namespace], int]] = {
    "build": _build,
    "list": _list,
    "show": _show,
    "prime": _prime,
    "query": _query,
    "rebuild": _rebuild,
    "reprime": _reprime,
    "delete": _delete,
}


def _told(info: CorpusInfo, args: argparse.Namespace) -> int:
    """What a corpus is; an empty one is nothing found."""
    if args.json:
        say_json(info)
    else:
        say("\n".join(_lines(info)))
    return exits.FOUND if info.stats.observation_count else exits.NOTHING


def _lines(info: CorpusInfo) -> list[str]:
    span = info.stats.date_range
    asked = {name: value for name in info.filter.__struct_fields__ if (value := getattr(info.filter, name))}
    shown = ", ".join(
        f"{name}: {'|'.join(value) if isinstance(value, tuple) else value}" for name, value in asked.items()
    )
    types = sorted(info.stats.type_breakdown.items(), key=lambda item: (-item[1], item[0]))
    rows = {
        "description": info.description,
        "filter": shown or "none",
        "records": f"{info.stats.observation_count:,}, {span.earliest[:10]} to {span.latest[:10]}",
        "types": ", ".join(f"{name} {count:,}" for name, count in types),
        "tokens": f"~{info.stats.token_estimate:,}",
        "primed": "yes" if info.session_id else "no",
        "stale": f"{info.missing:,} records were deleted since; `corpus rebuild` settles it" if info.stale else "",
    }
    lines = [f"corpus {info.name}", *(f"  {name:<12} {value}" for name, value in rows.items() if value)]
    return [*lines, *(f"  ({note})" for note in info.notes)]


def _line(each: CorpusLine) -> str:
    marks = [mark for mark, is_so in (("primed", each.session_id), ("stale", each.stale)) if is_so]
    counts = f"{each.stats.observation_count:,} records, ~{each.stats.token_estimate:,} tokens"
    about = f"  {each.description}" if each.description else ""
    return f"{each.name}  {counts}{''.join(f', {mark}' for mark in marks)}{about}"


def _read(primed: Primed, args: argparse.Namespace) -> int:
    if args.json:
        say_json(primed)
    else:
        done = f"corpus {primed.name} is primed" if primed.session_id else f"corpus {primed.name}"
        say("\n".join((done, *(f"({note})" for note in primed.notes))))
    return exits.FOUND


def _date(text: str) -> str:
    """The date as given: one that is told from now is read anew by each rebuild."""
    if when.parse_range(text, now_epoch_ms=time.time_ns() // 1_000_000) is None:
        raise argparse.ArgumentTypeError(f"must be a date such as 2026-03-10, 3d or yesterday, not {text!r}")
    return text


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, not {text!r}")
    return int(text)

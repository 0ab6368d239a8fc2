"""`search`, `timeline`: prints what the worker presents, or its JSON."""

import argparse
import re
import time
from collections.abc import Sequence

from worker.cli import exits
from worker.cli.connection import chosen, client
from worker.cli.printing import HelpLines, failed, say, say_json
from worker.contract import calls, when
from worker.contract.errors import MemError
from worker.contract.present import Text
from worker.contract.records import RecordKind, parse_key
from worker.contract.search import Order, SearchQuery, TimelineQuery

_LEFT_OUT = re.compile(r"-[^-\d]\S{2,}|-[^-\x00-\x7f]\S*")
"""What leaves a word out of a search; what is shorter in ASCII is more likely an option of another command."""
_OPTION = re.compile(r"--[a-z]+")
_KINDS = {"session": RecordKind.SUMMARY} | {kind.value: kind for kind in RecordKind}


def main(argv: Sequence[str]) -> int:
    """Run the command in ``argv[0]``; gives the exit code."""
    name, *words = argv
    program = {"search": _search, "timeline": _timeline}[name]
    parser = argparse.ArgumentParser(
        prog=f"claude-mem {name}",
        description=program.__doc__,
        epilog=exits.TOLD,
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print the worker's JSON")
    parser.add_argument("--demo", action="store_true", help="ask the demo memory")
    try:
        return program(parser, words)
    except MemError as error:
        return failed(error)


def _search(parser: argparse.ArgumentParser, words: list[str]) -> int:
    """Search the memory. Without words: the newest records that pass the filters."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORDS",
        help='words, "a phrase", -without, type:bugfix file:F since:3d is:prompt ...; `--` before a word with -',
    )
    parser.add_argument("--project", metavar="P", help="only this project")
    parser.add_argument("--type", action="append", default=[], metavar="T", help="observation type: bugfix, feature...")
    parser.add_argument("--kind", action="append", default=[], metavar="K", help=f"one of {', '.join(_KINDS)}")
    parser.add_argument("--since", type=_date, metavar="D", help="from this date or moment: 2026-03-10, 3d, yesterday")
    parser.add_argument("--until", type=_date, metavar="D", help="to this date or moment, inclusive")
    parser.add_argument("--limit", type=_count, default=20, metavar="N", help="rows (20)")
    parser.add_argument("--offset", type=_depth, default=0, metavar="N", help="rows to skip")
    orders = [order.value for order in Order]
    parser.add_argument(
        "--order", choices=orders, default="relevance", metavar="O", help=f"{', '.join(orders)} (relevance)"
    )
    args, after = _parsed(parser, words)
    kinds = calls.comma(args.kind)
    if wrong := [kind for kind in kinds if kind not in _KINDS]:
        parser.error(f"argument --kind: must be one of {', '.join(_KINDS)}, not {wrong[0]!r}")
    if args.since and args.until and args.since[0] > args.until[1]:
        parser.error("argument --since: is after --until")
    query = SearchQuery(
        text=" ".join([*args.words, *after]),
        kinds=tuple(dict.fromkeys(_KINDS[kind] for kind in kinds)),
        types=calls.comma(args.type),
        project=args.project,
        since_epoch_ms=args.since and args.since[0],
        until_epoch_ms=args.until and args.until[1],
        order=Order(args.order),
        limit=args.limit,
        offset=args.offset,
    )
    worker = client(chosen(demo=args.demo))
    if not args.json:
        return _told(worker.send(calls.search_text(query)))
    page = worker.send(calls.search(query))
    say_json(page)
    return exits.FOUND if page.hits else exits.NOTHING


def _timeline(parser: argparse.ArgumentParser, words: list[str]) -> int:
    """Show what happened around a record (118, S14, P40), a moment, or the best hit of a query."""
    parser.add_argument("words", nargs="*", metavar="ANCHOR", help="118, S14, P40, or a date and time")
    parser.add_argument("--query", nargs="*", metavar="WORDS", help="instead: its best hit is the anchor")
    parser.add_argument("--before", type=_depth, default=10, metavar="N", help="records before (10)")
    parser.add_argument("--after", type=_depth, default=10, metavar="N", help="records after (10)")
    parser.add_argument("--project", metavar="P", help="only this project")
    args, after = _parsed(parser, words)
    queried = args.query is not None
    anchor = " ".join([*args.words, *([] if queried else after)]).strip()
    asked = " ".join([*args.query, *after]).strip() if queried else ""
    if bool(anchor) == bool(asked):
        parser.error("give an ANCHOR or --query WORDS, one of the two")
    key = parse_key(anchor)
    if anchor and key is None and when.parse_range(anchor, now_epoch_ms=time.time_ns() // 1_000_000) is None:
        parser.error(f"argument ANCHOR: must be 118, S14, P40, or a date and time, not {anchor!r}")
    query = TimelineQuery(
        anchor=str(key) if key else anchor,
        query=asked,
        depth_before=args.before,
        depth_after=args.after,
        project=args.project,
    )
    worker = client(chosen(demo=args.demo))
    if not args.json:
        return _told(worker.send(calls.timeline_text(query)))
    timeline = worker.send(calls.timeline(query))
    say_json(timeline)
    return exits.FOUND if timeline.entries else exits.NOTHING


def _told(text: Text) -> int:
    say(text.text)
    # The text form has no other sign; its first words are part of the contract (http-api.md, 3 and 4).
    return exits.NOTHING if text.isError or text.text.startswith("No ") else exits.FOUND


def _parsed(parser: argparse.ArgumentParser, words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The arguments, and words that begin with `-`: those after `--`, and those that leave something out of a search.

    Words may stand among the options.
    """
    cut = words.index("--") if "--" in words else len(words)
    options = set(_OPTION.findall(parser.format_usage()))
    left_out = [word for word in words[:cut] if _LEFT_OUT.fullmatch(word) and f"-{word}" not in options]
    args, unknown = parser.parse_known_intermixed_args([word for word in words[:cut] if word not in left_out])
    if unknown:
        wrong = " ".join(word for word in unknown if word.startswith("-"))
        parser.error(f"unrecognized arguments: {wrong}; a word that begins with - goes after --")
    return args, [*left_out, *words[cut + 1 :]]


def _count(text: str) -> int:
    return _whole(text, 1)


def _depth(text: str) -> int:
    return _whole(text, 0)


def _whole(text: str, low: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9) or int(text) < low:
        raise argparse.ArgumentTypeError(f"must be a whole number from {low}, not {text!r}")
    return int(text)


def _date(text: str) -> tuple[int, int]:
    span = when.parse_range(text, now_epoch_ms=time.time_ns() // 1_000_000)
    if span is None:
        raise argparse.ArgumentTypeError(
            f"must be a date such as 2026-03-10, 2026-03-10T14:30, 3d or yesterday, not {text!r}"
        )
    return span

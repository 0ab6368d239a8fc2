"""`export`: the worker's pages → a file that is whole or not there."""

import argparse
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from worker.cli import exits
from worker.cli.connection import chosen, client
from worker.cli.days import spool
from worker.cli.output import Written, written
from worker.cli.printing import HelpLines, failed, note
from worker.cli.progress import Progress
from worker.contract import calls, when
from worker.contract.errors import Invalid, MemError
from worker.contract.quick import QuickClient
from worker.contract.transfer import BEFORE_ALL, ExportPage, ExportQuery, RowKind

_UNSAFE = re.compile(rb"\x7f|\xc2[\x80-\x9f]")
"""Control characters that JSON leaves bare. Escaped they mean the same and do not act on a terminal."""

Pages = Iterator[tuple[RowKind, tuple[msgspec.Raw, ...]]]


def main(argv: Sequence[str]) -> int:
    """Run `export [FILE]`; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="claude-mem export",
        description="Write the memory to a file: as JSON, which `claude-mem import` and the original take back, as "
        "JSON lines, or for people as Markdown, by project and day.",
        epilog=exits.TOLD,
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="`-`: standard output; for Markdown a folder"
    )
    parser.add_argument("--format", choices=("json", "jsonl", "markdown"), help="json, unless FILE ends in another")
    parser.add_argument("--project", metavar="P", help="only this project")
    parser.add_argument("--since", type=_date, metavar="D", help="from this date, 2026-03-10, or moment")
    parser.add_argument("--until", type=_date, metavar="D", help="to this date or moment, inclusive")
    parser.add_argument("--demo", action="store_true", help="of the demo memory")
    args = parser.parse_args(argv[1:])
    if args.since and args.until and args.since[0] > args.until[1]:
        parser.error("argument --since: is after --until")
    form = args.format or {".jsonl": "jsonl", ".ndjson": "jsonl", ".md": "markdown"}.get(Path(args.file).suffix, "json")
    query = ExportQuery(
        kind=RowKind.SESSION,
        project=args.project,
        since_epoch_ms=args.since and args.since[0],
        until_epoch_ms=args.until and args.until[1],
    )
    try:
        worker = client(chosen(demo=args.demo))
        counted = _export(worker, query, form, args.file)
    except OSError as error:
        if isinstance(error, BrokenPipeError) or args.file == "-":
            raise  # it is the output
        return failed(Invalid(f"{args.file} cannot be written: {error.strerror or error}"))
    except MemError as error:
        return failed(error)
    told = ", ".join(f"{count:,} {kind.plural}" for kind, count in counted.items())
    note(f"{told} written to {args.file}" if args.file != "-" else told)
    return exits.FOUND if any(counted.values()) else exits.NOTHING


def _export(worker: QuickClient, query: ExportQuery, form: str, target: str) -> dict[RowKind, int]:
    counted = dict.fromkeys(RowKind, 0)
    pages = _pages(worker, query, counted)
    if form == "markdown" and target != "-" and not target.endswith(".md"):
        with spool() as days:
            days.take(pages)
            days.write_folder(Path(target))
    else:
        with written(target) as file:
            {"json": _write_json, "jsonl": _write_lines, "markdown": _write_markdown}[form](file, pages, counted)
    return counted


def _pages(worker: QuickClient, query: ExportQuery, counted: dict[RowKind, int]) -> Pages:
    """Page by page, sessions first. What is written meanwhile is left out, so that no row lacks its session."""
    last = {kind: _page(worker, query, kind=kind, limit=1).newest for kind in reversed(RowKind)}
    behind = 0
    progress = Progress("export", sum(max(0, newest) for newest in last.values()))
    try:
        for kind in RowKind:
            after: int | None = BEFORE_ALL
            while after is not None:
                page = _page(worker, query, kind=kind, after=after, upto=last[kind])
                counted[kind] += len(page.rows)
                yield kind, page.rows
                after = page.next
                progress.at(behind + max(0, last[kind] if after is None else after), sum(counted.values()))
            behind += max(0, last[kind])
    finally:
        progress.end()


def _page(worker: QuickClient, query: ExportQuery, **over: object) -> ExportPage:
    return worker.send(calls.export(msgspec.structs.replace(query, **over)))


def _write_json(file: Written, pages: Pages, counted: dict[RowKind, int]) -> None:
    """One object, with the keys of the original's export; the totals come last, when they are known."""
    now_ms = int(time.time() * 1000)
    head = {"exportedAt": when.iso_utc(now_ms), "exportedAtEpoch": now_ms, "query": ""}
    file.write(msgspec.json.encode(head).removesuffix(b"}"))
    open_kind: RowKind | None = None
    for kind, rows in pages:
        if kind is not open_kind:
            file.write((b"\n]" if open_kind else b"") + f',\n"{kind.plural}": ['.encode())
        for at, row in enumerate(rows):
            file.write((b",\n" if at or kind is open_kind else b"\n") + _safe(row))
        open_kind = kind
    totals = {f"total{kind.plural.capitalize()}": count for kind, count in counted.items()}
    file.write(b"\n],\n" + msgspec.json.encode(totals).removeprefix(b"{") + b"\n")


def _write_lines(file: Written, pages: Pages, counted: dict[RowKind, int]) -> None:
    for kind, rows in pages:
        for row in rows:
            file.write(b'{"k":"%s","v":%s}\n' % (kind.value.encode(), _safe(row)))


def _write_markdown(file: Written, pages: Pages, counted: dict[RowKind, int]) -> None:
    with spool() as days:
        days.take(pages)
        for at, (_, text) in enumerate(days.texts()):
            file.write((b"\n" if at else b"") + text.encode())


def _safe(row: msgspec.Raw) -> bytes:
    return _UNSAFE.sub(lambda found: b"\\u00%02x" % found[0][-1], bytes(row))


def _date(text: str) -> tuple[int, int]:
    span = when.parse_range(text, now_epoch_ms=time.time_ns() // 1_000_000)
    if span is None:
        raise argparse.ArgumentTypeError(f"must be a date such as 2026-03-10 or 2026-03-10T14:30, not {text!r}")
    return span

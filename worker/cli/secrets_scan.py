"""`claude-mem scan-secrets`: keys, tokens and passwords that stand in the memory from before they were masked."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from worker.cli import exits
from worker.cli.connection import chosen, client
from worker.cli.doomed import RowKey, RowSort
from worker.cli.printing import HelpLines, failed, note, say, say_json
from worker.contract import calls
from worker.contract.errors import MemError
from worker.contract.masking import MASK, secrets
from worker.contract.quick import QuickClient
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Order
from worker.contract.tool_uses import ToolUseQuery
from worker.contract.transfer import BEFORE_ALL, ExportQuery, RowKind

_PAGE = 500
_IN_FULL = 100
_AROUND_CHARS = 30


@dataclass(frozen=True, slots=True)
class Secret:
    """kind: as ``masking`` calls it. record: its key, as `delete` takes it. excerpt: masked."""

    kind: str
    record: str
    column: str
    excerpt: str


def main(argv: Sequence[str]) -> int:
    """Run `scan-secrets`; gives the exit code: 1 when any is found."""
    parser = argparse.ArgumentParser(
        prog="claude-mem scan-secrets",
        description="Look for keys, tokens and passwords in the memory. They are shown masked; nothing is changed.",
        epilog="exit codes:\n  0  none found\n  1  some found\n  3  the worker is not available\n",
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--demo", action="store_true", help="in the demo memory")
    args = parser.parse_args(argv[1:])
    try:
        worker = client(chosen(demo=args.demo))
        found = [secret for record, row in _rows(worker) for secret in scanned(record, row)]
    except MemError as error:
        return failed(error)
    if args.json:
        say_json({"found": [msgspec.to_builtins(secret) for secret in found]})
    else:
        say(
            "\n".join(f"{one.record:<14} {one.column:<22} {one.kind:<12} {one.excerpt}" for one in found)
            or "none found"
        )
        if found:
            note(f"`claude-mem delete {'--demo ' if args.demo else ''}KEY` takes it out of the memory for good")
    return exits.NOTHING if found else exits.FOUND


def scanned(record: str, row: Mapping[str, Any]) -> Iterator[Secret]:
    """The secrets in the texts of a row."""
    for column, text in row.items():
        found = secrets(text) if isinstance(text, str) else []
        hidden, gone = text, 0
        for one in found:
            start = one.start - gone
            hidden = hidden[:start] + MASK + hidden[start + one.end - one.start :]
            gone += one.end - one.start - len(MASK)
        at = 0
        for one in found:
            at = hidden.index(MASK, at)
            excerpt = hidden[max(0, at - _AROUND_CHARS) : at + len(MASK) + _AROUND_CHARS]
            at += len(MASK)
            yield Secret(one.kind, record, column, " ".join(excerpt.split()))


def _rows(worker: QuickClient) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in RowKind:
        after: int | None = BEFORE_ALL
        while after is not None:
            page = worker.send(calls.export(ExportQuery(kind=kind, after=after, limit=_PAGE)))
            for raw in page.rows:
                row = msgspec.json.decode(raw, type=dict[str, Any])
                yield _named(kind, row), row
            after = page.next
    yield from _tool_uses(worker)


def _tool_uses(worker: QuickClient) -> Iterator[tuple[str, dict[str, Any]]]:
    offset = 0
    while True:
        page = worker.send(calls.tool_uses(ToolUseQuery(order=Order.DATE_ASC, limit=_IN_FULL, offset=offset)))
        if not page.toolUses:
            return
        for use in worker.send(calls.tool_use_rows(tuple(entry.id for entry in page.toolUses))):
            yield str(RowKey(RowSort.TOOL_USE, use.id)), msgspec.structs.asdict(use)
        offset += len(page.toolUses)


def _named(kind: RowKind, row: Mapping[str, Any]) -> str:
    number = int(row.get("id", 0))
    key = RowKey(RowSort.SESSION, number) if kind is RowKind.SESSION else RecordKey(RecordKind(kind.value), number)
    return str(key)

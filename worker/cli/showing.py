"""`claude-mem show`: records in full."""

import argparse
from collections.abc import Sequence

import msgspec

from worker.cli import exits
from worker.cli.connection import chosen, client
from worker.cli.keys import FORMS, keys_of, records_of
from worker.cli.printing import HelpLines, failed, note, say, say_json
from worker.cli.record_text import record_text
from worker.contract.errors import MemError
from worker.contract.quick import QuickClient
from worker.contract.records import RecordKey


def main(argv: Sequence[str]) -> int:
    """Run `show`; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="claude-mem show",
        description="Show records in full: 118 or #118 (observation), S14 (session summary), P40 (prompt).",
        epilog=exits.TOLD,
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print the worker's JSON")
    parser.add_argument("--demo", action="store_true", help="ask the demo memory")
    parser.add_argument("words", nargs="*", metavar="KEY", help=FORMS)
    args = parser.parse_intermixed_args(argv[1:])
    keys = keys_of(parser, args.words)
    try:
        return _run(client(chosen(demo=args.demo)), keys, as_json=args.json)
    except MemError as error:
        return failed(error)


def _run(worker: QuickClient, keys: Sequence[RecordKey], *, as_json: bool) -> int:
    found = records_of(worker, keys)
    for key in keys:
        if key not in found:
            note(f"there is no {key}")
    if as_json:
        records = [{"key": str(key), "kind": key.kind, **msgspec.to_builtins(row)} for key, row in found.items()]
        say_json({"records": records, "missing": [str(key) for key in keys if key not in found]})
    elif found:
        say("\n\n\n".join(record_text(record) for record in found.values()))
    return exits.FOUND if len(found) == len(keys) else exits.NOTHING

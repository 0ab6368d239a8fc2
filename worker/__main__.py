"""`python -m worker`: one worker on one data directory, in the foreground. `claude-mem worker start` runs it so."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from worker.contract.errors import MemError
from worker.contract.settings import load
from worker.server import serve
from worker.store import checkup


def main(argv: Sequence[str] | None = None) -> int:
    """Run until told to end; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m worker", description="The claude-mem worker, in the foreground.")
    parser.add_argument("--data-dir", type=Path, help="folder of claude-mem.db (default: from the settings)")
    parser.add_argument("--host", help="address to listen on")
    parser.add_argument("--port", type=_port, help="port to listen on")
    parser.add_argument("--demo", action="store_true", help="fill an empty database with the demo memory")
    parser.add_argument("--read-only", action="store_true", help="change nothing, and own nothing: only read the file")
    parser.add_argument(
        "--with-parent", action="store_true", help="print the port, and end when the standard input is closed"
    )
    parser.add_argument("--check", action="store_true", help="only look at the database, and print JSON")
    given = parser.parse_args(argv)
    if given.port == 0 and not given.with_parent:
        parser.error("argument --port: 0, any free port, is for --with-parent, which tells it")
    try:
        settings = load()
    except MemError as error:
        print(error.message, file=sys.stderr)
        return 2
    settings = replace(
        settings,
        data_dir=given.data_dir.absolute() if given.data_dir else settings.data_dir,
        host=given.host or settings.host,
        port=settings.port if given.port is None else given.port,
        demo=given.demo,
    )
    if given.check:
        print(msgspec.json.encode(checkup.look(settings.data_dir, settings.database)).decode())
        return 0
    try:
        serve(settings, read_only=given.read_only, parent=sys.stdin.buffer if given.with_parent else None)
    except MemError as error:
        print(error.message, file=sys.stderr)
        return 1
    return 0


def _port(text: str) -> int:
    if not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"must be from 0 (any that is free) to 65535, not {text}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m worker`: one worker on one data directory, in the foreground. `claude-mem worker start` runs it so."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from worker.contract.errors import MemError
from worker.contract.settings import Settings, load
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
        stored = _stored(given)
    except MemError as error:
        print(error.message, file=sys.stderr)
        return 2
    settings = replace(
        stored,
        host=given.host or stored.host,
        port=stored.port if given.port is None else given.port,
        demo=given.demo,
    )

    def successor(running: Settings) -> Settings:
        """Where the settings changed meanwhile they count, else what this worker was told."""
        now = _stored(given)
        return replace(
            now,
            host=running.host if now.host == stored.host else now.host,
            port=running.port if now.port == stored.port else now.port,
            demo=given.demo,
        )

    if given.check:
        print(msgspec.json.encode(checkup.look(settings.data_dir, settings.database)).decode())
        return 0
    try:
        parent = sys.stdin.buffer if given.with_parent else None
        serve(settings, read_only=given.read_only, parent=parent, successor=successor)
    except MemError as error:
        print(error.message, file=sys.stderr)
        return 1
    return 0


def _stored(given: argparse.Namespace) -> Settings:
    """What the settings say. Errors: ``Invalid``."""
    folder: Path | None = given.data_dir and given.data_dir.absolute()
    if not given.demo:
        return load(data_dir=folder)
    beside = load().for_demo()  # its settings are those of the memory it stands beside
    return replace(beside, data_dir=folder or beside.data_dir)


def _port(text: str) -> int:
    if not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"must be from 0 (any that is free) to 65535, not {text}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())

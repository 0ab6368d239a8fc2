"""`claude-mem pick`: choose records by typing; their ids go to standard output, all else to the terminal."""

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence

from worker.contract import remote, settings
from worker.contract.errors import MemError

_NO_TERMINAL = 2
_LEFT = 130
_TERMINAL = "/dev/tty"
_STREAMS = (0, 1, 2)


def main(argv: Sequence[str]) -> int:
    """Run the command; the exit code: 0 when something was chosen, 130 when not."""
    flags = _flags(argv[1:])
    try:
        mine = remote.chosen(flags, settings.load())
    except MemError as error:
        print(f"claude-mem pick: {error.message}", file=sys.stderr)
        return 2
    chosen = mine.for_demo() if flags.demo and not mine.remote else mine
    try:
        with _on_terminal():
            picked = _picked(chosen, flags)
    except OSError:
        print("claude-mem pick: needs a terminal; use `claude-mem search` in scripts", file=sys.stderr)
        return _NO_TERMINAL
    for key in picked:
        print(key)
    return 0 if picked else _LEFT


def _flags(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="claude-mem pick",
        description="Choose records by typing; their ids are printed: `claude-mem show $(claude-mem pick)`.",
        epilog="Up and Down move, Tab marks, Enter chooses, Esc leaves (exit code 130).",
    )
    parser.add_argument("words", nargs="*", metavar="QUERY", help="what to begin with")
    parser.add_argument("--project", metavar="NAME", help="only this project")
    parser.add_argument("--demo", action="store_true", help="choose from the demo memory")
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    remote.add_flags(parser)
    return parser.parse_args(given)


@contextlib.contextmanager
def _on_terminal() -> Iterator[None]:
    """Meanwhile the three streams lead to the terminal, wherever they led before; that is given back.

    Textual draws on standard error and asks standard output for the size, which in `$(claude-mem pick)` is a pipe: all
    would be drawn for 80 columns. Errors: ``OSError`` where there is no terminal.
    """
    terminal = os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY)
    sys.stdout.flush()
    kept = [os.dup(number) for number in _STREAMS]
    try:
        for number in _STREAMS:
            os.dup2(terminal, number)
        yield
    finally:
        for number, before in zip(_STREAMS, kept, strict=True):
            os.dup2(before, number)
            os.close(before)
        os.close(terminal)


def _picked(chosen: settings.Settings, flags: argparse.Namespace) -> Sequence[object]:
    from tui.cells import glyphs
    from tui.cells.look import Look
    from tui.picker import PickApp  # Textual: 200 ms that `--help` does not wait for

    look = Look(glyphs.ASCII if flags.ascii else glyphs.UNICODE, lambda: time.time_ns() // 1_000_000)
    app = PickApp(chosen, look, project=flags.project, text=" ".join(flags.words))
    app.run(inline=True, mouse=False)
    return app.picked

"""The console script: a table from command to program, and nothing that a hook would have to wait for."""

import importlib
import io
import os
import sys
from collections.abc import Sequence

from worker.cli import exits

_COMMANDS = {
    "tui": ("tui.__main__", "the memory in a terminal app"),
    "pick": ("tui.picking", "choose records by typing, and have their ids printed"),
    "tail": ("worker.cli.tailing", "follow what is remembered, a line each"),
    "hook": ("worker.cli.hook", "tell of an event; called by agents"),
    "install": ("worker.cli.install", "have agents call claude-mem: hooks and MCP server"),
    "uninstall": ("worker.cli.install", "take them out again; the memory stays"),
    "mcp": ("mcp_bridge.__main__", "MCP server on standard input and output, for agents"),
    "worker": ("worker.cli.daemon", "start, stop, restart or ask after the worker, or read its log"),
    "doctor": ("worker.cli.doctor", "whether all is in order, and what to do about what is not"),
    "search": ("worker.cli.query", "search the memory"),
    "timeline": ("worker.cli.query", "what happened around a record or a moment"),
    "show": ("worker.cli.showing", "records in full: 118, S14, P40"),
    "delete": ("worker.cli.deleting", "take single records out of the memory for good"),
    "corpus": ("worker.cli.corpora", "chosen records as a knowledge base: build, list, show, prime, query, ..."),
    "index": ("worker.cli.indexing", "the index by meaning: status, verify, repair, rebuild, pause, resume"),
    "import": ("worker.cli.importing", "bring memories in: another database, an export, past sessions"),
    "projects": ("worker.cli.projects", "the projects; merge one into another, or file it under another"),
    "scan-secrets": ("worker.cli.secrets_scan", "keys and passwords that stand in the memory"),
    "export": ("worker.cli.exporting", "take memories out: JSON, JSON lines or Markdown"),
}

_MOST_HELP_BYTES = 65_536


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of the command that ``argv`` (default: this process's arguments) names."""
    words = list(sys.argv[1:] if argv is None else argv)
    _open_closed_streams()
    _widen_output()
    try:
        code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at its end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return exits.READER_GONE
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        print(f"claude-mem: {error.strerror or error}", file=sys.stderr)
        return exits.UNWRITABLE
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    return code


def _widen_output() -> None:
    """argparse passes over an error of the output, so that none may come before we write the rest: see ``main``."""
    usual = sys.stdout
    if not isinstance(usual, io.TextIOWrapper):
        return
    if usual is sys.__stdout__ and not usual.line_buffering:
        sys.stdout = usual = os.fdopen(1, "w", _MOST_HELP_BYTES, encoding=usual.encoding, closefd=False)
    usual.reconfigure(errors="replace")  # a title in Chinese must not end a program under LANG=C


def _open_closed_streams() -> None:
    """A standard stream that was closed leads nowhere; else the next file or socket would take its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # gives the lowest number that is free
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


def _run(words: list[str]) -> int:
    match words:
        case [] | ["-h" | "--help" | "help"]:
            print(_overview())
            return exits.FOUND
        case ["-V" | "--version"]:
            # Kept out of the other commands' way.
            from worker.contract.version import __version__

            print(f"claude-mem {__version__}")
            return exits.FOUND
        case [name, *_] if name in _COMMANDS:
            return _program(_COMMANDS[name][0], words)
        case [name, *_]:
            return _unknown(name)
    return exits.USAGE


def _program(module: str, words: list[str]) -> int:
    try:
        code = importlib.import_module(module).main(words)
    except SystemExit as end:  # argparse, after its help or its complaint
        code = end.code
    return code if isinstance(code, int) else exits.FOUND if code is None else exits.USAGE


def _unknown(name: str) -> int:
    # 6 ms, on the way out only.
    import difflib

    near = difflib.get_close_matches(name, _COMMANDS, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else f"commands: {', '.join(_COMMANDS)}"
    print(f"claude-mem: no command {name!r}; {hint}", file=sys.stderr)
    return exits.USAGE


def _overview() -> str:
    # On no hook's way: a third more modules.
    import shutil
    import textwrap

    room = max(shutil.get_terminal_size().columns - 2, 20)
    rows = "\n".join(
        textwrap.fill(f"  {name:<12} {about}", room, subsequent_indent=" " * 15)
        for name, (_, about) in _COMMANDS.items()
    )
    codes = "\n".join(textwrap.fill(line, room, subsequent_indent=" " * 5) for line in exits.TOLD.splitlines())
    return (
        "usage: claude-mem COMMAND ...\n\nMemory for coding agents.\n\n"
        f"commands:\n{rows}\n\n`claude-mem COMMAND --help` tells the rest.\n\n{codes}"
    )


if __name__ == "__main__":
    sys.exit(main())

"""What a person gets to see: text without anything that would act on the terminal, JSON, errors, and help."""

import argparse
import re
import sys
import textwrap

import msgspec

from worker.cli import exits
from worker.contract.errors import Invalid, MemError, NotFound, TimedOut, TooLarge, WrongType

_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """The text without what acts on a terminal or turns a line around; line breaks and tabs stay."""
    return _CONTROL.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def say(text: str) -> None:
    """Print text that was stored by somebody."""
    print(plain(text).rstrip("\n"))


def say_json(value: object) -> None:
    """Print a value as JSON: always UTF-8, whatever the locale, and nothing in it acts on a terminal."""
    _put_json(msgspec.json.format(msgspec.json.encode(value), indent=2))


def say_json_line(value: object) -> None:
    """The same on one line, and at once."""
    _put_json(msgspec.json.encode(value))
    sys.stdout.buffer.flush()


def _put_json(encoded: bytes) -> None:
    text = re.sub(r"[\x7f-\x9f]", lambda match: f"\\u{ord(match[0]):04x}", encoded.decode())
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode() + b"\n")


def note(text: str) -> None:
    """Say something beside the output."""
    print(f"claude-mem: {plain(text)}", file=sys.stderr, flush=True)


class AlreadyTold(TimedOut):
    """An error whose sentence was said when it was seen coming."""


def failed(error: MemError) -> int:
    """Tell an error. Gives the exit code."""
    if not isinstance(error, AlreadyTold):
        named = error.field and error.field not in error.message
        note(f"{error.field}: {error.message}" if named else error.message)
    match error:
        case Invalid() | TooLarge() | WrongType():
            return exits.USAGE
        case NotFound():
            return exits.NOTHING
        case _:
            return exits.UNAVAILABLE


class HelpLines(argparse.RawDescriptionHelpFormatter):
    """How `--help` tells a description: lists keep their rows, and no line is wider than the terminal."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = (textwrap.fill(line, width, subsequent_indent=_beside(line)) for line in text.splitlines())
        return textwrap.indent("\n".join(lines), indent)


def _beside(line: str) -> str:
    """The indent of what goes on from a row: that of its second column, if it has two."""
    start = len(line) - len(line.lstrip())
    name, gap, about = line[start:].partition("  ")
    return " " * (start + len(name) + len(gap) + len(about) - len(about.lstrip()) if about else start)

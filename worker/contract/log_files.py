"""The worker's log files: a file for each UTC day in the original's form, in pieces when a day has much to say.

Read back from their end over as many days as it takes, in bounded memory; or followed as they grow.
"""

import os
import re
import time
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

_NAME = re.compile(r"claude-mem-(\d{4}-\d\d-\d\d)(?:\.(\d{1,9}))?\.log")
_BLOCK = 1 << 16
_MOST_BYTES = 8 << 20
"""Of an answer; the oldest lines are left out."""
_LOOK_S = 0.25


@dataclass(frozen=True, slots=True)
class Tail:
    """lines: oldest first. path: of the newest file, or where today's would be. total: lines of the files looked at."""

    lines: tuple[str, ...]
    path: Path
    exists: bool
    total: int


def tail(folder: Path, most: int, now_s: float) -> Tail:
    """The last ``most`` lines, from the newest day back. Errors: ``OSError`` for a file that cannot be read."""
    files = newest_first(folder)
    if not files:
        return Tail((), day_file(folder, now_s), exists=False, total=0)
    kept: deque[bytes] = deque()
    size = total = 0
    for file in files:
        total += _count(file)
        for line in _backwards(file):
            if len(kept) == most or size + len(line) > _MOST_BYTES:
                break
            kept.appendleft(line)
            size += len(line) + 1
        else:
            continue
        break
    return Tail(tuple(line.decode("utf-8", "replace") for line in kept), files[0], exists=True, total=total)


def day_file(folder: Path, now_s: float) -> Path:
    """The file of the day that a moment is in."""
    return folder / f"claude-mem-{datetime.fromtimestamp(now_s, UTC).date().isoformat()}.log"


def follow(folder: Path, after: Path | None) -> Generator[str, None, None]:
    """The lines that are written from now on, for ever, into the file of today and those that come after it.

    after: the newest file there is now. A blank piece comes when there is nothing new.
    """
    stream: BinaryIO | None = None
    rest = b""
    try:
        while True:
            newest = next(iter(newest_first(folder)), None)
            # Looked at before the rest is read: once there is a newer file, nothing more comes into this one.
            over = stream is not None and newest is not None and not _is(stream, newest)
            if stream is not None:
                *lines, rest = (rest + _more(stream)).split(b"\n")
                yield from (line.decode("utf-8", "replace") for line in lines)
            if over and stream is not None:
                stream.close()
                stream = None
            if stream is None and newest is not None:
                stream, rest = newest.open("rb"), b""
                if newest == after:
                    stream.seek(0, os.SEEK_END)
                    after = None
                continue
            yield ""
            time.sleep(_LOOK_S)
    finally:
        if stream is not None:
            stream.close()


def _more(stream: BinaryIO) -> bytes:
    if os.fstat(stream.fileno()).st_size < stream.tell():
        stream.seek(0)  # it was emptied
    return stream.read()


def _is(stream: BinaryIO, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), file.stat())
    except FileNotFoundError:  # renamed at this moment
        return True


def newest_first(folder: Path) -> list[Path]:
    """The log files, newest first; of a day first the one that is written, then its full ones. A link is none."""
    found = ((_NAME.fullmatch(file.name), file) for file in folder.glob("claude-mem-*.log"))
    keyed = [
        (match[1], int(match[2] or 2**31), file)
        for match, file in found
        if match and file.is_file() and not file.is_symlink()
    ]
    return [file for _, _, file in sorted(keyed, reverse=True)]


def next_full_name(file: Path) -> Path:
    """The name for a day's file that is full: with a number higher than those of its day before it."""
    found = (_NAME.fullmatch(other.name) for other in file.parent.glob(f"{file.stem}.*.log"))
    return file.with_name(f"{file.stem}.{1 + max((int(match[2]) for match in found if match), default=0)}.log")


def _count(file: Path) -> int:
    lines, last = 0, b"\n"
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            lines += block.count(b"\n")
            last = block[-1:]
    return lines if last == b"\n" else lines + 1


def _backwards(file: Path) -> Iterator[bytes]:
    """The lines of a file from its end, without their line breaks. A line longer than an answer comes in pieces."""
    with file.open("rb") as stream:
        at = stream.seek(0, os.SEEK_END)
        rest, first = b"", True
        while at:
            start = max(0, at - _BLOCK)
            stream.seek(start)
            head, *lines = (stream.read(at - start) + rest).split(b"\n")
            at = start
            for line in reversed(lines):
                if not (first and not line):  # what stands behind the last line break is no line
                    yield line
                first = False
            rest = head
            if len(rest) > _MOST_BYTES:
                yield rest
                rest = b""
        if rest or not first:
            yield rest

"""The worker's log: a file for each UTC day, in the original's line form, readable by its owner alone.

Read back from its end over as many days as it takes, in bounded memory.
"""

import logging
import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING, "ERROR": logging.ERROR}
_SILENT = logging.CRITICAL + 1
_PATTERN = "claude-mem-[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].log"
_BLOCK = 1 << 16
_MOST_BYTES = 8 << 20
"""Of an answer; the oldest lines are left out."""


class _DailyFile(logging.Handler):
    """Appends each line to the file of its day, so a worker that runs over midnight goes on in the next file."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; a log that cannot be written must not stop the work."""
        try:
            day = datetime.fromtimestamp(record.created, UTC).date().isoformat()
            with open(self._folder / f"claude-mem-{day}.log", "a", encoding="utf-8", errors="replace") as file:
                file.write(self.format(record) + "\n")
        except OSError:
            self.handleError(record)


def open_log(folder: Path, level: str) -> None:
    """Send what is logged to files in ``folder``. Errors: ``OSError`` when it cannot be made."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = _DailyFile(folder)
    handler.setFormatter(
        logging.Formatter(
            "[%(asctime)s.%(msecs)03d] [%(levelname)-5s] [%(name)-6s] %(message)s", datefmt="%Y-%m-%d %H:%M:%S"
        )
    )
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(_LEVELS.get(level, _SILENT))


@dataclass(frozen=True, slots=True)
class Tail:
    """lines: oldest first. path: of the newest file, or where today's would be. total: lines of the files looked at."""

    lines: tuple[str, ...]
    path: Path
    exists: bool
    total: int


def tail(folder: Path, most: int, now_s: float) -> Tail:
    """The last ``most`` lines, from the newest day back. Errors: ``OSError`` for a file that cannot be read."""
    files = _newest_first(folder)
    if not files:
        day = datetime.fromtimestamp(now_s, UTC).date().isoformat()
        return Tail((), folder / f"claude-mem-{day}.log", exists=False, total=0)
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


def clear(folder: Path) -> tuple[int, Path | None]:
    """Empty the log of every day; how many files that were, and the newest. Errors: ``OSError``."""
    files = _newest_first(folder)
    for file in files:
        # Emptied, not deleted: the worker goes on writing to today's.
        os.truncate(file, 0)
    return len(files), files[0] if files else None


def _newest_first(folder: Path) -> list[Path]:
    return sorted((file for file in folder.glob(_PATTERN) if file.is_file()), reverse=True)


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

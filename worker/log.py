"""The worker's log: written to the files of ``contract.log_files``, readable by their owner alone.

It never holds what a memory or a question says: of an exception only its kind and where it was raised are written, for
its words may quote either.
"""

import logging
import os
import traceback
from pathlib import Path
from types import TracebackType

from worker.contract.log_files import day_file, newest_first, next_full_name

_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING, "ERROR": logging.ERROR}
_SILENT = logging.CRITICAL + 1
_FORM = "[%(asctime)s.%(msecs)03d] [%(levelname)-5s] [%(name)-6s] %(message)s"
_MOST_FILE_BYTES = 4 * 2**20
_MOST_FILES = 30
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_NEWS = (
    "Invalid HTTP request received",
    "Unsupported upgrade request",
    "No supported WebSocket library",
    "Exception in ASGI application",
)

_Told = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class Discreet(logging.Formatter):
    """Lines of the original's form; tracebacks without the words of the exceptions."""

    def __init__(self) -> None:
        super().__init__(_FORM, datefmt="%Y-%m-%d %H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """One line, whatever is said."""
        return super().formatMessage(record).replace("\r", "\\r").replace("\n", "\\n")

    def formatException(self, ei: _Told) -> str:
        """Kinds of the exceptions and the places they passed, the first cause first."""
        told: list[str] = []
        error, seen = ei[1], set[int]()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            frames = traceback.extract_tb(error.__traceback__)
            places = [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
            told.insert(0, "\n".join([*places, kind(error)]))
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\n".join(told)


def kind(error: BaseException) -> str:
    """What an exception is, without its words: `OSError (ENOSPC)`, `OperationalError (SQLITE_BUSY)`."""
    detail = getattr(error, "sqlite_errorname", None)
    if isinstance(error, OSError) and error.errno is not None:
        detail = os.strerror(error.errno)
    return type(error).__name__ + (f" ({detail})" if detail else "")


class DailyFile(logging.Handler):
    """Appends each line to the file of its day, so a worker that runs over midnight goes on in the next file.

    A file that is full gets a number and makes room; of all files the newest 30 are kept.
    """

    def __init__(self, folder: Path, *, most_bytes: int = _MOST_FILE_BYTES, most_files: int = _MOST_FILES) -> None:
        super().__init__()
        self._folder = folder
        self._most_bytes = most_bytes
        self._most_files = most_files
        self._last: Path | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; a log that cannot be written must not stop the work."""
        try:
            file = day_file(self._folder, record.created)
            handle = os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY | _NO_LINK, 0o600)
            with os.fdopen(handle, "a", encoding="utf-8", errors="replace") as stream:
                stream.write(self.format(record) + "\n")
                full = stream.tell() >= self._most_bytes
            if full:
                self._make_room(file)
            if full or file != self._last:
                self._last = file
                self._drop_old()
        except OSError:
            pass

    def _make_room(self, file: Path) -> None:
        file.rename(next_full_name(file))

    def _drop_old(self) -> None:
        for file in newest_first(self._folder)[self._most_files :]:
            file.unlink(missing_ok=True)


def is_news(record: logging.LogRecord) -> bool:
    """Whether what the web server says belongs into a log.

    What a peer sent wrong is told to the peer, and would push out what matters; a fault of ours was told by then.
    """
    return not record.getMessage().startswith(_NO_NEWS)


def open_log(folder: Path, level: str) -> None:
    """Send what is logged to files in ``folder``. Errors: ``OSError`` when it cannot be made."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = DailyFile(folder)
    handler.setFormatter(Discreet())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(_LEVELS.get(level, _SILENT))


def clear(folder: Path) -> tuple[int, Path | None]:
    """Empty the log of every day; how many files that were, and the newest. Errors: ``OSError``."""
    files = newest_first(folder)
    for file in files:
        # Emptied, not deleted: the worker goes on writing to today's.
        os.truncate(file, 0)
    return len(files), files[0] if files else None

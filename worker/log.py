"""The worker's log: a file for each UTC day, in the original's line form, readable by its owner alone."""

import logging
from datetime import UTC, datetime
from pathlib import Path

_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING, "ERROR": logging.ERROR}
_SILENT = logging.CRITICAL + 1


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

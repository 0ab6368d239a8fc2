"""Where the write-ahead log of a database lies, and how large it is."""

import contextlib
from pathlib import Path


def wal_file(database: Path) -> Path:
    """Beside the file itself, where the path is a link to it. Whether it is there or not."""
    return Path(f"{database.resolve()}-wal")


def wal_bytes(database: Path) -> int:
    """0 where there is none."""
    with contextlib.suppress(OSError):
        return wal_file(database).stat().st_size
    return 0

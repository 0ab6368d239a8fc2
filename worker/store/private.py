"""The files of the memory for their owner's eyes only, also those that an earlier umask left open."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from worker.contract.log_files import newest_first
from worker.contract.private_files import is_home, private_files


def shut(data_dir: Path) -> None:
    """Take from others what they may do in the data directory and with what lies in it.

    What is not ours stays as it is. A home is never shut, should one be the data directory: its files are.
    """
    for path in _open(data_dir):
        with contextlib.suppress(OSError):
            os.chmod(path, stat.S_IMODE(path.stat().st_mode) & 0o700)


def _open(data_dir: Path) -> Iterator[Path]:
    if not is_home(data_dir):
        yield data_dir
    yield from private_files(data_dir)
    yield from newest_first(data_dir / "logs")

"""The mark by which a hook knows that its own memory's worker answers, and no other program on the port.

A header of every answer. It is no proof against somebody who means harm, only against mistakes: another program that
says yes to everything, the original's worker, a worker of another data directory. Light: hooks use it.
"""

import os
import zlib

HEADER = "X-Claude-Mem-Memory"


def mark(data_dir: str) -> str:
    """The same for every way to name a data directory."""
    return f"{zlib.crc32(os.path.realpath(data_dir).encode('utf-8', 'surrogateescape')):08x}"

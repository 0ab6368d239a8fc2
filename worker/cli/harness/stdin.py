"""The JSON object on standard input: read until it is whole, not until the pipe is closed (R127)."""

import json
import os
import select
import time

_PIECE_BYTES = 1 << 20
_MOST_BYTES = 64 * 2**20


def read_object(handle: int, deadline_s: float) -> dict[str, object]:
    """What came; {} when nothing, no whole object or something else came before the deadline.

    deadline_s: on the clock of ``time.monotonic``. The pipe may stay open.
    """
    if os.isatty(handle):
        return {}
    text = bytearray()
    while len(text) <= _MOST_BYTES:
        if not _is_ready(handle, deadline_s - time.monotonic()):
            break
        piece = os.read(handle, _PIECE_BYTES)
        text += piece
        # Looked at only where it can be whole: parsing at every piece of a long text would take for ever.
        ends = text.rstrip().endswith(b"}") if len(piece) < 4096 else piece.rstrip().endswith(b"}")
        if not piece or (ends and not _is_ready(handle, 0)):
            value = _parsed(text)
            if value is not None or not piece:
                return value or {}
    return _parsed(text) or {}


def _is_ready(handle: int, within_s: float) -> bool:
    try:
        return bool(select.select([handle], [], [], max(0.0, within_s))[0])
    except (OSError, ValueError):
        return True  # no pipe that can be waited for, as on Windows: reading it waits


def _parsed(text: bytearray) -> dict[str, object] | None:
    try:
        value = json.loads(text.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

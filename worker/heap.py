"""What a process of ours asks of the C library's heap: that it keeps little of what was freed."""

import contextlib
import ctypes

_TRIM_THRESHOLD = -1
_ARENA_MAX = -8
_BYTES = 2 * 2**20


def give_back() -> None:
    """Freed memory goes back to the system from now on; where the C library is another one, nothing is changed.

    By itself glibc lets its thresholds grow with the largest piece ever freed, up to 32 MB, and keeps that much:
    measured with the default model, 240 MB resident after long texts, 165 MB so, for 5 to 10 % more CPU a text.
    """
    _tell(_TRIM_THRESHOLD, _BYTES)


def share() -> None:
    """Threads that start from now on share one heap; where the C library is another one, nothing is changed.

    By itself glibc gives each thread a heap of its own and keeps in each what was once needed: measured after questions
    on 100,000 records, 93 MB resident, 77 MB so.
    """
    _tell(_ARENA_MAX, 1)


def _tell(parameter: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(parameter, value)

"""Where the memory comes from: one heap for all threads.

Of itself the C library gives each thread a heap of its own and keeps in each what was once needed; with the threads
that read and write that is a sixth of all that the worker holds.
"""

import ctypes
import sys

_ARENA_MAX = -8
"""`M_ARENA_MAX` of glibc's `mallopt`."""


def share() -> None:
    """Have threads that start from now on share one heap, where the C library can be told so."""
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)

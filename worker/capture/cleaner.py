"""The process that cleans what is imported: `python -m worker.capture.cleaner HANDLE`, started by ``cleaning``.

It ends when nobody asks any more, and when the worker does.
"""

import contextlib
import sys
from multiprocessing.connection import Connection

from worker import heap
from worker.capture import rows

_IDLE_S = 10.0


def main(words: list[str]) -> int:
    """Clean piece after piece."""
    heap.be_frugal()
    with contextlib.suppress(EOFError, OSError), Connection(int(words[0])) as asked:
        while asked.poll(_IDLE_S):
            asked.send(rows.prepared(asked.recv()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

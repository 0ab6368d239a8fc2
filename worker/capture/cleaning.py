"""Cleaning what is imported in a process of its own, while the worker writes what was cleaned.

Looking for secrets and for words is half of what an import takes, and all of it is Python: a second processor cannot
help within one process.
"""

import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, Pipe

from worker.capture.rows import Clean, Piece, clean

CLEANER = "worker.capture.cleaner"
_SMALL_CHARS = 200_000
"""Of text; so much is cleaned before a process has started."""
_ANSWER_S = 30.0


class Cleaning:
    """Starts the process when there is much to clean; it ends by itself. ``close`` it.

    Whatever becomes of the process, everything is cleaned: what it does not give back, the worker cleans itself.
    """

    def __init__(self) -> None:
        self._turns = ThreadPoolExecutor(1, "import-cleaner")
        self._talk: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, pieces: Iterable[Piece]) -> deque[Future[Clean]]:
        """The pieces in their order, each on its way to being clean."""
        given = list(pieces)
        apart = sum(piece.chars for piece in given) > _SMALL_CHARS
        return deque(self._turns.submit(self._apart if apart else clean, piece) for piece in given)

    def close(self) -> None:
        """Clean nothing more. The process is not waited for."""
        self._turns.shutdown(wait=False, cancel_futures=True)
        if self._process is not None:
            self._process.kill()

    def _apart(self, piece: Piece) -> Clean:
        try:
            return self._told(piece)
        except (OSError, EOFError, RecursionError):
            self._let_go()
            return clean(piece)

    def _told(self, piece: Piece) -> Clean:
        if self._talk is None:
            self._talk, self._process = _started()
        self._talk.send(piece)
        if not self._talk.poll(_ANSWER_S):
            raise TimeoutError
        answer: Clean = self._talk.recv()
        return answer

    def _let_go(self) -> None:
        if self._talk is not None and self._process is not None:
            self._talk.close()
            self._process.kill()
            self._talk = self._process = None


def _started() -> tuple[Connection, "subprocess.Popen[bytes]"]:
    """A new process and the way to it. Errors: ``OSError``."""
    ours, its = Pipe()
    with its:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", CLEANER, str(its.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(its.fileno(),),
            start_new_session=True,  # a Ctrl-C is for the worker
        )
    threading.Thread(target=process.wait, daemon=True).start()  # so that nothing is left of it when it has ended
    return ours, process

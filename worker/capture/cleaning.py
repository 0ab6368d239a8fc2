"""Cleaning what is imported in a process of its own, while the worker writes what was cleaned.

Looking for secrets and for words is half of what an import takes, and all of it is Python: a second processor cannot
help within one process.
"""

import asyncio
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, Pipe

from worker.capture.rows import Clean, Piece, clean

CLEANER = "worker.capture.cleaner"
_SMALL_CHARS = 200_000
"""Of text; so much is cleaned before a process has started."""
_LATE_SHARE, _LATE_CHARS = 0.75, 1_500_000
"""So much of an import at most may be on its way when writing begins. Rows are written almost as fast as they are
cleaned; where little is to be written of much text, as much as this is clean in 0.6 s."""
_ANSWER_S, _CHARS_A_SECOND = 5.0, 200_000
"""How long one piece may take: so long, and by its size; it is cleaned fifteen times as fast."""
_REST_S = 10.0
"""After a failure, this long no process is tried."""


class Underway:
    """The pieces of an import in their order, each on its way to being clean; to be gone through once."""

    def __init__(self, waiting: Iterable[tuple[Future[Clean], int]]) -> None:
        self._waiting = deque(waiting)

    async def nearly(self) -> None:
        """Wait until so little is left that it is clean by the time that the rest is written.

        While it is written others wait, who should not wait for this as well.
        """
        left = sum(chars for _, chars in self._waiting)
        most = min(left * _LATE_SHARE, _LATE_CHARS)
        for future, chars in list(self._waiting):
            if left > most:
                await asyncio.wrap_future(future)
            left -= chars

    async def all(self) -> None:
        """Wait until nothing is left."""
        for future, _ in list(self._waiting):
            await asyncio.wrap_future(future)

    def __iter__(self) -> Iterator[Clean]:
        """One after the other, each waited for, on any thread but the event loop's, and let go of."""
        while self._waiting:
            yield self._waiting.popleft()[0].result()

    def give_up(self) -> None:
        """Clean no more of it."""
        for future, _ in list(self._waiting):
            future.cancel()


class Cleaning:
    """Starts the process when there is much to clean; it ends by itself. ``close`` it.

    Whatever becomes of the process, everything is cleaned: what it does not give back, the worker cleans itself.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turns = ThreadPoolExecutor(1, "import-cleaner")
        self._talk: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._rest_until = float("-inf")

    def begin(self, pieces: Iterable[Piece]) -> Underway:
        """Begin to clean an import; returns at once."""
        given = list(pieces)
        apart = sum(piece.chars for piece in given) > _SMALL_CHARS
        return Underway([(self._turns.submit(self._apart if apart else clean, each), each.chars) for each in given])

    def close(self) -> None:
        """Clean nothing more. The process is not waited for."""
        self._turns.shutdown(wait=False, cancel_futures=True)
        if self._process is not None:
            self._process.kill()

    def _apart(self, piece: Piece) -> Clean:
        try:
            return self._told(piece)
        except (OSError, EOFError, RuntimeError, MemoryError):
            self._rest_until = self._clock() + _REST_S
            self._let_go()
            return clean(piece)

    def _told(self, piece: Piece) -> Clean:
        if self._talk is not None and self._talk.poll():  # unasked it says nothing, so it has ended
            self._let_go()
        if self._talk is None or self._process is None:
            if self._clock() < self._rest_until:
                return clean(piece)
            self._talk, self._process = _started()
        # Neither what is sent nor what is received has a limit of its own: a process that is killed breaks both off.
        late = threading.Timer(_ANSWER_S + piece.chars / _CHARS_A_SECOND, self._process.kill)
        late.start()
        try:
            self._talk.send(piece)
            answer: Clean = self._talk.recv()
        finally:
            late.cancel()
        return answer

    def _let_go(self) -> None:
        if self._talk is not None and self._process is not None:
            self._talk.close()
            self._process.kill()
            self._talk = self._process = None


def _started() -> tuple[Connection, "subprocess.Popen[bytes]"]:
    """A new process and the way to it. Errors: ``OSError``, ``RuntimeError`` for no thread."""
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

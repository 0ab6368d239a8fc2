"""An index of vectors that a process of its own holds: ``worker.projection.host`` says why."""

import atexit
import importlib.util
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from worker.contract.errors import Unavailable
from worker.projection import frames
from worker.projection.collection import Shape
from worker.projection.embed import Vector
from worker.projection.fitting import can_be_near, fitting
from worker.projection.folder import HOST, Folder
from worker.projection.index import Fragment, Match

_ENDING_S = 20.0
_SENT_AT_ONCE = 500  # of which a slow disk makes seconds, far from what a call may take
_BY_A_FAULT = {signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE}
_NOT_ITS_FAULT = (
    "code: 5)", "code: 6)", "code: 8)", "code: 13)", "code: 14)", "code: 778)", "code: 1034)",
    "permission denied", "no space left", "disk is full",
)  # fmt: skip
"""SQLite's busy, locked, read-only, full, cannot open and failed writes, and the system's words for the same."""


class Broken(Unavailable):
    """What is in the folder cannot be used."""


class HostedIndex:
    """A collection, held by a process. For what each call does see ``VectorIndex``.

    Several threads may call it at once: one is answered while another writes. When Chroma fails, the process ends or
    does not answer for ``answer_s``, all calls raise ``Unavailable`` from then on: open it again. renewed: see
    ``OpenIndex``.
    """

    def __init__(
        self,
        owned: Folder,
        process: "subprocess.Popen[bytes]",
        reads: socket.socket,
        writes: socket.socket,
        life: socket.socket,
        dimension: int,
        renewed: str,
        answer_s: float,
    ) -> None:
        self.generation = ""
        self.renewed = renewed
        self._owned = owned
        self._process = process
        self._reads, self._writes, self._life = reads, writes, life
        self._reading, self._writing, self._ending = threading.Lock(), threading.Lock(), threading.Lock()
        self._dimension = dimension
        self._over = ""
        self._given_up = False
        for each in (reads, writes):
            each.settimeout(answer_s)

    def opened(self, within_s: float) -> None:
        """Wait until it is ready. Errors: ``Broken``; ``Unavailable`` when the folder is not to blame."""
        self._writes.settimeout(within_s)
        try:
            answer = frames.next_answer(self._writes)
        except OSError as error:
            code = self._ended(error)
            self._close_sockets()
            if isinstance(error, TimeoutError):
                raise Broken(f"looking into it took more than {within_s:g} s") from error
            if code < 0 and -code in _BY_A_FAULT:
                raise Broken(f"looking into it ended by {signal.Signals(-code).name}") from error
            missing = importlib.util.find_spec("chromadb") is None
            why = "chromadb is not installed" if missing else f"the process that holds the vectors ended with {code}"
            raise Unavailable(why) from error
        if isinstance(answer, frames.Opened):
            self.generation = answer.generation
            self._writes.settimeout(self._reads.gettimeout())
            return
        why = answer.reason if isinstance(answer, frames.Failed) else "no answer"
        self._process.wait()
        self._close_sockets()
        raise (Unavailable if any(sign in why.lower() for sign in _NOT_ITS_FAULT) else Broken)(why)

    def upsert(self, fragments: Sequence[Fragment]) -> None:
        """Write documents, over those of the same ids; any number, any id twice: the last counts.

        Of the metadata that an id had, keys that it has no more stay: naming each would take half the speed.
        """
        written = fitting(fragments, self._dimension)
        for at in range(0, len(written), _SENT_AT_ONCE):
            chunk = written[at : at + _SENT_AT_ONCE]
            vectors = np.stack([fragment.vector for fragment in chunk]).astype(np.float32, copy=False).tobytes()
            ask = frames.Upsert([each.id for each in chunk], vectors, [dict(each.metadata) for each in chunk])
            self._answer(self._writing, self._writes, ask)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove documents; ids that are not there do no harm."""
        for at in range(0, len(ids), _SENT_AT_ONCE):
            self._answer(self._writing, self._writes, frames.Delete(list(ids[at : at + _SENT_AT_ONCE])))

    def nearest(self, vector: Vector, count: int) -> list[Match]:
        """The nearest documents, nearest first; fewer when there are fewer. 30,000 at most."""
        if not can_be_near(vector, self._dimension) or count < 1:
            return []
        ask = frames.Nearest(np.asarray(vector, np.float32).tobytes(), count)
        found = self._answer(self._reading, self._reads, ask)
        near: list[float] = np.frombuffer(found.similarities, np.float32).tolist()
        return [Match(*each) for each in zip(found.ids, near, strict=True)]

    def ids(self) -> Iterator[Sequence[str]]:
        """All document ids, page by page; what is written meanwhile may be missed, or shift what follows."""
        at = 0
        while page := self._answer(self._reading, self._reads, frames.Ids(at)).ids:
            yield page
            at += len(page)

    def count(self) -> int:
        """How many documents it says it holds."""
        return self._answer(self._reading, self._reads, frames.Count()).count

    def close(self) -> None:
        """Wait for the calls that are under way, and for the process to let go of the folder and end."""
        if self._closed():
            self._owned.leave(in_order=self._process.returncode == 0)

    def watch(self) -> socket.socket:
        """Readable as soon as the process has ended; to be closed by whoever asks. Errors: ``Unavailable``."""
        try:
            return self._life.dup()
        except OSError as error:
            raise Unavailable(self._over or "the process that holds the vectors has ended") from error

    def give_up(self) -> None:
        """End the process at once, from any thread: the call under way fails, and ``close`` does not wait for it."""
        self._given_up = True
        self._process.kill()

    def drop(self) -> None:
        """Delete the collection with all its files, and close. Errors: ``Unavailable``."""
        # Chroma leaves the files of a deleted collection where they are; the folder is ours alone.
        if self._closed():
            self._owned.remove()

    def _answer(self, turn: threading.Lock, asked: socket.socket, ask: frames.Ask) -> frames.Done:
        with turn:
            if self._over:
                raise Unavailable(self._over)
            try:
                frames.send(asked, ask)
                answer = frames.next_answer(asked)
            except OSError as error:
                raise Unavailable(self._lost(error)) from error
        if isinstance(answer, frames.Done):
            return answer
        raise Unavailable(self._failed(answer.reason if isinstance(answer, frames.Failed) else "no answer"))

    def _closed(self) -> bool:
        """Whether it was open until now, and is closed."""
        with self._reading, self._writing:
            if self._over:
                return False
            self._over = "the index of vectors is closed"
            with suppress(OSError):
                frames.send(self._writes, frames.Close())
                frames.next_answer(self._writes)
            self._close_sockets()
            self._wait()
            return True

    def _lost(self, error: OSError) -> str:
        """Why it cannot be used any more."""
        with self._ending:
            if not self._over:
                code = self._ended(error)
                if self._given_up:
                    self._over = "the index of vectors is closed"
                elif isinstance(error, TimeoutError):
                    self._over = f"the process that holds the vectors did not answer in {self._reads.gettimeout():g} s"
                elif code < 0:
                    self._over = f"the process that holds the vectors ended by {signal.Signals(-code).name}"
                else:
                    self._over = f"the process that holds the vectors ended with {code}"
                if not self._given_up and (isinstance(error, TimeoutError) or -code in _BY_A_FAULT):
                    self._owned.suspect(self._over)
                self._close_sockets()
                self._owned.leave(in_order=False)
            return self._over

    def _failed(self, why: str) -> str:
        """After a failure, as of a full disk, a later call to Chroma can go on for ever: it is not called again."""
        with self._ending:
            if not self._over:
                self._over = why
                self._process.kill()
                self._wait()
                self._close_sockets()
                self._owned.leave(in_order=False)
            return self._over

    def _ended(self, error: OSError) -> int:
        if isinstance(error, TimeoutError):
            self._process.kill()
        self._wait()
        return self._process.returncode

    def _wait(self) -> None:
        try:
            self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _close_sockets(self) -> None:
        for each in (self._reads, self._writes, self._life):
            each.close()


def start(
    owned: Folder, shape: Shape, generation: str, *, looking: bool, within_s: float, answer_s: float, renewed: str = ""
) -> HostedIndex:
    """Start the process and wait until it can answer.

    looking: at all that is in the folder first. within_s: for that. renewed: see ``OpenIndex``.
    Errors: ``Broken``; ``Unavailable`` when the folder is not to blame. The folder is still owned then.
    """
    (reads, its_reads), (writes, its_writes), (life, its_life) = (socket.socketpair() for _ in range(3))
    with its_reads, its_writes, its_life:
        words = [
            str(owned.path), shape.model, str(shape.dimension), generation, "look" if looking else "trust",
            str(its_reads.fileno()), str(its_writes.fileno()),
        ]  # fmt: skip
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", HOST, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=owned.path.parent,  # where no `.env` of a project is, which chromadb would read
                # It knows nothing of its life: the kernel closes it at the end, whatever that is.
                pass_fds=(its_reads.fileno(), its_writes.fileno(), its_life.fileno(), owned.lock),
                start_new_session=True,  # a Ctrl-C is for the worker, which ends it in order
            )
        except OSError as error:
            for each in (reads, writes, life):
                each.close()
            raise Unavailable(f"no process can be started to hold the vectors: {error.strerror}") from error
    owned.held_by(process.pid)
    index = HostedIndex(owned, process, reads, writes, life, shape.dimension, renewed, answer_s)
    # Nobody can give up what is still being opened: a worker that ends meanwhile leaves this thread where it is.
    atexit.register(process.kill)
    try:
        index.opened(within_s)
    finally:
        atexit.unregister(process.kill)
    return index

"""The process that holds a folder of vectors: `python -m worker.projection.host`, started by ``hosted.start``.

A process of its own for three reasons, all seen with chromadb 1.5.9: a broken file ends it by a signal or lets a call
go on for ever; while it writes, no other thread of its process runs (50 to 100 ms for 100 documents, in which a worker
would answer nobody); and its import takes 36 MB and 550 ms that the worker is spared.

It ends when the worker does. The lock of the folder is inherited, so that it is held for as long as anybody writes.
"""

import faulthandler
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import numpy as np

from worker import heap
from worker.contract.errors import Unavailable
from worker.projection import frames, segment
from worker.projection.collection import Shape
from worker.projection.index import Fragment
from worker.projection.spared import spare

if TYPE_CHECKING:
    from worker.projection.chroma import ChromaIndex

_MOST_S = 180.0
_AT_ONCE, _AT_ONCE_UNASKED = 25, 250
"""Documents in one call to Chroma, which a question may have to wait for: 45 ms in the middle, as much as a disk takes
to sync; 70 ms for 50. When nobody asks, more are written faster: 250 in 200 ms."""
_UNASKED_S = 5.0
_MOST_POLITE_S = 0.1
_MUCH = 1_000
"""Documents written after which what was freed goes back to the system, in 3 ms: some 10 MB else stay for good."""


def main(words: list[str]) -> int:
    """Answer until there is nobody left to answer."""
    heap.be_frugal()
    spare()
    folder, model, dimension, generation, looking, reads_handle, writes_handle = words
    reads, writes = (socket.socket(fileno=int(handle)) for handle in (reads_handle, writes_handle))
    try:
        index = opened(Path(folder), Shape(model, int(dimension)), generation, looking=looking == "look")
    except (Unavailable, OSError) as error:
        frames.send(writes, frames.Failed(str(error)))
        return 1
    frames.send(writes, frames.Opened(index.generation))
    host = Host(index)
    threading.Thread(target=host.serve, args=(reads,), daemon=True).start()
    host.serve(writes)
    return 0


def opened(folder: Path, shape: Shape, generation: str, *, looking: bool) -> "ChromaIndex":
    """The index in a folder. looking: at all that is in it, first. Errors: ``Unavailable``, ``OSError``."""
    from worker.projection import chroma  # when what it would bring along is spared

    if looking:
        for header in folder.glob("*/header.bin"):
            if wrong := segment.fault(header.parent):
                raise Unavailable(wrong)
    index = chroma.open_folder(folder, shape, generation)
    if looking:
        index.check()
        heap.give_back()
    return index


class Host:
    """Answers for an index, on two sockets: one for questions, one for writing."""

    def __init__(self, index: "ChromaIndex") -> None:
        self._index = index
        self._asked_at = 0.0
        self._unasked = threading.Event()
        self._unasked.set()
        self._written = 0

    def serve(self, asked: socket.socket) -> None:
        """Answer what is asked on one socket, until it is closed; then close the index."""
        while (ask := frames.next_ask(asked)) is not None:
            if isinstance(ask, frames.Nearest):
                self._asked_at = time.monotonic()
                self._unasked.clear()
            # When the worker that would end it is dead, a write that goes on for ever holds the folder for ever; this
            # watch needs no turn of Python's, which such a write does not give.
            faulthandler.dump_traceback_later(_MOST_S, exit=True)
            try:
                answer: frames.Answer = self._answer(ask)
            except Unavailable as error:
                answer = frames.Failed(error.message)
            faulthandler.cancel_dump_traceback_later()
            try:
                frames.send(asked, answer)
            except OSError:
                break
            finally:
                self._unasked.set()
        self._index.close()

    def _answer(self, ask: frames.Ask) -> frames.Done:
        match ask:
            case frames.Upsert():
                self._write(ask)
                return frames.Done()
            case frames.Delete():
                self._index.delete(ask.ids)
                return frames.Done()
            case frames.Nearest():
                found = self._index.nearest(np.frombuffer(ask.vector, np.float32), ask.count)
                near = np.asarray([match.similarity for match in found], np.float32)
                return frames.Done(ids=[match.id for match in found], similarities=near.tobytes())
            case frames.Ids():
                return frames.Done(ids=list(self._index.page(ask.at)))
            case frames.Count():
                return frames.Done(self._index.count())
            case frames.Close():
                self._index.close()
                return frames.Done()
            case _:
                assert_never(ask)

    def _write(self, ask: frames.Upsert) -> None:
        rows = np.frombuffer(ask.vectors, np.float32).reshape(len(ask.ids), -1)
        fragments = [Fragment(*each) for each in zip(ask.ids, rows, ask.metadatas, strict=True)]
        at = 0
        while at < len(fragments):
            time.sleep(0.001)  # in which a question that came meanwhile gets its turn
            self._unasked.wait(_MOST_POLITE_S)
            unasked = time.monotonic() - self._asked_at > _UNASKED_S
            size = _AT_ONCE_UNASKED if unasked else _AT_ONCE
            self._index.upsert(fragments[at : at + size])
            at += size
        self._written += len(fragments)
        if self._written >= _MUCH:
            self._written = 0
            heap.give_back()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

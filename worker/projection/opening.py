"""Opens an index of vectors on the thread of whoever asks: one that nobody waits for, since it takes a second."""

import logging
import secrets
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

from worker.contract.errors import Unavailable
from worker.projection import folder, hosted
from worker.projection.collection import Server, Shape
from worker.projection.index import VectorIndex

_log = logging.getLogger(__name__)
_ROOM_BYTES = 32 * 2**20
_random = partial(secrets.token_hex, 8)


class OpenIndex(VectorIndex, Protocol):
    """An index that says what happened when it was opened, and that can be deleted."""

    @property
    def renewed(self) -> str:
        """Why the vectors of before were put aside and an empty index begun; empty when they were not."""
        ...

    def drop(self) -> None:
        """Delete the collection with all its files, and close."""
        ...

    def watch(self) -> socket.socket | None:
        """Readable as soon as what holds it has ended, for whoever asks to close; None where nobody can tell."""
        ...

    def give_up(self) -> None:
        """From any thread: have the call under way fail, where it can be had, however it hangs. ``close`` it then."""
        ...


def open_local(
    vectors: Path,
    model: str,
    dimension: int,
    *,
    random: Callable[[], str] = _random,
    within_s: float = 60.0,
    answer_s: float = 60.0,
) -> OpenIndex:
    """The index of a model in its own folder inside ``vectors``; an empty one when there is none or it was broken.

    random: makes up a generation. within_s: how long opening it may take, or looking into it when it was not left in
    order. answer_s: how long any call may take before the index is given up.
    Errors: ``Unavailable``: another process has it, nothing can be written, chromadb is not installed.
    """
    if sys.platform == "win32":
        raise Unavailable(
            "a Chroma folder of its own needs flock, which Windows has not; use CLAUDE_MEM_CHROMA_MODE=remote"
        )
    shape = Shape(model, dimension)
    owned = folder.own(vectors / shape.name)
    start = partial(hosted.start, owned, shape, within_s=within_s, answer_s=answer_s)
    try:
        why = owned.suspicion()
        if not why:
            looking = not owned.is_new() and not owned.was_left_in_order()
            owned.begin()
            try:
                return start(random(), looking=looking)
            except hosted.Broken as error:
                if shutil.disk_usage(vectors).free < _ROOM_BYTES:
                    raise Unavailable(f"the disk is full: {error.message}") from error
                why = error.message
        _log.warning("the vectors in %s are put aside: %s", owned.path, why)
        owned.put_aside()
        return start(random(), looking=False, renewed=why)
    except BaseException:
        owned.leave(in_order=False)
        raise


def open_remote(
    server: Server, model: str, dimension: int, *, of: str = "", random: Callable[[], str] = _random
) -> OpenIndex:
    """The index of a model on a server, made when it is not there.

    of: names the store whose records these are, when several share the server. Errors: ``Unavailable``.
    """
    with _importing():
        from worker.projection import chroma  # 650 ms
    return chroma.open_server(server, Shape(model, dimension, of), random())


@contextmanager
def _importing() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise Unavailable(f"chromadb is not installed: {error}") from error
    except ValueError as error:  # what it reads from the environment while it is imported
        raise Unavailable("chromadb cannot be imported: a setting of its own in the environment is wrong") from error

"""Opens an index of vectors on the thread of whoever asks: one that nobody waits for, since it takes a second."""

import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Protocol

from worker.contract.errors import Unavailable
from worker.projection import folder, probe
from worker.projection.collection import PREFIX, Server, Shape
from worker.projection.index import VectorIndex

_log = logging.getLogger(__name__)
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


def open_local(
    vectors: Path, model: str, dimension: int, *, random: Callable[[], str] = _random, probe_s: float = 60.0
) -> OpenIndex:
    """The index of a model in its own folder inside ``vectors``; an empty one when there is none or it was broken.

    random: makes up a generation. probe_s: how long it may take to look into a folder that was not left in order.
    Errors: ``Unavailable``: another process has it, nothing can be written, chromadb is not installed.
    """
    shape = Shape(model, dimension)
    owned = folder.own(vectors / shape.name)
    renewed = ""
    try:
        with _importing():
            from worker.projection import chroma  # 650 ms
        if not owned.is_new() and not owned.was_left_in_order():
            renewed = probe.fault(owned.path, shape, probe_s)
            if renewed:
                _log.warning("the vectors in %s are put aside: %s", owned.path, renewed)
                owned.put_aside()
        owned.begin()
    except BaseException:
        owned.leave(in_order=False)
        raise
    return chroma.open_folder(owned, shape, random(), renewed)


def open_remote(
    server: Server, model: str, dimension: int, *, of: str = "", random: Callable[[], str] = _random
) -> OpenIndex:
    """The index of a model on a server, made when it is not there.

    of: names the store whose records these are, when several share the server. Errors: ``Unavailable``.
    """
    with _importing():
        from worker.projection import chroma  # 650 ms
    return chroma.open_server(server, Shape(model, dimension, of), random())


def remove_others(vectors: Path, model: str, dimension: int) -> list[str]:
    """Delete the folders of other models and formats, and what was put aside of them; their names.

    What another process has open is left. Errors: ``Unavailable`` when one cannot be deleted.
    """
    kept = Shape(model, dimension).name
    found = [path for path in sorted(vectors.glob(f"{PREFIX}*")) if path.is_dir() and not path.name.startswith(kept)]
    removed = []
    for path in found:
        with suppress(folder.InUse):
            folder.own(path).remove()
            removed.append(path.name)
    return removed


@contextmanager
def _importing() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise Unavailable(f"chromadb is not installed: {error}") from error
    except ValueError as error:  # what it reads from the environment while it is imported
        raise Unavailable("chromadb cannot be imported: a setting of its own in the environment is wrong") from error

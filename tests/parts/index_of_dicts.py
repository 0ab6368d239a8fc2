"""An index of vectors in memory, a model that can be told to fail, and a projector over both."""

import asyncio
import contextlib
import itertools
import re
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tests.parts.conftest import eventually
from tests.processes import PATIENCE_S
from worker.contract.errors import Unavailable
from worker.contract.index import IndexState, IndexStatus
from worker.projection.documents import document_id, documents, metadata
from worker.projection.embed import Embedder, Kind, Matrix, Reading, Tokens, Vector
from worker.projection.hashing import Hashing
from worker.projection.index import Fragment, Match, Value
from worker.projection.opening import OpenIndex
from worker.projection.projector import Projector
from worker.store import outbox, records, search_index
from worker.store.tables import Connection, Store

Held = dict[str, tuple[Vector, Mapping[str, Value]]]


class Shelf:
    """What lies on disk: collections by model. down: why none can be used. poison: document ids that are
    refused; deadly: ids that end whatever index is given them."""

    def __init__(self) -> None:
        self.collections: dict[str, tuple[str, Held]] = {}
        self.down = ""
        self.poison: set[str] = set()
        self.deadly: set[str] = set()
        self.upserts: list[list[str]] = []
        self.opened = self.closed = 0
        self.gate = threading.Event()
        self.gate.set()
        self._numbers = itertools.count(1)

    def open(self, model: str, dimension: int) -> OpenIndex:
        if self.down:
            raise Unavailable(self.down)
        self.opened += 1
        self.collections.setdefault(model, (f"g{next(self._numbers)}", {}))
        return ShelfIndex(self, model)

    def held(self, model: str = "") -> Held:
        if not self.collections:
            return {}
        return self.collections[model or max(self.collections)][1]


class ShelfIndex:
    """One collection of a shelf, open."""

    renewed = ""

    def __init__(self, shelf: Shelf, model: str) -> None:
        self._shelf, self._model = shelf, model
        self.generation, self._held = shelf.collections[model]
        self._closed = False

    def _use(self) -> None:
        self._shelf.gate.wait()
        if self._closed:
            raise Unavailable("it is closed")
        if self._shelf.down:
            raise Unavailable(self._shelf.down)

    def upsert(self, fragments: Sequence[Fragment]) -> None:
        self._use()
        self._shelf.upserts.append([fragment.id for fragment in fragments])
        if self._shelf.deadly & {fragment.id for fragment in fragments}:
            self._closed = True
            raise Unavailable("it ended")
        if self._shelf.poison & {fragment.id for fragment in fragments}:
            raise ValueError("this document cannot be taken")
        self._held |= {fragment.id: (fragment.vector, dict(fragment.metadata)) for fragment in fragments}

    def delete(self, ids: Sequence[str]) -> None:
        self._use()
        for each in ids:
            self._held.pop(each, None)

    def nearest(self, vector: Vector, count: int) -> list[Match]:
        self._use()
        found = [Match(name, float(held @ vector)) for name, (held, _) in self._held.items()]
        return sorted(found, key=lambda match: -match.similarity)[:count]

    def ids(self) -> Iterator[Sequence[str]]:
        self._use()
        held = sorted(self._held)
        yield from (held[at : at + 7] for at in range(0, len(held), 7))

    def count(self) -> int:
        self._use()
        return len(self._held)

    def close(self) -> None:
        self._shelf.closed += not self._closed
        self._closed = True

    def watch(self) -> None:
        return None

    def give_up(self) -> None:
        return None

    def drop(self) -> None:
        self._closed = True
        self._shelf.collections.pop(self._model, None)


class Model:
    """The hashing model under a name of the test's, which counts what it embeds, and fails where it is told to."""

    def __init__(self, name: str = "hash-a") -> None:
        self.name = name
        self.dimension = Hashing.dimension
        self.max_tokens = Hashing.max_tokens
        self.embedded: list[str] = []
        self.refused = "\N{SKULL}"
        self.down = ""
        self.gate = threading.Event()
        self.gate.set()
        self.inside = threading.Event()

    def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        self.inside.set()
        self.gate.wait()
        if self.down:
            raise Unavailable(self.down)
        if any(self.refused in text for text in texts):
            raise ValueError("this text cannot be embedded")
        self.embedded += texts
        return Hashing().embed(texts, kind)


class ReadingModel(Model):
    """The same, which tells its tokens: the words of a text in a frame, each with the vector that it has alone."""

    def __init__(self, name: str = "hash-a") -> None:
        super().__init__(name)
        self.told: list[str] = []

    def read(self, text: str) -> Tokens:
        return self.read_documents([text], (0,)).tokens[0]

    def read_documents(
        self, texts: Sequence[str], chosen: Collection[int], pause: Callable[[], None] = lambda: None
    ) -> Reading:
        pause()
        found = self.embed(texts, "document")
        self.told += [texts[at] for at in chosen]
        return Reading(found, {at: self._tokens(texts[at], found[at]) for at in chosen})

    def _tokens(self, text: str, vector: Vector) -> Tokens:
        words = list(re.finditer(r"\w+|[^\w\s]", text))
        spelled = ("[CLS]", *(word.group() for word in words), "[SEP]")
        offsets = ((0, 0), *(word.span() for word in words), (0, 0))
        return Tokens(vector, Hashing().embed(spelled, "document"), offsets, spelled)


@contextlib.asynccontextmanager
async def projecting(
    store: Store, model: Embedder | Callable[[], Embedder], shelf: Shelf | None, **over: Any
) -> AsyncIterator[Projector]:
    """A projector that runs."""
    given: Callable[[], Embedder] = model if callable(model) else lambda: model
    projector = Projector(store, given, shelf.open if shelf is not None else None, **over)
    running = asyncio.create_task(projector.run())
    try:
        yield projector
    finally:
        running.cancel()
        await asyncio.wait([running])
        await projector.close()


async def waits(store: Store) -> tuple[int, int, int]:
    return await store.read(outbox.counts)


async def settled(store: Store, projector: Projector, *, within_s: float = PATIENCE_S) -> IndexStatus:
    """When nothing is to be done any more."""

    async def done() -> bool:
        pending, _, stored = await waits(store)
        status = await projector.status()
        ready = status.state is IndexState.READY and status.chroma in {"ready", "off"}
        return ready and not pending and not stored

    await eventually(done, within_s=within_s)
    return await projector.status()


async def wanted(store: Store) -> dict[str, Mapping[str, Value]]:
    """The documents that an index should hold, with their metadata, out of the records themselves."""

    def work(connection: Connection) -> dict[str, Mapping[str, Value]]:
        numbers = [row[0] for row in connection.execute("SELECT docid FROM py_docs")]
        found = records.by_keys(connection, [search_index.key(number) for number in numbers])
        return {
            document_id(key, suffix): metadata(record, suffix)
            for key, record in found.items()
            for suffix, _ in documents(record)
        }

    return await store.read(work)


async def assert_true(store: Store, shelf: Shelf, model: str = "") -> None:
    """The index holds every document of every record once, as it is now, and nothing else."""
    held = shelf.held(model)
    assert {name: told for name, (_, told) in held.items()} == await wanted(store)
    texts = await store.read(_texts)
    for name, (vector, _) in held.items():
        assert np.allclose(vector, Hashing().embed([texts[name]], "document")[0], atol=2e-3), name


def _texts(connection: Connection) -> dict[str, str]:
    numbers = [row[0] for row in connection.execute("SELECT docid FROM py_docs")]
    found = records.by_keys(connection, [search_index.key(number) for number in numbers])
    return {document_id(key, suffix): text for key, record in found.items() for suffix, text in documents(record)}

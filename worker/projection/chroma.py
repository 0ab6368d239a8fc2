"""Chroma as the index of vectors, in a folder of ours or on a server. The only place that imports chromadb.

Importing it takes 650 ms of CPU and 53 MB: it is imported when an index is opened, for a folder in a process of its
own.

Texts are not given to Chroma: SQLite holds them. Its `where` is not used either: SQLite filters.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import numpy as np
from chromadb.api import ServerAPI
from chromadb.api.collection_configuration import CreateCollectionConfiguration, CreateHNSWConfiguration
from chromadb.api.fastapi import FastAPI
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings, System

from worker.contract.errors import Unavailable
from worker.projection.collection import FORMAT, Server, Shape
from worker.projection.embed import Vector
from worker.projection.fitting import can_be_near, fitting
from worker.projection.index import Fragment, Match

_WRITTEN_AT_ONCE = 5_000
_PAGE = 10_000  # where it takes ids or rows one variable each, its SQLite ends at 32,766
_MOST_NEAREST = 30_000
_CHECKED_AT_ONCE = 1_000
_REACHED = 0.8
_REMOTE_TIMEOUT_S = 30.0  # its own is none: a server that hangs would hold a thread for ever
_Item = TypeVar("_Item")
_HNSW = CreateHNSWConfiguration(
    space="cosine", ef_construction=100, max_neighbors=16, ef_search=400, sync_threshold=1_000
)
"""Measured on 50,000 vectors of MiniLM: of the exact 10, 100, 200 and 300 nearest it finds 1.0, .999, .998 and .995, in
2.3, 2.7, 3.0 and 3.4 ms. With Chroma's own ef_search of 100 it finds .988 at 10,000, no faster. Twice the
ef_construction and 24 neighbours find .999 of 300, and write a fifth slower; a threshold of 5,000 halves the writing.
"""


class ChromaIndex:
    """A collection, open. For what each call does see ``VectorIndex``; all raise ``Unavailable`` once it is closed.

    Several threads may call it at once; while one writes, Chroma lets no other thread of the process run.
    """

    renewed = ""

    def __init__(
        self,
        system: System,
        collection: Collection,
        shape: Shape,
        scope: "_Scope",
    ) -> None:
        self.generation = str((collection.metadata or {}).get("generation", ""))
        self._system = system
        self._collection = collection
        self._shape = shape
        self._scope = scope
        self._most = min(_WRITTEN_AT_ONCE, _api(system).get_max_batch_size())
        self._gate = threading.Condition()
        self._inside = 0
        self._closed = False

    def upsert(self, fragments: Sequence[Fragment]) -> None:
        """Write documents, over those of the same ids; any number, any id twice: the last counts.

        Of the metadata that an id had, keys that it has no more stay: naming each would take half the speed.
        """
        written = fitting(fragments, self._shape.dimension)
        with self._use("write"):
            for chunk in _chunks(written, self._most):
                self._collection.upsert(
                    ids=[fragment.id for fragment in chunk],
                    embeddings=np.stack([fragment.vector for fragment in chunk]).astype(np.float32, copy=False),
                    # Nothing at all it refuses in the form of an empty one.
                    metadatas=[fragment.metadata or None for fragment in chunk],  # type: ignore[misc]
                )

    def delete(self, ids: Sequence[str]) -> None:
        """Remove documents; ids that are not there do no harm."""
        with self._use("delete"):
            for chunk in _chunks(list(dict.fromkeys(ids)), self._most):
                self._collection.delete(ids=list(chunk))

    def nearest(self, vector: Vector, count: int) -> list[Match]:
        """The nearest documents, nearest first; fewer when there are fewer. 30,000 at most."""
        if not can_be_near(vector, self._shape.dimension) or count < 1:
            return []
        with self._use("search"):
            found = self._collection.query(
                query_embeddings=np.asarray([vector], np.float32),
                n_results=min(count, _MOST_NEAREST),
                include=["distances"],
            )
        distances = (found["distances"] or [[]])[0]
        return [Match(name, 1.0 - distance) for name, distance in zip(found["ids"][0], distances, strict=True)]

    def ids(self) -> Iterator[Sequence[str]]:
        """All document ids, page by page; what is written meanwhile may be missed, or shift what follows."""
        at = 0
        while page := self.page(at):
            yield page
            at += len(page)

    def page(self, at: int) -> Sequence[str]:
        """The ids from a place on, 10,000 at most; none when there are no more."""
        with self._use("list"):
            return self._collection.get(limit=_PAGE, offset=at, include=[])["ids"]

    def count(self) -> int:
        """How many documents it says it holds."""
        with self._use("count"):
            return self._collection.count()

    def check(self) -> None:
        """Look at all that is held. Errors: ``Unavailable`` when a vector is missing or too few can be found.

        Many equal vectors that come and go leave islands in the graph, which only a new one mends; plain deleting, of
        nine in ten, leaves .96 within reach.
        """
        told = self.count()
        with self._use("read"):
            held = 0
            for at in range(0, told, _CHECKED_AT_ONCE):
                page = self._collection.get(limit=_CHECKED_AT_ONCE, offset=at, include=["embeddings"])["embeddings"]
                held += 0 if page is None else len(page)
        if held != told:
            raise Unavailable(f"of {told} documents {told - held} have no vector")
        wanted = min(told, _MOST_NEAREST)
        reached = len(self.nearest(np.ones(self._shape.dimension, np.float32), wanted))
        if reached < wanted * _REACHED:
            raise Unavailable(f"of {wanted} documents {reached} can be found")

    def close(self) -> None:
        """Wait for the calls that are under way, then let go of files and connections."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._gate.wait_for(lambda: self._inside == 0)
        with self._scope.told("close"):
            _stop(self._system)

    def watch(self) -> None:
        """Whether a server is there is told by the next call alone."""

    def give_up(self) -> None:
        """Calls to a server end by their time limit."""

    def drop(self) -> None:
        """Delete the collection, and close. In a folder its files stay, and stay open until it is closed."""
        with self._use("delete the collection"):
            api = _api(self._system)
            api.delete_collection(self._shape.name, tenant=self._scope.tenant, database=self._scope.database)
        self.close()

    @contextmanager
    def _use(self, deed: str) -> Iterator[None]:
        with self._gate:
            if self._closed:
                raise Unavailable("the index of vectors is closed")
            self._inside += 1
        try:
            with self._scope.told(deed):
                yield
        finally:
            with self._gate:
                self._inside -= 1
                self._gate.notify_all()


class _Scope:
    """Where the collection is, and what its failures sound like.

    token: never told, not even by the cause of an error.
    """

    def __init__(self, place: str, tenant: str, database: str, token: str = "") -> None:
        self.tenant, self.database = tenant, database
        self._place = place
        self._token = token

    @contextmanager
    def told(self, deed: str) -> Iterator[None]:
        """Any failure as ``Unavailable``: chromadb's many kinds, and the panics of its Rust, no ``Exception``s."""
        try:
            yield
        except (Unavailable, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            words = " ".join(str(error).split())[:300] or type(error).__name__
            if self._token:  # an error's cause is logged with it, and may quote what was sent
                words = words.replace(self._token, "…")
                raise Unavailable(f"Chroma {self._place} cannot {deed}: {words}") from None
            raise Unavailable(f"Chroma {self._place} cannot {deed}: {words}") from error


def open_folder(folder: Path, shape: Shape, generation: str) -> ChromaIndex:
    """The collection in a folder, made when it is not there.

    Errors: ``Unavailable``. A broken file can end the whole process, here or later: see ``worker.projection.host``.
    """
    scope = _Scope(f"in {folder}", "default_tenant", "default_database")
    with scope.told("open"):
        system = System(_settings(is_persistent=True, persist_directory=str(folder)))
        with _stopping(system):
            _api(system)
            system.start()
            return ChromaIndex(system, _collection(system, shape, scope, generation), shape, scope)


def open_server(server: Server, shape: Shape, generation: str) -> ChromaIndex:
    """The collection on a server, made when it is not there. Errors: ``Unavailable``."""
    if not all(33 <= ord(letter) <= 126 for letter in server.token):
        raise Unavailable("the token for Chroma holds letters that cannot be sent")
    scope = _Scope(f"at {server.address}", server.tenant, server.database, server.token)
    with scope.told("open"):
        system = System(
            _settings(
                chroma_api_impl="chromadb.api.fastapi.FastAPI",
                chroma_server_host=f"[{server.host}]" if server.host.count(":") > 1 else server.host,
                chroma_server_http_port=server.port,
                chroma_server_ssl_enabled=server.tls,
                chroma_server_headers=(
                    {"Authorization": f"Bearer {server.token}", "X-Chroma-Token": server.token}
                    if server.token
                    else None
                ),
            )
        )
        with _stopping(system):
            # No public way leads to the time limit; without it one server that hangs holds a thread for ever.
            system.instance(FastAPI)._session.timeout = _REMOTE_TIMEOUT_S
            system.start()
            return ChromaIndex(system, _collection(system, shape, scope, generation), shape, scope)


def _settings(**chosen: object) -> Settings:
    """Without the `.env` of whatever folder the worker was started in, and with nothing of the environment that
    would lead elsewhere. Nothing is told to anybody."""
    fixed: dict[str, object] = {
        "_env_file": None, "anonymized_telemetry": False, "chroma_otel_collection_endpoint": "", "chroma_db_impl": None,
        "chroma_otel_granularity": None, "chroma_client_auth_provider": None, "migrations": "apply",
        "migrations_hash_algorithm": "md5", "chroma_api_impl": "chromadb.api.rust.RustBindingsAPI",
        "chroma_product_telemetry_impl": "chromadb.telemetry.product.posthog.Posthog", "chroma_server_nofile": None,
        "is_persistent": False,
    }  # fmt: skip
    return Settings(**{**fixed, **chosen})  # type: ignore[arg-type]


def _api(system: System) -> ServerAPI:
    return system.instance(ServerAPI)  # type: ignore[type-abstract]


def _collection(system: System, shape: Shape, scope: _Scope, generation: str) -> Collection:
    api = _api(system)
    metadata = {"model": shape.model, "dimension": shape.dimension, "format": FORMAT, "generation": generation}
    model = api.create_collection(
        shape.name,
        configuration=CreateCollectionConfiguration(hnsw=_HNSW),
        metadata=metadata,
        get_or_create=True,
        tenant=scope.tenant,
        database=scope.database,
    )
    collection = Collection(client=api, model=model, embedding_function=None)
    held = collection.metadata or {}
    wrong = [key for key in ("model", "dimension", "format") if held.get(key) != metadata[key]]
    if wrong or not held.get("generation"):
        raise Unavailable(f"the collection {shape.name} is not one of ours: {', '.join(wrong)} differ")
    return collection


@contextmanager
def _stopping(system: System) -> Iterator[None]:
    """Let go of everything when the opening fails."""
    try:
        yield
    except BaseException:
        with suppress(AttributeError):  # it did not come as far as having something to stop
            _stop(system)
        raise


def _stop(system: System) -> None:
    system.stop()
    api = _api(system)
    if isinstance(api, FastAPI):
        api._session.close()  # its own stop leaves the connections open


def _chunks(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    return (items[at : at + size] for at in range(0, len(items), size))

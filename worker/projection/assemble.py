"""The index by meaning, put together out of the settings. Importing this loads numpy: 140 ms, on a thread.

Model and Chroma are loaded later still, when the projector runs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from worker.contract.errors import Unavailable
from worker.contract.index import IndexStatus
from worker.contract.settings import Chroma, Embedding
from worker.projection import embedders
from worker.projection.collection import Server
from worker.projection.embed import Embedder
from worker.projection.opening import OpenIndex, open_local, open_remote
from worker.projection.projector import Projector
from worker.projection.semantic import Semantics
from worker.store.tables import Store

FOLDER = "vectors"
"""In the data directory; the original's is `chroma`, which stays as it is."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """projector: to be run. semantics: what searches ask."""

    projector: Projector
    semantics: Semantics


def assemble(
    store: Store, folder: Path, embedding: Embedding, chroma: Chroma, report: Callable[[IndexStatus], None], of: str
) -> Assembled:
    """Nothing is opened yet. folder: for the files of Chroma. of: names this memory among those that share a server."""

    def embedder() -> Embedder:
        loaded = embedders.load(embedding)
        if loaded is None:
            raise Unavailable("no model is chosen")
        return loaded

    def index(model: str, dimension: int) -> OpenIndex:
        if chroma.problem:
            raise Unavailable(chroma.problem)
        if not chroma.remote:
            return open_local(folder, model, dimension)
        server = Server(chroma.host, chroma.port, chroma.tls, chroma.token, chroma.tenant, chroma.database)
        return open_remote(server, model, dimension, of=of)

    projector = Projector(
        store,
        embedder,
        index,
        open_former=lambda name: embedders.former(name, embedding),
        report=report,
        backend=f"remote, {chroma.host}:{chroma.port}" if chroma.remote else "local",
    )
    return Assembled(projector, Semantics(projector.serving))

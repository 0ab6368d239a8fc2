"""How many records the index by meaning has and lacks, out of the store alone; importing this loads no numpy."""

from dataclasses import dataclass

from worker.store import outbox, search_index, vectors
from worker.store.tables import Connection


@dataclass(frozen=True, slots=True)
class Extent:
    """In records, as in ``IndexStatus``. reason: why one failed."""

    records: int
    embedded: int
    pending: int
    failed: int
    unwritten: int
    reason: str


def extent(connection: Connection, model: str = "") -> Extent:
    """Of a model by the name of its vectors; of the one that vectors were last made with, if none is given."""
    name = model or outbox.noted(connection, outbox.MODEL)
    records, embedded = vectors.counts(connection, name)
    waiting, failed, unwritten = outbox.counts(connection)
    # Before the plan is made, and while the index by words is built, not all that has to be done is in the outbox.
    pending = max(waiting, records - embedded) + search_index.queued(connection)
    return Extent(records, embedded, pending, failed, unwritten, outbox.reason(connection) if failed else "")

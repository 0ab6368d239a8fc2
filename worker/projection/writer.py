"""Writes records into the index by meaning: the only way into it, for what is new, what is old and what is mended.

A record goes through its lane alone. When its turn comes its row is read again; texts that have vectors already keep
them, the others are embedded, the whole token by token where the model tells; vectors, tokens and the names of what
Chroma may hold are stored; Chroma loses what is stale and gets every document; then the record is taken from the
outbox, unless it changed meanwhile. Each step may be the last one of this process: what was begun is in the outbox
and is begun again.
"""

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from worker.contract.errors import MemError, Unavailable
from worker.contract.records import Record
from worker.projection import late
from worker.projection.courtesy import Courtesy
from worker.projection.documents import document_id, documents, metadata
from worker.projection.embed import Embedder, Matrix, Reader
from worker.projection.gate import Passage
from worker.projection.index import Fragment, VectorIndex
from worker.projection.lanes import Lanes
from worker.projection.thread import OwnThread
from worker.store import outbox, records, search_index, stopwords, vectors
from worker.store.tables import Connection, Store
from worker.store.vectors import Kept, Part

BATCH = 100
"""Documents given to Chroma at once."""

_log = logging.getLogger("worker.projection")
_Row = NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class Model:
    """What embeds, and the name under which its vectors are stored."""

    name: str
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a write, in records. done: are as they should be, everywhere.

    troubles: why the model or Chroma could do nothing at all for any of them. late: Chroma was not waited for any more.
    """

    tried: int = 0
    embedded: int = 0
    done: int = 0
    embedder_trouble: str = ""
    index_trouble: str = ""
    late: bool = False


@dataclass(slots=True)
class _Job:
    """One record on its way. stored: its vectors are said to be kept. old: what is kept of it.

    parts: what will be. known, missing: vectors and texts by hash. tokens: of the whole, None while they are not
    known. why: what stopped it. taken: its vectors are kept.
    """

    docid: int
    seal: int | None
    stored: bool
    record: Record | None
    old: Kept | None
    parts: tuple[Part, ...] = ()
    known: dict[str, _Row] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    tokens: bytes | None = None
    why: str = ""
    taken: bool = False

    @property
    def stale(self) -> tuple[str, ...]:
        """What Chroma may hold of it beyond what it should."""
        if self.old is None:
            return ()
        new = {part.suffix for part in self.parts}
        held = (*(part.suffix for part in self.old.parts), *self.old.stale)
        return tuple(dict.fromkeys(suffix for suffix in held if suffix not in new))

    @property
    def is_kept(self) -> bool:
        """Whether what is kept is already what is to be kept."""
        old = self.old
        return not self.missing and old is not None and (old.seal, old.parts) == (self.seal, self.parts)


class Writer:
    """Of one store. index_thread: on which alone the index is written. clock: in seconds.

    passage: while it is shut the index is written to as little as one that is away.
    """

    def __init__(
        self,
        store: Store,
        index_thread: OwnThread,
        *,
        clock: Callable[[], float] = time.time,
        passage: Passage | None = None,
    ) -> None:
        self._store, self._index_thread, self._clock = store, index_thread, clock
        self._passage = passage or Passage()
        self._lanes = Lanes()

    async def write(
        self,
        numbers: Iterable[int],
        model: Model,
        thread: OwnThread,
        index: VectorIndex | None,
        *,
        projects: bool = True,
        index_s: float | None = None,
        courtesy: Courtesy | None = None,
    ) -> Written:
        """Write those of some records that are pending, by docid.

        thread: where the model runs. index: None while it is away; then its part stays pending, unless ``projects``
        is False, which says that there is to be none. index_s: how long to wait for it before its part stays pending
        too; as long as it takes, if None. courtesy: makes way for questions also in the middle of it.
        Errors: ``MemError`` of the store; what fails in the model or in Chroma is noted with the record.
        """
        wanted = sorted(set(numbers))
        async with self._lanes.hold(wanted):
            jobs = await self._store.read(lambda connection: _read(connection, model, wanted))
            there = [job for job in jobs if job.record is not None]
            await _each(there, lambda some: thread.run(lambda: _cut(some, model.embedder)))
            embedded = [job for job in there if job.missing]
            pause = courtesy.give_way if courtesy is not None else _at_once
            trouble = await _each(embedded, lambda some: _embed(some, model.embedder, thread, pause))
            await self._keep([job for job in there if not job.why], model)
            going = [job for job in jobs if job.taken or (job.record is None and not job.why)]
            index_trouble, late = "", False
            if courtesy is not None and index is not None:
                await courtesy.make_way(amid=True)
            with self._passage.through() as passes:
                if index is not None and passes:
                    try:
                        async with asyncio.timeout(index_s):
                            index_trouble = await _each(
                                going, lambda some: self._index_thread.run(lambda: _put(index, some))
                            )
                    except TimeoutError:
                        # Whatever is written later waits behind this on the same thread, so it cannot come out older.
                        late = True
                settled = (index is not None and passes and not late) or not projects
                now_ms = int(self._clock() * 1000)
                # Before the passage is left: who compares must not meet a record that is written and called waiting.
                await self._store.write(
                    lambda connection: _checkpoint(connection, model.name, jobs, settled=settled, now_ms=now_ms)
                )
        return Written(
            tried=len(going),
            embedded=sum(job.taken and bool(job.missing) for job in there),
            done=sum(not job.why for job in going) if settled else 0,
            embedder_trouble=trouble,
            index_trouble=index_trouble,
            late=late,
        )

    async def _keep(self, jobs: Sequence[_Job], model: Model) -> None:
        """Store the vectors of records; those that changed since they were read are left for their next turn."""
        for job in jobs:
            job.taken = job.stored and job.is_kept
        new = [job for job in jobs if not job.taken]
        if new:
            taken = await self._store.write(lambda connection: _keep(connection, model, new))
            for job in new:
                job.taken = job.docid in taken


def _read(connection: Connection, model: Model, numbers: Sequence[int]) -> list[_Job]:
    """The records as they are now, those that are pending."""
    waiting = outbox.waiting(connection, numbers)
    keys = {each.docid: search_index.key(each.docid) for each in waiting}
    found = records.by_keys(connection, list(keys.values()))
    kept = vectors.kept(connection, model.name, list(keys))
    jobs = []
    for each in waiting:
        job = _Job(each.docid, each.seal, each.stored, found.get(keys[each.docid]), kept.get(each.docid))
        if job.record is None and job.seal is not None:
            # Another program deleted it just now: the index by words learns of it first, and queues it anew.
            job.why = "it is being deleted"
        jobs.append(job)
    return jobs


def _cut(jobs: Sequence[_Job], embedder: Embedder) -> None:
    """Cut records into documents, and find which of these have vectors, and whether the whole has its tokens."""
    tells, dimension = isinstance(embedder, Reader), embedder.dimension
    for job in jobs:
        texts = documents(job.record) if job.record is not None else []
        job.parts = tuple(Part(suffix, _digest(text)) for suffix, text in texts)
        job.known = _known(job.old, dimension)
        job.missing = {
            part.digest: text for part, (_, text) in zip(job.parts, texts, strict=True) if part.digest not in job.known
        }
        if tells and texts:
            job.tokens = _told_before(job.old, job.parts[0], dimension)
            if job.tokens is None:
                job.missing[job.parts[0].digest] = texts[0][1]


def _at_once() -> None:
    """Nobody is made way for."""


async def _embed(jobs: Sequence[_Job], embedder: Embedder, thread: OwnThread, pause: Callable[[], None]) -> None:
    """Vectors for all texts of some records that have none yet, each text once."""
    texts = {digest: text for job in jobs for digest, text in job.missing.items()}
    wholes = {job.parts[0].digest for job in jobs if job.tokens is None}
    made, tokens = await thread.run(lambda: _made(embedder, texts, wholes, pause))
    for job in jobs:
        job.known = job.known | {digest: made[digest] for digest in job.missing}
        if job.tokens is None:
            job.tokens = tokens.get(job.parts[0].digest)


def _made(
    embedder: Embedder, texts: Mapping[str, str], wholes: Set[str], pause: Callable[[], None]
) -> tuple[dict[str, _Row], dict[str, bytes]]:
    """Vectors of texts, by hash; and what is kept of the tokens of wholes, where the model tells them."""
    said, tokens = list(texts.values()), dict[str, bytes]()
    if isinstance(embedder, Reader):
        chosen = {at: digest for at, digest in enumerate(texts) if digest in wholes}
        read = embedder.read_documents(said, chosen, pause)
        rows = read.vectors
        tokens = {digest: late.kept(read.tokens[at], stopwords.is_common) for at, digest in chosen.items()}
    else:
        pause()
        rows = embedder.embed(said, "document")
    return dict(zip(texts, _checked(rows, len(texts), embedder.dimension), strict=True)), tokens


def _keep(connection: Connection, model: Model, jobs: Sequence[_Job]) -> set[int]:
    vectors.keep(connection, model.name, (_kept(job) for job in jobs if not job.is_kept))
    return outbox.hold(connection, [(job.docid, job.seal) for job in jobs])


def _kept(job: _Job) -> Kept:
    raw = b"".join(job.known[part.digest].tobytes() for part in job.parts)
    return Kept(job.docid, job.seal, job.parts, job.stale, raw, job.tokens)


def _put(index: VectorIndex, jobs: Sequence[_Job]) -> None:
    """What is stale goes, then all documents of the records are written."""
    stale = [document_id(search_index.key(job.docid), suffix) for job in jobs for suffix in job.stale]
    if stale:
        index.delete(stale)
    batch: list[Fragment] = []
    for fragment in _fragments(jobs):
        batch.append(fragment)
        if len(batch) == BATCH:
            index.upsert(batch)
            batch = []
    if batch:
        index.upsert(batch)


def _fragments(jobs: Sequence[_Job]) -> Iterator[Fragment]:
    for job in jobs:
        if job.record is not None:
            key = search_index.key(job.docid)
            for part in job.parts:
                row = job.known[part.digest].astype(np.float32)
                yield Fragment(document_id(key, part.suffix), row, metadata(job.record, part.suffix))


def _checkpoint(connection: Connection, model: str, jobs: Sequence[_Job], *, settled: bool, now_ms: int) -> None:
    """What is done leaves the outbox, what failed waits longer, the marks move."""
    gone = [job for job in jobs if job.record is None and not job.why]
    if settled:
        done = [job for job in jobs if job.taken and not job.why]
        vectors.freshen(connection, model, [job.docid for job in done])
        outbox.finish(connection, [(job.docid, job.seal) for job in done])
        outbox.move_marks(connection, [job.docid for job in done])
    else:
        # Chroma has yet to lose what it may hold of them.
        outbox.hold(connection, [(job.docid, None) for job in gone if job.stale])
        gone = [job for job in gone if not job.stale]
    vectors.remove_gone(connection, [job.docid for job in gone])
    outbox.finish_gone(connection, [job.docid for job in gone])
    outbox.fail(connection, [(job.docid, job.why) for job in jobs if job.why], now_ms)


async def _each(jobs: Sequence[_Job], work: Callable[[Sequence[_Job]], Awaitable[None]]) -> str:
    """Do a work for some records at once; if that fails for each alone, so that one cannot keep the others out.

    Those that fail note why. Gives why it could be done for none of them, when whatever does it is unavailable.
    """
    fault = await _fault(work(jobs)) if jobs else None
    if fault is None:
        return ""
    unavailable = 0
    for at, job in enumerate(jobs):
        # Two in a row are enough to tell: each may wait for a time limit.
        if len(jobs) > 1 and not unavailable == at >= 2:
            fault = await _fault(work([job]))
        job.why = "" if fault is None else _told(fault)
        unavailable += isinstance(fault, Unavailable)
    return jobs[0].why if unavailable == len(jobs) else ""


async def _fault(work: Awaitable[None]) -> Exception | None:
    """What went wrong, if anything did."""
    try:
        await work
    except Exception as error:  # noqa: BLE001 - whatever a model or Chroma raises is the fault of a record, noted there
        return error
    return None


def _known(old: Kept | None, dimension: int) -> dict[str, _Row]:
    """The vectors that are there, by the hash of their text."""
    if old is None or not old.vectors or len(old.vectors) != len(old.parts) * dimension * 2:
        return {}
    rows = np.frombuffer(old.vectors, np.float16).reshape(-1, dimension)
    return {part.digest: row for part, row in zip(old.parts, rows, strict=True)}


def _told_before(old: Kept | None, whole: Part, dimension: int) -> bytes | None:
    """The tokens that are kept of a whole, if it is still the same."""
    if old is None or old.tokens is None or old.parts[:1] != (whole,) or len(old.tokens) % late.width(dimension):
        return None
    return old.tokens


def _checked(rows: Matrix, count: int, dimension: int) -> _Row:
    """Errors: ``ValueError`` when it is not what was asked for."""
    if rows.shape != (count, dimension) or not np.isfinite(rows).all():
        raise ValueError(f"the model gave something else than {count} vectors of {dimension} numbers")
    return rows.astype(np.float16)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


def _told(error: Exception) -> str:
    """In a line, without a record's own words, which an error of a library may quote."""
    if isinstance(error, MemError):
        return error.message
    _log.debug("a record could not be written", exc_info=error)
    return f"{type(error).__name__} while it was written"

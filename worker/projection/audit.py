"""What an index of vectors holds, compared with what it should."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from worker.contract.errors import Unavailable
from worker.contract.records import RecordKey
from worker.projection.documents import document_id, parse_id
from worker.projection.index import VectorIndex
from worker.projection.thread import OwnThread
from worker.store import search_index, vectors
from worker.store.tables import Connection, Store

T = TypeVar("T")

_CHUNK = 20_000


@dataclass(slots=True)
class Findings:
    """What is wrong with an index.

    incomplete: docids of records of which documents are missing, and how many. orphans: documents of no record."""

    incomplete: dict[int, int] = field(default_factory=dict)
    orphans: list[str] = field(default_factory=list)

    @property
    def missing(self) -> int:
        """How many documents are missing."""
        return sum(self.incomplete.values())


class Silent(Unavailable):
    """An index has not answered in time, and may still do so: its thread is not free until then."""


async def audit(
    store: Store, model: str, index: VectorIndex, thread: OwnThread, *, answer_s: float | None = None
) -> Findings:
    """Look through all ids of an index that nobody writes to meanwhile.

    Records that wait to be written are passed over. Holds a number for each record, and no ids.
    answer_s: how long to wait for each page; as long as it takes, if None.
    Errors: ``Unavailable`` of the index; ``Silent`` when a page did not come in time.
    """
    findings = Findings()
    seen: dict[int, int] = {}
    async for page in _pages(index, thread, answer_s):
        findings.orphans += await store.read(partial(_look, model=model, page=page, seen=seen))
    after = -1
    while chunk := await store.read(partial(vectors.written_after, model=model, after=after, most=_CHUNK)):
        for docid, size in chunk:
            lacking = size - seen.get(docid, 0).bit_count()
            if lacking > 0:
                findings.incomplete[docid] = lacking
        after = chunk[-1][0]
    return findings


def example(docid: int) -> str:
    """A record as its first document is called."""
    key: RecordKey = search_index.key(docid)
    return document_id(key, "whole") if docid % 4 else document_id(key, "")


def _look(connection: Connection, model: str, page: Sequence[str], seen: dict[int, int]) -> list[str]:
    """Note which documents of which records are there; those that should not be."""
    parsed = [parse_id(each) for each in page]
    numbers = list({search_index.docid(found[0]) for found in parsed if found is not None})
    known = vectors.suffixes(connection, model, numbers)
    orphans: list[str] = []
    for each, found in zip(page, parsed, strict=True):
        if found is None:
            orphans.append(each)
            continue
        number = search_index.docid(found[0])
        parts, stale = known.get(number, ((), ()))
        if found[1] in parts:
            seen[number] = seen.get(number, 0) | 1 << parts.index(found[1])
        elif found[1] not in stale:
            orphans.append(each)
    return orphans


async def answered(thread: OwnThread, call: Callable[[], T], answer_s: float | None) -> T:
    """What an index answers on its thread. Errors: ``Silent`` when it does not in time."""
    asked = asyncio.ensure_future(thread.run(call))
    try:
        await asyncio.wait({asked}, timeout=answer_s)
        if asked.done():
            return asked.result()
    finally:
        asked.cancel()
    raise Silent(f"it did not answer in {answer_s:g} s")


async def _pages(index: VectorIndex, thread: OwnThread, answer_s: float | None) -> AsyncIterator[Sequence[str]]:
    pages: Iterator[Sequence[str]] = await answered(thread, lambda: iter(index.ids()), answer_s)
    following: Callable[[], Sequence[str] | None] = partial(next, pages, None)
    while (page := await answered(thread, following, answer_s)) is not None:
        yield page

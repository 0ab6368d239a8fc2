"""What is to be written again: found by holding records against their vectors, and these against an index."""

from collections.abc import Sequence
from functools import partial

from worker.contract.errors import Unavailable
from worker.contract.index import IndexFaults
from worker.projection.audit import Findings, Silent, answered, audit, example
from worker.projection.gate import Passage
from worker.projection.keeper import Keeper
from worker.projection.opening import OpenIndex
from worker.projection.thread import OwnThread
from worker.projection.writer import Model
from worker.store import outbox, search_index, vectors
from worker.store.tables import Connection, Store

_COMPARED = 20_000
_QUEUED = 5_000
_DROPPED = 500
_EXAMPLES = 100
_ANSWER_S = 10.0
"""An index lists 10,000 ids in a second; one that takes so long is not waited for."""


async def plan(store: Store, model: str) -> None:
    """Queue every record whose vectors are not of its seal, and what is left of records that are gone.

    All are looked at, not those above the marks alone: it takes 0.2 s for 100,000, and then a gap, lost marks or lost
    tables need no care of their own.
    """
    await _queue(store, await _behind(store, model) + await store.read(outbox.left_over))
    await store.write(outbox.set_marks)


async def compare(
    store: Store, model: Model, held: Keeper | str, thread: OwnThread, passage: Passage, *, repairs: bool
) -> IndexFaults:
    """All that is wrong; repairs: and have it mended.

    held: what holds the index, or why there is none. thread: on which the index is written. passage: to it, shut.
    """
    stale = await _behind(store, model.name)
    stale += await store.read(partial(vectors.damaged, model=model.name, dimension=model.embedder.dimension))
    left = await store.read(outbox.left_over)
    keeper = held if isinstance(held, Keeper) else None
    index = keeper.index if keeper is not None else None
    found, why = Findings(), held if isinstance(held, str) else held.told
    if keeper is not None and index is not None:
        found, why = await _audited(store, model, keeper, index, thread, passage)
    passed, checked = await store.read(partial(_passed_over, model=model.name))
    if repairs:
        await _queue(store, stale + left)
        if keeper is not None and index is not None and not why:
            await keeper.queue(found)
            why = await _removed(index, found.orphans, thread)
        await store.write(partial(outbox.hurry, also_hopeless=True))
        await store.write(outbox.set_marks)
    examples = [example(number) for number in (*stale, *found.incomplete)] + found.orphans
    return IndexFaults(
        checked=checked,
        waiting=passed,
        chroma=why,
        missing=found.missing,
        orphans=len(found.orphans) + len(left),
        stale=len(stale),
        examples=tuple(examples[:_EXAMPLES]),
        repaired=repairs,
    )


async def _audited(
    store: Store, model: Model, keeper: Keeper, index: OpenIndex, thread: OwnThread, passage: Passage
) -> tuple[Findings, str]:
    """What is wrong with an index, or why it cannot be told."""
    try:
        if not await passage.emptied(_ANSWER_S):
            return Findings(), f"it did not answer in {_ANSWER_S:g} s"
        return await audit(store, model.name, index, thread, answer_s=_ANSWER_S), ""
    except Silent as error:
        return Findings(), error.message
    except Unavailable as error:
        await keeper.lose(index, error.message)
        return Findings(), error.message


async def _removed(index: OpenIndex, orphans: Sequence[str], thread: OwnThread) -> str:
    """Take documents of no record out of an index; why it cannot be done."""
    try:
        for at in range(0, len(orphans), _DROPPED):
            await answered(thread, partial(index.delete, orphans[at : at + _DROPPED]), _ANSWER_S)
    except Unavailable as error:
        return error.message
    return ""


def _passed_over(connection: Connection, model: str) -> tuple[int, int]:
    """How many records wait, and how many do not."""
    records, _ = vectors.counts(connection, model)
    waiting = outbox.records_waiting(connection)
    return waiting + search_index.queued(connection), records - waiting


async def drop_others(store: Store, models: set[str]) -> None:
    """Throw away the vectors of all models but some."""
    wanted = sorted(models)
    while rows := await store.read(partial(vectors.others, serving=wanted, most=_DROPPED)):
        await store.write(partial(vectors.drop, ids=rows))


async def drop_all(store: Store, model: str) -> None:
    """Throw away the vectors of a model, and have them made anew."""
    while rows := await store.read(partial(vectors.of_model, model=model, most=_DROPPED)):
        await store.write(partial(vectors.drop, ids=rows))
    await store.write(outbox.restart)
    await plan(store, model)


async def _behind(store: Store, model: str) -> list[int]:
    """Records without vectors of their seal that do not wait."""
    behind: list[int] = []
    after: int | None = -1
    while after is not None:
        found, after = await store.read(partial(outbox.behind, model=model, after=after, most=_COMPARED))
        behind += found
    return behind


async def _queue(store: Store, numbers: Sequence[int]) -> None:
    for at in range(0, len(numbers), _QUEUED):
        await store.write(partial(outbox.queue, numbers=numbers[at : at + _QUEUED]))

"""What is to be written again: found by holding records against their vectors, and these against an index."""

from collections.abc import Sequence
from functools import partial

from worker.contract.index import IndexFaults
from worker.projection.audit import Findings, audit, example
from worker.projection.keeper import Keeper
from worker.projection.thread import OwnThread
from worker.projection.writer import Model
from worker.store import outbox, vectors
from worker.store.tables import Store

_COMPARED = 20_000
_QUEUED = 5_000
_DROPPED = 500
_EXAMPLES = 100


async def plan(store: Store, model: str) -> None:
    """Queue every record whose vectors are not of its seal, and what is left of records that are gone.

    All are looked at, not those above the marks alone: it takes 0.2 s for 100,000, and then a gap, lost marks or lost
    tables need no care of their own.
    """
    await _queue(store, await _behind(store, model) + await store.read(outbox.left_over))
    await store.write(outbox.set_marks)


async def compare(
    store: Store, model: Model, keeper: Keeper | None, thread: OwnThread, *, repairs: bool
) -> IndexFaults:
    """All that is wrong, while nobody writes; repairs: and have it mended. Errors: ``Unavailable`` of the index.

    thread: on which the index is written.
    """
    stale = await _behind(store, model.name)
    stale += await store.read(partial(vectors.damaged, model=model.name, dimension=model.embedder.dimension))
    left = await store.read(outbox.left_over)
    records, _ = await store.read(partial(vectors.counts, model=model.name))
    index = keeper.index if keeper is not None else None
    found = Findings() if index is None else await audit(store, model.name, index, thread)
    if repairs:
        await _queue(store, stale + left)
        if keeper is not None and index is not None:
            await keeper.queue(found)
            if found.orphans:
                await thread.run(partial(index.delete, found.orphans))
        await store.write(partial(outbox.hurry, also_hopeless=True))
        await store.write(outbox.set_marks)
    examples = [example(number) for number in (*stale, *found.incomplete)] + found.orphans
    return IndexFaults(
        checked=records,
        missing=found.missing,
        orphans=len(found.orphans) + len(left),
        stale=len(stale),
        examples=tuple(examples[:_EXAMPLES]),
        repaired=repairs,
    )


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

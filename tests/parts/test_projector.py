"""The index by meaning follows the records, whatever fails on the way."""


from tests.factories import make_batch, observation_row, prompt_row, summary_row
from tests.parts.conftest import fill
from tests.parts.index_of_dicts import Model, Shelf, assert_true, projecting, settled
from worker.contract.index import IndexState
from worker.contract.records import RecordKind
from worker.store.tables import Store

A = RecordKind.OBSERVATION


def rows(count: int, word: str = "note") -> list[dict[str, object]]:
    return [
        observation_row(
            f"{word} {n}",
            narrative=f"about {word} {n}",
            facts=f'["first {word} {n}", "second {word} {n}"]',
            created_at_epoch=1_772_000_000_000 + n,
        )
        for n in range(count)
    ]


async def test_what_is_there_and_what_comes_is_written(store: Store) -> None:
    shelf, model = Shelf(), Model()
    await fill(store, make_batch(rows(40), summaries=[summary_row()], prompts=[prompt_row()]))
    async with projecting(store, model, shelf) as projector:
        status = await settled(store, projector)
        assert status.state is IndexState.READY
        await assert_true(store, shelf)
        await fill(store, make_batch(rows(3, "later")))
        await settled(store, projector)
        await assert_true(store, shelf)
    assert len(model.embedded) == len(set(model.embedded))

"""The same record strictly in order, different ones side by side."""

import asyncio
import random

from worker.projection.lanes import Lanes


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_the_same_record_is_held_by_one_at_a_time_in_the_order_of_the_calls() -> None:
    lanes, order, inside = Lanes(), [], 0

    async def write(number: int) -> None:
        nonlocal inside
        async with lanes.hold(["a"]):
            inside += 1
            assert inside == 1
            await turns(number % 3)
            order.append(number)
            inside -= 1

    await asyncio.gather(*(write(number) for number in range(20)))
    assert order == list(range(20))
    assert lanes.busy == 0


async def test_different_records_go_side_by_side() -> None:
    lanes = Lanes()
    both = asyncio.Barrier(2)

    async def write(key: str) -> None:
        async with lanes.hold([key]):
            await both.wait()

    await asyncio.gather(write("a"), write("b"))
    assert lanes.busy == 0


async def test_one_who_came_later_never_passes_one_who_waits_for_more() -> None:
    lanes, order = Lanes(), []
    let_go = asyncio.Event()

    async def hold(name: str, keys: list[str], until: asyncio.Event | None = None) -> None:
        async with lanes.hold(keys):
            order.append(name)
            if until:
                await until.wait()

    first = asyncio.create_task(hold("first", ["a"], let_go))
    await turns()
    second = asyncio.create_task(hold("second", ["a", "b"]))
    await turns()
    third = asyncio.create_task(hold("third", ["b"]))
    await turns()
    assert order == ["first"]
    let_go.set()
    await asyncio.gather(first, second, third)
    assert order == ["first", "second", "third"]


async def test_holds_of_many_records_never_wait_for_each_other() -> None:
    lanes, chance = Lanes(), random.Random(7)
    held: set[int] = set()

    async def write(keys: list[int]) -> None:
        async with lanes.hold(keys):
            assert not held & set(keys)
            held.update(keys)
            await turns(chance.randrange(4))
            held.difference_update(keys)

    async with asyncio.timeout(60):
        await asyncio.gather(
            *(write([chance.randrange(12) for _ in range(chance.randrange(1, 6))]) for _ in range(400))
        )
    assert lanes.busy == 0


async def test_one_who_gives_up_leaves_the_lane_to_the_next() -> None:
    lanes, let_go, done = Lanes(), asyncio.Event(), []

    async def hold(name: str, keys: list[str], until: asyncio.Event | None = None) -> None:
        async with lanes.hold(keys):
            if until:
                await until.wait()
            done.append(name)

    first = asyncio.create_task(hold("first", ["a"], let_go))
    await turns()
    waiting = asyncio.create_task(hold("waiting", ["a", "b", "c"]))
    await turns()
    after = asyncio.create_task(hold("after", ["c", "a"]))
    await turns()
    waiting.cancel()
    await turns()
    let_go.set()
    await asyncio.gather(first, after)
    assert done == ["first", "after"]
    assert lanes.busy == 0


async def test_a_failure_inside_gives_the_lane_on() -> None:
    lanes = Lanes()
    try:
        async with lanes.hold(["a"]):
            raise ValueError
    except ValueError:
        pass
    async with asyncio.timeout(60), lanes.hold(["a", "a"]):
        pass
    assert lanes.busy == 0

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from worker.projection.beside import by_two


def squared(number: int) -> int:
    return number * number


@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_what_comes_of_each_part_stands_in_their_order(count: int) -> None:
    expected = [number * number for number in range(count)]
    with ThreadPoolExecutor(1) as pool:
        assert by_two(squared, range(count), pool.submit) == expected


def test_two_threads_take_part() -> None:
    both = threading.Barrier(2, timeout=30)
    threads: list[int] = []

    def meet(number: int) -> int:
        threads.append(threading.get_ident())
        both.wait()
        return number

    with ThreadPoolExecutor(1) as pool:
        assert by_two(meet, range(2), pool.submit) == [0, 1]
    assert len(set(threads)) == 2


def test_who_has_other_things_to_do_is_not_waited_for() -> None:
    begun = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(begun.wait, 30)
        assert by_two(squared, range(3), pool.submit) == [0, 1, 4]
        begun.set()


def test_a_single_part_is_done_by_who_asks() -> None:
    def beside(deed: object) -> Future[None]:
        raise AssertionError

    assert by_two(squared, [3], beside) == [9]


@pytest.mark.parametrize("where", [0, 1])
def test_what_fails_on_either_thread_is_told(where: int) -> None:
    both = threading.Barrier(2, timeout=30)

    def fail(number: int) -> int:
        both.wait()
        if number == where:
            raise ValueError
        return number

    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError):
        by_two(fail, range(2), pool.submit)

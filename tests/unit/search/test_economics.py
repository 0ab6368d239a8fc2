import pytest

from worker.contract.costs import Spent
from worker.search.economics import dearest, folded, saved, spent, total
from worker.store.costs import Sums


@pytest.mark.parametrize(
    ("read", "work", "expected"),
    [
        (210, 4480, (4270, 95)),
        (0, 0, (0, 0)),
        (50, 0, (-50, 0)),
        (1, 200, (199, 100)),  # 99.5, half up
        (300, 100, (-200, -200)),
        (100, 100, (0, 0)),
        (5, 3, (-2, -67)),
        (7, 8, (1, 13)),  # 12.5, half up
        (9, 8, (-1, -12)),  # -12.5, half up
    ],
)
def test_what_is_saved(read: int, work: int, expected: tuple[int, int]) -> None:
    assert saved(Sums(records=1, read=read, work=work)) == expected


def test_what_never_came_back_is_the_rest() -> None:
    sums = Sums(records=5, read=30, work=100, recalled=2, recalled_work=70, back=1, back_tokens=12, back_work=40)
    assert spent(sums) == Spent(
        records=5,
        read_tokens=30,
        work_tokens=100,
        ratio=3.33,
        recalled=2,
        read_back=1,
        read_back_tokens=12,
        never=3,
        never_work_tokens=30,
    )
    assert spent(Sums()) == Spent()


def test_lines_come_with_the_most_work_first() -> None:
    values = {"a": Sums(1, 1, 5), "b": Sums(1, 1, 9), "c": Sums(7, 1, 5)}
    assert [line.value for line in dearest(values, 9)] == ["b", "c", "a"]
    assert [line.value for line in dearest(values, 1)] == ["b"]


def test_sums_of_equal_values_are_one() -> None:
    assert folded([("a", Sums(1, 2, 3)), ("b", Sums(1)), ("a", Sums(1, 2, 3))]) == {"a": Sums(2, 4, 6), "b": Sums(1)}
    assert total([Sums(1, 2, 3), Sums(back=4)]) == Sums(1, 2, 3, back=4)
    assert total([]) == Sums()

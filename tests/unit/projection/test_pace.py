"""Delays, rates, and what goes together."""

import pytest

from worker.projection.backlog import batches
from worker.projection.pace import Delay, Rate


def test_a_delay_doubles_up_to_its_most_and_begins_anew() -> None:
    delay = Delay(1.0, 6.0)
    assert [delay.next_s() for _ in range(5)] == [1.0, 2.0, 4.0, 6.0, 6.0]
    delay.reset()
    assert delay.next_s() == 1.0


def test_a_rate_is_of_the_last_minute_and_none_after_a_rest() -> None:
    rate = Rate(60.0)
    assert rate.per_s(0.0) == 0.0
    rate.add(0.0, 8)
    assert rate.per_s(0.0) == 0.0
    for second in range(1, 11):
        rate.add(float(second), 8)
    assert rate.per_s(10.0) == pytest.approx(8.0)
    for second in range(100, 111):
        rate.add(float(second), 2)
    assert rate.per_s(110.0) == pytest.approx(2.0)
    assert rate.per_s(200.0) == 0.0


@pytest.mark.parametrize(
    ("numbers", "tried", "found"),
    [
        ([], set(), []),
        ([1, 2, 3, 4, 5], set(), [[1, 2], [3, 4], [5]]),
        ([1, 2, 3, 4, 5], {2, 5}, [[2], [1, 3], [5], [4]]),
        ([1, 2], {1, 2}, [[1], [2]]),
    ],
)
def test_what_failed_before_goes_alone(numbers: list[int], tried: set[int], found: list[list[int]]) -> None:
    assert list(batches(numbers, tried, 2)) == found

"""Which line of a list is the first on the screen."""

import pytest

from tui.cells import sight


@pytest.mark.parametrize(
    ("line", "was", "ahead", "top"),
    [
        (5, 0, 0, 0),
        (9, 0, 0, 0),
        (10, 0, 0, 1),
        (10, 0, 5, 6),
        (98, 88, 5, 90),
        (89, 90, 0, 89),
        (89, 90, 5, 84),
        (1, 2, 0, 0),
        (1, 2, 5, 0),
        (6, 7, 5, 0),
        (50, 0, 0, 41),
    ],
)
def test_of_a_hundred_lines_ten_are_seen(line: int, was: int, ahead: int, top: int) -> None:
    assert sight.top(line, was=was, height=10, count=100, ahead=ahead) == top


def test_the_cursor_is_always_seen() -> None:
    for height in range(1, 12):
        for count in (1, 3, 30):
            for line in range(count):
                for was in range(count):
                    for ahead in {0, sight.ahead(1, height=height, beside=True)}:
                        top = sight.top(line, was=was, height=height, count=count, ahead=ahead)
                        assert top <= line < top + height
                        assert 0 <= top <= max(count - height, 0)


def test_a_list_of_no_height_or_no_lines_stands_at_its_beginning() -> None:
    assert sight.top(0, was=0, height=0, count=0) == 0
    assert sight.top(0, was=4, height=7, count=0) == 0


def test_a_step_beside_something_brings_in_half_a_list() -> None:
    assert [sight.ahead(moved, height=24, beside=True) for moved in (-23, -2, -1, 1, 2, 23)] == [0, 12, 12, 12, 12, 0]
    assert sight.ahead(1, height=24, beside=False) == 0

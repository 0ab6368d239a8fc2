"""The names that a project goes by."""

import pytest

from worker.store.aliases import together

KNOWN = {"b": "a", "c": "a", "y": "x"}


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("a", ("a", "b", "c")),
        ("b", ("b", "a", "c")),
        ("x", ("x", "y")),
        ("z", ("z",)),
        ("a/fix", ("a/fix",)),
        ("b/*", ("b/*", "a/*", "c/*")),
        ("/*", ("/*",)),
    ],
)
def test_all_of_them_its_own_first(asked: str, names: tuple[str, ...]) -> None:
    assert together(KNOWN, asked) == names
    assert together({}, asked) == (asked,)

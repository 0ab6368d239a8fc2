"""Folders of which nothing is kept (R144)."""

import pytest

from worker.contract.exclusion import excluded


@pytest.mark.parametrize(
    ("pattern", "cwd", "fits"),
    [
        ("~/secret/*", "/home/u/secret/diary", True),
        ("~/secret/*", "/home/u/secret/diary/deep/down", True),
        ("~/secret/*", "/home/u/secret", False),
        ("~/secret/*", "/home/u/secretary/x", False),
        ("~", "/home/u/anything", True),
        ("/srv/**/build", "/srv/a/b/build", True),
        ("/srv/**/build", "/srv/a/b/builder", False),
        ("/srv/*/build", "/srv/a/b/build", False),
        ("/srv/a?c", "/srv/abc", True),
        ("/srv/a?c", "/srv/a/c", False),
        ("client-*", "/home/u/work/client-x", True),
        ("client-*", "/home/client-u/work", False),
        ("shop", "/home/u/shop/src", True),
        ("a.b", "/home/u/axb", False),
        ("", "/home/u", False),
        ("/srv/", "/srv", True),
        ("*", "/home/u/x", True),
    ],
)
def test_a_pattern_and_a_folder(pattern: str, cwd: str, fits: bool) -> None:
    assert excluded([pattern], cwd, home="/home/u", names=("shop",) if "shop" in cwd else ()) is fits


def test_any_of_the_patterns_will_do() -> None:
    assert excluded(["/no", "/yes"], "/yes/x", home="/")
    assert not excluded([], "/yes", home="/")


def test_many_stars_take_no_time() -> None:
    assert not excluded(["/" + "**" * 200 + "x"], "/" + "a" * 4000, home="/")

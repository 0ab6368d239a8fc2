import importlib.metadata

import pytest

from worker.contract.version import __version__, is_older


def test_the_installation_says_the_same() -> None:
    assert importlib.metadata.version("claude-mem") == __version__


@pytest.mark.parametrize(
    ("one", "other", "older"),
    [
        ("0.1.0", "0.1.1", True), ("0.9.0", "0.10.0", True), ("0.1", "0.1.1", True), ("0.1.0", "0.1.0", False),
        ("0.2.0", "0.1.9", False), ("0.1.0rc1", "0.2.0", False), ("", "0.1.0", False), ("13.25.3", "0.1.0", False),
    ],
)  # fmt: skip
def test_older_is_only_what_can_be_compared(one: str, other: str, older: bool) -> None:
    """R113."""
    assert is_older(one, other) is older

"""The version of this package: a constant, because asking the installation for it takes a short program 35 ms.

pyproject.toml reads it from here.
"""

__version__ = "0.1.0"


def is_older(one: str, other: str) -> bool:
    """Whether version ``one`` came before ``other``; False for what cannot be compared."""
    first, second = _numbers(one), _numbers(other)
    return first is not None and second is not None and first < second


def _numbers(version: str) -> tuple[int, ...] | None:
    parts = version.split(".")
    return tuple(int(part) for part in parts) if all(part.isascii() and part.isdigit() for part in parts) else None

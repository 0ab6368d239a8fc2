"""Several pieces of work done by two threads, where another one has nothing to do."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TypeAlias, TypeVar

P = TypeVar("P")
R = TypeVar("R")

Beside: TypeAlias = Callable[[Callable[[], None]], Future[None]]
"""Does something on another thread as soon as that comes to it."""


def by_two(deed: Callable[[P], R], parts: Sequence[P], beside: Beside) -> list[R]:
    """What comes of each part, in their order; another thread takes from their end what it comes to.

    Nobody waits for it but for what it has begun. Errors: those of ``deed``.
    """
    left = deque(enumerate(parts))
    found: dict[int, R] = {}

    def take(take_one: Callable[[], tuple[int, P]]) -> None:
        while True:
            try:
                at, part = take_one()
            except IndexError:  # all are taken
                return
            found[at] = deed(part)

    other = beside(partial(take, left.pop)) if len(parts) > 1 else None
    take(left.popleft)
    if other is not None and not other.cancel():
        other.result()
    return [found[at] for at in range(len(parts))]

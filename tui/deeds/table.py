"""Pure: which deed an action of the keymap is."""

from collections.abc import Callable, Mapping
from typing import Protocol

Deed = Callable[[], None]


class Doer(Protocol):
    """Somebody who does some of the actions."""

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""


def gathered(*doers: Doer) -> dict[str, Deed]:
    """All that is done. Errors: ValueError where two would do the same."""
    found: dict[str, Deed] = {}
    for doer in doers:
        for name, deed in doer.deeds().items():
            if name in found:
                raise ValueError(f"{name} is done twice")
            found[name] = deed
    return found

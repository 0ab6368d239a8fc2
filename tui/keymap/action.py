"""Pure: what a key does."""

import msgspec

from tui.state.keys import written


class Action(msgspec.Struct, frozen=True):
    """name: what is asked for. keys: Textual's names. places: where they work. label: for the footer. help: a line.

    by_key: each key means another one of its kind; its name is added to what is asked for: `jump#3`.
    """

    name: str
    keys: tuple[str, ...]
    places: tuple[str, ...]
    label: str
    help: str
    by_key: bool = False

    @property
    def shown(self) -> str:
        """The keys as a person reads them."""
        if self.by_key:
            return f"{self.keys[0]}-{self.keys[-1]}"
        return " ".join(written(key) for key in self.keys)

    @property
    def first(self) -> str:
        """The first key as a person reads it."""
        return self.shown if self.by_key else written(self.keys[0])

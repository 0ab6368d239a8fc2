"""Pure: everything that can be done, to be found by typing a part of its name."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

_MOST = 200


class Item(Struct, frozen=True):
    """kind: `key`, `project`, `scope`, `session`, `search` or `theme`. name: of the action, the project (empty: all),
    the session, the theme.

    label, help: what it says. keys: that do the same. reason: why it can do nothing now.
    """

    kind: str
    name: str
    label: str
    help: str = ""
    keys: str = ""
    reason: str = ""


def matching(items: Iterable[Item], typed: str) -> list[Item]:
    """The items that have every word typed, those whose label begins so first; what can be done before what cannot."""
    words = typed.lower().split()
    found = [item for item in items if all(word in f"{item.kind} {item.label} {item.help}".lower() for word in words)]
    first = words[0] if words else ""
    found.sort(key=lambda item: (bool(item.reason), _rank(item, first)))
    return found[:_MOST]


def _rank(item: Item, word: str) -> int:
    label = item.label.lower()
    if not word or label.startswith(word):
        return 0
    return 1 if word in label else 2


def places(names: Sequence[str], here: str | None, *, everything: bool) -> list[Item]:
    """Projects to go to; the one that is shown says so. everything: all of them are."""
    return [
        Item("project", "", "all projects", reason="shown now" if everything else ""),
        *(Item("project", name, name, reason="shown now" if name == here else "") for name in names if name),
    ]

"""Pure: keys of a person's own: which are in force, what they lead to, and how they are written.

The rest of the app knows the keys of the tables alone: what is pressed is turned into one of those (``led``), and where
a key is shown, the one in force is (``shown``, ``first``).
"""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from tui.keymap.action import Action
from tui.keymap.places import BOXES
from tui.keymap.table import KEYMAP, at
from tui.state.keys import written

SET = "set"
SETS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "vim": {
        "page_down": ("ctrl+f", "ctrl+d", "pagedown"),
        "page_up": ("ctrl+b", "ctrl+u", "pageup"),
        "go_back": ("ctrl+o", "less_than_sign"),
        "next_item": ("ctrl+n", "down"),
        "last_item": ("ctrl+p", "up"),
    },
    "tmux-safe": {
        "page_down": ("J",),
        "page_up": ("K",),
        "page_of_settings": ("ctrl+n",),
        "page_before": ("ctrl+p",),
        "page_of_keys": ("ctrl+n",),
        "page_of_keys_before": ("ctrl+p",),
        "guide": ("question_mark",),
        "clear": ("ctrl+g", "escape"),
        "undo": ("backspace", "escape"),
        "back": ("q", "backspace"),
        "leave": ("tab", "ctrl+g"),
    },
}
"""tmux-safe: without keys that tmux keeps for itself, hands on late (Esc), or may not hand on at all."""

_NAMES = {
    "enter", "escape", "tab", "shift+tab", "space", "backspace", "delete", "insert", "up", "down", "left", "right",
    "home", "end", "pageup", "pagedown", *(f"f{number}" for number in range(1, 13)),
}  # fmt: skip
_SAID = {"esc": "escape", "return": "enter", "pgup": "pageup", "pgdn": "pagedown", "del": "delete", "ins": "insert"}
_NAMED = re.compile(r"\{([a-z_]+)\}")
_WITH = re.compile(r"(ctrl|alt|shift|ctrl\+shift)\+(.+)")
_REPLACED = {
    "solidus": "slash", "reverse_solidus": "backslash", "commercial_at": "at", "hyphen_minus": "minus",
    "plus_sign": "plus", "low_line": "underscore",
}  # fmt: skip


class Chosen(msgspec.Struct, frozen=True):
    """keys: action → its keys, where they are not those of the tables. notes: what of the file could not be had."""

    keys: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    notes: tuple[str, ...] = ()


def chosen(wanted: Mapping[str, object]) -> Chosen:
    """What a file asks for, as far as it can be had: `set`, and actions with a key or some keys each."""
    notes: list[str] = []
    keys = dict(_set(wanted.get(SET), notes))
    known = {action.name: action for action in KEYMAP}
    for name, value in wanted.items():
        if name == SET:
            continue
        action = known.get(name)
        if action is None:
            near = difflib.get_close_matches(name, known, 1)
            notes.append(f"there is no action {name!r}{f'; is it {near[0]}?' if near else ''}")
        elif action.by_key:
            notes.append(f"{name} has a key for each number, which cannot be changed")
        elif found := tuple(_keys(name, value, notes)):
            keys[name] = found
    return Chosen(*_settled(keys, notes))


def led(keys: Mapping[str, tuple[str, ...]], place: str) -> dict[str, str | None]:
    """What a key pressed in a place leads to: the key of the tables; None: it means nothing any more."""
    if not keys:
        return {}
    lost = {key for action in at(place) if action.name in keys for key in action.keys}
    kept = {key for action in at(place) if action.name not in keys for key in action.keys}
    ways: dict[str, str | None] = dict.fromkeys(lost - kept)
    for action in at(place):
        ways |= dict.fromkeys(keys.get(action.name, ()), action.keys[0])
    return ways


def shown(action: Action, keys: Mapping[str, tuple[str, ...]]) -> str:
    """The keys of an action as a person reads them."""
    return " ".join(written(key) for key in keys[action.name]) if action.name in keys else action.shown


def first(action: Action, keys: Mapping[str, tuple[str, ...]]) -> str:
    """The first of them; empty where there is none."""
    return written(keys[action.name][0]) if keys.get(action.name) else "" if action.name in keys else action.first


def keyed(text: str, keys: Mapping[str, tuple[str, ...]]) -> str:
    """A sentence with the keys in force where it names actions: `{search} searches` is `/ searches`."""
    known = {action.name: action for action in KEYMAP}
    return _NAMED.sub(lambda found: first(known[found[1]], keys) if found[1] in known else found[0], text)


def in_force(
    pairs: Iterable[tuple[str, str]], place: str, keys: Mapping[str, tuple[str, ...]]
) -> list[tuple[str, str]]:
    """(key, label) of a footer that was made from the tables, with the keys in force; without those that have none."""
    if not keys:
        return [*pairs]
    of = {written(key): action for action in at(place) for key in action.keys}
    said = [(first(of[key], keys) if key in of else key, label) for key, label in pairs]
    return [(key, label) for key, label in said if key]


def _set(name: object, notes: list[str]) -> Mapping[str, tuple[str, ...]]:
    if name is None:
        return {}
    if name not in SETS:
        notes.append(f"there is no set {name!r}; there are {', '.join(SETS)}")
        return {}
    return SETS[str(name)]


def _keys(name: str, value: object, notes: list[str]) -> Iterator[str]:
    """The keys that stand for an action in the file, as the tables write them."""
    given = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    if not given:
        notes.append(f"{name} must be a key or a list of keys")
    for text in given:
        key = _key(text) if isinstance(text, str) else None
        if key is None:
            notes.append(f"{name}: {text!r} is no key")
        else:
            yield key


def _key(text: str) -> str | None:
    """A key as the tables write it, from what a person may write: `/`, `Esc`, `ctrl+n`; None if it is none."""
    if len(text) == 1:
        return _of_character(text)
    low = _SAID.get(text.lower(), text.lower())
    if low in _NAMES or low in {key for action in KEYMAP for key in action.keys}:
        return low
    if (match := _WITH.fullmatch(low)) is not None:
        rest = _SAID.get(match[2], match[2])
        return f"{match[1]}+{rest}" if rest in _NAMES or (len(rest) == 1 and rest.isalnum()) else None
    return None


def _of_character(char: str) -> str | None:
    if char.isalnum():
        return char
    if char == " ":
        return "space"
    name = unicodedata.name(char, "").lower().replace("-", "_").replace(" ", "_")
    return _REPLACED.get(name, name) or None


def _settled(keys: dict[str, tuple[str, ...]], notes: list[str]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Each key has one meaning in a place: what was asked for goes before the tables, the first before the second."""
    left = {action.name: [*keys.get(action.name, action.keys)] for action in KEYMAP}
    for place in dict.fromkeys(place for action in KEYMAP for place in action.places):
        owner: dict[str, str] = {}
        for action in sorted(at(place), key=lambda action: action.name not in keys):
            for key in [*left[action.name]]:
                if place in BOXES and action.name in keys and (len(key) == 1 or key == "space"):
                    notes.append(f"{action.name}: {written(key)} is typed in the {place}, and does nothing else there")
                elif (other := owner.setdefault(key, action.name)) != action.name:
                    left[action.name].remove(key)
                    if action.name in keys:
                        notes.append(f"{written(key)} is {other} already, and so is not {action.name}")
                    elif not left[action.name]:
                        notes.append(f"{action.name} has no key left, since {written(key)} is {other}")
    changed = {action.name: tuple(left[action.name]) for action in KEYMAP if left[action.name] != [*action.keys]}
    return changed, tuple(dict.fromkeys(notes))

"""Pure: to find a key in the help by what it does."""

from tui.keymap.action import Action
from tui.keymap.places import GUIDE, GUIDE_BOX

ACTIONS = (
    Action("find_key", ("slash", "tab"), (GUIDE,), "find", "in this help: only the lines that have some words"),
    Action("found_key", ("enter",), (GUIDE_BOX,), "to the keys", "in this help: to the lines found"),
    Action("next_key", ("down",), (GUIDE_BOX,), "down", "in this help: a line on, while words are typed"),
    Action("last_key", ("up",), (GUIDE_BOX,), "up", "a line back"),
    Action("page_of_keys", ("pagedown",), (GUIDE_BOX,), "page", "in this help: a screenful on"),
    Action("page_of_keys_before", ("pageup",), (GUIDE_BOX,), "page back", "a screenful back"),
    Action("drop_find", ("escape", "tab"), (GUIDE_BOX,), "close", "in this help: close it"),
)

"""Pure: to find a key in the help by what it does."""

from tui.keymap.action import Action
from tui.keymap.places import GUIDE, GUIDE_BOX

ACTIONS = (
    Action("find_key", ("slash",), (GUIDE,), "find", "in this help: only the lines that have some words"),
    Action("found_key", ("enter", "down"), (GUIDE_BOX,), "to the keys", "in this help: to the lines found"),
    Action("drop_find", ("escape", "tab"), (GUIDE_BOX,), "all keys", "in this help: all lines again"),
)

"""Pure: Open a record, and go along time."""

from tui.keymap.action import Action
from tui.keymap.places import LIST, PREVIEW, RECORD

ACTIONS = (
    Action("open", ("enter", "o"), (LIST, PREVIEW), "open", "the whole record on the whole screen"),
    Action("swap", ("i",), (LIST, PREVIEW), "timeline", "what came before and after; again for the list"),
    Action("earlier", ("h", "comma", "left"), (LIST, PREVIEW, RECORD), "earlier", "one event back in time"),
    Action("later", ("l", "full_stop", "right"), (LIST, PREVIEW, RECORD), "later", "one event on in time"),
    Action("follow", ("U",), (LIST, PREVIEW), "follow", "new records come in by themselves, until you move"),
    Action("pause", ("P",), (LIST, PREVIEW), "pause", "nothing changes by itself, what comes is counted; again: on"),
)

"""Pure: What is worth a key everywhere: panes, commands, help, the way out."""

from tui.keymap.action import Action
from tui.keymap.places import (
    BASKET,
    BOX,
    CORPORA,
    FILTERS,
    GUIDE,
    HEALTH,
    LIST,
    NEXT_START,
    PALETTE,
    PREVIEW,
    RECORD,
    SESSIONS,
    SHEET,
    SURVEYS,
)

ACTIONS = (
    Action("refresh", ("r",), (LIST, PREVIEW, RECORD), "refresh", "bring in what is new; after a failure, try again"),
    Action("demo", ("M",), (LIST, PREVIEW), "demo", "the demo memory, while yours is empty, and back"),
    Action("pane", ("tab",), (BOX, LIST, PREVIEW), "next pane", "to the next pane: box, list, preview", at_once=True),
    Action("pane_back", ("shift+tab",), (BOX, LIST, PREVIEW), "pane before", "to the one before", at_once=True),
    Action("wider", ("plus", "equals_sign"), (LIST, PREVIEW), "larger preview", "a larger preview"),
    Action("slimmer", ("minus",), (LIST, PREVIEW), "smaller preview", "a smaller one, then none"),
    Action(
        "palette",
        ("colon",),
        (LIST, PREVIEW, RECORD, BASKET, FILTERS, *SURVEYS),
        "commands",
        "commands, projects, themes by name",
    ),
    Action("choose", ("enter",), (PALETTE,), "do it", "in the commands: do the one under the cursor"),
    Action("next_item", ("down",), (PALETTE,), "down", "the next command"),
    Action("last_item", ("up",), (PALETTE,), "up", "the one before"),
    Action("leave", ("escape", "tab"), (PALETTE,), "close", "close the commands"),
    Action("theme", ("T",), (LIST, PREVIEW), "light or dark", "dark or light colours"),
    Action("guide", ("question_mark", "f1"), (LIST, PREVIEW, RECORD, BASKET, FILTERS, *SURVEYS), "keys", "this help"),
    Action(
        "back",
        ("q", "escape", "backspace"),
        (PREVIEW, RECORD, GUIDE, SHEET, FILTERS, BASKET, SESSIONS, NEXT_START, HEALTH, CORPORA),
        "back",
        "close this; from the preview, to the list",
    ),
    Action(
        "undo",
        ("escape", "backspace"),
        (LIST,),
        "back",
        "from the timeline to the list; from hits to all records",
        at_once=True,
    ),
    Action(
        "quit",
        ("q",),
        (LIST,),
        "quit",
        "from the timeline to the list; back from where a screen led; from the list, quit",
    ),
)

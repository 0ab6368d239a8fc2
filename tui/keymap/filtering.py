"""Pure: What the list holds, and its order."""

from tui.keymap.action import Action
from tui.keymap.places import FILTERS, LIST, PREVIEW

ACTIONS = (
    Action("scope", ("s",), (LIST, PREVIEW), "scope", "this project, with worktrees, all, this session"),
    Action("filters", ("f",), (LIST, PREVIEW), "filters", "choose types, projects, concepts, dates, with their counts"),
    Action("take", ("space", "enter"), (FILTERS,), "on or off", "in the filters: this one on or off"),
    Action("unfilter", ("F",), (LIST, PREVIEW, FILTERS), "drop filter", "take the last filter out of the query"),
    Action("remember", ("R",), (LIST, PREVIEW), "remember", "keep this search for the commands (:); again: no longer"),
    Action("kinds", ("t",), (LIST, PREVIEW), "kind", "all kinds, observations, sessions, prompts"),
    Action(
        "order", ("O",), (LIST, PREVIEW), "order", "best or newest first, oldest, most to read, most work, best ratio"
    ),
)

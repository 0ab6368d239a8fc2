"""Pure: The memory as a whole: costs, sessions, the next session's start, health."""

from tui.keymap.action import Action
from tui.keymap.places import CORPORA, CORPUS, COSTS, HEALTH, LIST, NEXT_START, PREVIEW, SESSIONS, SURVEYS

_FROM = (LIST, PREVIEW, *SURVEYS)
_ANEW = (COSTS, SESSIONS, HEALTH, CORPORA, CORPUS)

ACTIONS = (
    Action("costs", ("dollar_sign",), _FROM, "costs", "what memory costs and gives back, by project, session, type"),
    Action("sessions", ("S",), _FROM, "sessions", "projects, their sessions, and what was asked and learned in each"),
    Action("next_start", ("p",), _FROM, "next start", "what the agent's next session will be given, and why"),
    Action("health", ("exclamation_mark",), _FROM, "health", "how everything is, and what to do about what is wrong"),
    Action("again", ("r",), _ANEW, "ask again", "in costs, sessions, health, corpora: read all anew"),
    Action("plan_again", ("R",), (NEXT_START,), "ask again", "in the next start: read it anew"),
    Action("zoom_in", ("enter", "o", "l", "right"), (COSTS,), "zoom in", "in the costs: into this, or its records"),
    Action("zoom_out", ("u", "h", "left"), (COSTS,), "zoom out", "in the costs: out again"),
    Action("less_time", ("left_square_bracket",), (COSTS,), "less time", "in the costs: the last 30 days, then 7"),
    Action("more_time", ("right_square_bracket",), (COSTS,), "more time", "in the costs: 30 days, then all"),
    Action("group", ("tab",), (COSTS,), "next group", "in the costs: to the projects, the sessions, the types"),
    Action("unfold", ("space", "l", "right"), (SESSIONS,), "unfold", "in the sessions: show what is in it, and back"),
    Action("fold", ("h", "left"), (SESSIONS,), "fold", "in the sessions: shut it, or go to what it is in"),
    Action("visit", ("enter", "o"), (SESSIONS,), "its records", "in the sessions: its records in the workspace"),
    Action("pin", ("P",), (NEXT_START,), "pin", "in the next start: always give this record, or no longer"),
    Action("mute", ("M",), (NEXT_START,), "mute", "in the next start: never give this record, or again"),
    Action("raw", ("r",), (NEXT_START,), "raw text", "in the next start: the text itself, and back"),
    Action("changes", ("D",), (NEXT_START,), "changes", "in the next start: only what differs from the last session"),
    Action("copy_start", ("y",), (NEXT_START,), "copy", "in the next start: copy the text"),
    Action("index_rest", ("z",), (HEALTH,), "pause index", "in the health: let the index by meaning rest, or go on"),
    Action("index_mend", ("m",), (HEALTH,), "mend index", "in the health: compare the index by meaning, and mend it"),
    Action("close", ("q", "escape", "backspace"), (COSTS,), "back", "in the costs: one step out, then close them"),
)  # fmt: skip

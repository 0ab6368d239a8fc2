"""Pure: Along time, with the strip above the list."""

from tui.keymap.action import Action
from tui.keymap.places import LIST, PREVIEW

_HERE = (LIST, PREVIEW)

ACTIONS = (
    Action("session_back", ("H",), _HERE, "session before", "to where a session begins, back in time"),
    Action("session_on", ("L",), _HERE, "session after", "to where the next one begins"),
    Action("day_back", ("d",), _HERE, "day before", "to the last record of the day before"),
    Action("day_on", ("D",), _HERE, "day after", "to the first record of the day after"),
    Action("week_back", ("w",), _HERE, "week before", "to the last record of the week before"),
    Action("week_on", ("W",), _HERE, "week after", "to the first record of the week after"),
    Action("midnight", ("0",), _HERE, "midnight", "to the beginning of this day"),
    Action("finer", ("z",), _HERE, "zoom", "the strip finer, about the cursor: a week, a day, ... 5 minutes"),
    Action("coarser", ("Z",), _HERE, "zoom out", "wider again, up to all of it"),
    Action("gaps", ("C",), _HERE, "quiet times", "leave quiet times out of the strip, or show them"),
    Action("braille", ("B",), _HERE, "finer bars", "two bars in a cell, or one"),
    Action("as_of", ("a",), _HERE, "as of", "look from here: nothing after this is shown; again for now"),
)

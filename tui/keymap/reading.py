"""Pure: In a record: why it is here, its matches, its relatives."""

from tui.keymap.action import Action
from tui.keymap.places import LIST, PREVIEW, RECORD

ACTIONS = (
    Action("score", ("c",), (LIST, PREVIEW, RECORD), "score", "the score card: why a hit is here, rank by rank"),
    Action("next_hit", ("n",), (PREVIEW, RECORD), "next match", "in the record, to the next match of the words"),
    Action("last_hit", ("N",), (PREVIEW, RECORD), "match before", "to the one before"),
    Action(
        "jump",
        tuple("123456789"),
        (RECORD,),
        "related",
        "in the record, to the related record of that number",
        by_key=True,
    ),
    Action("go_back", ("less_than_sign",), (RECORD,), "jump back", "back to where the jump came from"),
    Action("go_on", ("greater_than_sign",), (RECORD,), "and on", "on again"),
)

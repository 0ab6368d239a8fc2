"""Pure: Marks, the basket, copies."""

from tui.keymap.action import Action
from tui.keymap.places import BASKET, LIST, PREVIEW, RECORD

ACTIONS = (
    Action("mark", ("space",), (LIST, PREVIEW, RECORD), "mark", "mark the record for the basket, or unmark it"),
    Action("span", ("v",), (LIST, PREVIEW), "range", "a range: go on, then v marks, Enter keeps only its time"),
    Action("last_mark", ("left_square_bracket",), (LIST, PREVIEW), "mark before", "to the mark before"),
    Action("next_mark", ("right_square_bracket",), (LIST, PREVIEW), "next mark", "to the next mark"),
    Action("basket", ("b",), (LIST, PREVIEW, RECORD), "basket", "what is marked, what it costs, against a budget"),
    Action("call", ("enter",), (BASKET,), "copy call", "in the basket: copy a ready get_observations call"),
    Action("drop", ("space", "x"), (BASKET,), "take out", "in the basket: take this one out"),
    Action("empty", ("X",), (BASKET,), "empty", "in the basket: take all out"),
    Action("restore", ("u",), (BASKET,), "undo", "in the basket: bring back what was taken out"),
    Action("more", ("plus", "equals_sign"), (BASKET,), "larger budget", "in the basket: a larger budget"),
    Action("less", ("minus",), (BASKET,), "smaller budget", "a smaller one"),
    Action(
        "copy_ids", ("y",), (LIST, PREVIEW, RECORD, BASKET), "copy ids", "copy the ids of what is marked, else of this"
    ),
    Action("copy_text", ("Y",), (LIST, PREVIEW, RECORD, BASKET), "copy text", "copy its text"),
)

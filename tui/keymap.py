"""One table: action → keys, label, help. Bindings, footer and help screen are all made from it.

Letters, digits, arrows, Tab: nothing essential is on Ctrl or Alt, which tmux and terminals take for themselves, and
whatever Esc does, a plain key does too, since Esc is late over ssh.
"""

from dataclasses import dataclass

from tui.state.model import Link, View, ViewState

BOX, LIST, PREVIEW, RECORD, GUIDE = "box", "list", "preview", "record", "guide"
SHEET, FILTERS, BASKET, PALETTE = "sheet", "filters", "basket", "palette"
PAGES = (LIST, PREVIEW, RECORD, GUIDE, SHEET, FILTERS, BASKET)
"""Where there are lines to go up and down."""


@dataclass(frozen=True, slots=True)
class Action:
    """name: what is asked for. keys: Textual's names. places: where they work. label: for the footer. help: a line.

    by_key: each key means another one of its kind; its name is added to what is asked for: `jump#3`.
    at_once: done before the next key is handed on, because it decides who gets that key, or what that key is added to:
    what is typed ahead of a slow line would otherwise end up in the wrong place, or be taken away again.
    """

    name: str
    keys: tuple[str, ...]
    places: tuple[str, ...]
    label: str
    help: str
    at_once: bool = False
    by_key: bool = False

    @property
    def shown(self) -> str:
        """The keys as a person reads them."""
        if self.by_key:
            return f"{self.keys[0]}-{self.keys[-1]}"
        return " ".join(_SHOWN.get(key, key) for key in self.keys)

    @property
    def first(self) -> str:
        """The first key as a person reads it."""
        return self.shown if self.by_key else _SHOWN.get(self.keys[0], self.keys[0])


_SHOWN = {
    "enter": "Enter", "escape": "Esc", "backspace": "Backspace", "tab": "Tab", "shift+tab": "Shift+Tab",
    "slash": "/", "question_mark": "?", "comma": ",", "full_stop": ".", "up": "Up", "down": "Down",
    "left": "Left", "right": "Right", "pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End",
    "space": "Space", "f1": "F1", "left_square_bracket": "[", "right_square_bracket": "]", "plus": "+",
    "equals_sign": "=", "colon": ":", "less_than_sign": "<", "greater_than_sign": ">", "minus": "-",
}  # fmt: skip

KEYMAP = (
    Action("search", ("slash",), (LIST, PREVIEW), "search", "go to the search box", at_once=True),
    Action("leave_box", ("down", "enter"), (BOX,), "to the hits", "from the search box to the hits", at_once=True),
    Action("clear", ("escape",), (BOX,), "clear", "empty the search box, then leave it"),
    Action("down", ("j", "down"), PAGES, "down", "one down"),
    Action("up", ("k", "up"), PAGES, "up", "one up"),
    Action("page_down", ("pagedown", "J"), PAGES, "page", "a screenful down"),
    Action("page_up", ("pageup", "K"), PAGES, "page", "a screenful up"),
    Action("top", ("g", "home"), PAGES, "top", "to the top; brings in what is new"),
    Action("bottom", ("G", "end"), PAGES, "bottom", "to the end"),
    Action("open", ("enter", "o"), (LIST, PREVIEW), "open", "the whole record on the whole screen"),
    Action("swap", ("i",), (LIST, PREVIEW), "timeline", "what came before and after; again for the list"),
    Action("earlier", ("h", "comma", "left"), (LIST, PREVIEW, RECORD), "earlier", "one event back in time"),
    Action("later", ("l", "full_stop", "right"), (LIST, PREVIEW, RECORD), "later", "one event on in time"),
    Action("scope", ("s",), (LIST, PREVIEW), "project", "all projects, or only that of the record"),
    Action("filters", ("f",), (LIST, PREVIEW), "filters", "choose types, projects, concepts, dates, with their counts"),
    Action("take", ("space", "enter"), (FILTERS,), "on or off", "in the filters: this one on or off"),
    Action("unfilter", ("F",), (LIST, PREVIEW, FILTERS), "drop filter", "take the last filter out of the query"),
    Action("kinds", ("t",), (LIST, PREVIEW), "kind", "all kinds, observations, sessions, prompts"),
    Action(
        "order", ("O",), (LIST, PREVIEW), "order", "best or newest first, oldest, most to read, most work, best ratio"
    ),
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
    Action("mark", ("space",), (LIST, PREVIEW, RECORD), "mark", "mark the record for the basket, or unmark it"),
    Action("span", ("v",), (LIST, PREVIEW), "range", "mark from here to there: v, go there, v again; Esc gives up"),
    Action("last_mark", ("left_square_bracket",), (LIST, PREVIEW), "mark before", "to the mark before"),
    Action("next_mark", ("right_square_bracket",), (LIST, PREVIEW), "next mark", "to the next mark"),
    Action("basket", ("b",), (LIST, PREVIEW, RECORD), "basket", "what is marked, what it costs, against a budget"),
    Action("call", ("enter",), (BASKET,), "copy call", "in the basket: copy a ready get_observations call"),
    Action("drop", ("space", "x"), (BASKET,), "take out", "in the basket: take this one out"),
    Action("empty", ("X",), (BASKET,), "empty", "in the basket: take all out"),
    Action("restore", ("u",), (BASKET,), "undo", "in the basket: bring back what was taken out"),
    Action("more", ("plus", "equals_sign"), (BASKET,), "budget", "in the basket: a larger budget"),
    Action("less", ("minus",), (BASKET,), "budget", "a smaller one"),
    Action(
        "copy_ids", ("y",), (LIST, PREVIEW, RECORD, BASKET), "copy ids", "copy the ids of what is marked, else of this"
    ),
    Action("copy_text", ("Y",), (LIST, PREVIEW, RECORD, BASKET), "copy text", "copy its text"),
    Action("refresh", ("r",), (LIST, PREVIEW, RECORD), "refresh", "bring in what is new; after a failure, try again"),
    Action("demo", ("d",), (LIST, PREVIEW), "demo", "the demo memory, while yours is empty, and back"),
    Action("pane", ("tab",), (BOX, LIST, PREVIEW), "pane", "next pane", at_once=True),
    Action("pane_back", ("shift+tab",), (BOX, LIST, PREVIEW), "pane", "the one before", at_once=True),
    Action("wider", ("plus", "equals_sign"), (LIST, PREVIEW), "preview", "a larger preview"),
    Action("slimmer", ("minus",), (LIST, PREVIEW), "preview", "a smaller one, then none"),
    Action(
        "palette",
        ("colon",),
        (LIST, PREVIEW, RECORD, BASKET, FILTERS),
        "commands",
        "commands, projects, themes by name",
    ),
    Action("choose", ("enter",), (PALETTE,), "do it", "in the commands: do the one under the cursor"),
    Action("next_item", ("down",), (PALETTE,), "down", "the next command"),
    Action("last_item", ("up",), (PALETTE,), "up", "the one before"),
    Action("leave", ("escape", "tab"), (PALETTE,), "close", "close the commands"),
    Action("theme", ("T",), (LIST, PREVIEW), "light or dark", "dark or light colours"),
    Action("guide", ("question_mark", "f1"), (LIST, PREVIEW, RECORD, BASKET, FILTERS), "keys", "this help"),
    Action(
        "back",
        ("q", "escape", "backspace"),
        (PREVIEW, RECORD, GUIDE, SHEET, FILTERS, BASKET),
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
    Action("quit", ("q",), (LIST,), "quit", "from the timeline to the list; from the list, quit"),
)

GROUPS = (
    (
        "Find",
        (
            ("search",),
            ("leave_box",),
            ("clear",),
            ("filters", "unfilter"),
            ("take",),
            ("scope",),
            ("kinds",),
            ("order",),
            ("score",),
        ),
    ),
    ("Move", (("down", "up"), ("page_down", "page_up"), ("top",), ("bottom",), ("pane", "pane_back"))),
    ("Read", (("open",), ("swap",), ("earlier", "later"), ("next_hit", "last_hit"), ("jump",), ("go_back", "go_on"))),
    (
        "Mark and copy",
        (
            ("mark",),
            ("span",),
            ("last_mark", "next_mark"),
            ("basket",),
            ("call",),
            ("drop",),
            ("empty",),
            ("restore",),
            ("more", "less"),
            ("copy_ids", "copy_text"),
        ),
    ),
    (
        "Rest",
        (
            ("refresh",),
            ("demo",),
            ("wider", "slimmer"),
            ("theme",),
            ("palette",),
            ("choose",),
            ("last_item", "next_item"),
            ("leave",),
            ("guide",),
            ("back",),
            ("undo",),
            ("quit",),
        ),
    ),
)
"""The help screen's order; actions side by side share a line."""


def at(place: str) -> tuple[Action, ...]:
    """The actions that work in a place."""
    return tuple(action for action in KEYMAP if place in action.places)


def at_once() -> tuple[Action, ...]:
    """The actions that decide who gets the next key."""
    return tuple(action for action in KEYMAP if action.at_once)


def named(name: str) -> Action:
    """The action with this name."""
    return next(action for action in KEYMAP if action.name == name)


def footer(place: str, state: ViewState) -> list[tuple[str, str]]:
    """(key, label) of what is worth a key here and now, the most wanted first."""
    if place == GUIDE:
        return _pairs(("back", "close"), ("down", "down"), ("up", "up"))
    if place == FILTERS:
        return _pairs(
            ("take", "on or off"), ("unfilter", "drop last"), ("down", "down"), ("up", "up"), ("back", "done")
        )
    if place == PALETTE:
        return _pairs(("choose", "do it"), ("next_item", "down"), ("last_item", "up"), ("leave", "close"))
    if place == BASKET and not state.basket.entries:
        return _pairs(("restore", "undo"), ("more", "budget"), ("guide", "keys"), ("back", "close"))
    if place == BASKET:
        return _pairs(
            ("call", "copy call"), ("copy_ids", "ids"), ("copy_text", "text"), ("drop", "take out"), ("more", "budget"),
            ("restore", "undo"), ("guide", "keys"), ("back", "close"),
        )  # fmt: skip
    if place == SHEET:
        return _pairs(("down", "down"), ("up", "up"), ("back", "close"))
    if place == RECORD:
        hits = [("next_hit", "match")] if state.answered is not None and not state.answered.bare else []
        jumps = (
            [("go_back", "jump back")] if state.reading.back else [("jump", "related")] if state.reading.related else []
        )
        in_time = state.view is View.TIMELINE or state.ask.newest_first or state.ask.oldest_first
        steps = ("earlier", "later") if in_time else ("previous hit", "next hit")
        return _pairs(
            ("page_down", "page"), ("earlier", steps[0]), ("later", steps[1]), *hits, *jumps, ("mark", "mark"),
            ("guide", "keys"), ("back", "back"),
        )  # fmt: skip
    if place == BOX:
        return [("Enter", "to the hits"), ("Esc", "clear" if state.ask.text else "leave"), ("Tab", "next pane")]
    return _of_list(place, state)


def _of_list(place: str, state: ViewState) -> list[tuple[str, str]]:
    if state.link in (Link.FAILED, Link.LOST) or state.failed:
        return _pairs(("refresh", "try again"), ("guide", "keys"), ("quit", "quit"))
    if state.empty_memory and not state.demo:
        return _pairs(("demo", "demo memory"), ("refresh", "look again"), ("guide", "keys"), ("quit", "quit"))
    if state.basket.span_from is not None:
        return [*_pairs(("span", "mark from there to here"), ("down", "down"), ("up", "up")), ("Esc", "give up")]
    if state.view is View.TIMELINE:
        return _pairs(
            ("open", "open"), ("earlier", "earlier"), ("later", "later"), ("swap", "list"), ("search", "search"),
            ("guide", "keys"), ("quit", "back"),
        )  # fmt: skip
    third = ("demo", "leave demo") if state.visiting else ("scope", "project")
    fourth = (
        ("refresh", "show new") if state.fresh else ("basket", "basket") if state.basket.entries else ("mark", "mark")
    )
    last = ("back", "to the list") if place == PREVIEW else ("quit", "quit")
    return _pairs(
        ("open", "open"), ("search", "search"), ("filters", "filters"), ("swap", "timeline"), third, fourth,
        ("guide", "keys"), last,
    )  # fmt: skip


def _pairs(*wanted: tuple[str, str]) -> list[tuple[str, str]]:
    return [(named(name).first, label) for name, label in wanted]

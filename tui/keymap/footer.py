"""Pure: what is worth a key here and now."""

from tui.keymap import survey_footer
from tui.keymap.places import (
    ASK_BOX,
    BASKET,
    BOX,
    FILTERS,
    GUIDE,
    GUIDE_BOX,
    PALETTE,
    PREVIEW,
    RECORD,
    SETTINGS_BOX,
    SHEET,
    SURVEYS,
)
from tui.keymap.table import named
from tui.state import scopes
from tui.state.model import Link, View, ViewState

_WHOLE = (
    ("costs", "cost"), ("sessions", "sessions"), ("next_start", "next"), ("health", "health"), ("corpora", "corpora"),
    ("settings", "settings"),
)  # fmt: skip
"""The other screens: from the list, where there is room for them."""


def footer(place: str, state: ViewState) -> list[tuple[str, str]]:
    """(key, label) of what is worth a key here and now, the most wanted first."""
    if place == GUIDE:
        return _pairs(("find_key", "find"), ("down", "down"), ("up", "up"), ("back", "close"))
    if place == GUIDE_BOX:
        return _pairs(("next_key", "down"), ("last_key", "up"), ("found_key", "to the keys"), ("drop_find", "close"))
    if place == FILTERS:
        return _pairs(
            ("take", "on or off"),
            ("unfilter", "drop last"),
            ("down", "down"),
            ("up", "up"),
            ("guide", "keys"),
            ("back", "done"),
        )
    if place == PALETTE:
        return _pairs(("choose", "do it"), ("next_item", "down"), ("last_item", "up"), ("leave", "close"))
    if place == SETTINGS_BOX:
        return _pairs(
            ("change_setting", "change or keep"), ("next_setting", "down"), ("last_setting", "up"),
            ("leave_settings", "leave"),
        )  # fmt: skip
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
    if place in SURVEYS or place == ASK_BOX:
        return _pairs(*survey_footer.wanted(place, state))
    if place == BOX:
        return [("Enter", "to the hits"), ("Tab", "next pane"), ("Esc", "clear" if state.ask.text else "leave")]
    return _of_list(place, state)


def _of_list(place: str, state: ViewState) -> list[tuple[str, str]]:
    if state.link is Link.FAILED and not (state.remote or state.demo):
        return _pairs(("refresh", "try again"), ("demo", "demo memory"), ("guide", "keys"), ("quit", "quit"))
    if state.link in (Link.FAILED, Link.LOST) or state.failed:
        return _pairs(("refresh", "try again"), ("guide", "keys"), ("quit", "quit"))
    if state.empty_memory and state.remote:
        return _pairs(("refresh", "look again"), ("guide", "keys"), ("quit", "quit"))
    if state.empty_memory and not state.demo:
        return _pairs(("demo", "demo memory"), ("refresh", "look again"), ("guide", "keys"), ("quit", "quit"))
    if state.basket.span_from is not None:
        return [
            *_pairs(("span", "mark them"), ("open", "only this time"), ("down", "down"), ("up", "up")),
            ("Esc", "give up"),
        ]
    past = ("as_of", "as of" if state.ask.as_of_ms is None else "back to now")
    if state.view is View.TIMELINE:
        return _pairs(
            ("open", "open"), ("swap", "list"), ("session_back", "session"), ("day_back", "day"), ("finer", "zoom"),
            past, *_WHOLE, ("guide", "keys"), ("quit", "back"),
        )  # fmt: skip
    third = ("demo", "leave demo") if state.visiting else ("scope", scopes.kind(scopes.following(state)))
    out = ("quit", "quit" if state.way_back is None else "back")
    last = ("back", "to the list") if place == PREVIEW else out
    # What is out of the ordinary, and how it ends, comes before what can be done at any time.
    if state.ask.as_of_ms is not None:
        first = [past]
    elif state.live.paused or state.live.on:
        first = [("pause", "go on")] if state.live.paused else [("follow", "stop following"), ("pause", "pause")]
    else:
        first = [("refresh", "show new"), ("follow", "follow")] if state.fresh else []
    marks = ("basket", "basket") if state.basket.entries else ("mark", "mark")
    return _pairs(
        *first, ("open", "open"), ("search", "search"), ("filters", "filters"), ("swap", "timeline"), third, marks,
        *_WHOLE, ("guide", "keys"), last,
    )  # fmt: skip


def _pairs(*wanted: tuple[str, str]) -> list[tuple[str, str]]:
    return [(named(name).first, label) for name, label in wanted]

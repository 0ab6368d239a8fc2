"""Pure: why an action can do nothing now, in words; empty where it can."""

from tui.state import scopes, survey_reasons
from tui.state.chips import chips
from tui.state.model import Link, View, ViewState

CHANGING = frozenset(
    (
        "demo", "index_rest", "index_mend", "pin", "mute",
        "ask_corpus", "build_corpus", "prime_corpus", "rebuild_corpus", "delete_corpus", "change_setting",
    )
)  # fmt: skip
"""Actions that write to a memory, this or another."""


def why_not(state: ViewState, action: str) -> str:
    """The reason, for a key that is shown but would do nothing."""
    if state.guarded and action in CHANGING:
        return "started with --read-only"
    match action:
        case "demo" if state.remote:
            return "the worker is elsewhere"
        case "demo" if not (state.visiting or state.empty_memory or state.link is Link.FAILED):
            return "your memory is not empty"
        case "unfilter" if not chips(state.ask.text):
            return "no filter in the query"
        case "filters" if state.empty_memory:
            return "nothing to filter yet"
        case "next_mark" | "last_mark" if not state.basket.entries:
            return "nothing is marked"
        case "open" | "swap" | "score" | "mark" | "span" | "copy_ids" | "copy_text" if state.entry is None:
            return "no record here"
        case "earlier" | "later" if not _in_time(state):
            return "the list is not in order of time"
        case "next_hit" | "last_hit" if state.answered is None or state.answered.bare:
            return "no words were searched for"
        case "scope" if scopes.following(state) == scopes.here(state.ask):
            return "no record to take the project from"
        case "refresh" if state.link is Link.STARTING:
            return "the worker is being started"
    return _not_followed(state) if action == "follow" else survey_reasons.why_not(state, action)


def _not_followed(state: ViewState) -> str:
    if state.live.on:
        return ""  # it can be ended at any time
    if state.file_only or state.link is not Link.LIVE:
        return "there is no worker to tell what is new"
    if state.ask.as_of_ms is not None:
        return "it is the past that is looked at"
    if state.view is View.TIMELINE:
        return "this is a timeline, not the list"
    return "" if state.ask.newest_first else "the list is not newest first"


def _in_time(state: ViewState) -> bool:
    return state.view is View.TIMELINE or state.ask.newest_first or state.ask.oldest_first

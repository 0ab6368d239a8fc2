"""Pure: (action, label) of what is worth a key on the screens of the whole memory, the most wanted first."""

from tui.keymap.places import ASK_BOX, CORPORA, CORPUS, COSTS, HEALTH, NEXT_START, SESSIONS
from tui.state.corpora import Deed
from tui.state.costs import WINDOWS, Part
from tui.state.model import Link, ViewState
from tui.state.session_tree import EntryNode, ProjectNode, SessionNode
from worker.contract.index import IndexState

Keys = list[tuple[str, str]]


def wanted(place: str, state: ViewState) -> Keys:
    """The keys of a place."""
    if place == ASK_BOX:
        building = state.corpora.writing is Deed.BUILD
        return [("send_line", "build it" if building else "ask"), ("drop_line", "leave it")]
    out = ("to_corpora", "corpora") if place == CORPUS else _way_out(place, state)
    again = "plan_again" if place == NEXT_START else "again"
    if state.link in (Link.FAILED, Link.LOST):
        return [(again, "try again"), ("guide", "keys"), out]
    of = {
        COSTS: _costs,
        SESSIONS: _sessions,
        NEXT_START: _next_start,
        HEALTH: _health,
        CORPORA: _corpora,
        CORPUS: _corpus,
    }[place](state)
    return [*of, ("guide", "keys"), out]


def _way_out(place: str, state: ViewState) -> tuple[str, str]:
    if place == COSTS:
        return "close", "back" if state.costs.deep else "close"
    return "back", "close"


def _costs(state: ViewState) -> Keys:
    zoom = [("zoom_out", "out")] if state.costs.part != Part() and not state.costs.deep else []
    time = [("more_time", "longer")] if state.costs.window is not WINDOWS[-1] else []
    less = [("less_time", "shorter")] if state.costs.window is not WINDOWS[0] else []
    held = state.costs.fits and state.costs.answer is not None and state.costs.answer.total.records > 0
    rows = [("group", "next group"), ("down", "down")] if held else []
    into = [("zoom_in", "into it")] if held else []
    return [*into, *zoom, *time, *less, *rows, ("again", "anew")]


def _sessions(state: ViewState) -> Keys:
    match state.sessions.node:
        case ProjectNode(open=open_now) | SessionNode(open=open_now):
            return [
                ("unfold", "shut" if open_now else "unfold"),
                ("visit", "its records"),
                ("down", "down"),
                ("up", "up"),
            ]
        case EntryNode():
            return [("visit", "go to it"), ("fold", "out"), ("down", "down"), ("up", "up")]
    return [("again", "ask again")]


def _next_start(state: ViewState) -> Keys:
    start = state.next_start
    if start.plan is None:
        return [("plan_again", "ask again")]
    if start.raw:
        return [("raw", "rows"), ("copy_start", "copy"), ("page_down", "page")]
    shown = "everything" if start.changed else "changes"
    return [("pin", "pin"), ("mute", "mute"), ("raw", "raw text"), ("changes", shown), ("copy_start", "copy")]


def _health(state: ViewState) -> Keys:
    overview = state.health.overview
    keys = [("again", "ask again"), ("page_down", "page")]
    if overview is None or overview.index.state is IndexState.OFF:
        return keys
    rest = "index goes on" if overview.index.state is IndexState.PAUSED else "pause index"
    return [*keys, ("index_rest", rest), ("index_mend", "mend index")]


def _corpora(state: ViewState) -> Keys:
    corpora = state.corpora
    if corpora.chosen is None:
        return [("build_corpus", "build one"), ("again", "look again")]
    primed = corpora.chosen.session_id is not None
    return [
        ("ask_corpus", "ask"), ("read_corpus", "read"), ("build_corpus", "build"),
        ("prime_corpus", "prime anew" if primed else "prime"), ("rebuild_corpus", "rebuild"),
        ("delete_corpus", "delete"),
    ]  # fmt: skip


def _corpus(state: ViewState) -> Keys:
    outcome = state.corpora.outcome
    cites = outcome is not None and outcome.answer is not None and outcome.answer.cited
    to = [("cited", "open record"), ("next_cited", "next cited")] if cites else []
    return [("ask_corpus", "ask"), *to, ("page_down", "page")]

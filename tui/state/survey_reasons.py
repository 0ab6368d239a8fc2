"""Pure: why an action of the screens of the whole memory can do nothing now; empty where it can."""

from tui.state.costs import WINDOWS, Part
from tui.state.model import ViewState
from worker.contract.index import IndexState


def why_not(state: ViewState, action: str) -> str:
    """The reason, for a key that is shown but would do nothing."""
    match action:
        case "index_rest" | "index_mend":
            return _index(state)
        case "less_time" if state.costs.window is WINDOWS[0]:
            return "7 days is the least"
        case "more_time" if state.costs.window is WINDOWS[-1]:
            return "this is all there is"
        case "zoom_out" if state.costs.part == Part():
            return "this is all of it"
        case "pin" | "mute" | "raw" | "changes" | "copy_start" if state.next_start.plan is None:
            return "nothing is told about the next start"
        case "pin" | "mute" if not state.next_start.rows:
            return "no record here"
        case "unfold" | "visit" | "fold" if not state.sessions.total:
            return "no sessions here"
        case "ask_corpus" | "prime_corpus" | "rebuild_corpus" | "delete_corpus" | "build_corpus" | "read_corpus":
            return _corpora(state, action)
    return ""


def _corpora(state: ViewState, action: str) -> str:
    corpora = state.corpora
    if action == "build_corpus":
        return "nothing is remembered yet" if state.empty_memory else ""
    if corpora.at is None:
        return "there is no corpus yet; {build_corpus} builds one"
    if action == "read_corpus":
        return ""
    if corpora.at in corpora.doing:
        return f"{corpora.at} is busy; what it does comes to an end first"
    return f"{corpora.at} was not built" if corpora.chosen is None else ""


def _index(state: ViewState) -> str:
    overview = state.health.overview
    if state.health.doing is not None:
        return "something is being done to the index already"
    if overview is None:
        return "the worker did not tell yet how the index is"
    return "the index by meaning is switched off" if overview.index.state is IndexState.OFF else ""

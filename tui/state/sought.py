"""Pure: from another screen to records in the workspace."""

from msgspec import Struct
from msgspec.structs import replace

from tui.state.model import Ask, Left, View, ViewState
from worker.contract.search import Entry


class Sought(Struct, frozen=True):
    """Another question altogether. entry: the record to put the cursor on."""

    text: str
    project: str | None
    entry: Entry | None = None


class WentBack(Struct, frozen=True):
    """To what was asked before."""


def after(state: ViewState, fact: Sought | WentBack) -> ViewState:
    """The workspace, asked that. What was asked before has no say in it, but for the order of the list."""
    if isinstance(fact, WentBack):
        left = state.way_back
        return state if left is None else replace(_asked(state, left.ask, left.entry), left=None)
    # From one to the next the way back stays the same.
    ask, entry = (known.ask, known.entry) if (known := state.way_back) is not None else (state.ask, state.entry)
    sought = replace(state.ask, text=fact.text, project=fact.project, session="", kinds=(), final=True, as_of_ms=None)
    return replace(_asked(state, sought, fact.entry), left=Left(ask, entry, fact.text, fact.project))


def _asked(state: ViewState, ask: Ask, entry: Entry | None) -> ViewState:
    return replace(
        state, ask=ask, seq=state.seq + 1, waiting=True, merging=False, slow=False, failed="", notice="",
        view=View.LIST, track=None, fresh=0, held=entry, cursor=0, awaited=None,
    )  # fmt: skip

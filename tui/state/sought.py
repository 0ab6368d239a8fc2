"""Pure: from another screen to records in the workspace."""

from msgspec import Struct
from msgspec.structs import replace

from tui.state.model import View, ViewState
from worker.contract.search import Entry


class Sought(Struct, frozen=True):
    """Another question altogether. entry: the record to put the cursor on."""

    text: str
    project: str | None
    entry: Entry | None = None


def after(state: ViewState, fact: Sought) -> ViewState:
    """The workspace, asked that. What was asked before has no say in it, but for the order of the list."""
    ask = replace(state.ask, text=fact.text, project=fact.project, session="", kinds=(), final=True, as_of_ms=None)
    return replace(
        state, ask=ask, seq=state.seq + 1, waiting=True, merging=False, slow=False, failed="", notice="",
        view=View.LIST, track=None, fresh=0, held=fact.entry, cursor=0, awaited=None,
    )  # fmt: skip

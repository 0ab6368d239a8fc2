"""What an action makes known where the state alone decides."""

import pytest
from msgspec.structs import replace

from tests.tui.memory import entry_of, many
from tui.state import facts
from tui.state.facts import Fact
from tui.state.model import Ask, Rows, Track, View, ViewState
from tui.state.wishes import KINDS, fulfilled

ENTRIES = tuple(entry_of(record) for record in reversed(many(10)))
LIST = ViewState(rows=Rows(10, {0: ENTRIES}), cursor=4)
HITS = replace(LIST, ask=Ask("word"))
TIMELINE = replace(LIST, view=View.TIMELINE, track=Track(ENTRIES[4].key, ENTRIES[::-1], cursor=5))


@pytest.mark.parametrize(
    ("state", "action", "whole", "fact"),
    [
        (LIST, "earlier", False, facts.Moved(by=1)),
        (LIST, "later", False, facts.Moved(by=-1)),
        (TIMELINE, "earlier", False, facts.Moved(by=-1)),
        (TIMELINE, "later", False, facts.Moved(by=1)),
        (HITS, "later", True, facts.Moved(by=1)),
        (LIST, "top", False, facts.Moved(to=0)),
        (replace(LIST, fresh=3), "top", False, facts.Refreshed(top=True)),
        (replace(TIMELINE, fresh=3), "top", False, facts.Moved(to=0)),
        (replace(LIST, ask=Ask(project="web")), "scope", False, facts.Scoped(None)),
        (replace(ViewState(), home="web"), "scope", False, facts.Scoped("web")),
        (LIST, "kinds", False, facts.Sorted(KINDS[1])),
        (replace(LIST, ask=Ask(kinds=KINDS[-1])), "kinds", False, facts.Sorted(())),
        (LIST, "open", False, None),
    ],
)
def test_fulfilled(state: ViewState, action: str, whole: bool, fact: Fact | None) -> None:
    assert fulfilled(state, action, whole_record=whole) == fact


@pytest.mark.parametrize(
    ("state", "action", "whole"),
    [
        (HITS, "later", False),
        (replace(LIST, cursor=0), "later", False),
        (replace(LIST, cursor=9), "earlier", True),
        (ViewState(), "earlier", False),
        (ViewState(), "scope", False),
    ],
)
def test_what_cannot_be_done_is_said(state: ViewState, action: str, whole: bool) -> None:
    assert isinstance(fulfilled(state, action, whole_record=whole), facts.Said)

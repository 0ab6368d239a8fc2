"""What the footer offers."""

import pytest
from msgspec.structs import replace

from tui.keymap import footer, places
from tui.state.live import Live
from tui.state.model import Counts, Link, View, ViewState


@pytest.mark.parametrize(("visiting", "offered"), [(True, True), (False, False)])
def test_only_a_demo_that_can_be_left_offers_it(visiting: bool, offered: bool) -> None:
    state = ViewState(demo=True, visiting=visiting)
    assert (("M", "leave demo") in footer.footer(places.LIST, state)) is offered
    empty = replace(state, counts=Counts(0, 0, 0))
    assert any(key == "M" for key, _ in footer.footer(places.LIST, empty)) is offered


@pytest.mark.parametrize(
    ("live", "offered"),
    [
        (Live(on=True), [("U", "stop following"), ("P", "pause")]),
        (Live(on=True, paused=True), [("P", "go on")]),
        (Live(paused=True), [("P", "go on")]),
    ],
)
def test_how_following_and_a_pause_end_stands_first(live: Live, offered: list[tuple[str, str]]) -> None:
    state = ViewState(link=Link.LIVE, live=live)
    assert footer.footer(places.LIST, state)[: len(offered)] == offered


@pytest.mark.parametrize("view", list(View))
def test_the_other_screens_come_after_what_is_done_here_and_before_help_and_the_way_out(view: View) -> None:
    offered = [key for key, _ in footer.footer(places.LIST, ViewState(link=Link.LIVE, view=view))]
    assert offered[0] == "Enter" and offered[-8:] == ["$", "S", "p", "!", "A", "E", "?", "q"]

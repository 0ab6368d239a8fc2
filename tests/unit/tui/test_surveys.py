"""Costs, health and the next start: what becomes of a fact, and how figures are said."""

import pytest
from msgspec.structs import replace

from tests.tui.surveys import plan
from tui.cells.sizes import ago, lasted, percent, size
from tui.state import costs, health, next_start
from tui.state.costs import Costing, Part, Slice, Window, found_by
from worker.contract.context import ContextWished
from worker.contract.costs import Costs, SessionCost, Spent
from worker.contract.query import parse

SESSION = SessionCost(session="m-1 2", spent=Spent(), project="shop")
COSTS = Costs(
    total=Spent(records=1), saved_tokens=0, saved_percent=0, back_saved_tokens=0, projects=(), types=(), days=(),
    sessions=(),
)  # fmt: skip


def test_an_answer_to_another_window_is_late_and_what_is_shown_says_of_what_it_is() -> None:
    asked = costs.after(Costing(), costs.Begun("shop"))
    assert (asked.waiting, asked.part) == (True, Part("shop"))
    told = costs.after(asked, costs.Answered(asked.seq, COSTS))
    assert told.fits and not told.waiting
    wider = costs.after(told, costs.Windowed(1))
    assert (wider.window, wider.fits, wider.waiting) == (Window.MONTH, False, True)
    assert costs.after(wider, costs.Answered(asked.seq, COSTS)) == wider
    assert costs.after(wider, costs.AskFailed(wider.seq, "gone")).failed == "gone"
    widest = costs.after(wider, costs.Windowed(5))
    assert widest.window is Window.ALL and costs.after(widest, costs.Windowed(1)) is widest


def test_out_of_a_session_is_its_project_then_everything() -> None:
    assert Part("shop", SESSION).out == Part("shop")
    assert Part("shop").out == Part()


def test_the_records_of_a_slice_are_found_by_a_line_that_reads_back() -> None:
    costing = Costing(window=Window.WEEK, part=Part("shop", SESSION))
    found = found_by(costing, Slice(type="bugfix"))
    assert found is not None
    said = parse(found[0], now_epoch_ms=10**12, zone=None)
    assert (said.types, said.sessions, found[1]) == (("bugfix",), ("m-1 2",), "shop")
    assert said.since_epoch_ms is not None and said.notes == ()
    everything = found_by(replace(costing, window=Window.ALL, part=Part()), Slice(type="prompt"))
    assert everything == ("type:prompt", None)
    assert found_by(costing, Slice(type='one,"two"')) is None


def test_a_wish_shows_at_once_and_the_plan_is_asked_for_anew() -> None:
    start = next_start.after(next_start.Preparing(), next_start.Begun("shop"))
    told = next_start.after(start, next_start.Planned(start.seq, plan("shop")))
    wished = next_start.after(told, next_start.Wished(ContextWished(key="4821", pinned=True, muted=False)))
    assert [row.key for row in wished.rows if row.pinned] == ["4821", "4817"]
    assert (wished.seq, wished.waiting) == (told.seq + 1, True)


def test_what_differs_is_shown_alone_and_rows_that_are_given_come_first() -> None:
    told = replace(next_start.Preparing(), plan=plan("shop"))
    assert [row.kept for row in told.rows] == [True] * 4 + [False] * 2
    assert [row.key for row in next_start.after(told, next_start.ChangesShown()).rows] == ["4821", "4402"]
    assert next_start.after(told, next_start.RawShown()).rows == ()


def test_another_project_is_another_plan() -> None:
    start = next_start.after(next_start.Preparing(), next_start.Begun("shop"))
    told = next_start.after(start, next_start.Planned(start.seq, plan("shop")))
    assert next_start.after(told, next_start.Begun("mall")).plan is None
    assert next_start.after(told, next_start.Begun("shop")).plan == told.plan
    assert not next_start.after(told, next_start.Begun(None)).waiting


def test_late_looks_are_left_out() -> None:
    looked = health.after(health.after(health.Healthing(), health.Begun()), health.Again())
    assert health.after(looked, health.LookFailed(1, "gone")) == looked
    assert health.after(looked, health.LogRead(1, ("old",))) == looked
    assert health.after(looked, health.LogRead(2, ("new",))).log == ("new",)


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (9_949_999, "9.9 MB"), (120 * 10**9, "120 GB")]
)
def test_bytes(count: int, said: str) -> None:
    assert size(count) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (59, "59 s"), (61, "1 min"), (3600, "1 h"), (12_300, "3 h 25 min"), (86_400, "1 day")],
)
def test_spans(seconds: int, said: str) -> None:
    assert lasted(seconds) == said


def test_nothing_is_called_nothing_and_all_is_not_said_of_nearly_all() -> None:
    assert [percent(part, 1000) for part in (0, 1, 500, 999, 1000)] == ["0%", "<1%", "50%", "99%", "100%"]
    assert percent(1, 0) == "0%"
    assert ago(0, 5_000) == "just now"

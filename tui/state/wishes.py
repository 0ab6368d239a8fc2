"""Pure: (state, action of the keymap) → fact, where the state alone decides: steps, scope, kinds, or why not."""

from tui.state import facts
from tui.state.facts import Fact
from tui.state.model import View, ViewState
from worker.contract.records import RecordKind
from worker.contract.search import Order

KINDS: tuple[tuple[RecordKind, ...], ...] = (
    (), (RecordKind.OBSERVATION,), (RecordKind.SUMMARY,), (RecordKind.PROMPT,),
)  # fmt: skip

ORDERS = (
    Order.RELEVANCE, Order.DATE_DESC, Order.DATE_ASC, Order.READ_DESC, Order.WORK_DESC, Order.RATIO_DESC,
)  # fmt: skip


def fulfilled(state: ViewState, action: str, *, whole_record: bool) -> Fact | None:
    """What an action makes known, None if more than the state is needed for it.

    whole_record: a record fills the screen, so that stepping goes to its neighbour in the list, whatever the order.
    """
    match action:
        case "leave_box":
            return facts.Said("no hits to go to; Esc empties the box")
        case "top":
            return facts.Refreshed(top=True) if state.fresh and state.view is View.LIST else facts.Moved(to=0)
        case "earlier":
            return _step(state, -1, whole_record)
        case "later":
            return _step(state, 1, whole_record)
        case "scope":
            return _scope(state)
        case "kinds":
            return facts.Sorted(KINDS[(KINDS.index(state.ask.kinds) + 1) % len(KINDS)])
        case "order":
            return _order(state)
    return None


def _order(state: ViewState) -> Fact:
    """The next order; without words, relevance is newest first, so that one of the two is passed over."""
    orders = [order for order in ORDERS if not (state.ask.bare and order is Order.DATE_DESC)]
    here = orders.index(state.ask.order) if state.ask.order in orders else 0
    return facts.Ordered(orders[(here + 1) % len(orders)])


def _step(state: ViewState, way: int, whole_record: bool) -> Fact:
    """One event on in time (or back): down the timeline, up a list that is newest first."""
    in_time = state.view is View.TIMELINE
    newest_first = not in_time and state.ask.newest_first
    if not in_time and not newest_first and not state.ask.oldest_first and not whole_record:
        return facts.Said("the list is not in order of time; i opens the timeline")
    by = -way if newest_first else way
    here = state.track.cursor if in_time and state.track is not None else state.cursor
    count = len(state.track.entries) if in_time and state.track is not None else state.rows.total
    return facts.Moved(by=by) if 0 <= here + by < count else facts.Said("there is nothing beyond this one")


def _scope(state: ViewState) -> Fact:
    if state.ask.project is not None:
        return facts.Scoped(None)
    project = state.entry.project if state.entry is not None and state.entry.project else state.home
    return facts.Scoped(project) if project else facts.Said("no record here to take the project from")

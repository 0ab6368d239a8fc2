"""Pure: (state, action of the keymap) → fact, where the state alone decides: steps, scope, kinds, or why not."""

from tui.state import basket, facts, live, reading, scopes
from tui.state.changes import gone
from tui.state.facts import Fact
from tui.state.model import View, ViewState
from tui.state.reasons import why_not
from worker.contract.records import RecordKind
from worker.contract.search import Order

KINDS: tuple[tuple[RecordKind, ...], ...] = (
    (), (RecordKind.OBSERVATION,), (RecordKind.SUMMARY,), (RecordKind.PROMPT,),
)  # fmt: skip

MOST_AT_ONCE = 500
ORDERS = (
    Order.RELEVANCE, Order.DATE_DESC, Order.DATE_ASC, Order.READ_DESC, Order.WORK_DESC, Order.RATIO_DESC,
)  # fmt: skip


def fulfilled(state: ViewState, action: str, *, whole_record: bool) -> Fact | None:
    """What an action makes known, None if more than the state is needed for it.

    whole_record: a record fills the screen, so that stepping goes to its neighbour in the list, whatever the order.
    """
    if action.startswith("jump#"):
        return _jump(state, int(action.removeprefix("jump#")))
    match action:
        case "go_back" | "go_on":
            return _way(state, action)
        case "top" | "follow" | "pause":
            return _newest(state, action)
        case "earlier":
            return _step(state, -1, whole_record)
        case "later":
            return _step(state, 1, whole_record)
        case "scope":
            return _scope(state)
        case "kinds":
            return facts.Sorted(KINDS[(KINDS.index(state.ask.kinds) + 1) % len(KINDS)])
        case "order" | "remember":
            return _order(state) if action == "order" else _remembered(state)
        case "wider" | "slimmer":
            return facts.Split(1 if action == "wider" else -1)
        case "mark" | "span" | "next_mark" | "last_mark" | "empty" | "restore" | "more" | "less":
            return _marked(state, action)
    return None


def _newest(state: ViewState, action: str) -> Fact:
    """To the newest record, once or from now on; or what is new is kept out."""
    if action == "top":
        return facts.Refreshed(top=True) if state.fresh and state.view is View.LIST else facts.Moved(to=0)
    if action == "pause":
        return live.Paused(not state.live.paused)
    if state.follows:
        return live.Followed(False)
    reason = why_not(state, action)
    return facts.Said(f"not followed: {reason}") if reason else live.Followed(True)


def _jump(state: ViewState, number: int) -> Fact:
    """To the related record with this number."""
    way, here = state.reading, state.subject
    fits = here is not None and way.related_to == here.key
    if here is None or not fits or number > len(way.related):
        return facts.Said(f"no related record {number} here")
    return reading.Jumped(here, way.related[number - 1])


def _way(state: ViewState, action: str) -> Fact:
    """Back along the jumps, or on again."""
    here = state.subject
    if here is not None and action == "go_back" and state.reading.back:
        return reading.WentBack(here)
    if here is not None and action == "go_on" and state.reading.on:
        return reading.WentOn(here)
    return facts.Said("no jump to go back to" if action == "go_back" else "no jump to go on to")


def _marked(state: ViewState, action: str) -> Fact:
    """What an action of the basket makes known."""
    entry, marks = state.subject, state.basket
    match action:
        case "empty" if not marks.entries:
            return facts.Said("the basket is empty")
        case "empty":
            return basket.Emptied()
        case "restore":
            return basket.Restored() if marks.dropped else facts.Said("nothing was taken out of the basket")
        case "more" | "less":
            return basket.Budgeted(basket.STEP_TOKENS if action == "more" else -basket.STEP_TOKENS)
        case "next_mark" | "last_mark":
            return _travel(state, 1 if action == "next_mark" else -1)
    if entry is None:
        return facts.Said("no record here to mark")
    if state.shown_failed == gone(entry.key):
        return facts.Said(state.shown_failed)
    if marks.span_from is not None:
        return _spanned(state)
    return basket.SpanBegun(entry.key) if action == "span" else basket.Marked(entry)


def _spanned(state: ViewState) -> Fact:
    rows = state.span
    if not rows:
        return basket.SpanBegun(None)  # where it began is no longer in the list
    if len(rows) > MOST_AT_ONCE:
        return facts.Said(
            f"at most {MOST_AT_ONCE} records at once; these are {len(rows):,}. {{undo}} gives the range up"
        )
    entries = [state.at(index) for index in rows]
    loaded = tuple(entry for entry in entries if entry is not None)
    if len(loaded) < len(entries):
        return facts.Said(f"{len(entries) - len(loaded)} of these are not loaded yet; scroll through them first")
    return basket.SpanMarked(loaded)


def _travel(state: ViewState, way: int) -> Fact:
    if not state.basket.entries:
        return facts.Said("nothing is marked; {mark} marks the record under the cursor")
    rows = sorted(row for entry in state.basket.entries if (row := state.find(entry.key)) is not None)
    beyond = [row for row in rows if (row - state.here) * way > 0]
    if not beyond:
        return facts.Said("no mark further on in this list" if way > 0 else "no mark before this one in this list")
    return facts.Moved(to=beyond[0] if way > 0 else beyond[-1])


def _remembered(state: ViewState) -> Fact:
    text = scopes.line(state.ask)
    return facts.Remembered(text, state.ask.project) if text else facts.Said("type a search first")


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
        return facts.Said("the list is not in order of time; {swap} opens the timeline")
    by = -way if newest_first else way
    here = state.track.cursor if in_time and state.track is not None else state.cursor
    count = len(state.track.entries) if in_time and state.track is not None else state.rows.total
    return facts.Moved(by=by) if 0 <= here + by < count else facts.Said("there is nothing beyond this one")


def _scope(state: ViewState) -> Fact:
    following = scopes.following(state)
    if following == scopes.here(state.ask):
        return facts.Said("no record here to take the project from")
    return facts.Scoped(following.project, following.session)

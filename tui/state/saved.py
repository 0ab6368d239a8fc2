"""Pure: what of the state outlives the app: the query and keys, never a text that is remembered."""

import msgspec
from msgspec.structs import replace

from tui.state.basket import MOST_TOKENS, STEP_TOKENS, Basket
from tui.state.model import SPLITS, Ask, ViewState
from tui.state.wishes import KINDS
from worker.contract.records import RecordKind, parse_key
from worker.contract.search import Order

_MOST_KEYS = 200
"""Marks kept: each is asked for at the next start."""


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """Keys are texts: `4821`, `S14`. selected: empty where nobody chose a record. theme: empty for the default."""

    text: str = ""
    project: str | None = None
    session: str = ""
    kinds: tuple[str, ...] = ()
    order: str = "relevance"
    selected: str = ""
    basket: tuple[str, ...] = ()
    budget_tokens: int | None = None
    split: int = 0
    theme: str = ""
    searches: tuple[tuple[str, str | None], ...] = ()


def of(state: ViewState, theme: str) -> Saved:
    """What there is to keep of a state."""
    marked = [*state.basket.awaited, *(entry.key for entry in state.basket.entries)]
    chosen = state.held.key if state.held is not None else state.awaited
    return Saved(
        text=state.ask.text,
        project=state.ask.project,
        session=state.ask.session,
        kinds=tuple(kind.value for kind in state.ask.kinds),
        order=state.ask.order.value,
        selected=str(chosen) if chosen is not None else "",
        basket=tuple(str(key) for key in marked[:_MOST_KEYS]),
        budget_tokens=state.basket.budget_tokens if state.basket.budget_tokens != state.basket.usual_tokens else None,
        split=state.split,
        theme=theme,
        searches=state.searches[:_MOST_KEYS],
    )


def begun(state: ViewState, saved: Saved) -> ViewState:
    """A state to begin with; whatever in the file makes no sense is left out."""
    kinds = tuple(RecordKind(kind) for kind in saved.kinds if kind in {*RecordKind})
    order = Order(saved.order) if saved.order in {*Order} else Order.RELEVANCE
    given = state.ask.project is not None
    project, session = (state.ask.project, "") if given else (saved.project, saved.session)
    keys = tuple(key for text in saved.basket[:_MOST_KEYS] if (key := parse_key(text)) is not None)
    kinds = kinds if kinds in KINDS else ()
    ask = Ask(text=saved.text, project=project, session=session, kinds=kinds, order=order, final=True)
    usual = state.basket.usual_tokens
    budget = usual if saved.budget_tokens is None else max(STEP_TOKENS, min(saved.budget_tokens, MOST_TOKENS))
    return replace(
        state,
        ask=ask,
        basket=Basket(budget_tokens=budget, usual_tokens=usual, awaited=keys),
        awaited=parse_key(saved.selected),
        searches=saved.searches[:_MOST_KEYS],
        split=saved.split if saved.split in SPLITS else 0,
    )

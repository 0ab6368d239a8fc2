"""Pure: the orders of a list as SQL over ``py_docs d``, each served by an index of its own.

An order that goes up is exactly the one that goes down, read from its end.
"""

from collections.abc import Sequence

from worker.contract.search import Order


def _ratio(table: str = "") -> str:
    """What it cost to find out, for each token of reading it; an index holds this very expression."""
    return f"{table}discovery_tokens * 1.0 / max({table}read_tokens, 1)"


_TIME = ("d.epoch", "d.kind", "d.record_id")
_FIRST = {
    Order.READ_DESC: "d.read_tokens", Order.READ_ASC: "d.read_tokens",
    Order.WORK_DESC: "d.discovery_tokens", Order.WORK_ASC: "d.discovery_tokens",
    Order.RATIO_DESC: _ratio("d."), Order.RATIO_ASC: _ratio("d."),
}  # fmt: skip
_COMPUTED = frozenset((Order.RATIO_DESC, Order.RATIO_ASC))
_UPWARD = frozenset((Order.DATE_ASC, Order.READ_ASC, Order.WORK_ASC, Order.RATIO_ASC))

INDEXES = {
    # With the project, so that a deep page passes over the rows before it without opening one.
    "py_docs_read": "CREATE INDEX py_docs_read ON py_docs (read_tokens, epoch, kind, record_id, project)",
    "py_docs_work": "CREATE INDEX py_docs_work ON py_docs (discovery_tokens, epoch, kind, record_id, project)",
    "py_docs_ratio": f"CREATE INDEX py_docs_ratio ON py_docs ({_ratio()}, epoch, kind, record_id, project)",
}


def columns(order: Order) -> tuple[str, ...]:
    """What a record's place in an order is told by. ``relevance`` without words is newest first."""
    first = _FIRST.get(order)
    return _TIME if first is None else (first, *_TIME)


def is_upward(order: Order) -> bool:
    """Whether what is least comes first."""
    return order in _UPWARD


def beyond(order: Order) -> str:
    """SQL that is true for what follows a place; its parameters are those of ``place`` in order."""
    direction, names = ">" if is_upward(order) else "<", columns(order)
    sql = f"({', '.join(names)}) {direction} ({', '.join('?' * len(names))})"
    # SQLite begins to read an index over an expression in the middle only for a comparison of that alone.
    return f"{names[0]} {direction}= ? AND {sql}" if order in _COMPUTED else sql


def place(order: Order, values: Sequence[float]) -> tuple[float, ...]:
    """The parameters of ``beyond`` for a record whose ``columns`` have these values."""
    return (values[0], *values) if order in _COMPUTED else tuple(values)


def by(order: Order) -> str:
    """What follows ORDER BY."""
    direction = "" if is_upward(order) else " DESC"
    return ", ".join(f"{column}{direction}" for column in columns(order))

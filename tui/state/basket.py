"""Pure: the records a person marked, what they cost, and what of it the budget has room for."""

from collections.abc import Callable, Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Entry
from worker.contract.tokens import estimate_tokens

BUDGET_TOKENS = 8_000
STEP_TOKENS = 1_000
MOST_TOKENS = 200_000

Renewal = Callable[[Entry], Entry]
"""A record's line → that line as it is now."""


class Basket(Struct, frozen=True):
    """entries: in the order they were marked. dropped: what was in it before the last removal, for undo.

    usual_tokens: the budget where nobody set another by the keys. span_from: the record at which a range was begun,
    None while there is none. awaited: marked when the app was last open, and not read yet.
    """

    entries: tuple[Entry, ...] = ()
    budget_tokens: int = BUDGET_TOKENS
    usual_tokens: int = BUDGET_TOKENS
    dropped: tuple[Entry, ...] = ()
    span_from: RecordKey | None = None
    awaited: tuple[RecordKey, ...] = ()

    def has(self, key: RecordKey) -> bool:
        """Whether a record is marked."""
        return any(entry.id == key.id and entry.kind == key.kind for entry in self.entries)

    @property
    def index_tokens(self) -> int:
        """What their rows in an index cost an agent."""
        return sum(index_tokens(entry) for entry in self.entries)

    @property
    def read_tokens(self) -> int:
        """What all of them cost to read in full."""
        return sum(entry.read_tokens for entry in self.entries)

    @property
    def work_tokens(self) -> int:
        """What they once cost to find out."""
        return sum(entry.discovery_tokens for entry in self.entries)

    @property
    def saved_tokens(self) -> int:
        """What reading them saves, against finding them out again. Negative where reading costs more."""
        return self.work_tokens - self.read_tokens


class Marked(Struct, frozen=True):
    """Marked, or not any more if it was."""

    entry: Entry


class SpanBegun(Struct, frozen=True):
    """A range begins at this record; None: it is given up."""

    key: RecordKey | None


class SpanMarked(Struct, frozen=True):
    """All of these are marked, and the range is over."""

    entries: tuple[Entry, ...]


class Emptied(Struct, frozen=True):
    """Nothing is marked any more."""


class Restored(Struct, frozen=True):
    """The last removal is undone."""


class Budgeted(Struct, frozen=True):
    """Another budget: so many tokens more or less."""

    by_tokens: int


class Refilled(Struct, frozen=True):
    """What was marked when the app was last open, as far as it is still there."""

    entries: tuple[Entry, ...]


BasketFact = Refilled | Marked | SpanBegun | SpanMarked | Emptied | Restored | Budgeted


def after(basket: Basket, fact: BasketFact) -> Basket:
    """The basket after a fact."""
    match fact:
        case Marked(entry) if basket.has(entry.key):
            rest = tuple(known for known in basket.entries if known.key != entry.key)
            return replace(basket, entries=rest, dropped=basket.entries)
        case Marked(entry):
            return replace(basket, entries=(*basket.entries, entry))
        case SpanBegun(key):
            return replace(basket, span_from=key)
        case SpanMarked(entries):
            fresh = tuple(entry for entry in entries if not basket.has(entry.key))
            return replace(basket, entries=(*basket.entries, *fresh), span_from=None)
        case Refilled(entries):
            old = tuple(entry for entry in entries if not basket.has(entry.key))
            return replace(basket, entries=(*old, *basket.entries), awaited=())
        case Emptied():
            return replace(basket, awaited=(), entries=(), dropped=basket.entries or basket.dropped, span_from=None)
        case Restored():
            return replace(basket, entries=basket.dropped, dropped=()) if basket.dropped else basket
        case Budgeted(by_tokens):
            there = max(STEP_TOKENS, min(basket.budget_tokens + by_tokens, MOST_TOKENS))
            return replace(basket, budget_tokens=there)


def without(basket: Basket, keys: Set[RecordKey]) -> Basket:
    """The basket without these records, which nothing brings back."""
    known = (*(entry.key for entry in (*basket.entries, *basket.dropped)), basket.span_from, *basket.awaited)
    if keys.isdisjoint(known):
        return basket
    return replace(
        basket,
        entries=tuple(entry for entry in basket.entries if entry.key not in keys),
        dropped=tuple(entry for entry in basket.dropped if entry.key not in keys),
        span_from=basket.span_from if basket.span_from not in keys else None,
        awaited=tuple(key for key in basket.awaited if key not in keys),
    )


def renewed(basket: Basket, now: Renewal) -> Basket:
    """The basket with its records as they are now."""
    if all(now(entry) is entry for entry in (*basket.entries, *basket.dropped)):
        return basket
    return replace(basket, entries=tuple(map(now, basket.entries)), dropped=tuple(map(now, basket.dropped)))


def index_tokens(entry: Entry) -> int:
    """What a record's row in an index costs, as agents get it."""
    return estimate_tokens(f"| #{entry.key} | 00:00 | B | {entry.title} | ~{entry.read_tokens} |")


def ids(entries: Sequence[Entry]) -> str:
    """The keys as a person types them: `4821 S14`."""
    return " ".join(str(entry.key) for entry in entries)


def read_call(entries: Sequence[Entry]) -> tuple[str, int]:
    """A ready call that reads them, and how many it leaves out because it reads observations alone."""
    numbers = [entry.id for entry in entries if entry.kind is RecordKind.OBSERVATION]
    return f"get_observations(ids=[{', '.join(map(str, numbers))}])", len(entries) - len(numbers)

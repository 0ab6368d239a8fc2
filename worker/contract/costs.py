"""What memory costs and gives back, in tokens. Figures are estimates: see ``tokens``.

Of records that the original made, what one answer of a model cost stands on each that came of it, so work is counted
more than once where several did; of ours it is shared out.
"""

import msgspec


class CostQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Of which records. since_epoch_ms, until_epoch_ms: inclusive. sessions, days: how many lines of these.

    session: as in ``Entry.session``, or what else names one in a query line.
    """

    project: str | None = None
    session: str | None = None
    platform_source: str | None = None
    since_epoch_ms: int | None = None
    until_epoch_ms: int | None = None
    sessions: int = 20
    days: int = 90


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over some records.

    read_tokens: to read each once. work_tokens: what they once cost to find out. ratio: work for each token of reading,
    0 where there is nothing to read. recalled: records that came back at least once, as an entry or in full.
    read_back: those that came back in full; read_back_tokens: what reading them cost, each as often as it was read.
    never, never_work_tokens: records that never came back, and what they cost.
    """

    records: int = 0
    read_tokens: int = 0
    work_tokens: int = 0
    ratio: float = 0.0
    recalled: int = 0
    read_back: int = 0
    read_back_tokens: int = 0
    never: int = 0
    never_work_tokens: int = 0


class CostLine(msgspec.Struct, frozen=True, kw_only=True):
    """The records of one value: a project, a type, or a day (`2026-03-04`, which begins at start_epoch_ms)."""

    value: str
    spent: Spent
    start_epoch_ms: int | None = None


class SessionCost(msgspec.Struct, frozen=True, kw_only=True):
    """The records of one session. session: as in ``Entry.session``. id: for ``/api/sessions/{id}``, None if unknown."""

    session: str
    spent: Spent
    id: int | None = None
    title: str = ""
    project: str = ""
    last_epoch_ms: int = 0


class Paid(msgspec.Struct, frozen=True, kw_only=True):
    """What models were paid for the observer's questions: of one day (in UTC), project or model, or in all."""

    value: str = ""
    calls: int = 0
    tokens: int = 0


class ObserverCosts(msgspec.Struct, frozen=True, kw_only=True):
    """What was spent on making the records and on questions to corpora, as providers count it; nothing without a model.

    today_tokens: of this day in UTC, which a budget of the day is about. days: the latest first; projects, models: the
    most first; two hundred of each at most.
    """

    total: Paid = Paid()
    today_tokens: int = 0
    days: tuple[Paid, ...] = ()
    projects: tuple[Paid, ...] = ()
    models: tuple[Paid, ...] = ()


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/costs``. projects, types: most work first, two hundred at most; days: the latest first; sessions: most
    work first.

    saved_tokens, saved_percent: as the session-start block tells them, if all were read once: work less reading.
    back_saved_tokens: the same of what was really read back. counting_since_epoch_ms: when the first recall was
    counted; what happened before that, nobody knows. observer: what was paid for making records, of the project or the
    session that is asked for, at any time.
    """

    total: Spent
    saved_tokens: int
    saved_percent: int
    back_saved_tokens: int
    projects: tuple[CostLine, ...]
    types: tuple[CostLine, ...]
    days: tuple[CostLine, ...]
    sessions: tuple[SessionCost, ...]
    session_count: int = 0
    first_epoch_ms: int | None = None
    last_epoch_ms: int | None = None
    counting_since_epoch_ms: int | None = None
    observer: ObserverCosts = ObserverCosts()

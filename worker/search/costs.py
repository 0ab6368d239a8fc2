"""What memory costs and gives back, put together from a few questions to the store."""

import datetime as dt
from bisect import bisect_right

from worker.contract.costs import CostLine, CostQuery, Costs, ObserverCosts, Paid, SessionCost
from worker.contract.query import Parsed
from worker.contract.search import SearchQuery
from worker.contract.when import at_ms
from worker.search import buckets, economics
from worker.store import aliases, costs, filters, recalls, session_list, spend
from worker.store.filters import Condition
from worker.store.tables import Connection

_MOST_LINES = 200
_DAY_MS = 86_400_000


def answer(connection: Connection, asked: CostQuery, now_epoch_ms: int, zone: dt.tzinfo | None = None) -> Costs:
    """The costs of the records that are asked for. zone: of days, by default this machine's."""
    where = filters.condition(
        SearchQuery(
            project=asked.project,
            platform_source=asked.platform_source,
            since_epoch_ms=asked.since_epoch_ms,
            until_epoch_ms=asked.until_epoch_ms,
        ),
        Parsed(sessions=(asked.session,)) if asked.session else None,
        known=aliases.every(connection),
    )
    parts = costs.by_project_and_type(connection, where)
    whole = economics.total(parts.values())
    first, last = costs.span(connection, where)
    sessions, count = costs.by_session(connection, where, asked.sessions)
    saved_tokens, saved_percent = economics.saved(whole)
    named = session_list.by_memory_ids(connection, list(sessions))
    return Costs(
        total=economics.spent(whole),
        saved_tokens=saved_tokens,
        saved_percent=saved_percent,
        back_saved_tokens=whole.back_work - whole.back_tokens,
        projects=economics.dearest(economics.folded((key[0], sums) for key, sums in parts.items()), _MOST_LINES),
        types=economics.dearest(economics.folded((key[1], sums) for key, sums in parts.items()), _MOST_LINES),
        days=() if first is None or last is None else _days(connection, where, first, last, asked.days, zone),
        sessions=tuple(
            SessionCost(
                session=session,
                spent=economics.spent(sums),
                id=line.id if (line := named.get(session)) else None,
                title=line.title if line else "",
                project=line.project if line else "",
                last_epoch_ms=line.last_at_epoch if line else 0,
            )
            for session, sums in sessions.items()
        ),
        session_count=count,
        first_epoch_ms=first,
        last_epoch_ms=last,
        counting_since_epoch_ms=recalls.since(connection),
        observer=_observer(connection, spend.Whose(asked.project, asked.session), now_epoch_ms),
    )


def _observer(connection: Connection, whose: spend.Whose, now_epoch_ms: int) -> ObserverCosts:
    days, projects, models = (
        tuple(_paid(line) for line in spend.by(connection, column, whose, _MOST_LINES))
        for column in ("day", "project", "model")
    )
    today = next((line.tokens for line in days if line.value == spend.day_of(now_epoch_ms)), 0)
    total = _paid(spend.total(connection, whose))
    return ObserverCosts(total=total, today_tokens=today, days=days, projects=projects, models=models)


def _paid(line: spend.Line) -> Paid:
    return Paid(value=line.value, calls=line.calls, tokens=line.tokens)


def _days(
    connection: Connection, where: Condition, first: int, last: int, most: int, zone: dt.tzinfo | None
) -> tuple[CostLine, ...]:
    """The latest days that have records, the last one first."""
    bounds = buckets.edges(max(first, last - (most - 1) * _DAY_MS), last, _DAY_MS, zone)[-most - 1 :]
    sums = costs.by_day(connection, where, buckets.runs(bounds))
    days = {bounds[max(0, bisect_right(bounds, moment) - 1)]: of for moment, of in sums.items()}
    return tuple(
        CostLine(value=at_ms(day, zone).date().isoformat(), spent=economics.spent(days[day]), start_epoch_ms=day)
        for day in sorted(days, reverse=True)
    )

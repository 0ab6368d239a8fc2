"""Sessions side by side over a stretch of time."""

import datetime as dt
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from worker.contract.lanes import Lane, LaneCell, LaneErrors, LaneQuery, Lanes, SessionBegin
from worker.contract.search import SearchQuery
from worker.observer import acts, events, outcomes
from worker.observer.events import Event
from worker.search import buckets
from worker.store import aliases, costs, filters, lanes
from worker.store.lanes import Piece, Use
from worker.store.tables import Connection


def around(connection: Connection, query: LaneQuery, zone: dt.tzinfo | None = None) -> Lanes:
    """The sessions around a moment."""
    where = _where(connection, query)
    first, last = costs.span(connection, where)
    if first is None or last is None:
        return Lanes(buckets=(), bucket_ms=query.bucket_ms)
    middle = max(first, min(query.around_epoch_ms, last))
    half = max(query.buckets - 2, 2) // 2 * query.bucket_ms
    bounds = buckets.edges(max(first, middle - half), min(last, middle + half), query.bucket_ms, zone)
    found = lanes.pieces(connection, where, buckets.runs(bounds))
    named = buckets.most_frequent((piece.type, piece.records) for piece in found)
    counts = ((piece.epoch_ms, piece.type, piece.records) for piece in found)
    every = _lanes(found, bounds)
    chosen = _chosen(every, query.lanes, middle)
    runs, names = buckets.runs(bounds), [lane.session for lane in chosen if lane.session]
    again = lanes.counted_again(connection, where, runs, names)
    uses = lanes.uses(connection, names, runs, query.until_epoch_ms)
    return Lanes(
        buckets=buckets.stack(counts, bounds, named, empty=True),
        bucket_ms=query.bucket_ms,
        lanes=tuple(replace(lane, work_tokens=lane.work_tokens - again.get(lane.session, 0)) for lane in chosen),
        total=len(every),
        errors=_errors(uses, bounds),
    )


def begin(connection: Connection, query: LaneQuery, *, later: bool) -> SessionBegin:
    """Where the session after the moment begins, or the one before it."""
    session, epoch_ms = lanes.begin(connection, _where(connection, query), query.around_epoch_ms, later=later)
    return SessionBegin(session=session, epoch_ms=epoch_ms)


def _where(connection: Connection, query: LaneQuery) -> filters.Condition:
    return filters.condition(
        SearchQuery(
            project=query.project, session=query.session, platform_source=query.platform_source,
            until_epoch_ms=query.until_epoch_ms,
        ),
        known=aliases.every(connection),
    )  # fmt: skip


@dataclass(slots=True)
class _Held:
    first: Piece
    last_epoch_ms: int = 0
    records: int = 0
    work_tokens: int = 0
    cells: dict[int, Counter[str]] = field(default_factory=dict)


def _lanes(found: Sequence[Piece], bounds: Sequence[int]) -> list[Lane]:
    """All sessions, in order of their first record. found: oldest first."""
    sessions: dict[str, _Held] = {}
    for piece in found:
        held = sessions.setdefault(piece.session, _Held(piece))
        held.last_epoch_ms = max(held.last_epoch_ms, piece.last_epoch_ms)
        held.records += piece.records
        held.work_tokens += piece.work_tokens
        held.cells.setdefault(bisect_right(bounds, piece.epoch_ms) - 1, Counter())[piece.type] += piece.records
    return [
        Lane(
            session=session,
            project=held.first.project,
            first_epoch_ms=held.first.epoch_ms,
            last_epoch_ms=held.last_epoch_ms,
            records=held.records,
            work_tokens=held.work_tokens,
            cells=tuple(LaneCell(bucket, dict(types)) for bucket, types in sorted(held.cells.items())),
        )
        for session, held in sessions.items()
    ]


def _errors(uses: Sequence[Use], bounds: Sequence[int]) -> tuple[LaneErrors, ...]:
    """The uses of tools that failed, by bucket."""
    found = Counter(bisect_right(bounds, use.epoch_ms) - 1 for use in uses if _failed(use))
    return tuple(LaneErrors(bucket, count) for bucket, count in sorted(found.items()))


def _failed(use: Use) -> bool:
    if use.answer is None or not outcomes.may_have_failed(use.answer):
        return False  # most of them: to open and read them all takes a second
    return acts.failed(Event(tool=use.tool, given=events.opened(use.given), answer=events.opened(use.answer)))


def _chosen(every: Sequence[Lane], most: int, moment: int) -> tuple[Lane, ...]:
    """Those with the most records, and the one nearest to the moment, in the order given."""
    nearest = min(every, key=lambda lane: _away(lane, moment), default=None)
    ranked = sorted(every, key=lambda lane: (lane is not nearest, -lane.records))
    kept = {lane.session for lane in ranked[:most]}
    return tuple(lane for lane in every if lane.session in kept)


def _away(lane: Lane, moment: int) -> int:
    return max(lane.first_epoch_ms - moment, moment - lane.last_epoch_ms, 0)

"""Sessions side by side over a stretch of time."""

import datetime as dt
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from worker.contract.lanes import Lane, LaneCell, LaneQuery, Lanes, SessionBegin
from worker.contract.search import SearchQuery
from worker.search import buckets
from worker.store import aliases, costs, filters, lanes
from worker.store.lanes import Piece
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
    again = lanes.counted_again(connection, where, buckets.runs(bounds), [lane.session for lane in chosen])
    return Lanes(
        buckets=buckets.stack(counts, bounds, named, empty=True),
        bucket_ms=query.bucket_ms,
        lanes=tuple(replace(lane, work_tokens=lane.work_tokens - again.get(lane.session, 0)) for lane in chosen),
        total=len(every),
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


def _chosen(every: Sequence[Lane], most: int, moment: int) -> tuple[Lane, ...]:
    """Those with the most records, and the one nearest to the moment, in the order given."""
    nearest = min(every, key=lambda lane: _away(lane, moment), default=None)
    ranked = sorted(every, key=lambda lane: (lane is not nearest, -lane.records))
    kept = {lane.session for lane in ranked[:most]}
    return tuple(lane for lane in every if lane.session in kept)


def _away(lane: Lane, moment: int) -> int:
    return max(lane.first_epoch_ms - moment, moment - lane.last_epoch_ms, 0)

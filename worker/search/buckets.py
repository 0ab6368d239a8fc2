"""Pure: a histogram over time whose bars begin where people's hours, days and weeks do."""

import datetime as dt
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from worker.contract.search import BUCKET_WIDTHS_MS, Bucket
from worker.contract.when import at_ms, wall_ms
from worker.store.axis import Run

_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
_FIRST_DAY = dt.date(2, 1, 1)
"""Of the year 1, some zones cannot tell the beginning."""
_NAMED = 12
"""Types that a bucket names; more colours say no more."""


def width_for(first_epoch_ms: int, last_epoch_ms: int, most: int) -> int:
    """The smallest width with which the span takes at most so many buckets; never less than the span needs."""
    span = max(0, last_epoch_ms - first_epoch_ms)
    fitting = (width for width in BUCKET_WIDTHS_MS if span // width + 2 <= most)
    return next(fitting, -(-span // max(1, most - 2) // _DAY) * _DAY or _DAY)


def edges(first_epoch_ms: int, last_epoch_ms: int, width_ms: int, zone: dt.tzinfo | None = None) -> list[int]:
    """Where the buckets from the first moment to the last begin, and where the last of them ends.

    A day is 23 or 25 hours where clocks change.
    """
    at = start_of(first_epoch_ms, width_ms, zone)
    if not at <= first_epoch_ms < at + width_ms + 2 * _HOUR:  # beyond the years that a calendar tells
        at = first_epoch_ms - first_epoch_ms % width_ms
    found = [at]
    while at <= last_epoch_ms:
        at = _next(at, width_ms, zone)
        found.append(at)
    return found


def runs(bounds: Sequence[int]) -> tuple[Run, ...]:
    """The buckets between these bounds, those of one width that follow each other in one."""
    found: list[Run] = []
    for start, end in pairwise(bounds):
        if found and found[-1].width_ms == end - start:
            found[-1] = Run(found[-1].start_epoch_ms, end, end - start)
        else:
            found.append(Run(start, end, end - start))
    return tuple(found)


def stack(
    counts: Iterable[tuple[int, str, int]], bounds: Sequence[int], named: Iterable[str], *, empty: bool
) -> tuple[Bucket, ...]:
    """The buckets of (moment, type, records), by type; types that are not ``named`` are summed under ``""``.

    empty: whether buckets without a record are among them.
    """
    known = frozenset(named)
    found: dict[int, Counter[str]] = {}
    for moment, kind, count in counts:
        found.setdefault(bounds[bisect_right(bounds, moment) - 1], Counter())[kind if kind in known else ""] += count
    none: Mapping[str, int] = {}
    return tuple(
        Bucket(start, sum(found.get(start, none).values()), dict(found.get(start, none)), end)
        for start, end in pairwise(bounds)
        if empty or start in found
    )


def most_frequent(counts: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """The types that are worth a name."""
    summed: Counter[str] = Counter()
    for kind, count in counts:
        summed[kind] += count
    return tuple(sorted(summed, key=lambda kind: (-summed[kind], kind))[:_NAMED])


def _next(start: int, width_ms: int, zone: dt.tzinfo | None) -> int:
    """Where the bucket after the one that begins here begins; clocks change by no more than two hours."""
    steps = range(start + width_ms, start + width_ms + 2 * _HOUR + 1, _HOUR // 2)
    return next((at for at in (start_of(step, width_ms, zone) for step in steps) if at > start), start + width_ms)


def start_of(epoch: int, width_ms: int, zone: dt.tzinfo | None = None) -> int:
    """Where the bucket of a moment begins. Weeks begin on Monday."""
    if width_ms < _HOUR:
        return epoch - epoch % width_ms
    moment = at_ms(epoch, zone)
    if width_ms < _DAY:
        hour = moment.hour - moment.hour % (width_ms // _HOUR)
        wall = dt.datetime.combine(moment.date(), dt.time(hour))
        # Where clocks go back an hour comes twice, and each has a bucket of its own.
        first, again = wall_ms(wall, zone), wall_ms(wall.replace(fold=1), zone)
        return again if first < again <= epoch else first
    back = (moment.date().toordinal() - 1) % (width_ms // _DAY)
    day = max(moment.date() - dt.timedelta(days=back), _FIRST_DAY)
    return wall_ms(dt.datetime.combine(day, dt.time()), zone)

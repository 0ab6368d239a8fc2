"""Pure: a histogram over time whose bars begin where people's hours, days and weeks do."""

import datetime as dt
from collections.abc import Iterable

from worker.contract.search import Bucket
from worker.contract.when import at_ms, wall_ms

_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
_FIRST_DAY = dt.date(2, 1, 1)
"""Of the year 1, some zones cannot tell the beginning."""
WIDTHS_MS = (5 * _MINUTE, 15 * _MINUTE, _HOUR, 6 * _HOUR, _DAY, 7 * _DAY, 28 * _DAY)


def width_for(first_epoch_ms: int, last_epoch_ms: int, most: int) -> int:
    """The smallest width with which the span takes at most so many buckets; never less than the span needs."""
    span = max(0, last_epoch_ms - first_epoch_ms)
    fitting = (width for width in WIDTHS_MS if span // width + 2 <= most)
    return next(fitting, -(-span // max(1, most - 2) // _DAY) * _DAY or _DAY)


def grain_for(width_ms: int, zone: dt.tzinfo | None = None) -> int:
    """The width at which the store counts, fine enough to be folded: some zones differ by quarter hours."""
    offset = at_ms(0, zone).utcoffset() or dt.timedelta()
    return min(width_ms, 15 * _MINUTE if offset % dt.timedelta(hours=1) else _HOUR)


def fold(counts: Iterable[tuple[int, int]], width_ms: int, zone: dt.tzinfo | None = None) -> tuple[Bucket, ...]:
    """(epoch ms, records) of a fine grain to buckets in local time: a day is 23 or 25 hours where clocks change."""
    folded: dict[int, int] = {}
    # What surely lies in the bucket of the one before need not be reckoned: a day of any zone has 22 hours or more, and
    # some weeks lack a day.
    sure = width_ms - (2 * _HOUR if width_ms == _DAY else 26 * _HOUR) if width_ms >= _DAY else 0
    start = until = 0
    for epoch, count in counts:
        if not start <= epoch < until:
            start = start_of(epoch, width_ms, zone)
            until = start + sure
        folded[start] = folded.get(start, 0) + count
    return tuple(Bucket(start, folded[start]) for start in sorted(folded))


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

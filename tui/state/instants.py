"""Pure: moments, as steps of a person's calendar and as text that reads back as just that moment."""

import datetime as dt

from worker.contract.when import at_ms, parse_range, wall_ms

_DAY = dt.timedelta(days=1)


def days_on(epoch_ms: int, days: int, zone: dt.tzinfo | None = None) -> int:
    """The same time of day so many days on; a day is 23 or 25 hours where clocks change."""
    moment = at_ms(epoch_ms, zone)
    there = moment.date().toordinal() + days
    date = dt.date.fromordinal(max(2, min(there, dt.date.max.toordinal() - 2)))
    # Of an hour that comes twice the first is taken.
    return wall_ms(dt.datetime.combine(date, moment.time().replace(tzinfo=None)), zone)


def midnight(epoch_ms: int, zone: dt.tzinfo | None = None) -> int:
    """Where the day of a moment begins."""
    return wall_ms(dt.datetime.combine(at_ms(epoch_ms, zone).date(), dt.time()), zone)


def said(epoch_ms: int, zone: dt.tzinfo | None = None) -> str:
    """The moment as the query language reads it, as short as it can be: `2026-11-25T14:32`.

    With its offset where clocks show the same time twice. A moment that no clock tells is in milliseconds.
    """
    moment = at_ms(epoch_ms, zone)
    bare = moment.replace(tzinfo=None, fold=0)
    for text in (bare, moment):
        for spec in ("minutes", "seconds", "milliseconds"):
            form = text.isoformat(timespec=spec)
            if parse_range(form, zone) == (epoch_ms, epoch_ms):
                return form
    return f"{max(epoch_ms, 0):012}"

"""Pure: moments, as steps of a person's calendar and as text that reads back as just that moment."""

import datetime as dt

from worker.contract.when import at_ms, parse_range, wall_ms


def day(epoch_ms: int, days: int = 0, zone: dt.tzinfo | None = None) -> int:
    """Where the day of a moment begins, or one so many days on; a day is 23 or 25 hours where clocks change."""
    return _midnight(at_ms(epoch_ms, zone).date().toordinal() + days, zone)


def week(epoch_ms: int, weeks: int = 0, zone: dt.tzinfo | None = None) -> int:
    """Where the week of a moment begins, a Monday, or one so many weeks on."""
    date = at_ms(epoch_ms, zone).date()
    return _midnight(date.toordinal() - date.weekday() + 7 * weeks, zone)


def _midnight(ordinal: int, zone: dt.tzinfo | None) -> int:
    # The calendar ends; a day is left at either end, for the offset of the zone.
    date = dt.date.fromordinal(max(2, min(ordinal, dt.date.max.toordinal() - 2)))
    return wall_ms(dt.datetime.combine(date, dt.time()), zone)


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
    return f"{max(epoch_ms, 0):013}"

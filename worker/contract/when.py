"""Pure: dates as people write them, as moments. The one reading of dates, in HTTP, command line, MCP and app."""

import datetime as dt
import re

_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_MILLISECONDS = re.compile(r"\d{12,14}")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MS = dt.timedelta(milliseconds=1)


def epoch_ms(moment: dt.datetime) -> int:
    """Milliseconds since 1970 of a moment that knows its zone, rounded down."""
    return (moment - _EPOCH) // _MS


def at_ms(epoch: int, zone: dt.tzinfo | None = None) -> dt.datetime:
    """The moment in a zone, by default this machine's. Epochs outside the years 1 to 9999 give the nearest."""
    bounded = min(max(epoch, -62_000_000_000_000), 253_000_000_000_000)
    return (_EPOCH + bounded * _MS).astimezone(zone)


def iso_utc(epoch: int) -> str:
    """The text form in the database: ISO 8601, UTC, milliseconds, `Z`."""
    return at_ms(epoch, dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def wall_ms(moment: dt.datetime, zone: dt.tzinfo | None = None) -> int:
    """Milliseconds since 1970 when clocks in a zone, by default this machine's, show a time that knows no zone.

    A time that clocks pass over is taken as the moment when they change.
    Errors: ``ValueError``, ``OverflowError`` beyond the years that the system can tell.
    """
    if zone is not None:
        return epoch_ms(moment.replace(tzinfo=zone))
    # Not astimezone(), which takes a time that clocks pass over for one an hour too early.
    return int(moment.replace(microsecond=0).timestamp()) * 1000 + moment.microsecond // 1000


def parse_range(text: str, zone: dt.tzinfo | None = None) -> tuple[int, int] | None:
    """First and last millisecond that a date text means, or None if it is none.

    `2026-03-10` is that whole day in ``zone`` (default: this machine's), 23 or 25 hours where clocks change;
    a date with a time is one moment, in ``zone`` unless it says its own; 12 to 14 digits are epoch milliseconds.
    """
    text = text.strip()
    if _MILLISECONDS.fullmatch(text):
        return int(text), int(text)
    try:
        if day := _DATE.fullmatch(text):
            date = dt.date(*(int(part) for part in day.groups()))
            # Where clocks go back at midnight the last hour comes twice: the day ends with the second.
            start, last = dt.datetime.combine(date, dt.time.min), dt.datetime.combine(date, dt.time(23, 59, 59, fold=1))
            return wall_ms(start, zone), wall_ms(last, zone) + 999
        moment = dt.datetime.fromisoformat(text)
        if not any(char in text for char in ":T "):
            return None
        epoch = epoch_ms(moment) if moment.tzinfo else wall_ms(moment, zone)
    except (ValueError, OverflowError):
        return None
    return epoch, epoch

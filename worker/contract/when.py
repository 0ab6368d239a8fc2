"""Pure: dates as people write them, as moments. The one reading of dates, in HTTP, command line, MCP and app."""

import datetime as dt
import re

_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_MONTH = re.compile(r"(\d{4})-(\d{1,2})")
_MILLISECONDS = re.compile(r"\d{12,14}", re.ASCII)
_COMPACT_DAY = re.compile(r"(\d{4})(\d{2})(\d{2})", re.ASCII)
_COMPACT_YEARS = range(1990, 2101)
"""Of a day in 8 digits and a moment in 12 or 14; these beyond are milliseconds since 1970, as 13 digits always are."""
_TIMED = re.compile(r"(.+?) +([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")
_UNITS = {
    "min": "min", "mins": "min", "minute": "min", "minutes": "min", "分钟": "min", "分": "min",
    "h": "h", "hr": "h", "hour": "h", "hours": "h", "小时": "h", "時間": "h",
    "d": "d", "day": "d", "days": "d", "天": "d", "日": "d",
    "w": "w", "week": "w", "weeks": "w", "周": "w", "星期": "w", "週間": "w",
}  # fmt: skip
_UNIT_MS = {"min": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_AGO = re.compile(rf"(\d{{1,5}}) *({'|'.join(sorted(_UNITS, key=len, reverse=True))})(?: +ago| *前)?")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            ("monday", "mon", "周一", "星期一"), ("tuesday", "tue", "周二", "星期二"),
            ("wednesday", "wed", "周三", "星期三"), ("thursday", "thu", "周四", "星期四"),
            ("friday", "fri", "周五", "星期五"), ("saturday", "sat", "周六", "星期六"),
            ("sunday", "sun", "周日", "星期日"),
        )
    )
    for name in names
}  # fmt: skip
_SAME = {
    "今天": "today", "今日": "today", "昨天": "yesterday", "昨日": "yesterday", "前天": "day before yesterday",
    "这周": "this week", "本周": "this week", "今週": "this week", "上周": "last week", "上星期": "last week",
    "先週": "last week", "这个月": "this month", "本月": "this month", "今月": "this month", "上个月": "last month",
    "上月": "last month", "先月": "last month", "今年": "this year", "去年": "last year",
}  # fmt: skip
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MS = dt.timedelta(milliseconds=1)
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""Of the years 1 and 9999, in UTC."""


def epoch_ms(moment: dt.datetime) -> int:
    """Milliseconds since 1970 of a moment that knows its zone, rounded down."""
    return (moment - _EPOCH) // _MS


def at_ms(epoch: int, zone: dt.tzinfo | None = None) -> dt.datetime:
    """The moment in a zone, by default this machine's. Epochs outside the years 1 to 9999 give the nearest.

    What no clock of a zone shows within these years is told in UTC.
    """
    bounded = min(max(epoch, _FIRST_MS), _LAST_MS)
    moment = _EPOCH + bounded * _MS
    try:
        moment = moment.astimezone(zone)
        # A zone's clocks may show a first or a last day of which UTC's know nothing.
        return moment + (epoch - bounded) * _MS if epoch != bounded else moment
    except (ValueError, OverflowError):
        return moment


def iso_utc(epoch: int) -> str:
    """The text form in the database: ISO 8601, UTC, milliseconds, `Z`."""
    return at_ms(epoch, dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def wall_ms(moment: dt.datetime, zone: dt.tzinfo | None = None) -> int:
    """Milliseconds since 1970 when clocks in a zone, by default this machine's, show a time that knows no zone.

    A time that clocks pass over is taken as the moment when they change. On the first and the last day that there is,
    of which a zone may lie beyond the years, it is UTC's.
    """
    try:
        if zone is not None:
            return epoch_ms(moment.replace(tzinfo=zone))
        # Not astimezone(), which takes a time that clocks pass over for one an hour too early.
        return int(moment.replace(microsecond=0).timestamp()) * 1000 + moment.microsecond // 1000
    except (ValueError, OverflowError):
        return epoch_ms(moment.replace(tzinfo=dt.UTC))


def parse_range(text: str, zone: dt.tzinfo | None = None, *, now_epoch_ms: int | None = None) -> tuple[int, int] | None:
    """First and last millisecond that a date text means, or None if it is none.

    `2026-03-10` is that whole day in ``zone`` (default: this machine's), 23 or 25 hours where clocks change, `2026-03`
    the month; a date with a time is one moment, in ``zone`` unless it says its own; so is `202603101200`, to the minute
    or second, and `20260310` is a day; 12 to 14 digits that are no such date are epoch ms.
    With ``now_epoch_ms`` also what is told from now: `3d`, `2h`, `30min`, `2 weeks ago`, `3天前` (that long ago),
    `14:30` (today), `yesterday 14:30`, `today`, `yesterday`, `monday` (the latest),
    `last monday` (not today), `this week`, `last month`, `昨天`, `上周`, `周一`, …
    """
    text = text.strip()
    try:
        if _MILLISECONDS.fullmatch(text):
            moment = _compact(text)
            epoch = int(text) if moment is None else wall_ms(moment, zone)
            return epoch, epoch
        if timed := _TIMED.fullmatch(text):
            hour, minute, second = (int(part or 0) for part in timed.groups()[1:])
            day = parse_range(timed[1], zone, now_epoch_ms=now_epoch_ms)
            return None if day is None else _at(day, dt.time(hour, minute, second), zone)
        if now_epoch_ms is not None and (span := _relative(text.lower(), zone, now_epoch_ms)):
            return span
        if month := _MONTH.fullmatch(text):
            first = dt.date(int(month[1]), int(month[2]), 1)
            return _days(first, _month_end(first), zone)
        numbers = _DATE.fullmatch(text) or _COMPACT_DAY.fullmatch(text)
        if numbers and (numbers.re is _DATE or int(numbers[1]) in _COMPACT_YEARS):
            date = dt.date(*(int(part) for part in numbers.groups()))
            return _days(date, date, zone)
        moment = dt.datetime.fromisoformat(text)
        if not any(char in text for char in ":T "):
            return None
        epoch = epoch_ms(moment) if moment.tzinfo else wall_ms(moment, zone)
    except (ValueError, OverflowError):
        return None
    return epoch, epoch


def _compact(digits: str) -> dt.datetime | None:
    """`20260310120000`, or without the seconds, as the time it says; None if it is none that anybody means."""
    if len(digits) == 13 or int(digits[:4]) not in _COMPACT_YEARS:
        return None
    try:
        month, day, hour, minute, second = (int(digits[at : at + 2] or 0) for at in range(4, 14, 2))
        return dt.datetime.combine(dt.date(int(digits[:4]), month, day), dt.time(hour, minute, second))
    except ValueError:
        return None


def _at(day: tuple[int, int], time: dt.time, zone: dt.tzinfo | None) -> tuple[int, int] | None:
    """A time on a day, None if it is not one day."""
    first, last = (at_ms(epoch, zone).date() for epoch in day)
    if first != last or day[0] == day[1]:
        return None
    epoch = wall_ms(dt.datetime.combine(first, time), zone)
    return epoch, epoch


def _days(first: dt.date, last_day: dt.date, zone: dt.tzinfo | None) -> tuple[int, int]:
    """From the beginning of a day to the end of the same or a later one."""
    # Where clocks go back at midnight the last hour comes twice: the day ends with the second.
    last = dt.datetime.combine(last_day, dt.time(23, 59, 59, fold=1))
    return wall_ms(dt.datetime.combine(first, dt.time.min), zone), wall_ms(last, zone) + 999


def _relative(text: str, zone: dt.tzinfo | None, now_epoch_ms: int) -> tuple[int, int] | None:
    today = at_ms(now_epoch_ms, zone).date()
    day = dt.timedelta(days=1)
    monday = today - today.weekday() * day
    month = today.replace(day=1)
    if ago := _AGO.fullmatch(text):
        moment = now_epoch_ms - int(ago[1]) * _UNIT_MS[_UNITS[ago[2]]]
        return moment, moment
    if clock := _CLOCK.fullmatch(text):
        moment = wall_ms(dt.datetime.combine(today, dt.time(int(clock[1]), int(clock[2]))), zone)
        return moment, moment
    if (name := text.removeprefix("last ").lstrip()) in _WEEKDAYS:
        past = (today.weekday() - _WEEKDAYS[name]) % 7
        date = today - (past or (7 if name != text else 0)) * day
        return _days(date, date, zone)
    spans = {
        "today": (today, today),
        "yesterday": (today - day, today - day),
        "day before yesterday": (today - 2 * day, today - 2 * day),
        "this week": (monday, monday + 6 * day),
        "last week": (monday - 7 * day, monday - day),
        "this month": (month, _month_end(month)),
        "last month": ((month - day).replace(day=1), month - day),
        "this year": (month.replace(month=1), month.replace(month=12, day=31)),
        "last year": (dt.date(today.year - 1, 1, 1), dt.date(today.year - 1, 12, 31)),
    }
    if text == "now":
        return now_epoch_ms, now_epoch_ms
    span = spans.get(_SAME.get(text, " ".join(text.split())))
    return None if span is None else _days(*span, zone)


def _month_end(first: dt.date) -> dt.date:
    return (first.replace(day=28) + dt.timedelta(days=4)).replace(day=1) - dt.timedelta(days=1)

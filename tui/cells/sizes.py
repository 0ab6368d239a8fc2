"""Pure: bytes and spans of time as people say them."""

_UNITS = ("B", "kB", "MB", "GB", "TB")


def size(count: int) -> str:
    """At most seven cells: `812 B`, `9.4 kB`, `120 GB`."""
    value = float(max(count, 0))
    for unit in _UNITS:
        if value < 999.5 or unit == _UNITS[-1]:
            return f"{value:.1f} {unit}" if value < 9.95 and unit != "B" else f"{value:.0f} {unit}"
        value /= 1000
    return ""


def lasted(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h 20 min`, `5 days`."""
    whole = int(max(seconds, 0))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86_400:
        minutes = whole % 3600 // 60
        return f"{whole // 3600} h {minutes} min" if minutes else f"{whole // 3600} h"
    days = whole // 86_400
    return f"{days} day{'' if days == 1 else 's'}"


def ago(now_ms: int, then_ms: int) -> str:
    """`3 min ago`; `just now` for less than a minute, and for what is to come by another clock."""
    seconds = (now_ms - then_ms) / 1000
    return "just now" if seconds < 60 else f"{lasted(seconds)} ago"


def percent(part: int, whole: int) -> str:
    """At most four cells: `24%`; `<1%` of something is not nothing, and nearly all is not all."""
    if whole <= 0 or part <= 0:
        return "0%"
    if part >= whole:
        return "100%"
    share = 100 * part / whole
    return "<1%" if share < 0.5 else f"{min(round(share), 99)}%"

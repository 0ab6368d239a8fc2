import datetime as dt

from tests.factories import HOUR, NOON
from worker.api.trouble import trouble
from worker.contract.overview import LogTrouble

LINES = [
    "[2026-03-04 10:59:59.999] [ERROR] [worker.store] long ago",
    "[2026-03-04 11:00:00.000] [WARNING] [worker.store] the index falls behind",
    "[2026-03-04 11:30:00.000] [INFO ] [worker] said ERROR",
    "[2026-03-04 11:30:00.000] [ERROR] [worker.server] a task failed",
    "  /x/server.py:7 in run",
    "[2026-03-04 11:59:00.000] [CRITICAL] [worker] " + "x" * 900,
]


def test_errors_and_warnings_since_a_moment() -> None:
    found = trouble(LINES, NOON - HOUR, with_lines=True, zone=dt.UTC)
    assert (found.errors, found.warnings, found.since_epoch_ms) == (2, 1, NOON - HOUR)
    assert found.lines == (LINES[1], LINES[3], LINES[5][:400])


def test_only_figures_for_strangers() -> None:
    assert trouble(LINES, NOON - HOUR, with_lines=False, zone=dt.UTC) == LogTrouble(
        errors=2, warnings=1, since_epoch_ms=NOON - HOUR
    )


def test_the_last_twenty_are_shown() -> None:
    lines = [f"[2026-03-04 11:30:00.{n:03}] [ERROR] [worker] {n}" for n in range(50)]
    found = trouble(lines, NOON - HOUR, with_lines=True, zone=dt.UTC)
    assert (found.errors, found.lines) == (50, tuple(lines[30:]))


def test_times_are_those_of_the_zone() -> None:
    tokyo = dt.timezone(dt.timedelta(hours=9))
    assert trouble(LINES, NOON - HOUR, with_lines=True, zone=tokyo).lines == ()

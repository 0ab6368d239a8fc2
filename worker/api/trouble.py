"""Pure: errors and warnings among the lines of a log."""

import datetime as dt
import re
from collections.abc import Sequence

from worker.contract.overview import LogTrouble
from worker.contract.when import at_ms

_LINE = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.\d{3}\] \[(CRITICAL|ERROR|WARN)")
_SHOWN = 20
_MOST_CHARS = 400


def trouble(
    lines: Sequence[str], since_epoch_ms: int, *, with_lines: bool, zone: dt.tzinfo | None = None
) -> LogTrouble:
    """What went wrong since a moment. lines: oldest first. zone: in which the log tells its times."""
    since = f"{at_ms(since_epoch_ms, zone):%Y-%m-%d %H:%M:%S}"
    found = [(match[2], line) for line in lines if (match := _LINE.match(line)) and match[1] >= since]
    warnings = sum(level == "WARN" for level, _ in found)
    return LogTrouble(
        errors=len(found) - warnings,
        warnings=warnings,
        since_epoch_ms=since_epoch_ms,
        lines=tuple(line[:_MOST_CHARS] for _, line in found[-_SHOWN:]) if with_lines else (),
    )

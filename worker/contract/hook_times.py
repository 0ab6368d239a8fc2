"""How long hooks took, from the lines that they leave: `<epoch ms> <event> <ms> <outcome>`, the newest last."""

import math
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

DAY_MS = 24 * 3_600_000
_LINE = re.compile(r"(\d{13}) ([a-z-]{1,40}) (\d{1,7}) (sent|spooled|nothing|late)")
_MOST_BYTES = 1 << 20
HASTY = frozenset(("session-init", "file-context", "session-end"))
"""Events while which a person waits: they have half of the time."""


class HookTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Of an event in the last 24 hours. bound_ms: what a hook gives itself for it. late: not done by then.

    spooled: how many were written to disk, because nobody answered. last_epoch_ms: when the last one came.
    """

    event: str
    count: int
    median_ms: int
    p95_ms: int
    slowest_ms: int
    bound_ms: int
    late: int = 0
    spooled: int = 0
    last_epoch_ms: int


def read(data_dir: Path, now_ms: int, timeout_s: float) -> tuple[HookTimes, ...]:
    """Of each event, the most frequent first; none where no hook has left a line. timeout_s: what hooks have."""
    try:
        with (data_dir / "state" / "hook-times.log").open("rb") as file:
            text = file.read(_MOST_BYTES).decode("ascii", "replace")
    except OSError:
        return ()
    return summed(text.splitlines(), now_ms, timeout_s)


def summed(lines: Iterable[str], now_ms: int, timeout_s: float) -> tuple[HookTimes, ...]:
    """The same from the lines; what is no line of a hook is passed over."""
    found: dict[str, list[tuple[int, int, str]]] = {}
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is not None and now_ms - DAY_MS < int(match[1]):
            found.setdefault(match[2], []).append((int(match[3]), int(match[1]), match[4]))
    told = (_of(event, held, timeout_s) for event, held in found.items())
    return tuple(sorted(told, key=lambda times: (-times.count, times.event)))


def _of(event: str, held: list[tuple[int, int, str]], timeout_s: float) -> HookTimes:
    took = sorted(ms for ms, _, _ in held)
    return HookTimes(
        event=event,
        count=len(took),
        median_ms=_share(took, 0.5),
        p95_ms=_share(took, 0.95),
        slowest_ms=took[-1],
        bound_ms=round(timeout_s * (500 if event in HASTY else 1000)),
        late=sum(outcome == "late" for _, _, outcome in held),
        spooled=sum(outcome == "spooled" for _, _, outcome in held),
        last_epoch_ms=max(epoch_ms for _, epoch_ms, _ in held),
    )


def _share(took: list[int], share: float) -> int:
    """The least of them that this share of them does not exceed."""
    return took[max(math.ceil(share * len(took)), 1) - 1]

"""Pure: when a session's events are to be taken."""

from collections.abc import Iterable
from dataclasses import dataclass

from worker.contract.observer_settings import Observing
from worker.store.pending import Waiting

_PATIENCE = 20
"""Pauses after which events are taken also where new ones go on to come."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """Since when nothing came to a session, and since when something waits; by our clock, not by that of the events,
    which may be of another day."""

    mark: tuple[int, int, int]
    since_epoch_ms: int
    first_epoch_ms: int


def watch(before: dict[int, Quiet], lines: Iterable[Waiting], now_epoch_ms: int) -> dict[int, Quiet]:
    """How long each session has been quiet."""
    found: dict[int, Quiet] = {}
    for line in lines:
        mark = (line.count, line.bytes, line.newest_epoch_ms)
        known = before.get(line.session_db_id)
        if known is not None and known.mark == mark:
            found[line.session_db_id] = known
        else:
            first = now_epoch_ms if known is None else known.first_epoch_ms
            found[line.session_db_id] = Quiet(mark, now_epoch_ms, first)
    return found


def wait_ms(line: Waiting, quiet: Quiet, observing: Observing, now_epoch_ms: int) -> int:
    """Milliseconds until a session is to be taken if nothing more comes; 0 for now."""
    if line.has_summary or line.count >= observing.events or line.bytes >= observing.bytes:
        return 0
    pause = observing.pause_ms
    due = min(quiet.since_epoch_ms + pause, quiet.first_epoch_ms + _PATIENCE * pause)
    # A clock that was set back must not keep what waits.
    return max(min(due - now_epoch_ms, pause), 0)

"""Pure: buckets on a time axis as SQL. Where clocks change a bucket is longer or shorter than those beside it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """Buckets of one width from a moment (inclusive) to another (exclusive)."""

    start_epoch_ms: int
    end_epoch_ms: int
    width_ms: int


def bucket(runs: Sequence[Run]) -> str:
    """SQL for the bucket of ``d.epoch``, for epochs within the runs: one value for all that is in it."""
    places = [(run.end_epoch_ms, _place(run)) for run in runs]
    if len(places) == 1:
        return places[0][1]
    *most, (_, last) = places
    return f"CASE {' '.join(f'WHEN d.epoch < {end} THEN {place}' for end, place in most)} ELSE {last} END"


def _place(run: Run) -> str:
    if run.end_epoch_ms - run.start_epoch_ms <= run.width_ms:
        return f"CAST({run.start_epoch_ms} AS INTEGER)"  # a bare number in GROUP BY is the number of a column
    # From remainders, because the difference of two moments may be no integer of SQLite's any more.
    width = run.width_ms
    return f"d.epoch - (d.epoch % {width} + {2 * width - run.start_epoch_ms % width}) % {width}"


def within(runs: Sequence[Run], *, wide: bool = False) -> str:
    """SQL that is true for epochs within the runs. wide: they hold so much that an index over time is the long way."""
    epoch = "+d.epoch" if wide else "d.epoch"
    return f"{epoch} >= {runs[0].start_epoch_ms} AND {epoch} < {runs[-1].end_epoch_ms}"

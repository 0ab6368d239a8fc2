"""Sessions side by side over time: what a timeline is drawn from."""

import msgspec

from worker.contract.search import Bucket

MOST_BUCKETS = 160


class LaneQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which stretch of time: ``buckets`` of ``bucket_ms`` with a moment in their middle, cut where nothing is.

    bucket_ms: one of ``search.BUCKET_WIDTHS_MS``. until_epoch_ms: as if nothing had come after it. lanes: at most.
    project, session: as in a search.
    """

    around_epoch_ms: int
    bucket_ms: int
    buckets: int = 120
    lanes: int = 12
    project: str | None = None
    session: str | None = None
    platform_source: str | None = None
    until_epoch_ms: int | None = None


class LaneCell(msgspec.Struct, frozen=True):
    """What a session has in a bucket. bucket: its number in ``Lanes.buckets``. types: how many of each type."""

    bucket: int
    types: dict[str, int]


class LaneErrors(msgspec.Struct, frozen=True):
    """How many uses of a tool failed in a bucket, in the sessions told of. bucket: its number in ``Lanes.buckets``."""

    bucket: int
    count: int


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """A session in view. session: its memory id, empty for records without one. Figures: of what is in view alone."""

    session: str
    project: str
    first_epoch_ms: int
    last_epoch_ms: int
    records: int
    work_tokens: int
    cells: tuple[LaneCell, ...]


class Lanes(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/lanes``. buckets: oldest first, each beginning where the one before it ends, empty ones too.

    lanes: in order of their first record in view; of more sessions than were asked for those with the most records, and
    that of the moment. total: how many sessions there are in view. errors: in order of time; of buckets without any
    there is nothing.
    """

    buckets: tuple[Bucket, ...]
    bucket_ms: int
    lanes: tuple[Lane, ...] = ()
    total: int = 0
    errors: tuple[LaneErrors, ...] = ()


class SessionBegin(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/lanes/next``: where the next session (or the one before) begins; None if there is none."""

    session: str | None = None
    epoch_ms: int | None = None

"""Pure: the strip over time: how fine it is, what of it is left out, and the sessions side by side."""

from msgspec import Struct
from msgspec.structs import replace

from worker.contract.lanes import Lanes
from worker.contract.search import BUCKET_WIDTHS_MS

LEVELS_MS = BUCKET_WIDTHS_MS[:6]
"""5 and 15 minutes, 1 and 6 hours, a day, a week."""
LANE_MS = LEVELS_MS[1]


class Scrub(Struct, frozen=True):
    """width_ms: of a bucket; 0 is as wide as the whole set needs, which was ``auto_ms`` when last asked for.

    folded: stretches without a record are left out. fine: two buckets in a cell. lane_ms: of a bucket of the lanes.
    lanes: None until they are known.
    """

    width_ms: int = 0
    auto_ms: int = 0
    folded: bool = True
    fine: bool = False
    lane_ms: int = LANE_MS
    lanes: Lanes | None = None

    def covers(self, epoch_ms: int) -> bool:
        """Whether the lanes show a moment."""
        found = self.lanes.buckets if self.lanes is not None else ()
        return bool(found) and found[0].start_epoch_ms <= epoch_ms < found[-1].end_epoch_ms


class Zoomed(Struct, frozen=True):
    """Buckets of another width, of the strip or of the lanes."""

    width_ms: int
    lanes: bool = False


class GapsTurned(Struct, frozen=True):
    """Stretches without a record are left out, or not any more."""


class FineTurned(Struct, frozen=True):
    """Two buckets in a cell, or one again."""


class Laned(Struct, frozen=True):
    """The sessions around the cursor."""

    lanes: Lanes


ScrubFact = Zoomed | GapsTurned | FineTurned | Laned


def after(scrub: Scrub, fact: ScrubFact) -> Scrub:
    """The strip after a fact."""
    match fact:
        case Zoomed(width_ms, lanes):
            return replace(scrub, lane_ms=width_ms) if lanes else replace(scrub, width_ms=width_ms)
        case GapsTurned():
            return replace(scrub, folded=not scrub.folded)
        case FineTurned():
            return replace(scrub, fine=not scrub.fine)
        case Laned(lanes):
            return replace(scrub, lanes=lanes) if lanes.bucket_ms == scrub.lane_ms else scrub


def zoomed(scrub: Scrub, shown_ms: int, *, finer: bool, lanes: bool) -> Zoomed | str:
    """The next level, or why there is none. shown_ms: the width that the strip has now."""
    if finer:
        below = [level for level in LEVELS_MS if level < (scrub.lane_ms if lanes else shown_ms)]
        return Zoomed(below[-1], lanes) if below else "finer than five minutes it does not get"
    above = [level for level in LEVELS_MS if level > (scrub.lane_ms if lanes else scrub.width_ms)]
    if lanes:
        return Zoomed(above[0], lanes) if above else "wider than a week it does not get"
    if not scrub.width_ms:
        return "this is all of it"
    return Zoomed(above[0] if above and above[0] < scrub.auto_ms else 0)


def level(width_ms: int) -> str:
    """`15 min`, `1 h`, `1 d`."""
    for unit_ms, name in ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min")):
        if width_ms >= unit_ms:
            return f"{width_ms // unit_ms} {name}"
    return f"{width_ms} ms"

"""Questions about time: sessions side by side, and where the next of them begins."""

from tui.gateway.line import Line
from tui.state import facts, scrub
from tui.state.facts import Fact
from tui.state.model import Ask
from worker.contract import calls
from worker.contract.errors import MemError
from worker.contract.lanes import MOST_BUCKETS, LaneQuery


class Times:
    """Of one worker."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def lanes(self, ask: Ask, width_ms: int, middle_ms: int) -> Fact:
        """The sessions around a moment."""
        query = _query(ask, middle_ms, width_ms)
        try:
            return scrub.Laned(await self._line.send(calls.lanes(query)))
        except MemError as error:
            return facts.Said(f"no sessions to show: {error.message}")

    async def session_begin(self, ask: Ask, epoch_ms: int, *, later: bool) -> int | None:
        """Where the next session after a moment begins, or the one before it. Errors: ``MemError``."""
        found = await self._line.send(calls.next_session(_query(ask, epoch_ms), later=later))
        return found.epoch_ms


def _query(ask: Ask, middle_ms: int, width_ms: int = scrub.LANE_MS) -> LaneQuery:
    return LaneQuery(
        around_epoch_ms=middle_ms, bucket_ms=width_ms, buckets=MOST_BUCKETS, project=ask.project,
        session=ask.session or None, until_epoch_ms=ask.as_of_ms,
    )  # fmt: skip

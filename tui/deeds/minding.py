"""In the health: what is done to the index by meaning."""

from collections.abc import Mapping

from tui.deeds.asking import Asking
from tui.deeds.desk import Desk
from tui.deeds.table import Deed
from tui.state import health
from tui.state.reasons import why_not
from worker.contract.index import IndexState


class Minding:
    """One deed at a time, and a word about what came of it."""

    def __init__(self, desk: Desk, asking: Asking) -> None:
        self._desk = desk
        self._asking = asking

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {"index_rest": self.rest, "index_mend": self.mend}

    def rest(self) -> None:
        """Let the index rest, or go on."""
        overview = self._desk.state.health.overview
        paused = overview is not None and overview.index.state is IndexState.PAUSED
        self._begin("index_rest", health.Deed.RESUME if paused else health.Deed.PAUSE)

    def mend(self) -> None:
        """Compare it with the records, and mend what is wrong."""
        self._begin("index_mend", health.Deed.REPAIR)

    def _begin(self, action: str, deed: health.Deed) -> None:
        if reason := why_not(self._desk.state, action):
            self._desk.say(reason)
            return
        self._desk.tell(health.Doing(deed))
        self._desk.background("minding", self._do, deed)

    async def _do(self, deed: health.Deed) -> None:
        said = await self._asking.gateway.surveys.mended(deed)
        self._desk.tell(health.Doing(None))
        self._desk.say(said)
        self._desk.tell(health.Again())

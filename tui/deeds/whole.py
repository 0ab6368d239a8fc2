"""What is done on the screens about the memory as a whole: they are made when the first of them is asked for."""

from collections.abc import Mapping

from tui.deeds.adjusting import Adjusting
from tui.deeds.asking import Asking
from tui.deeds.consulting import Consulting
from tui.deeds.copying import Copying
from tui.deeds.costing import Costing
from tui.deeds.desk import Desk
from tui.deeds.linking import Linking
from tui.deeds.minding import Minding
from tui.deeds.preparing import Preparing
from tui.deeds.surveying import Surveying
from tui.deeds.table import Deed, gathered
from tui.deeds.unfolding import Unfolding
from tui.state.model import ViewState


class Whole:
    """Costs, sessions, next start, health, corpora, settings."""

    def __init__(self, desk: Desk, asking: Asking, linking: Linking, copying: Copying) -> None:
        self.surveying = Surveying(desk, asking, linking)
        self._consulting = Consulting(desk, asking)
        self._doers = (
            self.surveying,
            Costing(desk, self.surveying),
            Unfolding(desk, asking, self.surveying),
            Preparing(desk, asking, copying),
            Minding(desk, asking),
            self._consulting,
            Adjusting(desk, asking),
        )

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return gathered(*self._doers)

    def changed(self, before: ViewState, state: ViewState) -> None:
        """Put the questions that another state has."""
        self.surveying.changed(before, state)
        self._consulting.changed(before, state)

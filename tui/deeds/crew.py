"""Who does what: made right after the first paint, which needs none of them."""

from collections.abc import Callable, Mapping

from tui.clipboard import Clipboard
from tui.deeds.asking import Asking
from tui.deeds.commanding import Commanding
from tui.deeds.copying import Copying
from tui.deeds.desk import Desk
from tui.deeds.filtering import Filtering
from tui.deeds.going import Going
from tui.deeds.linking import Linking
from tui.deeds.marking import Marking
from tui.deeds.panes import Panes
from tui.deeds.scrubbing import Scrubbing
from tui.deeds.table import gathered
from tui.deeds.travelling import Travelling
from tui.gateway.front import Gateway
from tui.state.model import ViewState
from worker.contract.settings import Settings


class Crew:
    """Everybody but those of the screens about the memory as a whole.

    environ: of the terminal, for the clipboard. write: hands a sequence to it. open_gateway: makes the gateway of a
    memory; nothing is asked of it here.
    """

    def __init__(
        self,
        desk: Desk,
        settings: Settings,
        environ: Mapping[str, str],
        write: Callable[[str], None],
        open_gateway: Callable[[Settings], Gateway] | None = None,
    ) -> None:
        open_gateway = open_gateway or Gateway
        self.asking = Asking(desk, open_gateway(settings))
        self.linking = Linking(desk, self.asking, settings, open_gateway)
        self.copying = Copying(desk, self.asking, Clipboard(environ, write, command=settings.clipboard_command))
        travelling = Travelling(desk, self.asking)
        filtering = Filtering(desk)
        scrubbing = Scrubbing(desk, self.asking, filtering)
        self.deeds = gathered(
            self.linking,
            travelling,
            Panes(desk),
            Going(desk, self.asking, travelling, scrubbing),
            filtering,
            scrubbing,
            Marking(desk, self.copying),
            Commanding(desk, self.asking),
        )

    def changed(self, before: ViewState, state: ViewState) -> None:
        """Put the questions that another state has."""
        self.asking.changed(before, state)
        self.linking.changed(before, state)

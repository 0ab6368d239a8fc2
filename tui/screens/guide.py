"""The keys."""

from textual.app import ComposeResult
from textual.widgets import Input

from tui.cells.glyphs import Glyphs
from tui.keymap import guide, places
from tui.screens.drawn import DrawnScreen
from tui.state.model import View, ViewState
from tui.widgets.guide_page import GuideBox, GuidePage
from tui.widgets.status_line import StatusLine


class GuideScreen(DrawnScreen):
    """Every key once, and what the marks mean; of all that, what has the words typed. place: where it was asked for."""

    AUTO_FOCUS = "#find"

    def __init__(self, glyphs: Glyphs, state: ViewState, place: str = "") -> None:
        super().__init__(state)
        asked = "Type what you want to do, or a key"
        self.box = GuideBox(placeholder=asked, compact=True, select_on_focus=False, id="find")
        self.box.cursor_blink = False
        self.page = GuidePage(glyphs, state.keys, state.key_notes, group=_group(place, state), id="guide")
        self.status = StatusLine(glyphs)

    def compose(self) -> ComposeResult:
        """Box, page and keys."""
        yield self.box
        yield self.page
        yield self.status

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        state = self.state
        self.status.show(state, places.GUIDE_BOX if self.focused is self.box else places.GUIDE)

    def on_descendant_focus(self) -> None:
        """Other keys."""
        self.draw()

    def on_guide_page_find(self) -> None:
        """To the box."""
        self.set_focus(self.box)

    def on_guide_box_left(self) -> None:
        """To the lines."""
        self.set_focus(self.page)

    def on_guide_box_turned(self, message: GuideBox.Turned) -> None:
        """Other lines."""
        self.page.action_act(message.deed)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Another text: other lines."""
        event.stop()
        self.page.find(event.value)


def _group(place: str, state: ViewState) -> str:
    """What to tell of first."""
    return guide.IN_TIME if place == places.LIST and state.view is View.TIMELINE else guide.ASKED_IN.get(place, "")

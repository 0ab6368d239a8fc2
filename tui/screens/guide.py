"""The keys."""

from textual.app import ComposeResult
from textual.widgets import Input

from tui.cells.glyphs import Glyphs
from tui.keymap import places
from tui.screens.drawn import DrawnScreen
from tui.state.model import ViewState
from tui.widgets.guide_page import GuideBox, GuidePage
from tui.widgets.status_line import StatusLine


class GuideScreen(DrawnScreen):
    """Every key once, and what the marks mean; of all that, what has the words typed."""

    AUTO_FOCUS = "#guide"

    def __init__(self, glyphs: Glyphs, state: ViewState) -> None:
        super().__init__(state)
        self.box = GuideBox(placeholder="Type what you want to do, or a key", compact=True, select_on_focus=False)
        self.box.cursor_blink = False
        self.box.display = False
        self.page = GuidePage(glyphs, state.keys, state.key_notes, id="guide")
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
        """To the box, which is there from now on."""
        self.box.display = True
        self.set_focus(self.box)

    def on_guide_box_left(self, message: GuideBox.Left) -> None:
        """To the lines again."""
        if message.every:
            self.box.value = ""
        self.box.display = bool(self.box.value)
        self.set_focus(self.page)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Another text: other lines."""
        event.stop()
        self.page.find(event.value)

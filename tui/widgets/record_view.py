"""A record in full, scrollable: the preview beside the list, and the whole screen."""

import re
from typing import ClassVar

from textual.strip import Strip

from tui import keymap
from tui.cells import page
from tui.cells.look import Look
from tui.cells.marks import ROLES
from tui.cells.row import marked, pattern
from tui.state.model import ViewState
from tui.widgets.paint import bindings, components
from tui.widgets.paper import Paper

_MARKED = ("heading", "subtitle", "text", "chip")


class RecordView(Paper):
    """The record the state shows. BRIEF: long texts cut, as a preview."""

    PLACE = keymap.PREVIEW
    PREFIX = "record-view"
    BINDINGS = bindings(keymap.PREVIEW)
    COMPONENT_CLASSES: ClassVar[set[str]] = components("record-view", "match", *page.ROLES, *ROLES)
    BRIEF: ClassVar[bool] = True

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._look = look
        self._state = ViewState()
        self._words: re.Pattern[str] | None = None

    def show(self, state: ViewState) -> None:
        """Show this state's record, from its beginning if it is another one."""
        before, self._state = self._state, state
        if (before.shown, before.shown_key, before.answered) == (state.shown, state.shown_key, state.answered):
            return
        if before.shown_key != state.shown_key:
            self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self._lay_out()

    def render_line(self, y: int) -> Strip:
        """One line on the screen, what was looked for marked."""
        line = y + self.scroll_offset.y
        pieces = self._lines[line] if line < len(self._lines) else []
        return self.paint(marked(pieces, self._words, _MARKED), self.scrollable_content_region.width)

    def on_resize(self) -> None:
        """Lines break elsewhere."""
        self._lay_out()

    def _lay_out(self) -> None:
        """Break the lines, once there is a width to break them at: ``on_resize`` comes with the first one too."""
        if not self.size.width:
            return
        state = self._state
        asked = state.answered
        self._words = pattern(asked.text, state.shown_entry) if asked is not None and not asked.bare else None
        if state.shown is not None:
            self.write(page.lines(state.shown, state.shown_entry, self.room, self._look, brief=self.BRIEF))
        else:
            self.write(page.trouble(state.shown_failed, self.room) if state.shown_failed else [])


class FullRecord(RecordView):
    """The whole screen: nothing is cut that a person would read to its end."""

    PLACE = keymap.RECORD
    BINDINGS = bindings(keymap.RECORD)
    BRIEF = False
    KEPT = 1

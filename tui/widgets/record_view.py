"""A record in full, scrollable: the preview beside the list, and the whole screen."""

import re
from typing import ClassVar

from textual.strip import Strip

from tui import messages
from tui.cells import page
from tui.cells.look import Look
from tui.cells.marks import ROLES
from tui.cells.row import marked, pattern
from tui.keymap import places
from tui.state.model import ViewState
from tui.widgets.paint import bindings, components
from tui.widgets.paper import Paper

_MARKED = ("heading", "subtitle", "text", "chip")


class RecordView(Paper):
    """The record the state shows. BRIEF: long texts cut, as a preview."""

    PLACE = places.PREVIEW
    PREFIX = "record-view"
    BINDINGS = bindings(places.PREVIEW)
    COMPONENT_CLASSES: ClassVar[set[str]] = components("record-view", "match", "found", *page.ROLES, *ROLES)
    BRIEF: ClassVar[bool] = True

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._look = look
        self._state = ViewState()
        self._words: re.Pattern[str] | None = None
        self._own = 0  # lines of the record, before those of what is related to it
        self._hit: int | None = None

    def show(self, state: ViewState) -> None:
        """Show this state's record, from its beginning if it is another one."""
        before, self._state = self._state, state
        if _drawn(before) == _drawn(state) and (self.BRIEF or before.reading is state.reading):
            return
        if before.shown_key != state.shown_key:
            self._hit = None
            self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self._lay_out()

    def render_line(self, y: int) -> Strip:
        """One line on the screen, what was looked for marked."""
        line = y + self.scroll_offset.y
        pieces = self._lines[line] if line < len(self._lines) else []
        under = self.get_component_rich_style("record-view--found", partial=True) if line == self._hit else None
        return self.paint(marked(pieces, self._words, _MARKED), self.scrollable_content_region.width, under)

    def do_next_hit(self) -> None:
        """To the next line with a match."""
        self._go_to_hit(1)

    def do_last_hit(self) -> None:
        """To the one before."""
        self._go_to_hit(-1)

    def _go_to_hit(self, way: int) -> None:
        if self._words is None:
            self.post_message(messages.Told("no words were searched for; {search} searches"))
            return
        hits = [number for number, line in enumerate(self._lines[: self._own]) if _has(line, self._words)]
        if not hits:
            self.post_message(messages.Told("no match in this record's own text"))
            return
        here = hits.index(self._hit) if self._hit in hits else (-1 if way > 0 else 0)
        self._hit = hits[(here + way) % len(hits)]
        self.post_message(messages.Told(f"line {hits.index(self._hit) + 1} of {len(hits)} with a match"))
        top = max(0, min(self._hit - self.size.height // 3, len(self._lines) - self.size.height))
        self.scroll_to(y=top, animate=False, force=True, immediate=True)
        self.refresh()

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
            lines = page.lines(state.shown, state.shown_entry, self.room, self._look, brief=self.BRIEF)
            self._own = len(lines)
            if not self.BRIEF and state.reading.related_to == state.shown_key:
                lines += page.related(state.reading, self.room, self._look)
            self.write(lines)
        else:
            self.write(page.trouble(state.shown_failed, self.room) if state.shown_failed else [])


def _drawn(state: ViewState) -> tuple[object, ...]:
    """What the lines are made of."""
    return state.shown, state.shown_key, state.shown_entry, state.shown_failed, state.answered


def _has(line: page.Line, words: re.Pattern[str]) -> bool:
    return any(role in _MARKED and words.search(text) for role, text in line)


class FullRecord(RecordView):
    """The whole screen: nothing is cut that a person would read to its end."""

    PLACE = places.RECORD
    BINDINGS = bindings(places.RECORD)
    BRIEF = False
    KEPT = 1

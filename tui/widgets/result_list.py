"""The list of hits, and the same list as a timeline: any number of rows, painted line by line.

It knows only the rows that are loaded; a cursor move paints two lines, since on a slow line bytes are what is felt.
"""

import re
from collections.abc import Iterable
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui import messages
from tui.cells import look, row, sight
from tui.cells.fit import width
from tui.cells.look import Look
from tui.cells.marks import ROLES
from tui.keymap import places
from tui.state.live import Followed
from tui.state.model import View, ViewState
from tui.widgets.paint import Acts, Painter, bindings, components
from worker.contract.project_name import head
from worker.contract.records import RecordKey
from worker.contract.search import Entry, Order

_PER_PATTERN = 64
_FEW = 3
"""Lines that are painted one by one, and not with all the others."""


class ResultList(ScrollView, Acts, Painter, can_focus=True):
    """Rows of the state; keys ask for moves, the state says where the cursor is."""

    PLACE = places.LIST
    PREFIX = "result-list"
    BINDINGS = bindings(places.LIST)
    COMPONENT_CLASSES: ClassVar[set[str]] = components("result-list", "cursor", *row.ROLES, *ROLES)

    def __init__(self, looks: Look, state: ViewState, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._look = looks
        self._state = state
        self._lines: list[int | str] = []  # of the timeline: a day's heading, or the number of an entry
        self._at: list[int] = []  # of the timeline: the line of each entry
        self._patterns: dict[tuple[str, int], re.Pattern[str] | None] = {}
        self._key_cells = 5

    def show(self, state: ViewState) -> None:
        """Show this state, painting only what it changed."""
        standing = self._standing() if self._state.cuts != state.cuts else ()
        before, self._state = self._state, state
        if state.view is View.TIMELINE and state.track is not None and state.track.entries is not _entries(before):
            self._lay_out(state.track.entries)
        if before.answered != state.answered:
            self._patterns.clear()
        if self._same_rows(before, state):
            for line in self._otherwise(before, state):
                if (entry := state.rows.at(line)) is not None:
                    self._patterns.pop((entry.kind.value, entry.id), None)
                self._repaint(line, line)
            if before.basket is not state.basket:
                self._remark(before)
            elif state.basket.span_from is not None and before.here != state.here:
                self._repaint(self._line_of(before), self._line_of(state))
            if self._line_of(before) != self._line_of(state):
                self._move(self._line_of(before))
            return
        self._key_cells = self._widest_key(state)
        self.virtual_size = Size(self.size.width, self._count())
        self.refresh()
        if before.view is not state.view and state.view is View.TIMELINE:
            self._centre()
        else:
            self._stay(standing)
            self._keep_in_sight()
        self.call_after_refresh(self._tell_viewed)

    def render_line(self, y: int) -> Strip:
        """One line on the screen."""
        line = y + self.scroll_offset.y
        room = self.scrollable_content_region.width
        if line >= self._count():
            return self.paint((), room)
        wide = self._columns(room)
        entry = self._entry(line)
        if isinstance(entry, str):
            return self.paint([("head", f"  {entry}")], room)
        if entry is None:
            return self.paint(row.waiting(wide, self._look.glyphs.ellipsis), room)
        state, glyphs = self._state, self._look.glyphs
        here = line == self._line_of(state)
        timeline = state.view is View.TIMELINE
        anchored = timeline and state.track is not None and entry.key == state.track.anchor
        gutter = glyphs.anchor if anchored else glyphs.cursor if here else " "
        line_pieces = row.pieces(
            entry,
            wide,
            self._look,
            self._pattern(entry),
            gutter=gutter,
            sign=self._sign(line, entry),
            by_clock=timeline,
        )
        return self.paint(line_pieces, room, self._under() if here else None)

    def columns(self) -> row.Columns:
        """The columns as they are now, for the line above them."""
        return self._columns(self.scrollable_content_region.width)

    @property
    def day(self) -> str:
        """Of the timeline: the day of the first line on the screen, whose heading may be above it."""
        top = int(self.scroll_offset.y)
        above = [line for line in self._lines[: top + 1] if isinstance(line, str)] if self._timeline else []
        return above[-1] if above else ""

    def do_down(self) -> None:
        """One down."""
        self.post_message(messages.Moved(by=1))

    def do_up(self) -> None:
        """One up."""
        self.post_message(messages.Moved(by=-1))

    def do_page_down(self) -> None:
        """A screenful down."""
        self.post_message(messages.Moved(by=max(self.size.height - 1, 1)))

    def do_page_up(self) -> None:
        """A screenful up."""
        self.post_message(messages.Moved(by=-max(self.size.height - 1, 1)))

    def do_bottom(self) -> None:
        """To the last row."""
        self.post_message(messages.Moved(to=-1))

    def on_click(self, event: events.Click) -> None:
        """The clicked row; twice opens it."""
        line = event.y + self.scroll_offset.y
        index = self._lines[line] if self._timeline and line < len(self._lines) else line
        if isinstance(index, int) and line < self._count():
            self.post_message(messages.Moved(to=index))
            if event.chain == 2:
                self.post_message(messages.Wanted("open", self.PLACE))

    def on_mouse_scroll_down(self) -> None:
        """The wheel turns away from the newest, which are no longer followed."""
        if self._state.follows:
            self.post_message(messages.Known(Followed(False)))

    def on_resize(self) -> None:
        """Other rows are on the screen."""
        self.virtual_size = Size(self.size.width, self._count())
        self._keep_in_sight()
        self.call_after_refresh(self._tell_viewed)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Other rows are on the screen."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self._tell_viewed()

    def notify_style_update(self) -> None:
        """Colours changed: paint anew."""
        super().notify_style_update()
        self.refresh()

    def _sign(self, line: int, entry: Entry) -> str:
        """Of a record that is marked, or would be by the range that was begun."""
        if self._state.basket.has(entry.key):
            return self._look.glyphs.mark
        index = self._lines[line] if self._timeline else line
        return self._look.glyphs.dot if isinstance(index, int) and index in self._state.span else " "

    def _remark(self, before: ViewState) -> None:
        """Paint what was marked or unmarked: one line for one record."""
        old, new = (
            {(entry.kind, entry.id) for entry in state.basket.entries} for state in (before, self._state)
        )  # fmt: skip
        here = self._state.entry
        changed = old ^ new
        ended = before.basket.span_from is not None
        begun = self._state.basket.span_from is not None and not ended
        if begun or (not ended and here is not None and changed == {(here.kind, here.id)}):
            self._repaint(self._line_of(self._state), self._line_of(self._state))
        elif changed or ended:
            self.refresh()

    def _repaint(self, one: int, other: int) -> None:
        """Paint these two lines and those between them.

        As refresh_lines does, but without the scroll bar's cell, which would be painted apart: 50 bytes a line.
        """
        first, count = min(one, other), abs(one - other) + 1
        self.refresh(Region(0, first - self.scroll_offset.y, self.scrollable_content_region.width, count))

    @property
    def _timeline(self) -> bool:
        return self._state.view is View.TIMELINE

    def _under(self) -> Style:
        """What the cursor lays over its line."""
        return self.get_component_rich_style("result-list--cursor", partial=True)

    def _columns(self, room: int) -> row.Columns:
        state = self._state
        asked = state.answered or state.ask
        return row.columns(
            room,
            key=self._key_cells,
            projects=state.ask.project is None or head(state.ask.project) is not None,
            why=asked.by_worth and not self._timeline,
            ratio=asked.order in (Order.RATIO_DESC, Order.RATIO_ASC),
        )

    def _same_rows(self, before: ViewState, state: ViewState) -> bool:
        if before.view != state.view or before.answered != state.answered:
            return False
        if state.view is View.TIMELINE:
            return _entries(before) is _entries(state)
        return before.rows is state.rows or self._same_in_sight(before, state)

    def _same_in_sight(self, before: ViewState, state: ViewState) -> bool:
        """Whether the screen shows the same records, and most of them as they were.

        A page ahead is not worth a screenful of bytes, nor is a record that was edited.
        """
        if before.rows.total != state.rows.total or self._widest_key(state) != self._key_cells:
            return False
        edited = self._otherwise(before, state)
        keys = [[entry.key if (entry := each.rows.at(line)) else None for line in edited] for each in (before, state)]
        return keys[0] == keys[1] and len(edited) <= _FEW

    def _otherwise(self, before: ViewState, state: ViewState) -> list[int]:
        """The lines on the screen that read otherwise in the list."""
        if before.rows is state.rows or self._timeline:
            return []
        first = int(self.scroll_offset.y)
        lines = range(first, min(first + self.size.height, state.rows.total))
        return [line for line in lines if before.rows.at(line) != state.rows.at(line)]

    def _lay_out(self, entries: tuple[Entry, ...]) -> None:
        self._lines, self._at = [], []
        heading = ""
        for index, entry in enumerate(entries):
            if (day := look.day(self._look, entry.created_at_epoch)) != heading:
                heading = day
                self._lines.append(day)
            self._at.append(len(self._lines))
            self._lines.append(index)

    def _count(self) -> int:
        return len(self._lines) if self._timeline else self._state.rows.total

    def _line_of(self, state: ViewState) -> int:
        """The line of a state's cursor."""
        if state.view is View.TIMELINE and state.track is not None:
            return self._at[state.track.cursor] if state.track.cursor < len(self._at) else 0
        return state.cursor

    def _entry(self, line: int) -> Entry | str | None:
        if not self._timeline:
            return self._state.rows.at(line)
        index = self._lines[line]
        return index if isinstance(index, str) else (_entries(self._state) or ())[index]

    def _pattern(self, entry: Entry) -> re.Pattern[str] | None:
        asked = self._state.answered
        if asked is None or asked.bare:
            return None
        key = (entry.kind.value, entry.id)
        if key not in self._patterns:
            self._patterns[key] = row.pattern(asked.text, entry)
        return self._patterns[key]

    def _widest_key(self, state: ViewState) -> int:
        loaded = state.rows.pages.values()
        return max([5, *(width(str(page[0].key)) for page in loaded if page)])

    def _move(self, old: int) -> None:
        """The cursor left a line: paint that one and its new one, and scroll if need be."""
        line, height = self._line_of(self._state), self.size.height
        for each in (old, line):
            self._repaint(each, each)
        beside = self.region.width < self.screen.size.width
        self._keep_in_sight(ahead=sight.ahead(line - old, height=height, beside=beside))

    def _centre(self) -> None:
        top = max(0, min(self._line_of(self._state) - self.size.height // 2, self._count() - self.size.height))
        self.scroll_to(y=top, animate=False, force=True, immediate=True)

    def _keep_in_sight(self, *, ahead: int = 0) -> None:
        line, was = self._line_of(self._state), int(self.scroll_offset.y)
        top = sight.top(line, was=was, height=self.size.height, count=self._count(), ahead=ahead)
        if top != was:
            self.scroll_to(y=top, animate=False, force=True, immediate=True)

    def _standing(self) -> tuple[tuple[RecordKey, int], ...]:
        """The records on the screen, each with how far down it is; that of the cursor first."""
        top, here = int(self.scroll_offset.y), self._line_of(self._state)
        lines = range(top, min(top + self.size.height, self._count()))
        ordered = sorted(lines, key=lambda line: line != here)
        seen = ((self._entry(line), line - top) for line in ordered)
        return tuple((entry.key, down) for entry, down in seen if isinstance(entry, Entry))

    def _stay(self, standing: Iterable[tuple[RecordKey, int]]) -> None:
        """Records went: the first of those that are left stays where it was on the screen, as far as that goes."""
        for key, down in standing:
            if (index := self._state.find(key)) is not None:
                line = self._at[index] if self._timeline else index
                top = max(0, min(line - down, self._count() - self.size.height))
                if top != int(self.scroll_offset.y):
                    self.scroll_to(y=top, animate=False, force=True, immediate=True)
                return

    def _tell_viewed(self) -> None:
        first = self.scroll_offset.y
        if (first, first + self.size.height) != self._state.viewed:
            self.post_message(messages.Viewed(first, first + self.size.height))


def _entries(state: ViewState) -> tuple[Entry, ...] | None:
    return state.track.entries if state.track is not None else None

"""The settings: all of them, found by typing; one at a time is changed in the same line."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from tui.cells import settings as cells
from tui.cells.look import Look
from tui.keymap import places
from tui.screens.drawn import DrawnScreen
from tui.state.adjusting import Setting, listed, matching
from tui.state.model import ViewState
from tui.widgets.paint import Line, components
from tui.widgets.settings_box import SettingsBox
from tui.widgets.sheet import ChoiceSheet, Lines
from tui.widgets.status_line import StatusLine


class SettingsSheet(ChoiceSheet, can_focus=False):
    """The settings that answer to what was typed; the cursor stays on its setting."""

    PLACE = places.SETTINGS_BOX
    BINDINGS: ClassVar[list[BindingType]] = []
    found: Sequence[Setting] = ()
    told: str = ""
    _lines_of: Sequence[int] = ()

    def lines(self, room: int) -> Lines:
        """The page in this width."""
        if self.told:
            self._lines_of = ()
            return [[("text", f"  {self.told}")]]
        made, self._lines_of = cells.lines(self.found, room, self.looks)
        return made

    def places(self) -> Sequence[int]:
        """The lines of settings."""
        return self._lines_of

    @property
    def chosen(self) -> Setting | None:
        """The one under the cursor."""
        return self.found[self.at] if not self.told and self.at < len(self.found) else None


class SettingHead(Line):
    """What is typed in the line, and what was wrong with it."""

    PREFIX = "setting-head"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("setting-head", "over")


class SettingsScreen(DrawnScreen):
    """A line to type in, the settings, the keys. editing: the one whose value is in the line."""

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(state)
        self._look = look
        self._settings: Sequence[Setting] = ()
        self._sought = ""
        self._failed = ""
        self.editing: Setting | None = None
        self.head = SettingHead()
        self.head.display = False
        self.box = SettingsBox(placeholder="Type a part of a name", compact=True, select_on_focus=False, id="setting")
        self.box.cursor_blink = False
        self.page = SettingsSheet(look, state, id="settings")
        self.page.told = f"Reading the settings{look.glyphs.ellipsis}"
        self.status = StatusLine(look.glyphs)

    def compose(self) -> ComposeResult:
        """From the top down."""
        yield self.head
        yield self.box
        yield self.page
        yield self.status

    def offer(self, values: Mapping[str, object]) -> None:
        """The settings as they are now."""
        self._settings, self.page.told = listed(values), ""
        self._find()

    def fail(self, reason: str) -> None:
        """They cannot be told."""
        self.page.told = reason
        self.page.lay_out()

    def edit(self, setting: Setting) -> None:
        """Type a value for it. A masked one is typed as a whole."""
        self._sought, self.editing, self._failed = self.box.value, setting, ""
        self.box.value = "" if setting.secret else setting.value
        self.box.cursor_position = len(self.box.value)
        self._show_head()

    def refuse(self, reason: str) -> None:
        """The worker does not take the value; it stays in the line."""
        self._failed = reason
        self._show_head()

    def done(self) -> None:
        """Back to what was looked for."""
        self.editing, self._failed = None, ""
        self.box.value = self._sought
        self.box.cursor_position = len(self.box.value)
        self._show_head()

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        self.page.show(self.state)
        self.status.show(self.state, places.SETTINGS_BOX)

    def on_resize(self) -> None:
        """Another width."""
        self._show_head()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Another text: other settings, unless it is a value."""
        event.stop()
        if self.editing is None and event.value != self._sought:
            self._sought, self.page.at = event.value, 0
            self._find()

    def _find(self) -> None:
        here = self.page.chosen
        self.page.found = matching(self._settings, self._sought)
        keys = [setting.key for setting in self.page.found]
        if here is not None and here.key in keys:
            self.page.at = keys.index(here.key)
        self.page.lay_out()

    def _show_head(self) -> None:
        made = cells.head(self.editing, self._failed, max(self.size.width, 8), self._look.glyphs)
        self.head.display = bool(made)
        self.head.styles.height = max(len(made), 1)
        self.head.draw(made)

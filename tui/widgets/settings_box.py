"""The line of the settings: a part of a name is typed in it, and then a value."""

from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from tui.cells.clean import typed
from tui.keymap import places
from tui.widgets.paint import Acts, bindings

MOST = 10_000
"""Characters, as many as the worker takes."""


class SettingsBox(Input, Acts):
    """An input whose other keys are the settings'."""

    PLACE = places.SETTINGS_BOX
    BINDINGS: ClassVar[list[BindingType]] = bindings(places.SETTINGS_BOX)

    def validate_value(self, value: str) -> str:
        """A paste may hold anything."""
        return typed(value[:MOST])

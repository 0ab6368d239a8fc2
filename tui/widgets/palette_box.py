"""The box of the palette: letters are typed, arrows choose, Enter does it."""

from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from tui.cells.clean import typed
from tui.keymap import places
from tui.widgets.paint import Acts, bindings


class PaletteBox(Input, Acts):
    """An input whose other keys are the palette's."""

    PLACE = places.PALETTE
    BINDINGS: ClassVar[list[BindingType]] = bindings(places.PALETTE)

    def validate_value(self, value: str) -> str:
        """A paste may hold anything."""
        return typed(value[:100])

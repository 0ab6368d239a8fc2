"""The least that a terminal app of Textual with a search box and a list can be: what our start is measured against."""

from textual.app import App, ComposeResult
from textual.widgets import Input, OptionList


class BareApp(App[None]):
    """One input, one list."""

    ENABLE_COMMAND_PALETTE = False

    def compose(self) -> ComposeResult:
        """Both, one below the other."""
        yield Input()
        yield OptionList(*(f"row {number}" for number in range(20)))


if __name__ == "__main__":
    BareApp().run()

"""A line for what lasts and stands in the way; not there while all is well."""

from typing import ClassVar

from tui.cells import words
from tui.cells.fit import wrap
from tui.state.model import ViewState
from tui.widgets.paint import Line, components


class Banner(Line):
    """The worker is away, or a search failed."""

    PREFIX = "banner"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("banner")

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._text = ""

    def show(self, state: ViewState, *, typing: bool = False) -> None:
        """Show this state's trouble."""
        self._text = words.banner(state, typing=typing)
        self.display = bool(self._text)
        self._update()

    def on_resize(self) -> None:
        """Another width."""
        self._update()

    def _update(self) -> None:
        lines = list(wrap(self._text, max(self.size.width, 20)))[:3] if self._text else []
        if self.styles.height is None or self.styles.height.value != max(len(lines), 1):
            self.styles.height = max(len(lines), 1)
        self.draw([[("text", line)] for line in lines])

"""A line for what lasts and stands in the way; not there while all is well."""

from typing import ClassVar

from tui.cells import words
from tui.cells.fit import in_lines
from tui.cells.look import Look, full
from tui.state.model import Link, ViewState
from tui.widgets.paint import Line, components

_MOST_LINES = 3


class Banner(Line):
    """The worker is away, a search failed, or it is the past that is looked at. past: what is below is of it too.

    listed: what is below is the list.
    """

    PREFIX = "banner"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("banner", "past")

    def __init__(
        self,
        look: Look,
        *,
        past: bool = True,
        listed: bool = True,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(id=id)
        self._look = look
        self._past = past
        self._listed = listed
        self._text = ("", "")
        self._role = "text"

    def show(self, state: ViewState, *, typing: bool = False) -> None:
        """Show this state's trouble."""
        self._text, self._role = words.banner(state, typing=typing), "text"
        trouble = state.failed or state.link in (Link.FAILED, Link.LOST)
        if not trouble and state.ask.as_of_ms is not None:
            moment = full(self._look, state.ask.as_of_ms)
            past = words.as_of(state, moment, listed=self._listed)
            self._text = (past if self._past else words.shows_now(moment), "")
            self._role = "past"
        self.display = any(self._text)
        self._update()

    def on_resize(self) -> None:
        """Another width."""
        self._update()

    def _update(self) -> None:
        ellipsis = self._look.glyphs.ellipsis
        lines = in_lines(*self._text, max(self.size.width, 20), _MOST_LINES, ellipsis) if any(self._text) else []
        if self.styles.height is None or self.styles.height.value != max(len(lines), 1):
            self.styles.height = max(len(lines), 1)
        self.draw([[(self._role, line)] for line in lines])

"""What stands in place of an empty list: why it is empty, and the key that helps."""

from typing import ClassVar

from tui.cells import words
from tui.cells.fit import width, wrap
from tui.cells.glyphs import Glyphs
from tui.state.model import ViewState
from tui.widgets.paint import Line, Piece, components


class Note(Line):
    """A few lines, in the middle of the room there is. Of those in role ``key``, two blanks end the keys."""

    PREFIX = "note"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("note", "strong", "path", "key", "letter")

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._note: words.Note = []

    def write(self, note: words.Note) -> None:
        """Show these lines."""
        self._note = note
        self._update()

    @property
    def needed(self) -> bool:
        """Whether there is anything to say."""
        return bool(self._note)

    def on_resize(self) -> None:
        """Another room."""
        self._update()

    def _update(self) -> None:
        room, height = self.size.width, self.size.height
        lines: list[list[Piece]] = []
        block = max([width(text) for _, text in self._note if width(text) <= room - 4], default=room - 4)
        indent = max((room - block) // 2, 1)
        for role, text in self._note:
            for line in wrap(text, room - indent - 1) if text else [""]:
                pad: Piece = ("text", " " * indent)
                if role == "key" and "  " in line:
                    letters, _, rest = line.partition("  ")
                    lines.append([pad, ("letter", letters), ("key", f"  {rest}")])
                else:
                    lines.append([pad, (role, line)])
        above = max((height - len(lines)) // 3, 0)
        self.draw([[] for _ in range(above)] + lines)


class EmptyNote(Note):
    """Of the list of the workspace."""

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._glyphs = glyphs

    def show(self, state: ViewState, *, typing: bool) -> None:
        """Show why this state has no rows."""
        self.write(words.note(state, self._glyphs, typing=typing))

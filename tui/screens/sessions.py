"""Projects, their sessions, and what was asked and learned in each."""

from collections.abc import Iterable

from textual.containers import Container, Vertical
from textual.widget import Widget

from tui.cells import session_row
from tui.cells.look import Look
from tui.keymap import places
from tui.screens.survey import SurveyScreen
from tui.state import session_tree
from tui.state.model import ViewState
from tui.widgets.empty_note import Note
from tui.widgets.session_tree import SessionTree, SessionView, TreeHead


class SessionScreen(SurveyScreen):
    """The tree, and beside or below it what its cursor is on."""

    PLACE = places.SESSIONS
    OVER = session_tree.Ended()
    AGAIN = session_tree.Again()
    PAST = True
    AUTO_FOCUS = "#tree"

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(look, state)
        self.head = TreeHead(look.glyphs)
        self.tree_rows = SessionTree(look, state, id="tree")
        self.note = Note()
        self.preview = SessionView(look, id="session")

    def pages(self) -> Iterable[Widget]:
        """Tree and preview."""
        return (Container(Vertical(self.head, self.tree_rows, self.note, id="rows"), self.preview, id="body"),)

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        super().draw()
        self.note.write(session_row.note(self.state, self.look))
        self.set_class(self.note.needed, "-noted")
        self.head.show(self.state)
        self.tree_rows.show(self.state)
        self.preview.show(self.state)

"""A few lines under the prompt: type, mark, and choose."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui import messages
from tui.cells.look import Look
from tui.screens.drawn import DrawnScreen
from tui.state.model import ViewState
from tui.widgets.result_list import ResultList
from tui.widgets.search_bar import SearchBar, SearchBox
from tui.widgets.status_line import StatusLine

KEYS = (
    ("up,ctrl+p", "up", ""),
    ("down,ctrl+n", "down", ""),
    ("pageup", "page_up", ""),
    ("pagedown", "page_down", ""),
    ("tab", "mark", "mark"),
    ("enter", "choose", "choose"),
    ("escape", "leave", "leave"),
)
"""Letters are typed, so that all of these are on other keys."""


class PickBox(SearchBox):
    """The search box; what is not typed is for the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(keys, f"screen.pick('{name}')", label, id=f"pick.{name}", show=False) for keys, name, label in KEYS
    ]


class PickKeys(StatusLine):
    """The keys there are, or a word about the last one."""

    def _keys(self) -> list[tuple[str, str]]:
        marked = len(self._state.basket.entries)
        return [("Enter", f"choose {marked} marked" if marked else "choose"), ("Tab", "mark"), ("Esc", "leave without")]


class PickScreen(DrawnScreen):
    """Box, hits, and which keys there are. What is chosen is the app's business."""

    AT_FIRST = True
    AUTO_FOCUS = "#box"

    def __init__(self, look: Look, state: ViewState) -> None:
        super().__init__(state)
        self.search = SearchBar(look.glyphs, state.ask.text, box=PickBox)
        self.hits = ResultList(look, state, id="hits")
        self.hits.can_focus = False
        self.status = PickKeys(look.glyphs)

    def compose(self) -> ComposeResult:
        """From the top down."""
        yield self.search
        yield self.hits
        yield self.status

    def draw(self) -> None:
        """Bring the widgets in line with the state."""
        state = self.state
        self.search.show(state)
        self.hits.show(state)
        self.status.show(state)

    def action_pick(self, name: str) -> None:
        """One of the keys. All goes by way of the list, so that it is done in the order it was typed."""
        match name:
            case "up":
                self.hits.do_up()
            case "down":
                self.hits.do_down()
            case "page_up":
                self.hits.do_page_up()
            case "page_down":
                self.hits.do_page_down()
            case "mark":
                self.hits.post_message(messages.Wanted("mark", self.hits.PLACE))
                self.hits.do_down()
            case _:
                self.hits.post_message(messages.Wanted(name, self.hits.PLACE))

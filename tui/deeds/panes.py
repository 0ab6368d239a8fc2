"""Who gets what is typed: the search box, the list, the preview."""

from collections.abc import Mapping

from tui import messages
from tui.deeds.desk import Desk
from tui.deeds.table import Deed


class Panes:
    """The focus in the workspace."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {
            "search": self.to_box, "leave_box": self.leave_box, "clear": self.to_list,
            "pane": lambda: self._go(1), "pane_back": lambda: self._go(-1),
        }  # fmt: skip

    def to_box(self) -> None:
        """To the search box."""
        self._desk.workspace.set_focus(self._desk.workspace.search.box)

    def to_list(self) -> None:
        """To the hits."""
        self._desk.workspace.set_focus(self._desk.workspace.hits)

    def leave_box(self) -> None:
        """To the hits, if there are or will be any. What was typed is whole now."""
        workspace, state = self._desk.workspace, self._desk.state
        if state.rows.total or state.waiting:
            self.to_list()
            workspace.post_message(messages.Typed(workspace.search.box.value, left=True))
        else:
            self._desk.say("no hits to go to; {clear} empties the box")

    def _go(self, step: int) -> None:
        workspace = self._desk.workspace
        panes = workspace.panes
        here = panes.index(workspace.focused) if workspace.focused in panes else 1
        workspace.set_focus(panes[(here + step) % len(panes)])

"""What deeds use of the app."""

from collections.abc import Awaitable, Callable, Mapping
from typing import ParamSpec, Protocol

from tui.cells.look import Look
from tui.screens.drawn import DrawnScreen
from tui.screens.workspace import Workspace
from tui.state.facts import Fact
from tui.state.model import ViewState

P = ParamSpec("P")


class Desk(Protocol):
    """The app, as seen from its deeds."""

    @property
    def state(self) -> ViewState:
        """What is shown."""

    @property
    def columns(self) -> int:
        """Cells of a line of the screen."""

    @property
    def look(self) -> Look:
        """Glyphs, clock, zone."""

    @property
    def workspace(self) -> Workspace:
        """The screen below all others."""

    @property
    def screen(self) -> object:
        """The screen on top."""

    @property
    def place(self) -> str:
        """Where in the keymap the focus is."""

    def put_up(self, screen: DrawnScreen) -> None:
        """A screen on top of the others."""

    def take_down(self) -> None:
        """Back to the screen below."""

    def do(self, action: str) -> None:
        """Do an action as if its key had been pressed where the focus is."""

    def themes(self) -> Mapping[str, bool]:
        """The themes by name, each with whether it is the one that is worn."""

    def wear(self, theme: str | None) -> None:
        """Other colours; None: dark ones where they are light, and the other way round."""

    def leave(self) -> None:
        """End the app."""

    def step_aside(self) -> str:
        """Give the terminal back to the shell until it calls the app again; why not, where that cannot be."""

    def tell(self, fact: Fact) -> None:
        """Something became known."""

    def say(self, text: str) -> None:
        """A word in the bottom line, until the next key."""

    def background(self, group: str, work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs) -> None:
        """Work in the background, instead of what was going on in the group."""

    def stop(self, *groups: str) -> None:
        """End the work of these groups."""

    def busy(self, group: str) -> bool:
        """Whether work of the group is going on."""

    def later(self, pause_s: float, act: Callable[[], None]) -> Callable[[], None]:
        """Act after a pause, unless what is given back is called before."""

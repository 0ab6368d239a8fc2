"""What deeds use of the app."""

from collections.abc import Awaitable, Callable
from typing import ParamSpec, Protocol

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

    def tell(self, fact: Fact) -> None:
        """Something became known."""

    def say(self, text: str) -> None:
        """A word in the bottom line, until the next key."""

    def background(self, group: str, work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs) -> None:
        """Work in the background, instead of what was going on in the group."""

    def busy(self, group: str) -> bool:
        """Whether work of the group is going on."""

    def later(self, pause_s: float, act: Callable[[], None]) -> Callable[[], None]:
        """Act after a pause, unless what is given back is called before."""

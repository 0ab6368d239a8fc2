"""Holds the state, tells its subscribers."""

from collections.abc import Callable

from tui.state.facts import Fact
from tui.state.model import ViewState
from tui.state.reduce import reduce

Subscriber = Callable[[ViewState, ViewState], None]


class Store:
    """One state; a subscriber is called with the one before and the one after a fact that changed it."""

    def __init__(self, state: ViewState) -> None:
        self.state = state
        self._subscribers: list[Subscriber] = []

    def subscribe(self, subscriber: Subscriber) -> None:
        """Be told of every change."""
        self._subscribers.append(subscriber)

    def tell(self, fact: Fact) -> None:
        """Take in a fact."""
        before, self.state = self.state, reduce(self.state, fact)
        if self.state is before or self.state == before:
            return
        for subscriber in self._subscribers:
            subscriber(before, self.state)

"""Pure: all actions, those of a topic together."""

from tui.keymap import (
    corpora,
    filtering,
    finding,
    house,
    marking,
    moving,
    reading,
    scrubbing,
    settings,
    surveys,
    travel,
)
from tui.keymap.action import Action

KEYMAP = (
    *moving.ACTIONS, *travel.ACTIONS, *scrubbing.ACTIONS, *filtering.ACTIONS, *reading.ACTIONS, *marking.ACTIONS,
    *surveys.ACTIONS, *corpora.ACTIONS, *settings.ACTIONS, *finding.ACTIONS, *house.ACTIONS,
)  # fmt: skip


def at(place: str) -> tuple[Action, ...]:
    """The actions that work in a place."""
    return tuple(action for action in KEYMAP if place in action.places)


def named(name: str) -> Action:
    """The action with this name."""
    return next(action for action in KEYMAP if action.name == name)

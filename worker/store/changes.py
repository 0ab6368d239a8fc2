"""What changed, told after commit to whoever wants to know; the store knows none of them."""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from worker.contract.records import Record, RecordKey


class Deed(enum.Enum):
    """What was done to a record."""

    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Change:
    """A record as it is now; None when it is gone. content_session_id: the agent's own id of its session, if known."""

    key: RecordKey
    deed: Deed
    record: Record | None
    content_session_id: str = ""


Listener = Callable[[Sequence[Change]], None]


class ChangeFeed:
    """Tells its subscribers, on the event loop's thread, in the order of commits."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> None:
        """Call ``listener`` with each committed group of changes; it must not block."""
        self._listeners.append(listener)

    def tell(self, changes: Sequence[Change]) -> None:
        """Pass changes on."""
        if changes:
            for listener in self._listeners:
                listener(changes)

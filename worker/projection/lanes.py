"""A lane for each record: whoever writes it waits for those who came before; different records go side by side."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Hashable, Iterable
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class _Ticket:
    """One who waits. behind: lanes in which another stands before it."""

    turn: asyncio.Future[None]
    behind: int = 0


class Lanes:
    """Of one event loop. A ticket is put into all its lanes at once, so that no two ever wait for each other."""

    def __init__(self) -> None:
        self._lanes: dict[Hashable, deque[_Ticket]] = {}

    @property
    def busy(self) -> int:
        """How many records are held or waited for."""
        return len(self._lanes)

    @contextlib.asynccontextmanager
    async def hold(self, keys: Iterable[Hashable]) -> AsyncIterator[None]:
        """Hold the lanes of some records, each named any number of times; in the order of the calls."""
        wanted = frozenset(keys)
        ticket = _Ticket(asyncio.get_running_loop().create_future())
        for key in wanted:
            lane = self._lanes.setdefault(key, deque())
            ticket.behind += bool(lane)
            lane.append(ticket)
        try:
            if ticket.behind:
                await ticket.turn
            yield
        finally:
            for key in wanted:
                self._leave(key, ticket)

    def _leave(self, key: Hashable, ticket: _Ticket) -> None:
        lane = self._lanes[key]
        was_first = lane[0] is ticket
        lane.remove(ticket)
        if not lane:
            del self._lanes[key]
        elif was_first:
            lane[0].behind -= 1
            if not lane[0].behind and not lane[0].turn.done():
                lane[0].turn.set_result(None)

"""Events to all listeners, with a bounded queue for each, and a replay for those that come back.

A listener that does not read costs a bounded queue: what does not fit is dropped, and when it reads again the first
thing it hears is `resync`. All of it happens on the event loop's thread.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import msgspec

from worker.contract.sse import Frame, encode
from worker.stream.listener import Listener

_REPLAY = 2_048
_REPLAY_BYTES = 16 * 2**20


class Broadcaster:
    """Numbers events and passes them to everybody. clock: seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._listeners: set[Listener] = set()
        self._recent: deque[tuple[int, bytes]] = deque()
        self._recent_bytes = 0
        # Starting from the time keeps ids growing over restarts, so an id from before is known to be too old.
        self._last_id = int(clock() * 1000)
        self._closed = False

    @property
    def listeners(self) -> int:
        """How many streams are open."""
        return len(self._listeners)

    def send(self, event: dict[str, Any]) -> None:
        """Tell everybody, and keep it for those who come back soon."""
        self._last_id += 1
        frame = self._frame(event, self._last_id)
        self._keep(self._last_id, frame)
        for listener in self._listeners:
            listener.offer(frame)

    @property
    def crowded(self) -> bool:
        """Whether a listener that reads has much to read."""
        return any(listener.crowded for listener in self._listeners)

    async def room(self, patience_s: float) -> None:
        """Wait until every listener can take more, but no longer than ``patience_s`` for one that does not read."""
        await asyncio.sleep(0)  # readers and requests have their turn
        waited_for = [listener for listener in self._listeners if listener.crowded]
        if waited_for:
            await asyncio.gather(*(listener.relieved(patience_s) for listener in waited_for))

    @contextlib.contextmanager
    def listen(self, greeting: list[dict[str, Any]], after: int | None = None) -> Iterator[AsyncIterator[bytes]]:
        """The frames of one stream: the greeting, what came after event ``after``, then what comes.

        Who names no event is given in the greeting where to go on from, should the line break before the next one.
        """
        number = self._last_id if after is None else None
        listener = Listener(b"".join(self._frame(event, number) for event in greeting))
        if after is not None and after != self._last_id:
            if not self._recent or not self._recent[0][0] - 1 <= after <= self._last_id:
                listener.offer(self._resync())
            else:
                for number, frame in self._recent:
                    if number > after:
                        listener.offer(frame)
        if self._closed:
            listener.close()
        self._listeners.add(listener)
        try:
            yield listener.frames(self._resync)
        finally:
            self._listeners.discard(listener)
            listener.close()

    def close(self) -> None:
        """End all streams, now and those still to come."""
        self._closed = True
        for listener in self._listeners:
            listener.close()

    def _keep(self, number: int, frame: bytes) -> None:
        self._recent.append((number, frame))
        self._recent_bytes += len(frame)
        while len(self._recent) > _REPLAY or (self._recent_bytes > _REPLAY_BYTES and len(self._recent) > 1):
            self._recent_bytes -= len(self._recent.popleft()[1])

    def _resync(self) -> bytes:
        return self._frame({"type": "resync"}, self._last_id)

    def _frame(self, event: dict[str, Any], number: int | None = None) -> bytes:
        body = msgspec.json.encode(event | {"timestamp": int(self._clock() * 1000)})
        return encode(Frame(body, None if number is None else str(number)))

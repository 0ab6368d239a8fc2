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

from worker.contract.sse import KEEP_ALIVE, Frame, encode

KEEP_ALIVE_S = 15.0
_QUEUE = 4_096
_REPLAY = 2_048


class Listener:
    """One open stream."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._ready = asyncio.Event()
        self._overrun = False
        self._closed = False

    def offer(self, frame: bytes) -> None:
        """Queue a frame, or note that it did not fit."""
        if len(self._frames) >= _QUEUE:
            self._frames.clear()
            self._overrun = True
        if not self._overrun:
            self._frames.append(frame)
        self._ready.set()

    def close(self) -> None:
        """Let the reader finish what is queued, and end."""
        self._closed = True
        self._ready.set()

    async def frames(self, resync: Callable[[], bytes]) -> AsyncIterator[bytes]:
        """What was queued, in order; a comment when nothing comes for 15 s; until closed."""
        while True:
            # First of all, so that what is offered while a frame is being sent is not slept over.
            self._ready.clear()
            if self._overrun:
                self._overrun = False
                yield resync()
            while self._frames:
                yield self._frames.popleft()
            if self._closed:
                return
            try:
                async with asyncio.timeout(KEEP_ALIVE_S):
                    await self._ready.wait()
            except TimeoutError:
                yield KEEP_ALIVE


class Broadcaster:
    """Numbers events and passes them to everybody. clock: seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._listeners: set[Listener] = set()
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=_REPLAY)
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
        self._recent.append((self._last_id, frame))
        for listener in self._listeners:
            listener.offer(frame)

    @contextlib.contextmanager
    def listen(self, greeting: list[dict[str, Any]], after: int | None = None) -> Iterator[AsyncIterator[bytes]]:
        """The frames of one stream: the greeting, what came after event ``after``, then what comes."""
        listener = Listener()
        for event in greeting:
            listener.offer(self._frame(event))
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

    def close(self) -> None:
        """End all streams, now and those still to come."""
        self._closed = True
        for listener in self._listeners:
            listener.close()

    def _resync(self) -> bytes:
        return self._frame({"type": "resync"}, self._last_id)

    def _frame(self, event: dict[str, Any], number: int | None = None) -> bytes:
        body = msgspec.json.encode(event | {"timestamp": int(self._clock() * 1000)})
        return encode(Frame(body, None if number is None else str(number)))

"""One open stream: a bounded queue of frames between whoever sends and whoever reads."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable

from worker.contract.sse import KEEP_ALIVE

KEEP_ALIVE_S = 15.0
QUEUE = 4_096
QUEUE_BYTES = 16 * 2**20
_CROWDED = QUEUE // 2
_CROWDED_BYTES = QUEUE_BYTES // 2
_PIECE_BYTES = 64 * 2**10
"""Frames go out together up to this size: a call of the system for each would be most of the work."""


class Listener:
    """Takes frames at any speed and gives them at the reader's. greeting: what comes before all of them."""

    def __init__(self, greeting: bytes = b"") -> None:
        self._greeting = greeting
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._ready = asyncio.Event()
        self._relieved = asyncio.Event()
        self._overrun = False
        self._closed = False
        self._deaf = False

    @property
    def crowded(self) -> bool:
        """Whether it is worth waiting for: it has much to read, and was last seen reading."""
        return not self._deaf and self._full_half

    @property
    def _full_half(self) -> bool:
        return len(self._frames) > _CROWDED or self._bytes > _CROWDED_BYTES

    def offer(self, frame: bytes) -> None:
        """Queue a frame, or note that it did not fit."""
        if len(self._frames) >= QUEUE or (self._frames and self._bytes + len(frame) > QUEUE_BYTES):
            self._frames.clear()
            self._bytes = 0
            self._overrun = True
            self._relieved.set()
        if not self._overrun:
            self._frames.append(frame)
            self._bytes += len(frame)
        self._ready.set()

    async def relieved(self, patience_s: float) -> None:
        """Return when it is no longer crowded; after ``patience_s`` take it for one that does not read."""
        if not self._full_half:
            return
        self._relieved.clear()
        try:
            async with asyncio.timeout(patience_s):
                await self._relieved.wait()
        except TimeoutError:
            self._deaf = True

    def close(self) -> None:
        """Let the reader finish what is queued, and end."""
        self._closed = True
        self._ready.set()
        self._relieved.set()

    async def frames(self, resync: Callable[[], bytes]) -> AsyncIterator[bytes]:
        """What was queued, in order, some frames together; a comment when nothing comes for 15 s; until closed."""
        if self._greeting:
            yield self._greeting
        while True:
            # First of all, so that what is offered while a frame is being sent is not slept over.
            self._ready.clear()
            if self._overrun:
                self._overrun = self._deaf = False
                yield resync()
            while self._frames:
                yield self._piece()
            if self._closed:
                return
            try:
                async with asyncio.timeout(KEEP_ALIVE_S):
                    await self._ready.wait()
            except TimeoutError:
                yield KEEP_ALIVE

    def _piece(self) -> bytes:
        self._deaf = False
        taken: list[bytes] = []
        size = 0
        while self._frames and (not taken or size + len(self._frames[0]) <= _PIECE_BYTES):
            taken.append(self._frames.popleft())
            size += len(taken[-1])
        self._bytes -= size
        if not self._full_half:
            self._relieved.set()
        return b"".join(taken)

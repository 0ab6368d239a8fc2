"""How many questions a minute a model takes, kept by waiting before the next: each refusal would cost a long pause."""

import asyncio
import time
from collections.abc import Awaitable, Callable

_MARGIN_S = 0.1


class Pace:
    """One question after the other, ``60 / per_minute`` seconds apart; 0 does not wait."""

    def __init__(
        self,
        per_minute: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._apart_s = 60 / per_minute + _MARGIN_S if per_minute else 0.0
        self._clock, self._sleep = clock, sleep
        self._next_s = float("-inf")

    async def turn(self) -> None:
        """Wait for the turn of a question. Who gives up while waiting leaves its turn unused."""
        if not self._apart_s:
            return
        now = self._clock()
        mine = max(self._next_s, now)
        self._next_s = mine + self._apart_s
        if mine > now:
            await self._sleep(mine - now)

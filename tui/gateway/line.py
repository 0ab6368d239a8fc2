"""The line to one worker: found or started, asked, closed."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from typing import Protocol, TypeVar

from tui.state import facts
from tui.state.facts import Fact
from worker.contract.calls import Call
from worker.contract.errors import MemError
from worker.contract.events import StreamEvent
from worker.contract.settings import Settings

T = TypeVar("T")
R = TypeVar("R")


class Client(Protocol):
    """What is used of ``WorkerClient``."""

    async def send(self, call: Call[T]) -> T:
        """The answer."""

    def events(self, *, after: int | None = None) -> AsyncIterator[StreamEvent]:
        """The stream."""

    async def close(self) -> None:
        """The end."""


class Line:
    """One worker. ensure: finds or starts it, connect: makes its client; each is called on a thread."""

    def __init__(
        self, settings: Settings, ensure: Callable[[Settings], object], connect: Callable[[Settings], Client]
    ) -> None:
        self._settings = settings
        self._ensure = ensure
        self._connect = connect
        self.client: Client | None = None

    async def start(self) -> Fact:
        """Find the worker or start it."""
        try:
            await _on_thread(self._ensure, self._settings)
        except MemError as error:
            return facts.Failed(error.message)
        if self.client is None:
            self.client = await _on_thread(self._connect, self._settings)
        return facts.Connected()

    async def close(self) -> None:
        """Give the connections back."""
        client, self.client = self.client, None
        if client is not None:
            await client.close()

    async def send(self, call: Call[T]) -> T:
        """The answer. Errors: ``MemError``, also while there is nobody to ask."""
        if self.client is None:
            raise MemError("the worker is not there yet")
        return await self.client.send(call)


async def _on_thread(function: Callable[[Settings], R], settings: Settings) -> R:
    """What the function gives, called on a thread that no one waits for when the app ends meanwhile."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[R] = loop.create_future()

    def tell(settle: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody wants to know any more
            loop.call_soon_threadsafe(lambda: None if answer.done() else settle())

    def work() -> None:
        failure = MemError(f"internal fault in {getattr(function, '__name__', 'a call')}")
        try:
            outcome = function(settings)
            tell(lambda: answer.set_result(outcome))
        except MemError as error:
            failure = error
        finally:  # any other error is a fault of ours: it is told too, or the app would wait for ever
            tell(lambda: answer.set_exception(failure))

    threading.Thread(target=work, daemon=True, name="gateway").start()
    return await answer

"""The line to one worker: found or started, asked, closed."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from typing import Protocol, TypeVar

from tui.gateway.pulse import Pulse
from tui.state import facts
from tui.state.facts import Fact
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.errors import Forbidden, MemError, TimedOut, Unauthorized, Unreachable
from worker.contract.events import StreamEvent
from worker.contract.settings import Settings

T = TypeVar("T")
R = TypeVar("R")


class Client(Protocol):
    """What is used of ``WorkerClient``."""

    async def send(self, call: Call[T]) -> T:
        """The answer."""

    def events(self, *, after: int | None = None, quiet_s: float) -> AsyncIterator[StreamEvent]:
        """The stream."""

    async def close(self) -> None:
        """The end."""


class FileReader(Protocol):
    """What is used of ``Reader``."""

    settings: Settings

    @property
    def alive(self) -> bool:
        """Whether it still serves."""

    def close(self) -> None:
        """The end."""


class Line:
    """One worker. ensure: finds or starts it, connect: makes its client; each is called on a thread.

    read_file: starts what takes its place where there is none, and only reads the file.
    """

    def __init__(
        self,
        settings: Settings,
        ensure: Callable[[Settings], object],
        connect: Callable[[Settings], Client],
        read_file: Callable[[Settings], FileReader],
    ) -> None:
        self._settings = settings
        self._ensure = ensure
        self._connect = connect
        self._read_file = read_file
        self._reader: FileReader | None = None
        self.client: Client | None = None
        self.pulse = Pulse(self._is_there)

    async def start(self) -> Fact:
        """Find the worker or start it; where there is none to be had, read the file."""
        try:
            await _on_thread(self._ensure, self._settings)
        except (Unauthorized, Forbidden) as error:
            return facts.Failed(error.message)  # there is a worker, and it is not for us to go round it
        except MemError as error:
            return await self._from_file(error.message)
        if self._reader is not None:
            await self.close()
        if self.client is None:
            self.client = await _on_thread(self._connect, self._settings)
        return facts.Connected()

    async def no_worker(self) -> str:
        """Why there is none, after one was started if need be; empty if there is one. Whom we ask stays the same."""
        try:
            await _on_thread(self._ensure, self._settings)
        except MemError as error:
            return error.message
        return ""

    async def _from_file(self, reason: str) -> Fact:
        if self._settings.remote:
            return facts.Failed(reason)
        if self._reader is not None and self._reader.alive:
            return facts.Connected(reason)
        await self.close()
        try:
            self._reader = await _on_thread(self._read_file, self._settings)
        except MemError:
            return facts.Failed(reason)  # what keeps the file from being read is the lesser trouble
        self.client = await _on_thread(self._connect, self._reader.settings)
        return facts.Connected(reason)

    async def close(self) -> None:
        """Give the connections back, and end the reader."""
        client, self.client = self.client, None
        reader, self._reader = self._reader, None
        if client is not None:
            await client.close()
        if reader is not None:
            await asyncio.to_thread(reader.close)

    async def send(self, call: Call[T]) -> T:
        """The answer. Errors: ``MemError``, also while there is nobody to ask."""
        if self.client is None:
            raise MemError("the worker is not there yet")
        with self.pulse.asking():
            try:
                answer = await self.client.send(call)
            except (TimedOut, Unreachable):
                raise
            except MemError:
                self.pulse.heard()
                raise
        self.pulse.heard()
        return answer

    async def _is_there(self) -> bool:
        """Whether the worker answers what it knows by heart."""
        try:
            await self.send(calls.version())
        except (TimedOut, Unreachable):
            return False
        except MemError:
            pass  # an answer as well
        return True


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

"""A thread of one's own for calls that block, one after the other."""

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


class OwnThread:
    """``close`` it. A call that never comes back is left behind: the thread does not keep the process alive."""

    def __init__(self, name: str) -> None:
        self._calls: queue.SimpleQueue[Callable[[bool], None] | None] = queue.SimpleQueue()
        self._closed = False
        self._ended = threading.Event()
        threading.Thread(target=self._work, name=name, daemon=True).start()

    async def run(self, call: Callable[[], T]) -> T:
        """The result of a call on the thread. One that is given up before its turn is not made."""
        if self._closed:
            raise asyncio.CancelledError
        future: Future[T] = Future()
        self._calls.put(lambda wanted: _carry_out(call, future, wanted))
        return await asyncio.wrap_future(future)

    async def close(self, within_s: float) -> bool:
        """Take no more calls and wait for the one under way; whether it ended in time."""
        self._closed = True
        self._calls.put(None)
        return await asyncio.to_thread(self._ended.wait, within_s)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call(not self._closed)
        self._ended.set()


def _carry_out(call: Callable[[], T], future: "Future[T]", wanted: bool) -> None:
    if not wanted:
        future.cancel()
    if not future.set_running_or_notify_cancel():
        return
    try:
        found = call()
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is told to the one who asked
        future.set_exception(error)
    else:
        future.set_result(found)

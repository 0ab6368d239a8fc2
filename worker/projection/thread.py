"""A thread of one's own for calls that block, one after the other."""

import asyncio
import os
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TypeVar

from worker.contract.errors import Unavailable

T = TypeVar("T")


POLITE = 5
"""Niceness: beside one other that wants the same core, a quarter of it is left."""


class OwnThread:
    """``close`` it. A call that never comes back is left behind: the thread does not keep the process alive.

    polite: where others of this process want the processor they get it first; others of the machine too, where the
    system does not share it out by session, as Linux may.
    """

    def __init__(self, name: str, *, polite: bool = False) -> None:
        self._calls: queue.SimpleQueue[Callable[[bool], None] | None] = queue.SimpleQueue()
        self._closed = False
        self._ended = threading.Event()
        self._under_way: Callable[[], None] = _nothing
        self._polite = polite
        threading.Thread(target=self._work, name=name, daemon=True).start()

    async def run(self, call: Callable[[], T]) -> T:
        """The result of a call on the thread. One that is given up before its turn is not made.

        Errors: those of the call; ``Unavailable`` when the thread is closed before it has ended.
        """
        if self._closed:
            raise _closed()
        future: Future[T] = Future()

        def made(wanted: bool) -> None:
            self._under_way = lambda: _refuse(future)
            _carry_out(call, future, wanted)

        self._calls.put(made)
        return await asyncio.wrap_future(future)

    async def close(self, within_s: float) -> bool:
        """Take no more calls and wait for the one under way; whether it ended in time.

        Whoever waits for a call that did not, or that was yet to be made, is told ``Unavailable``.
        """
        self._closed = True
        self._calls.put(None)
        ended = await asyncio.to_thread(self._ended.wait, within_s)
        if not ended:
            self._under_way()
            while (call := _next(self._calls)) is not None:
                call(False)
            self._calls.put(None)
        return ended

    def _work(self) -> None:
        if self._polite:
            _step_back()
        while (call := self._calls.get()) is not None:
            call(not self._closed)
        self._ended.set()


def _step_back() -> None:
    """This thread is nicer from now on than its process, which Linux alone can tell apart."""
    if sys.platform == "linux":
        with suppress(OSError):
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + POLITE)


def _nothing() -> None:
    """No call is under way."""


def _closed() -> Unavailable:
    return Unavailable("the index by meaning is being closed")


def _refuse(future: "Future[T]") -> None:
    with suppress(InvalidStateError):  # it has ended just now
        future.set_exception(_closed())


def _next(calls: "queue.SimpleQueue[Callable[[bool], None] | None]") -> Callable[[bool], None] | None:
    with suppress(queue.Empty):
        return calls.get_nowait()
    return None


def _carry_out(call: Callable[[], T], future: "Future[T]", wanted: bool) -> None:
    if not wanted:
        _refuse(future)
        return
    if not future.set_running_or_notify_cancel():
        return
    try:
        found = call()
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is told to the one who asked
        with suppress(InvalidStateError):  # who asked was told already that it is closed
            future.set_exception(error)
    else:
        with suppress(InvalidStateError):
            future.set_result(found)

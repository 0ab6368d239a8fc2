"""One way to the worker for whoever has much to tell it: past hiccups of it, each call once."""

import time
from collections.abc import Callable
from typing import TypeVar

from worker.cli.connection import client
from worker.contract.calls import Call
from worker.contract.errors import Busy, Unreachable
from worker.contract.quick import QuickClient
from worker.contract.settings import Settings

T = TypeVar("T")

_TRIES = 5
_USUAL_PAUSE_S = 1.0


class Sender:
    """Sends to a worker, which is started if need be, and goes on when it is busy or was started anew.

    For calls alone that can be sent twice: what was sent to a worker that is lost may have arrived or not.
    connect: gives a client of a worker that serves. sleep: takes seconds.
    """

    def __init__(
        self,
        where: Settings,
        *,
        connect: Callable[[Settings], QuickClient] = client,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._where, self._connect, self._sleep = where, connect, sleep
        self._worker = connect(where)

    def send(self, call: Call[T], *, timeout_s: float | None = None) -> T:
        """The answer. Errors: as ``QuickClient.send``, after the last try; as ``client``."""
        for left in reversed(range(_TRIES)):
            try:
                return self._worker.send(call, timeout_s=timeout_s)
            except Busy as error:
                if not left:
                    raise
                self._sleep(error.retry_after_s or _USUAL_PAUSE_S)
            except Unreachable:
                if not left:
                    raise
                self._worker = self._connect(self._where)
        raise AssertionError("the last try returns or raises")
